/* Built twice: as test_system, and as test_system_plain with EENET_PLAIN_SYSTEM, as on a system of POSIX alone. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <unistd.h>

#include "base/system.h"

TEST(cores_are_some_of_the_machines)
{
    assert_in_range(system_cores(), 1, (size_t)sysconf(_SC_NPROCESSORS_ONLN));
#if defined(EENET_PLAIN_SYSTEM)
    assert_int_equal(system_cores(), sysconf(_SC_NPROCESSORS_ONLN));
#endif
}

TEST(large_pages_keep_the_content)
{
    enum { BYTES = 8 << 20, PAGE = 64 << 10 };
    auto_free char *block = NULL;
    assert_int_equal(posix_memalign((void **)&block, PAGE, BYTES), 0);
    memset(block, 7, BYTES);
    system_take_large_pages(block, BYTES);
    for (size_t i = 0; i < BYTES; i++) assert_int_equal(block[i], 7);
}

TEST(processor_fits_its_place)
{
    char name[8], whole[300];
    memset(name, '#', sizeof name);
    system_processor(name, 6);
    assert_true(strlen(name) < 6);
    assert_int_equal(name[6], '#');
    system_processor(whole, sizeof whole);
    assert_memory_equal(whole, name, strlen(name));
#if defined(EENET_PLAIN_SYSTEM)
    assert_string_equal(whole, "");
#elif defined(__x86_64__) && !defined(EENET_EMULATED)
    assert_string_not_equal(whole, "");
#endif
}

TEST(instructions_are_counted_or_there_is_no_counter)
{
    int counter = system_instruction_counter();
#if defined(EENET_PLAIN_SYSTEM)
    assert_int_equal(counter, -1);
#endif
    if (counter < 0) return;
    uint64_t before = 0, after = 0;
    assert_int_equal(read(counter, &before, sizeof before), sizeof before);
    assert_int_equal(read(counter, &after, sizeof after), sizeof after);
    assert_true(after > before);
    close(counter);
}
