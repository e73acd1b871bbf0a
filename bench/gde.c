/* Generalized dimension exchange: sweeps over the coloured links until nothing moves. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* u, v: the ends of the links in the order of the colours. A pair that differs by d sends
   p * d / q. kept, moved, sweeps: NULL where only loads are wanted. */
void gde(const LOAD *source, LOAD *target, LOAD *kept, int64_t networks, int64_t nodes,
         const int64_t *u, const int64_t *v, int64_t links, int64_t p, int64_t q,
         int64_t *moved, int64_t *local, int64_t *sweeps)
{
    memcpy(target, source, networks * nodes * sizeof(LOAD));
    for (int64_t b = 0; b < networks; b++) {
        LOAD *load = target + b * nodes;
        int64_t units = 0, made = 0, sent_in_sweep;
        if (kept)
            memcpy(kept, load, nodes * sizeof(LOAD));
        do {
            sent_in_sweep = 0;
            for (int64_t e = 0; e < links; e++) {
                int64_t d = (int64_t)load[u[e]] - load[v[e]];
                int64_t sent = p * d / q;
                load[u[e]] -= sent;
                load[v[e]] += sent;
                sent_in_sweep += llabs(sent);
                if (kept) {
                    if (load[u[e]] < kept[u[e]])
                        kept[u[e]] = load[u[e]];
                    if (load[v[e]] < kept[v[e]])
                        kept[v[e]] = load[v[e]];
                }
            }
            units += sent_in_sweep;
            made += sent_in_sweep > 0;
        } while (sent_in_sweep);
        if (kept) {
            moved[b] = units;
            sweeps[b] = made;
            local[b] = 0;
            for (int64_t i = 0; i < nodes; i++)
                local[b] += kept[i];
        }
    }
}
