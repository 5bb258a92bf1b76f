/* By the same rule of which sets there are as src/math/kernel_table.c. */
#include <string.h>

#include "peak.h"

#if defined(__x86_64__)
extern const peak_table peak_baseline, peak_avx2, peak_avx512;
static const peak_table *const tables[] = {&peak_baseline, &peak_avx2, &peak_avx512};
#elif defined(__aarch64__)
extern const peak_table peak_neon;
static const peak_table *const tables[] = {&peak_neon};
#else
extern const peak_table peak_baseline;
static const peak_table *const tables[] = {&peak_baseline};
#endif

const peak_table *peak_of(const char *kernels)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (strcmp(tables[i]->name, kernels) == 0) return tables[i];
    return NULL;
}
