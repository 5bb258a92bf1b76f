#include "data/sets/rounds_file.h"

#include "data/support_sets.h"
#include "support.h"

static ee_status parse(const char *content, rounds_file *out, ee_error *error)
{
    RELEASED_BY(guard_free) guard wall;
    size_t size = strlen(content);
    uint8_t *bytes = guard_end_bytes(&wall, size);
    memcpy(bytes, content, size);
    ee_status status = rounds_file_parse(bytes, size, "rounds.json", NULL, out, error);
    return status;
}

TEST(what_is_written_reads_back)
{
    rounds_file from = {.dataset = "table:a \"b\"\n,label=c", .fingerprint = UINT64_MAX, .seed = INT64_MAX};
    from.rounds = 10000, from.arms = 10, from.dim = 4294967295, from.blocks = 5, from.exclusive = true,
    from.form = ROUNDS_SPARSE;
    from.listed[ROUNDS_STARTS] = from.listed[ROUNDS_REWARDS] = true;
    from.checksums[ROUNDS_STARTS] = 0x0123456789abcdef;
    text page = text_start(NULL);
    ok(rounds_file_check(&from, NULL));
    rounds_file_format(&from, &page);
    ok(page.status);
    rounds_file back;
    ok(parse(page.bytes, &back, NULL));
    assert_memory_equal(&back, &from, sizeof from);
    memory_free(page.bytes);
}

TEST(nothing_need_be_said)
{
    rounds_file empty = {.form = ROUNDS_UNSAID}, got;
    ok(parse("{}", &got, NULL));
    assert_memory_equal(&got, &empty, sizeof got);
    ok(parse("{\"author\": [1, null], \"files\": {\"notes.txt\": 3}}", &got, NULL));
    assert_memory_equal(&got, &empty, sizeof got);
}

TEST(what_is_said_is_checked)
{
    static const char *const cases[][2] = {
        {"[]", "rounds: rounds.json: expected a JSON object"},
        {"{\"format\": 2}", "rounds: rounds.json: format must be 1, the only format that this version reads"},
        {"{\"rounds\": -1}", "rounds: rounds.json: rounds must be a whole number, 0 or more"},
        {"{\"arms\": \"ten\"}", "rounds: rounds.json: arms must be a whole number, 0 or more"},
        {"{\"seed\": 0.5}", "rounds: rounds.json: seed must be a whole number, 0 or more"},
        {"{\"blocks\": -1}", "rounds: rounds.json: blocks must be a whole number, 0 or more"},
        {"{\"exclusive\": 1}", "rounds: rounds.json: exclusive must be true or false"},
        {"{\"dim\": 4294967296}", "rounds: rounds.json: dim must be below 2^32"},
        {"{\"form\": \"thick\"}", "rounds: rounds.json: form must be \"dense\" or \"sparse\""},
        {"{\"form\": 1}", "rounds: rounds.json: form must be \"dense\" or \"sparse\""},
        {"{\"dataset\": 7}", "rounds: rounds.json: dataset must be a name shorter than 1024 bytes"},
        {"{\"fingerprint\": 7}", "rounds: rounds.json: fingerprint must be 16 hexadecimal digits in lower case"},
        {"{\"files\": 1}", "rounds: rounds.json: files must be an object of file names and checksums"},
        {"{\"files\": {\"starts.npy\": \"0123456789ABCDEF\"}}",
         "rounds: rounds.json: starts.npy must be 16 hexadecimal digits in lower case"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rounds_file got;
        refuses(parse(cases[i][0], &got, &last_error), cases[i][1]);
    }
    static const char *const malformed[] = {"", "{", "{\"arms\": 1, \"arms\": 1}", "{} {}", "{\"dataset\": \"\xff\"}"};
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        rounds_file got;
        fails_saying(parse(malformed[i], &got, &last_error), EE_BAD_INPUT, "rounds: rounds.json: ");
    }
}

TEST(what_json_cannot_say)
{
    rounds_file from = {.dataset = "table:\xff"};
    refuses(rounds_file_check(&from, &last_error), "rounds: the data set's name is not UTF-8");
    from = (rounds_file){.seed = (uint64_t)1 << 63};
    refuses(rounds_file_check(&from, &last_error), "rounds: the seed must be below 2^63");
}
