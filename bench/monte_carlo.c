/* Monte Carlo trial by trial: draw the loads of one network, balance them, take all its figures. */
#include "gde.c"

#include "fault_tolerant_dem.c"

typedef unsigned __int128 double_word;

/* Philox4x64-10 of the counter (1 + block, trial, 0, 0). */
static void philox(uint64_t low_key, uint64_t high_key, uint64_t block, uint64_t trial,
                   uint64_t *out)
{
    uint64_t a = block + 1, b = trial, c = 0, d = 0;
    for (int r = 0; r < 10; r++) {
        double_word first = (double_word)0xD2E7470EE14C6C93ULL * a;
        double_word second = (double_word)0xCA5A826395121157ULL * c;
        uint64_t was_b = b, was_d = d;
        a = (uint64_t)(second >> 64) ^ was_b ^ low_key;
        b = (uint64_t)second;
        c = (uint64_t)(first >> 64) ^ was_d ^ high_key;
        d = (uint64_t)first;
        low_key += 0x9E3779B97F4A7C15ULL;
        high_key += 0xBB67AE8584CAA73BULL;
    }
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
}

static void draw(uint64_t seed, uint64_t trial, uint64_t span, LOAD *load, int64_t nodes)
{
    uint64_t words[4];
    for (int64_t i = 0; i < nodes; i++) {
        if (i % 8 == 0)
            philox(seed, 0, i / 8, trial, words);
        uint64_t number = i % 2 ? words[i % 8 / 2] >> 32 : words[i % 8 / 2] & 0xFFFFFFFF;
        load[i] = (LOAD)(number * span >> 32);
    }
}

/* What every method reports: one column a figure, one value a trial. */
enum {
    DIFFERENCE, INITIAL_DIFFERENCE, MOVED, LOCAL, SWEEPS, STEPS, ROUNDS,
    MESSAGES, INFORMATION, LOADED, BUSIEST, ENDPOINTS, TIME, WHOLE
};
enum { IMBALANCE, INITIAL_IMBALANCE, COST, LOCALITY, REAL_FIGURES };

static void extremes(const LOAD *load, int64_t nodes, int64_t *least, int64_t *most)
{
    *least = *most = load[0];
    for (int64_t i = 1; i < nodes; i++) {
        *least = load[i] < *least ? load[i] : *least;
        *most = load[i] > *most ? load[i] : *most;
    }
}

/* The figures that follow from the loads before and after. */
static void report(const LOAD *load, int64_t nodes, int64_t total, int64_t least, int64_t most,
                   int64_t moved, int64_t local, int64_t trial, int64_t trials, int64_t *whole,
                   double *real)
{
    int64_t least_after, most_after;
    double something = total > 0 ? (double)total : 1.0, mean = something / (double)nodes;
    extremes(load, nodes, &least_after, &most_after);
    whole[DIFFERENCE * trials + trial] = most_after - least_after;
    whole[INITIAL_DIFFERENCE * trials + trial] = most - least;
    whole[MOVED * trials + trial] = moved;
    whole[LOCAL * trials + trial] = local;
    real[IMBALANCE * trials + trial] = total > 0 ? (double)most_after / mean - 1 : 0;
    real[INITIAL_IMBALANCE * trials + trial] = total > 0 ? (double)most / mean - 1 : 0;
    real[COST * trials + trial] = total > 0 ? (double)moved / something : 0;
    real[LOCALITY * trials + trial] = total > 0 ? (double)local / something : 1;
}

static int64_t sum(const LOAD *load, int64_t nodes)
{
    int64_t total = 0;
    for (int64_t i = 0; i < nodes; i++)
        total += load[i];
    return total;
}

void gde_trials(uint64_t seed, int64_t trials, uint64_t span, int64_t nodes, const int64_t *u,
                const int64_t *v, int64_t links, int64_t colours, int64_t p, int64_t q,
                int64_t *whole, double *real)
{
    LOAD *load = malloc(3 * nodes * sizeof(LOAD)), *kept = load + nodes, *drawn = kept + nodes;
    for (int64_t t = 0; t < trials; t++) {
        int64_t least, most, moved, local, sweeps;
        draw(seed, t, span, drawn, nodes);
        extremes(drawn, nodes, &least, &most);
        gde(drawn, load, kept, 1, nodes, u, v, links, p, q, &moved, &local, &sweeps);
        report(load, nodes, sum(drawn, nodes), least, most, moved, local, t, trials, whole, real);
        whole[SWEEPS * trials + t] = sweeps;
        whole[STEPS * trials + t] = 3 * colours * sweeps;
    }
    free(load);
}

