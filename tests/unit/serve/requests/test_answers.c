/* Answers, ids and checksums. */
#include "base/checksum.h"
#include "serve/http/http.h"
#include "serve/requests/answers.h"
#include "serve/requests/decision_ids.h"
#include "support.h"

static void assert_answer(text *answer, const char *words)
{
    ok(answer->status);
    assert_string_equal(answer->bytes, words);
    memory_free(answer->bytes);
    *answer = text_start(NULL);
}

TEST(decisions_are_answered_exactly)
{
    const double probabilities[] = {0.05, 1.0 / 3, 0, 0.61666666666666670};
    const json_text names[] = {words("a"), words("b\"\n"), words("c"), words("d")};
    decision_body body = {.count = 4, .action = 1, .version = 17, .probabilities = probabilities, .names = names};
    text answer = text_start(NULL);
    answer_decision(&answer, words("x1"), &body);
    assert_answer(&answer, "{\"id\":\"x1\",\"action\":\"b\\\"\\n\",\"index\":1,\"probability\":0.3333333333333333,"
                           "\"probabilities\":[0.05,0.3333333333333333,0,0.6166666666666667],\"version\":17}");
    body.names = NULL;
    body.count = 2;
    answer_decision(&answer, words("x\xc3\xa4"), &body);
    assert_answer(&answer, "{\"id\":\"x\xc3\xa4\",\"action\":\"1\",\"index\":1,\"probability\":0.3333333333333333,"
                           "\"probabilities\":[0.05,0.3333333333333333],\"version\":17}");
}

TEST(rewards_and_errors_are_answered)
{
    text answer = text_start(NULL);
    answer_reward(&answer, REWARD_JOINED, false);
    assert_answer(&answer, "{\"outcome\":\"joined\"}");
    answer_reward(&answer, REWARD_LATE, true);
    assert_answer(&answer, "{\"outcome\":\"late\",\"repeated\":true}");
    http_error(&answer, "BadRequest", "no \"id\"");
    assert_answer(&answer, "{\"error\":{\"code\":\"BadRequest\",\"message\":\"no \\\"id\\\"\"}}");
    http_error(&answer, "BadRequest", "caf\xc3\xa9");
    assert_answer(&answer, "{\"error\":{\"code\":\"BadRequest\",\"message\":\"caf\xc3\xa9\"}}");
    http_error(&answer, "BadRequest", "caf\xc3");
    assert_answer(&answer, "{\"error\":{\"code\":\"BadRequest\",\"message\":\"caf?\"}}");
}

TEST(ids_grow_with_time_and_differ)
{
    enum { COUNT = 2000 };
    static char ids[COUNT][DECISION_ID_SIZE];
    decision_ids maker;
    ee_error error;
    decision_ids_start(&maker);
    for (int i = 0; i < COUNT; i++) ok(decision_ids_make(&maker, 1700000000000000 + 1000 * (int64_t)i, ids[i], &error));
    decision_ids_stop(&maker);
    assert_memory_equal(ids[0], "018bcfe56800", 12);
    for (int i = 1; i < COUNT; i++) {
        assert_true(memcmp(ids[i - 1], ids[i], DECISION_ID_SIZE) < 0);
        assert_memory_not_equal(ids[i - 1] + 12, ids[i] + 12, 20);
        for (int k = 0; k < DECISION_ID_SIZE; k++) assert_non_null(strchr("0123456789abcdef", ids[i][k]));
    }
}

static int bits_that_differ(const uint64_t a[2], const uint64_t b[2])
{
    return __builtin_popcountll(a[0] ^ b[0]) + __builtin_popcountll(a[1] ^ b[1]);
}

/* Every bit of a request changes about half of the bits of its checksum, and so does its length. */
TEST(checksums_depend_on_every_bit)
{
    enum { MOST = 70 };
    char bytes[MOST + 1] = {0};
    uint64_t whole[2], other[2];
    for (size_t length = 0; length <= MOST; length++) {
        checksum_128(bytes, length, whole);
        for (size_t bit = 0; bit < 8 * length; bit++) {
            bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
            checksum_128(bytes, length, other);
            bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
            assert_in_range(bits_that_differ(whole, other), 32, 96);
            assert_true(whole[0] != other[0] && whole[1] != other[1]);
        }
        checksum_128(bytes, length + 1 <= MOST ? length + 1 : 0, other);
        assert_in_range(bits_that_differ(whole, other), 32, 96);
    }
}

/* The stored checksums of a log are compared with those of requests that come later: they never change. */
TEST(checksums_stay_as_they_are)
{
    uint64_t sum[2];
    json_text request = words("{\"id\":\"a1\",\"actions\":[[1,2,3],[4,5,6]]}");
    checksum_128(request.bytes, request.length, sum);
    assert_int_equal(sum[0], 0xf4950772d401918a);
    assert_int_equal(sum[1], 0xa89b873e447a8d40);
}
