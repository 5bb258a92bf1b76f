/* The JSON reader: every kind of token, what it refuses and with which sentence, and that it never reads past the end.
 */
#include "support.h"

#include "base/json.h"

static void note(char *notes, size_t capacity, const char *format, ...)
{
    size_t length = strlen(notes);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(notes + length, capacity - length, format, arguments);
    va_end(arguments);
}

static void note_token(char *notes, size_t capacity, const json_token *token)
{
    static const char *const names[] = {"END", "NULL", "FALSE", "TRUE", "", "", "{", "}", "[", "]"};
    if (notes[0]) note(notes, capacity, " ");
    if (token->key.bytes) note(notes, capacity, "%.*s:", (int)token->key.length, token->key.bytes);
    if (token->kind == JSON_KIND_NUMBER)
        note(notes, capacity, "%.17g", token->number);
    else if (token->kind == JSON_KIND_TEXT)
        note(notes, capacity, "'%.*s'", (int)token->text.length, token->text.bytes);
    else
        note(notes, capacity, "%s", names[token->kind]);
}

/* All tokens up to END, or the sentence that says why there is none. */
static const char *walk_bytes(const char *bytes, size_t size)
{
    static char notes[4096];
    memory owner = {0};
    json_room room = {.owner = &owner};
    json_reader reader = json_start(bytes, size, &room);
    json_token token;
    notes[0] = 0;
    do {
        if (json_next(&reader, &token, &last_error)) {
            assert_int_equal(last_error.status, EE_BAD_INPUT);
            assert_int_equal(json_next(&reader, &token, NULL), EE_BAD_INPUT); /* and stays so */
            snprintf(notes, sizeof notes, "%s", last_error.message);
            break;
        }
        note_token(notes, sizeof notes, &token);
    } while (token.kind != JSON_KIND_END);
    memory_release(&owner);
    return notes;
}

static const char *walk(const char *text)
{
    return walk_bytes(text, strlen(text));
}

TEST(every_kind_of_token)
{
    assert_string_equal(walk("{\"a\": [1, true], \"b\": \"x\"}"), "{ a:[ 1 TRUE ] b:'x' } END");
    assert_string_equal(walk("null"), "NULL END");
    assert_string_equal(walk(" \t\r\n-0.5e1 \t\r\n"), "-5 END");
    assert_string_equal(walk("\"\""), "'' END");
    assert_string_equal(walk("[]"), "[ ] END");
    assert_string_equal(walk("[ ]"), "[ ] END");
    assert_string_equal(walk("{}"), "{ } END");
    assert_string_equal(walk("{ }"), "{ } END");
    assert_string_equal(walk("{\"\":{\"\" : [ [ ] , { } , false]}}"), "{ :{ :[ [ ] { } FALSE ] } } END");
    assert_string_equal(walk("{\"a\":1,\"a\":2}"), "{ a:1 a:2 } END"); /* a key may stand twice */
    assert_string_equal(walk("[0,\"a long text without anything odd\",1]"),
                        "[ 0 'a long text without anything odd' 1 ] END");
    /* What is no value has no key. */
    static const char text[] = "{\"a\":[1]}";
    json_reader reader = json_start(text, sizeof text - 1, NULL);
    json_token token;
    const bool has_key[] = {false, true, false, false, false, false, false};
    for (size_t i = 0; i < sizeof has_key; i++) { /* END comes as often as one asks */
        ok(json_next(&reader, &token, NULL));
        assert_true((token.key.bytes != NULL) == has_key[i]);
    }
    assert_int_equal(token.kind, JSON_KIND_END);
}

