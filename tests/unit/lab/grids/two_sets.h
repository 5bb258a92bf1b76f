/* Two small data sets, open while the tests of a file run: TEST_GROUP(open_datasets, close_datasets). */
#ifndef EENET_TEST_TWO_SETS_H
#define EENET_TEST_TWO_SETS_H

#include "data/support_sets.h"

static dataset *datasets[2];

static int open_datasets(void **state)
{
    (void)state;
    datasets[0] = open_data("synthetic:inner,dim=3,arms=2");
    datasets[1] = open_data("synthetic:cosine,dim=3,arms=2");
    return 0;
}

static int close_datasets(void **state)
{
    (void)state;
    dataset_free(datasets[0]);
    dataset_free(datasets[1]);
    return 0;
}

#endif