void dem_trials(uint64_t seed, int64_t trials, uint64_t span, int64_t nodes, int64_t *whole,
                double *real)
{
    LOAD *load = malloc(2 * nodes * sizeof(LOAD)), *kept = load + nodes;
    int64_t steps = 0;
    for (int64_t size = nodes; size > 1; size /= 2)
        steps += 3;
    for (int64_t t = 0; t < trials; t++) {
        int64_t least, most, moved = 0;
        draw(seed, t, span, load, nodes);
        extremes(load, nodes, &least, &most);
        memcpy(kept, load, nodes * sizeof(LOAD));
        for (int64_t stride = 1; stride < nodes; stride *= 2)
            for (int64_t base = 0; base < nodes; base += 2 * stride)
                for (int64_t i = base; i < base + stride; i++) {
                    LOAD sent = (load[i] - load[i + stride]) / 2;
                    load[i] -= sent;
                    load[i + stride] += sent;
                    moved += sent < 0 ? -sent : sent;
                    kept[i] = load[i] < kept[i] ? load[i] : kept[i];
                    kept[i + stride] = load[i + stride] < kept[i + stride] ? load[i + stride]
                                                                          : kept[i + stride];
                }
        report(load, nodes, sum(load, nodes), least, most, moved, sum(kept, nodes), t, trials,
               whole, real);
        whole[SWEEPS * trials + t] = 1;
        whole[STEPS * trials + t] = steps;
    }
    free(load);
}

/* One line of a mesh, of k nodes `stride` apart: quotas, units moved, and the longest run of flows
   in one direction. */
static int64_t balance_line(LOAD *load, LOAD *kept, int64_t k, int64_t stride, int64_t *moved)
{
    int64_t total = 0, flow = 0, up = 0, down = 0, longest = 0;
    for (int64_t i = 0; i < k; i++)
        total += load[i * stride];
    int64_t average = total / k, rest = total % k;
    for (int64_t i = 0; i < k; i++) {
        int64_t quota = average + (i < rest);
        flow += load[i * stride] - quota;
        *moved += flow < 0 ? -flow : flow;
        up = flow > 0 ? up + 1 : 0;
        down = flow < 0 ? down + 1 : 0;
        longest = up > longest ? up : longest;
        longest = down > longest ? down : longest;
        load[i * stride] = quota;
        kept[i * stride] = quota < kept[i * stride] ? quota : kept[i * stride];
    }
    return longest;
}

void dde_trials(uint64_t seed, int64_t trials, uint64_t span, const int64_t *shape, int64_t axes,
                int64_t *whole, double *real)
{
    int64_t nodes = 1, steps = 0;
    for (int64_t a = 0; a < axes; a++) {
        nodes *= shape[a];
        steps += 2 * shape[a];
    }
    LOAD *load = malloc(2 * nodes * sizeof(LOAD)), *kept = load + nodes;
    for (int64_t t = 0; t < trials; t++) {
        int64_t least, most, moved = 0, rounds = 0, outer = 1;
        draw(seed, t, span, load, nodes);
        extremes(load, nodes, &least, &most);
        memcpy(kept, load, nodes * sizeof(LOAD));
        for (int64_t a = 0; a < axes; a++) {
            int64_t k = shape[a], inner = nodes / (outer * k), longest = 0;
            for (int64_t o = 0; o < outer; o++)
                for (int64_t i = 0; i < inner; i++) {
                    int64_t first = o * k * inner + i;
                    int64_t run = balance_line(load + first, kept + first, k, inner, &moved);
                    longest = run > longest ? run : longest;
                }
            rounds += longest;
            outer *= k;
        }
        report(load, nodes, sum(load, nodes), least, most, moved, sum(kept, nodes), t, trials,
               whole, real);
        whole[SWEEPS * trials + t] = 1;
        whole[STEPS * trials + t] = steps;
        whole[ROUNDS * trials + t] = rounds;
    }
    free(load);
}

void fault_trials(uint64_t seed, int64_t trials, uint64_t span, int64_t n, const int64_t *program,
                  int64_t rows, int64_t steps, int64_t *whole, double *real)
{
    int64_t nodes = (int64_t)1 << n;
    LOAD *load = malloc(2 * nodes * sizeof(LOAD)), *drawn = load + nodes;
    for (int64_t t = 0; t < trials; t++) {
        int64_t least, most, moved, local;
        draw(seed, t, span, drawn, nodes);
        extremes(drawn, nodes, &least, &most);
        fault_tolerant_dem(drawn, load, 1, n, program, rows, &moved, &local);
        report(load, nodes, sum(drawn, nodes), least, most, moved, local, t, trials, whole, real);
        whole[SWEEPS * trials + t] = 1;
        whole[STEPS * trials + t] = steps;
    }
    free(load);
}

/* A Hyper Hexa-Cell network under way. `ends` are the messages that each node sends and gets. */
typedef struct {
    LOAD *load, *kept;
    uint8_t *ends;
    int64_t moved, loaded, information;
} Cells;

static inline void inform(Cells *c, int64_t from, int64_t to)
{
    c->information++;
    c->ends[from]++;
    c->ends[to]++;
}

static inline LOAD send_load(Cells *c, int64_t from, int64_t to, LOAD units)
{
    if (units == 0)
        return 0;
    c->load[from] -= units;
    c->load[to] += units;
    c->kept[from] = c->load[from] < c->kept[from] ? c->load[from] : c->kept[from];
    c->ends[from]++;
    c->ends[to]++;
    c->loaded++;
    c->moved += units;
    return units;
}

