/* Dimension exchange on hypercubes: for every bit, every pair of neighbours averages. */
#include <stdint.h>
#include <string.h>

void dem(const LOAD *source, LOAD *target, int64_t networks, int64_t n)
{
    int64_t size = (int64_t)1 << n;
    memcpy(target, source, networks * size * sizeof(LOAD));
    for (int64_t b = 0; b < networks; b++) {
        LOAD *load = target + b * size;
        for (int64_t stride = 1; stride < size; stride *= 2)
            for (int64_t base = 0; base < size; base += 2 * stride)
                for (int64_t i = base; i < base + stride; i++) {
#if REAL
                    LOAD mean = (load[i] + load[i + stride]) * (LOAD)0.5;
                    load[i] = mean;
                    load[i + stride] = mean;
#else
                    LOAD sent = (load[i] - load[i + stride]) / 2;
                    load[i] -= sent;
                    load[i + stride] += sent;
#endif
                }
    }
}
