/* How bandits are spread over the servers of a fleet. */
#include <math.h>

#include "serve/fleet/balance.h"
#include "support.h"

enum { LONG_AGO = 0, NOW = 100000000 };

static holding held(uint32_t bandit, double rate)
{
    return (holding){.bandit = bandit, .state = HOLDING_HELD, .since = LONG_AGO, .rate = rate};
}

TEST(one_bandit_moves_or_none)
{
    const holding recent = {.bandit = 1, .state = HOLDING_HELD, .since = NOW - 1000000};
    const holding asked = {.bandit = 2, .state = HOLDING_HELD, .since = LONG_AGO, .asked = true};
    const holding left = {.bandit = 4, .state = HOLDING_LEFT, .since = LONG_AGO};
    const struct {
        const char *name;
        balance_server servers[3];
        holding holdings[4]; /* of bandit 0: the leader's lease */
        uint32_t chosen;
        uint64_t to;
    } cases[] = {
        {"an empty server gets bandits",
         {{1, 4, true}, {2, 0, false}},
         {held(1, 0), held(2, 0), held(3, 0), held(4, 0)},
         1,
         2},
        {"990 apart: 480 is nearest to a half",
         {{1, 10, false}, {2, 1000, true}, {3, 400, false}},
         {held(1, 900), held(2, 480), held(3, 20), held(0, 0)},
         2,
         1},
        {"one hot bandit stays",
         {{1, 5001, true}, {2, 0, false}},
         {held(1, 5000), held(0, 0), held(0, 0), held(0, 0)},
         0,
         0},
        {"even servers keep what they have",
         {{1, 110, true}, {2, 100, false}},
         {held(1, 4), held(2, 106), held(0, 0), held(0, 0)},
         0,
         0},
        {"only the one with the most gives",
         {{1, 100, true}, {2, 200, false}, {3, 0, false}},
         {held(1, 50), held(2, 48), held(0, 0), held(0, 0)},
         0,
         0},
        {"what came recently or was asked stays",
         {{1, 4, true}, {2, 0, false}},
         {recent, asked, held(0, 0), held(4, 0)},
         4,
         2},
        {"what is moving stays", {{1, 4, true}, {2, 0, false}}, {recent, asked, held(0, 0), left}, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        holding holdings[4];
        uint64_t to = 0;
        memcpy(holdings, cases[i].holdings, sizeof holdings);
        const holding *chosen =
            balance_choose(cases[i].servers, cases[i].servers[2].number ? 3 : 2, holdings, 4, NOW, &to);
        if ((chosen ? chosen->bandit : 0) != cases[i].chosen || (chosen && to != cases[i].to))
            fail_msg("%s", cases[i].name);
    }
}

/* Whatever the loads are, moves end, and no server has more than it must. */
TEST(moves_end_with_even_loads)
{
    enum { SERVERS = 5, BANDITS = 40 };
    holding all[SERVERS][BANDITS];
    size_t counts[SERVERS] = {BANDITS};
    double heaviest = 0, sum = 0;
    for (uint32_t i = 0; i < BANDITS; i++) {
        all[0][i] = held(i + 1, (double)((i * 37 + 11) % 100));
        heaviest = fmax(heaviest, BALANCE_IDLE + all[0][i].rate);
        sum += BALANCE_IDLE + all[0][i].rate;
    }
    size_t moves = 0;
    for (bool moved = true; moved && moves < 1000;) {
        moved = false;
        for (size_t me = 0; me < SERVERS; me++) {
            balance_server servers[SERVERS];
            for (size_t i = 0; i < SERVERS; i++) {
                servers[i] = (balance_server){i + 1, 0, i == me};
                for (size_t k = 0; k < counts[i]; k++) servers[i].weight += BALANCE_IDLE + all[i][k].rate;
            }
            uint64_t to;
            holding *chosen = balance_choose(servers, SERVERS, all[me], counts[me], NOW, &to);
            if (!chosen) continue;
            all[to - 1][counts[to - 1]++] = *chosen;
            *chosen = all[me][--counts[me]];
            moved = true;
            moves++;
        }
    }
    assert_true(moves < 100);
    for (size_t i = 0; i < SERVERS; i++) {
        double weight = 0;
        for (size_t k = 0; k < counts[i]; k++) weight += BALANCE_IDLE + all[i][k].rate;
        assert_true(weight <= sum / SERVERS + heaviest);
        assert_true(weight >= sum / SERVERS * 0.7);
    }
}

TEST(states_are_read_back)
{
    char written[SERVER_STATE_SIZE];
    bool draining = true;
    double lag;
    fleet_wishes wishes = {{7, UINT32_MAX}, 2}, read;
    balance_write_state(written, 12.5, 0.25, 3, false, &wishes);
    assert_true(balance_read_state(written, &lag, &draining, &read) == 12.5);
    assert_true(lag == 0.25);
    assert_false(draining);
    assert_int_equal(read.count, 2);
    assert_int_equal(read.bandits[0], 7);
    assert_int_equal(read.bandits[1], UINT32_MAX);
    wishes.count = MOST_WANTED;
    for (size_t i = 0; i < MOST_WANTED; i++) wishes.bandits[i] = UINT32_MAX - (uint32_t)i;
    balance_write_state(written, 1e15, 1e9, 1000000, true, &wishes);
    assert_true(balance_read_state(written, &lag, &draining, &read) == 1e15);
    assert_true(lag == 1e9);
    assert_true(draining);
    assert_memory_equal(&read, &wishes, sizeof read);
    assert_true(balance_read_state("", &lag, &draining, &read) == 0);
    assert_true(lag == 0);
    assert_false(draining);
    assert_int_equal(read.count, 0);
}

TEST(versions_are_compared_by_their_numbers)
{
    assert_true(balance_compare_versions("1.10.0", "1.9.3") > 0);
    assert_true(balance_compare_versions("1.9.3", "1.10.0") < 0);
    assert_true(balance_compare_versions("2.0", "1.99.99") > 0);
    assert_int_equal(balance_compare_versions("1.2.3", "1.2.3"), 0);
    assert_true(balance_compare_versions("1.2.3", "") > 0);
}
