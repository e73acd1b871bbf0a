/* Algorithms A, B and C on the Hyper Hexa-Cell network, cell by cell and pair by pair. */
#include <stdint.h>
#include <string.h>

/* The higher sends half of the difference; `polled` rounds up, but leaves a difference of 1. */
static inline void exchange(LOAD *x, LOAD *y, int polled)
{
    LOAD diff = *x > *y ? *x - *y : *y - *x;
#if REAL
    LOAD sent = diff / 2;
#else
    LOAD sent = polled && diff > 1 ? (diff + 1) / 2 : diff / 2;
#endif
    if (*x > *y) {
        *x -= sent;
        *y += sent;
    } else {
        *x += sent;
        *y -= sent;
    }
}

/* Nodes above the average fill those below: one of two takers unit by unit, told at once. */
static inline void share(LOAD *node, int greedy)
{
#if REAL
    LOAD average = (node[0] + node[1] + node[2]) / 3;
    node[0] = node[1] = node[2] = average;
#else
    LOAD average = (node[0] + node[1] + node[2] + 2) / 3, excess = 0;
    int takers[3], count = 0;
    for (int i = 0; i < 3; i++) {
        if (node[i] > average) {
            excess += node[i] - average;
            node[i] = average;
        } else if (node[i] < average) {
            takers[count++] = i;
        }
    }
    if (excess == 0)
        return;
    if (count == 1) {
        node[takers[0]] += excess;
        return;
    }
    LOAD *x = node + takers[0], *y = node + takers[1];
    if (greedy) {
        LOAD given = average - *x < excess ? average - *x : excess;
        *x += given;
        *y += excess - given;
        return;
    }
    LOAD gap = *x < *y ? *y - *x : *x - *y;
    LOAD level = gap < excess ? gap : excess, rest = excess - level;
    *(*x <= *y ? x : y) += level;
    *x += (rest + 1) / 2;
    *y += rest / 2;
#endif
}

void hexa_cell(const LOAD *source, LOAD *target, int64_t networks, int64_t d, int64_t algorithm)
{
    int64_t cells = (int64_t)1 << (d - 1), size = 6 * cells;
    int polled = algorithm == 'C';
    memcpy(target, source, networks * size * sizeof(LOAD));
    for (int64_t b = 0; b < networks; b++) {
        LOAD *load = target + b * size;
        for (LOAD *node = load; node < load + size; node += 3) {
            if (algorithm == 'A')
                exchange(node + 1, node + 2, 0);
            share(node, polled);
        }
        for (LOAD *cell = load; cell < load + size; cell += 6)
            for (int i = 0; i < 3; i++)
                exchange(cell + i, cell + i + 3, polled);
        for (int64_t run = 6; run < size; run *= 2)
            for (int64_t base = 0; base < size; base += 2 * run)
                for (int64_t i = base; i < base + run; i++)
                    exchange(load + i, load + i + run, polled);
    }
}
