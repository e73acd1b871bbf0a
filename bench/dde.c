/* Direct dimension exchange: the lines of one axis after the other, each on its own. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The value of this rank among k values, which are reordered (Hoare's select). */
static int64_t ranked(int64_t *values, int64_t k, int64_t rank)
{
    int64_t low = 0, high = k - 1;
    while (low < high) {
        int64_t pivot = values[(low + high) / 2], i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                int64_t t = values[i];
                values[i++] = values[j];
                values[j--] = t;
            }
        }
        if (rank <= j)
            high = j;
        else if (rank >= i)
            low = i;
        else
            break;
    }
    return values[rank];
}

/* Give every node of a line of k loads, `stride` apart, its quota. flow[i], which goes from node i
   to its successor, is found only where it is wanted. */
static void line(LOAD *load, int64_t k, int64_t stride, int wrapped, int wanted, int64_t *flow,
                 int64_t *sorted)
{
    int64_t total = 0;
    for (int64_t i = 0; i < k; i++)
        total += load[i * stride];
    int64_t average = total / k, rest = total % k, sum = 0;
    for (int64_t i = 0; i < k; i++) {
        int64_t quota = average + (i < rest);
        sum += load[i * stride] - quota;
        flow[i] = sum;
        load[i * stride] = quota;
    }
    if (wanted && wrapped && k > 2) {
        memcpy(sorted, flow, k * sizeof(int64_t));
        int64_t lower = ranked(sorted, k, (k - 1) / 2), upper = ranked(sorted, k, k / 2);
        int64_t shift = lower > 0 ? upper : upper < 0 ? lower : 0;
        for (int64_t i = 0; i < k; i++)
            flow[i] -= shift;
    }
}

/* The longest run of flows in one direction, over the wrap link too. */
static int64_t longest_run(const int64_t *flow, int64_t k, int wrapped)
{
    int64_t up = 0, down = 0, longest = 0;
    for (int64_t i = 0; i < (wrapped ? 2 * k : k); i++) {
        int64_t f = flow[i < k ? i : i - k];
        up = f > 0 ? up + 1 : 0;
        down = f < 0 ? down + 1 : 0;
        if (up > longest)
            longest = up;
        if (down > longest)
            longest = down;
    }
    return longest;
}

/* flows (networks, axes, nodes), stages (axes, networks, nodes), kept (nodes), moved, local,
   rounds (networks): NULL where only loads are wanted. */
void dde(const LOAD *source, LOAD *target, int64_t networks, const int64_t *shape, int64_t axes,
         int64_t wrapped, int64_t *flows, LOAD *stages, LOAD *kept,
         int64_t *moved, int64_t *local, int64_t *rounds)
{
    int64_t nodes = 1, longest_axis = 1;
    for (int64_t a = 0; a < axes; a++) {
        nodes *= shape[a];
        if (shape[a] > longest_axis)
            longest_axis = shape[a];
    }
    int64_t *flow = malloc(2 * longest_axis * sizeof(int64_t)), *sorted = flow + longest_axis;
    memcpy(target, source, networks * nodes * sizeof(LOAD));
    for (int64_t b = 0; b < networks; b++) {
        LOAD *load = target + b * nodes;
        if (flows) {
            memcpy(kept, load, nodes * sizeof(LOAD));
            moved[b] = local[b] = rounds[b] = 0;
        }
        int64_t outer = 1;
        for (int64_t a = 0; a < axes; a++) {
            int64_t k = shape[a], inner = nodes / (outer * k), most_rounds = 0;
            for (int64_t o = 0; o < outer; o++)
                for (int64_t i = 0; i < inner; i++) {
                    int64_t first = o * k * inner + i;
                    line(load + first, k, inner, (int)wrapped, flows != NULL, flow, sorted);
                    if (flows) {
                        int64_t *to = flows + (b * axes + a) * nodes + first;
                        int64_t taken = longest_run(flow, k, (int)wrapped);
                        if (taken > most_rounds)
                            most_rounds = taken;
                        for (int64_t j = 0; j < k; j++) {
                            to[j * inner] = flow[j];
                            moved[b] += llabs(flow[j]);
                        }
                    }
                }
            if (flows) {
                rounds[b] += most_rounds;
                memcpy(stages + (a * networks + b) * nodes, load, nodes * sizeof(LOAD));
                for (int64_t i = 0; i < nodes; i++)
                    if (load[i] < kept[i])
                        kept[i] = load[i];
            }
            outer *= k;
        }
        if (flows)
            for (int64_t i = 0; i < nodes; i++)
                local[b] += kept[i];
    }
    free(flow);
}