TEST(all_escapes)
{
    assert_string_equal(walk("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), "'\"\\/\b\f\n\r\t' END");
    assert_string_equal(walk("\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00.\""),
                        "'A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80.' END");
    assert_string_equal(walk("\"\\udbff\\udfff\\ud800\\udc00\""), "'\xf4\x8f\xbf\xbf\xf0\x90\x80\x80' END");
    assert_string_equal(walk("\"\\u007f\\u0080\\u07ff\\u0800\\uffff\""),
                        "'\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf' END");
    assert_string_equal(walk("{\"\\u006b\":\"\\u0078\",\"k\\n\":\"t\\t\"}"), "{ k:'x' k\n:'t\t' } END");
    assert_string_equal(walk("\"much that is plain, \xc3\xa9, \\n, \xe2\x82\xac, and more that is plain\""),
                        "'much that is plain, \xc3\xa9, \n, \xe2\x82\xac, and more that is plain' END");
    assert_string_equal(walk("[\"\\\\\",\"\\\"\"]"), "[ '\\' '\"' ] END");
    json_room room = {0};
    json_reader reader = json_start("\"a\\u0000b\"", 10, &room);
    json_token token;
    ok(json_next(&reader, &token, NULL));
    assert_int_equal(token.text.length, 3);
    assert_memory_equal(token.text.bytes, "a\0b", 3);
    memory_free(room.text);
}

TEST(wrong_escapes_are_refused)
{
    static const char *const escapes[] = {"\\x", "\\U0041", "\\", "\\'", "\\\n"};
    static const char *const codes[] = {"\\u",     "\\u12",         "\\u123",  "\\u123g",
                                        "\\u`123", "\\u12\xc3\xa9", "\\u 123", "\\u+123"};
    static const char *const halves[] = {"\\ud800",        "\\udbff.",     "\\udc00",
                                         "\\udfff\\ud800", "\\ud800\\n",   "\\ud800\\ud800",
                                         "\\ud800\\u0041", "\\ud800u0041", "\\ud800\\u12"};
    char text[32];
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        snprintf(text, sizeof text, "\"ab%s\"", codes[i]);
        assert_string_equal(walk(text), "invalid JSON at byte 6: expected four hexadecimal digits after \\u");
    }
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        snprintf(text, sizeof text, "\"ab%s\"", halves[i]);
        assert_string_equal(walk(text), "invalid JSON at byte 6: unpaired surrogate");
    }
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        snprintf(text, sizeof text, "\"ab%s\"", escapes[i]);
        const char *expected = strlen(escapes[i]) == 1 ? "invalid JSON at byte 6: unexpected end of input"
                                                       : "invalid JSON at byte 4: invalid escape";
        assert_string_equal(walk(text), expected);
    }
    json_reader reader = json_start("[\"a\",\"\\n\"]", 10, NULL);
    json_token token;
    ok(json_next(&reader, &token, NULL));
    ok(json_next(&reader, &token, NULL));
    refuses(json_next(&reader, &token, &last_error), "invalid JSON at byte 7: escapes are not allowed here");
}

TEST(control_characters_and_wrong_utf8_are_refused)
{
    for (int byte = 0; byte < 256; byte++) {
        for (size_t place = 0; place < 20; place++) {
            char text[24] = "\"....................\"", expected[64];
            text[1 + place] = (char)byte;
            snprintf(expected, sizeof expected, "invalid JSON at byte %zu: unescaped control character", place + 2);
            const char *got = walk_bytes(text, 22);
            assert_int_equal(strcmp(got, expected) == 0, byte < ' ');
            assert_int_equal(strstr(got, "invalid UTF-8") != NULL, byte >= 0x80);
        }
    }
    /* Every lead with every second byte, and the borders of the third and fourth, against the table of the standard. */
    static const unsigned char tails[] = {0x7f, 0x80, 0xbf, 0xc0};
    for (unsigned first = 0x80; first < 0x100; first++) {
        for (unsigned second = 0x20; second < 0x100; second++) {
            size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
            for (size_t tail = 0; tail < (length < 3 ? 1 : sizeof tails * sizeof tails); tail++) {
                unsigned third = tails[tail / sizeof tails], fourth = tails[tail % sizeof tails];
                unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
                unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
                bool good = length > 0 && second >= low && second <= high;
                good = good && (length < 3 || (third & 0xc0) == 0x80) && (length < 4 || (fourth & 0xc0) == 0x80);
                char text[] = {'"', (char)first, (char)second, (char)third, (char)fourth, '"'};
                if (length > 0) text[1 + length] = '"';
                json_token token;
                json_reader reader = json_start(text, length > 0 ? length + 2 : 6, NULL);
                assert_int_equal(json_next(&reader, &token, NULL), good ? EE_OK : EE_BAD_INPUT);
                if (good) assert_int_equal(token.text.length, length);
            }
        }
    }
    assert_string_equal(walk("\"\\n\xc3\x28\""), "invalid JSON at byte 4: invalid UTF-8");
    assert_string_equal(walk("\"\xe2\x82\""), "invalid JSON at byte 2: invalid UTF-8");
}