/* The higher sends half of the difference; `polled` rounds up, but leaves a difference of 1. */
static inline LOAD even_out(Cells *c, int64_t x, int64_t y, int polled)
{
    int64_t from = c->load[x] > c->load[y] ? x : y, to = from == x ? y : x;
    LOAD diff = c->load[from] - c->load[to];
    return send_load(c, from, to, polled && diff > 1 ? (diff + 1) / 2 : diff / 2);
}

/* One node's excess goes to two takers unit by unit, told at once, or to those that need it. */
static LOAD give(Cells *c, int64_t giver, int64_t x, int64_t y, LOAD average, int polled)
{
    LOAD excess = c->load[giver] - average, to_x, to_y;
    if (polled) {
        LOAD left = excess;
        int64_t peers[2] = {x, y};
        for (int i = 0; i < 2 && left > 0; i++) {
            inform(c, giver, peers[i]);
            LOAD room = average - c->load[peers[i]];
            room = room < 0 ? 0 : room < left ? room : left;
            left -= send_load(c, giver, peers[i], room);
        }
        return excess;
    }
    if (c->load[x] >= average || c->load[y] >= average) {
        to_x = c->load[x] >= average ? 0 : excess;
        to_y = excess - to_x;
    } else {
        LOAD gap = c->load[x] > c->load[y] ? c->load[x] - c->load[y] : c->load[y] - c->load[x];
        LOAD level = gap < excess ? gap : excess, rest = excess - level;
        to_x = (rest + 1) / 2;
        to_y = rest / 2;
        *(c->load[x] <= c->load[y] ? &to_x : &to_y) += level;
    }
    send_load(c, giver, x, to_x);
    send_load(c, giver, y, to_y);
    return excess;
}

/* A triangle's nodes report, hear of the average, and send what is above it. */
static LOAD triangle(Cells *c, int64_t first, int64_t algorithm)
{
    static const int peers[3][2] = {{1, 2}, {0, 2}, {0, 1}};
    LOAD units = 0;
    if (algorithm == 'A') {
        LOAD left = c->load[first + 1], right = c->load[first + 2];
        inform(c, first + 1, first + 2);
        inform(c, first + 2, first + 1);
        units += even_out(c, first + 1, first + 2, 0);
        inform(c, units && left < right ? first + 1 : first + 2, first);
    } else if (algorithm == 'B') {
        inform(c, first + 1, first);
        inform(c, first + 2, first);
    } else {
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 2; k++)
                inform(c, first + i, first + peers[i][k]);
    }
    if (algorithm != 'C') {
        inform(c, first, first + 1);
        inform(c, first, first + 2);
    }
    LOAD average = (c->load[first] + c->load[first + 1] + c->load[first + 2] + 2) / 3;
    for (int i = 0; i < 3; i++)
        if (c->load[first + i] > average)
            units += give(c, first + i, first + peers[i][0], first + peers[i][1], average,
                          algorithm == 'C');
    return units;
}

void hexa_cell_trials(uint64_t seed, int64_t trials, uint64_t span, int64_t d, int64_t algorithm,
                      int64_t steps, int64_t *whole, double *real)
{
    int64_t nodes = (int64_t)6 << (d - 1);
    LOAD *load = malloc(2 * nodes * sizeof(LOAD));
    uint8_t *ends = malloc(nodes);
    for (int64_t t = 0; t < trials; t++) {
        Cells cells = {load, load + nodes, ends, 0, 0, 0}, *c = &cells;
        int64_t least, most, time = 0, busiest = 0;
        LOAD longest = 0;
        draw(seed, t, span, load, nodes);
        extremes(load, nodes, &least, &most);
        memcpy(c->kept, load, nodes * sizeof(LOAD));
        memset(ends, 0, nodes);
        for (int64_t first = 0; first < nodes; first += 3) {
            LOAD units = triangle(c, first, algorithm);
            longest = units > longest ? units : longest;
        }
        time += longest;
        for (int64_t run = 3; run < nodes; run = run == 3 ? 6 : 2 * run) {
            longest = 0;
            for (int64_t base = 0; base < nodes; base += 2 * run)
                for (int64_t i = base; i < base + run; i++) {
                    inform(c, i, i + run);
                    inform(c, i + run, i);
                    LOAD units = even_out(c, i, i + run, algorithm == 'C');
                    longest = units > longest ? units : longest;
                }
            time += longest;
        }
        for (int64_t i = 0; i < nodes; i++)
            busiest = ends[i] > busiest ? ends[i] : busiest;
        report(load, nodes, sum(load, nodes), least, most, c->moved, sum(c->kept, nodes), t,
               trials, whole, real);
        whole[SWEEPS * trials + t] = 1;
        whole[STEPS * trials + t] = steps;
        whole[MESSAGES * trials + t] = c->information + c->loaded;
        whole[INFORMATION * trials + t] = c->information;
        whole[LOADED * trials + t] = c->loaded;
        whole[BUSIEST * trials + t] = busiest;
        whole[ENDPOINTS * trials + t] = 2 * (c->information + c->loaded);
        whole[TIME * trials + t] = time;
    }
    free(ends);
    free(load);
}
