/* The main of every unit test that has none: see TEST in support.h. */
#include "support.h"

int main(int argc, char **argv)
{
    return test_run(argc > 1 ? argv[1] : NULL);
}