TEST(each_mistake_has_its_sentence)
{
    static const char cut[] = "unexpected end of input", value[] = "expected a value";
    static const struct {
        const char *text;
        size_t byte;
        const char *sentence;
    } cases[] = {
        {"", 1, cut},
        {"  ", 3, cut},
        {"[1", 3, cut},
        {"{\"a\"", 5, cut},
        {"{\"a\":", 6, cut},
        {"{\"a\":1,", 8, cut},
        {"\"abc", 5, cut},
        {"1 2", 3, "unexpected text after the value"},
        {"{}x", 3, "unexpected text after the value"},
        {"01", 2, "unexpected text after the value"},
        {"[1 2]", 4, "expected ',' or ']'"},
        {"[01]", 3, "expected ',' or ']'"},
        {"[1}", 3, "expected ',' or ']'"},
        {"{\"a\":1]", 7, "expected ',' or '}'"},
        {"{\"a\":1 \"b\":2}", 8, "expected ',' or '}'"},
        {"[1,]", 4, value},
        {"[,1]", 2, value},
        {"]", 1, value},
        {"{\"a\":}", 6, value},
        {"tru", 1, value},
        {"True", 1, value},
        {"nul]", 1, value},
        {"NaN", 1, value},
        {"+1", 1, value},
        {".5", 1, value},
        {"'a'", 1, value},
        {"\xef\xbb\xbf{}", 1, value},
        {"{1:2}", 2, "expected a key in double quotes"},
        {"{\"a\":1,}", 8, "expected a key in double quotes"},
        {"{\"a\" 1}", 6, "expected ':'"},
        {"-", 2, "expected a digit"},
        {"[1.]", 4, "expected a digit"},
        {"[1e+]", 5, "expected a digit"},
        {"[1,-1e309]", 4, "number beyond the range of a double"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[128];
        snprintf(expected, sizeof expected, "invalid JSON at byte %zu: %s", cases[i].byte, cases[i].sentence);
        assert_string_equal(walk(cases[i].text), expected);
    }
}

static const char sample[] =
    " {\"event\\u0049d\": \"\\u00e9\\ud83d\\ude00 x\", \"caf\xc3\xa9\": [0.25, -1e-7, 12345678901234567890, {\"k\": "
    "null}],\n"
    "\"t\": true, \"f\": false, \"long enough for eight bytes at once\": \"\xe2\x82\xac and so on\"}";

TEST(a_cut_gives_an_error_and_reads_nothing_behind)
{
    for (size_t length = 0; length < sizeof sample; length++) {
        RELEASED_BY(guard_free) guard g;
        char *bytes = guard_end_bytes(&g, length);
        memcpy(bytes, sample, length);
        const char *got = walk_bytes(bytes, length);
        assert_int_equal(strstr(got, "} END") != NULL, length == sizeof sample - 1);
    }
    /* Depth is bounded. */
    static char text[100000];
    for (size_t i = 0; i < JSON_DEPTH; i++) {
        text[i] = '[';
        text[2 * JSON_DEPTH - 1 - i] = ']';
    }
    assert_non_null(strstr(walk(text), "] END"));
    memset(text, '[', sizeof text);
    assert_string_equal(walk_bytes(text, sizeof text), "invalid JSON at byte 65: nested too deeply");
    for (size_t i = 0; i + 5 <= sizeof text; i += 5) memcpy(text + i, "{\"a\":", 5);
    assert_string_equal(walk_bytes(text, sizeof text), "invalid JSON at byte 321: nested too deeply");
}

TEST(skip_gives_the_bytes_of_a_value)
{
    static const struct {
        const char *key, *span;
    } members[] = {
        {"n", "-1.5e3"}, {"t", "\"a \\\" b\""}, {"u", "null"}, {"o", "{\"a\" : [1, {}] }"},
        {"a", "[ ]"},    {"e", "[[[]],\"]\"]"},
    };
    static const char text[] = "{ \"n\" : -1.5e3 , \"t\":\"a \\\" b\",\"u\":null, \"o\" : {\"a\" : [1, {}] } ,\"a\":[ "
                               "],\"e\":[[[]],\"]\"] }  ";
    RELEASED_BY(memory_release) memory owner = {0};
    json_room room = {.owner = &owner};
    json_reader reader = json_start(text, sizeof text - 1, &room);
    json_token token;
    json_text span;
    ok(json_next(&reader, &token, NULL));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        ok(json_next(&reader, &token, NULL));
        assert_true(json_is(token.key, members[i].key));
        ok(json_skip(&reader, &token, &span, NULL));
        assert_true(json_is(span, members[i].span));
    }
    ok(json_next(&reader, &token, NULL));
    assert_int_equal(token.kind, JSON_KIND_OBJECT_END);
    ok(json_next(&reader, &token, NULL));
    assert_int_equal(token.kind, JSON_KIND_END);
    reader = json_start(text, sizeof text - 1, &room);
    ok(json_next(&reader, &token, NULL));
    ok(json_skip(&reader, &token, &span, NULL));
    assert_int_equal(span.length, sizeof text - 1 - 2);
    static const char wrong[] = "[[1,{\"a\":tru}],2]"; /* what is passed is checked */
    reader = json_start(wrong, sizeof wrong - 1, NULL);
    ok(json_next(&reader, &token, NULL));
    ok(json_next(&reader, &token, NULL));
    refuses(json_skip(&reader, &token, NULL, &last_error), "invalid JSON at byte 10: expected a value");
    json_text word = {"wordy", 4}; /* and words are compared whole */
    assert_true(json_is(word, "word") && !json_is(word, "wordy") && !json_is(word, "wor"));
    assert_true(!json_is(word, "worm") && json_is((json_text){"", 0}, ""));
}

