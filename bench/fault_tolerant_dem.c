/* A plan of fault-tolerant DEM: rows kind, base, free, bit; see FaultPlan.program. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NEXT(sub, mask) (((sub) - (mask)) & (mask))

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

static void exchange(LOAD *load, LOAD *least, int64_t *moved, int64_t u, int64_t v)
{
    LOAD sent = (load[u] - load[v]) / 2;
    load[u] -= sent;
    load[v] += sent;
    if (!least)
        return;
    *moved += sent < 0 ? -sent : sent;
    least[u] = load[u] < least[u] ? load[u] : least[u];
    least[v] = load[v] < least[v] ? load[v] : least[v];
}

static void level(LOAD *load, LOAD *least, int64_t *moved, int64_t base, int64_t free, int64_t bit)
{
    int64_t rest = free & ~((int64_t)1 << bit);
    for (int64_t sub = 0;; sub = NEXT(sub, rest)) {
        exchange(load, least, moved, base | sub, base | sub | (int64_t)1 << bit);
        if (sub == rest)
            return;
    }
}

/* A cube without faults, as in dem.c. */
static void whole_cube(LOAD *load, LOAD *least, int64_t *moved, int64_t size)
{
    for (int64_t stride = 1; stride < size; stride *= 2)
        for (int64_t base = 0; base < size; base += 2 * stride)
            for (int64_t i = base; i < base + stride; i++)
                exchange(load, least, moved, i, i + stride);
}

static void repair(LOAD *load, LOAD *least, int64_t *moved, int64_t base, int64_t free,
                   int64_t step, int64_t *pegs, int64_t *holes)
{
    for (int64_t sub = 0;; sub = NEXT(sub, free)) {
        int64_t a = base | sub, d = a ^ step;
        pegs[d] = (int64_t)load[a] - load[d];
        holes[d] = pegs[d] < 0 ? -pegs[d] : 0;
        if (pegs[d] > 0) {
            load[a] -= pegs[d];
            load[d] += pegs[d];
            *moved += pegs[d];
            if (least)
                least[a] = least_of(least[a], load[a]);
        }
        if (sub == free)
            break;
    }
    for (int64_t bit = 0; free >> bit; bit++) {
        if (!(free >> bit & 1))
            continue;
        int64_t rest = free & ~((int64_t)1 << bit);
        for (int64_t sub = 0;; sub = NEXT(sub, rest)) {
            int64_t u = (base ^ step) | sub, v = u | (int64_t)1 << bit;
            if (pegs[u] < pegs[v]) {
                int64_t w = u;
                u = v;
                v = w;
            }
            int64_t amount = least_of((pegs[u] - pegs[v]) / 2, load[u] - holes[u]);
            pegs[u] -= amount;
            pegs[v] += amount;
            load[u] -= amount;
            load[v] += amount;
            *moved += amount;
            if (least)
                least[u] = least_of(least[u], load[u]);
            if (sub == rest)
                break;
        }
    }
    for (int64_t sub = 0;; sub = NEXT(sub, free)) {
        int64_t a = base | sub, d = a ^ step;
        load[d] -= holes[d];
        load[a] += holes[d];
        *moved += holes[d];
        if (least)
            least[d] = least_of(least[d], load[d]);
        if (sub == free)
            return;
    }
}

/* moved and local are (networks,), or NULL where only the final loads are wanted. */
void fault_tolerant_dem(const LOAD *source, LOAD *target, int64_t networks, int64_t n,
                        const int64_t *program, int64_t rows, int64_t *moved, int64_t *local)
{
    int64_t size = (int64_t)1 << n, unused = 0;
    int64_t *pegs = malloc(size * sizeof *pegs), *holes = malloc(size * sizeof *holes);
    LOAD *least = moved ? malloc(size * sizeof *least) : NULL;
    memcpy(target, source, networks * size * sizeof(LOAD));
    for (int64_t b = 0; b < networks; b++) {
        LOAD *load = target + b * size;
        int64_t *units = moved ? moved + b : &unused;
        *units = 0;
        if (least)
            memcpy(least, load, size * sizeof(LOAD));
        for (int64_t m = 0; m < rows; m++) {
            const int64_t *row = program + 4 * m;
            if (row[0] == 0)
                level(load, least, units, row[1], row[2], row[3]);
            else if (row[0] == 2)
                repair(load, least, units, row[1], row[2], (int64_t)1 << row[3], pegs, holes);
            else if (row[2] == size - 1)
                whole_cube(load, least, units, size);
            else
                for (int64_t bit = 0; row[2] >> bit; bit++)
                    if (row[2] >> bit & 1)
                        level(load, least, units, row[1], row[2], bit);
        }
        if (least) {
            local[b] = 0;
            for (int64_t i = 0; i < size; i++)
                local[b] += least[i];
        }
    }
    free(pegs);
    free(holes);
    free(least);
}
