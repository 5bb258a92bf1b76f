/* Selects the kernels for this machine. */
#include "kernels.h"

#include <string.h>

extern const kernel_table kernels_reference;

#if defined(__x86_64__)

extern const kernel_table kernels_baseline, kernels_avx2, kernels_avx512;
static const kernel_table *const tables[] = {&kernels_reference, &kernels_baseline, &kernels_avx2, &kernels_avx512};

static size_t count_tables(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 2;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512bw"))
        return 3;
    return 4;
}

#else

#if defined(__aarch64__)
extern const kernel_table kernels_neon;
static const kernel_table *const tables[] = {&kernels_reference, &kernels_neon};
#else
extern const kernel_table kernels_baseline;
static const kernel_table *const tables[] = {&kernels_reference, &kernels_baseline};
#endif

static size_t count_tables(void)
{
    return 2;
}

#endif

const kernel_table *kernels_at(size_t index)
{
    return index < count_tables() ? tables[index] : NULL;
}

static const kernel_table *chosen; /* NULL: the fastest */

const kernel_table *kernels_best(void)
{
    return chosen ? chosen : tables[count_tables() - 1];
}

bool kernels_use(const char *name)
{
    const kernel_table *table;
    for (size_t i = 0; (table = kernels_at(i)); i++) {
        if (strcmp(table->name, name) != 0) continue;
        chosen = table;
        return true;
    }
    return false;
}