TEST(quoted_text_reads_back)
{
    char bytes[160 + 9], quoted[1024];
    for (int i = 0; i < 128; i++) bytes[i] = (char)i;
    memcpy(bytes + 128, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9);
    json_text text = {bytes, 137};
    size_t length = json_quote(text, quoted, sizeof quoted);
    assert_true(length < sizeof quoted);
    json_room room = {0};
    json_token token;
    RELEASED_BY(guard_free) guard g;
    char *exact = guard_end_bytes(&g, length);
    assert_int_equal(json_quote(text, exact, length), length);
    assert_memory_equal(exact, quoted, length);
    json_reader reader = json_start(exact, length, &room);
    ok(json_next(&reader, &token, NULL));
    assert_int_equal(token.text.length, text.length);
    assert_memory_equal(token.text.bytes, text.bytes, text.length);
    ok(json_next(&reader, &token, NULL));
    memory_free(room.text);
    char out[8] = "#######"; /* one that does not fit is cut, and counted */
    assert_int_equal(json_quote((json_text){"a\"\x01", 3}, out, 5), 11);
    assert_string_equal(out, "\"a\\\"\\##");
    assert_int_equal(json_quote((json_text){"", 0}, NULL, 0), 2);
}

static void *no_room(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return NULL;
}

TEST(no_memory_is_said)
{
    memory owner = {.allocator = {.allocate = no_room}};
    json_room room = {.owner = &owner};
    json_token token;
    json_reader reader = json_start("{\"\\n\":1}", 8, &room);
    ok(json_next(&reader, &token, NULL));
    assert_int_equal(json_next(&reader, &token, NULL), EE_NO_MEMORY);
    reader = json_start("\"\\n\"", 4, &room);
    assert_int_equal(json_next(&reader, &token, NULL), EE_NO_MEMORY);
}
