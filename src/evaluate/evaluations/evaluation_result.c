#include "evaluation_result.h"

#include "base/memory.h"

void evaluation_release(evaluation_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        memory_free(results[i].options);
        memory_free(results[i].marks);
        memory_free(results[i].slots);
        memory_free(results[i].metrics);
        results[i].options = NULL;
        results[i].marks = NULL;
        results[i].slots = NULL;
        results[i].metrics = NULL;
    }
}
