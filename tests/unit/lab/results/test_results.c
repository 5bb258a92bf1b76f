#define _POSIX_C_SOURCE 200809L
#include "lab/results/results.h"

#include <float.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/files/npy.h"
#include "data/support_sets.h"
#include "lab/results/curves.h"
#include "lab/runs/host.h"
#include "support_files.h"

static const char *const folder = here.path;
static char log_path[60], curve_path[60];
static dataset *data;
static run_job job;
static run_result result;
static run_report report;

static int set_up(void **state)
{
    folder_enter(state);
    if (dataset_open("synthetic:cosine,dim=3", NULL, &data, NULL)) return -1;
    snprintf(log_path, sizeof log_path, "%s/curves", folder);
    if (mkdir(log_path, 0777)) return -1;
    snprintf(curve_path, sizeof curve_path, "%s/curves/a.npy", folder);
    snprintf(log_path, sizeof log_path, "%s/results.jsonl", folder);
    job = (run_job){.data = data, .policy = "eenet:paper", .seed = 7, .rounds = 2000};
    result = (run_result){.finished = true,
                          .rounds = 2000,
                          .optimal = 500,
                          .regret = 0.1,
                          .reward = -1e-7,
                          .seconds = 1.0 / 3.0,
                          .bytes = 4096};
    report = (run_report){.job = &job, .result = &result, .options = "a=1 b=ring:5"};
    return 0;
}

static int tear_down(void **state)
{
    dataset_free(data);
    return folder_leave(state);
}

/* The run of a line that was written as a whole; written again, it is the same line. */
static stored_run read_back(const char *line, size_t length)
{
    char again[8192];
    stored_run run = {0};
    ok(results_parse(line, length, 1, &run, NULL));
    assert_int_equal(results_format(&run, again, sizeof again), length);
    assert_string_equal(again, line);
    return run;
}

static void write_log(const char *text, const char *mode)
{
    FILE *file = fopen(log_path, mode);
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static size_t format_line(const char *curve, size_t row, char *line, size_t capacity)
{
    stored_run run = results_of_report(&report);
    run.curve = curve;
    run.curve_row = row;
    return results_format(&run, line, capacity);
}

TEST_WITH(a_line_has_it_all, set_up, tear_down)
{
    char expected[1024], line[1024];
    result.marks[RUN_PARTS - 1] = 0.1;
    snprintf(expected, sizeof expected,
             "{\"dataset\":\"synthetic:cosine,dim=3\",\"fingerprint\":\"0000000000000000\",\"dim\":3,\"arms\":10,"
             "\"policy\":\"eenet:paper\",\"options\":\"a=1 b=ring:5\",\"seed\":7,\"rounds\":2000,\"tuning\":false,"
             "\"regret\":0.1,\"reward\":-1e-07,\"optimal\":0.25,\"seconds\":0.3333333333333333,\"bytes\":4096,"
             "\"marks\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0.1],\"curve\":\"a.npy\",\"row\":3,"
             "\"machine\":\"%s\",\"version\":\"%s\",\"kernels\":\"%s\"}\n",
             host_describe(), ee_version(), ee_kernels());
    assert_int_equal(format_line("a.npy", 3, line, sizeof line), strlen(expected));
    assert_string_equal(line, expected);
}

/* Whatever the texts hold, a line is one line, and a reader gets back what was put in. */
TEST_WITH(odd_characters_are_escaped, set_up, tear_down)
{
    static const char odd[] = "a\"b\\c\nd\te\x01"
                              "f";
    char line[1024];
    report.options = odd;
    size_t length = format_line(NULL, 0, line, sizeof line);
    assert_true(strchr(line, '\n') == line + length - 1);
    RELEASED_BY(results_release_run) stored_run run = read_back(line, length);
    assert_string_equal(run.options, odd);
    assert_null(run.curve);
}

/* At every capacity: the length of the whole line, what fits of it, nothing past the end. */
TEST_WITH(short_buffers, set_up, tear_down)
{
    char whole[1024];
    size_t length = format_line("a.npy", 0, whole, sizeof whole);
    assert_int_equal(format_line("a.npy", 0, NULL, 0), length);
    for (size_t capacity = 1; capacity <= length; capacity++) {
        RELEASED_BY(guard_free) guard wall;
        char *line = guard_end_bytes(&wall, capacity);
        assert_int_equal(format_line("a.npy", 0, line, capacity), length);
        assert_int_equal(strlen(line), capacity - 1);
        assert_memory_equal(line, whole, capacity - 1);
    }
}

static void fill_with_odd_numbers(void)
{
    static const double odd[] = {1.0 / 3.0, DBL_MAX, DBL_MIN, 5e-324, 0.1, 1e15, 123456789012345680.0, -2.5, 1e22};
    enum { ODD = sizeof odd / sizeof *odd };
    result.regret = odd[0];
    result.reward = -odd[1];
    result.seconds = odd[3];
    for (size_t i = 0; i < RUN_PARTS; i++) {
        result.marks[i] = odd[i % ODD];
        result.directions[i] = (run_direction){i + 1,
                                               UINT64_C(1) << 60,
                                               i + 3,
                                               i + 4,
                                               i + 5,
                                               odd[i % ODD],
                                               odd[(i + 1) % ODD],
                                               odd[(i + 2) % ODD],
                                               odd[(i + 3) % ODD],
                                               odd[(i + 4) % ODD]};
    }
}

TEST_WITH(a_line_reads_back_the_same, set_up, tear_down)
{
    char line[8192];
    fill_with_odd_numbers();
    job.seed = UINT64_MAX;
    job.tuning = true;
    job.late = (delay){.kind = DELAY_CLICKS, .rounds = 60, .mean = 1.0 / 3.0};
    size_t length = format_line("a.npy", 12, line, sizeof line);
    assert_true(length < sizeof line);
    RELEASED_BY(results_release_run) stored_run run = read_back(line, length);
    assert_string_equal(run.dataset, "synthetic:cosine,dim=3");
    assert_true(run.fingerprint == 0 && run.dim == 3 && run.arms == 10);
    assert_string_equal(run.policy, "eenet:paper");
    assert_string_equal(run.options, "a=1 b=ring:5");
    assert_true(run.seed == UINT64_MAX && run.rounds == 2000 && run.tuning);
    assert_true(delay_same(&run.late, &job.late));
    assert_memory_equal(&run.result, &result, sizeof result);
    assert_string_equal(run.curve, "a.npy");
    assert_int_equal(run.curve_row, 12);
    assert_string_equal(run.version, ee_version());
    assert_string_equal(run.kernels, ee_kernels());
    assert_string_equal(run.machine, host_describe());
}

/* What was played elsewhere, by another version, stays so. */
TEST_WITH(a_line_names_who_played_it, set_up, tear_down)
{
    char line[8192];
    report.machine = "a \"machine\"";
    report.version = "0.0.1";
    report.kernels = "none";
    size_t length = format_line(NULL, 0, line, sizeof line);
    assert_non_null(strstr(line, ",\"machine\":\"a \\\"machine\\\"\",\"version\":\"0.0.1\",\"kernels\":\"none\"}\n"));
    RELEASED_BY(results_release_run) stored_run run = read_back(line, length);
}

/* A path is stored as it was given; lines without one read back without one. */
TEST_WITH(a_line_names_the_source, set_up, tear_down)
{
    char line[8192];
    stored_run written = results_of_report(&report);
    assert_null(written.source); /* synthetic: no files */
    written.source = "table:our \"data\"/people.csv,label=answer";
    size_t length = results_format(&written, line, sizeof line);
    assert_non_null(strstr(line, ",\"source\":\"table:our \\\"data\\\"/people.csv,label=answer\",\"fingerprint\""));
    RELEASED_BY(results_release_run) stored_run run = read_back(line, length);
    assert_string_equal(run.source, written.source);
}

TEST_WITH(the_machine_may_be_missing, set_up, tear_down)
{
    char line[8192];
    size_t length = format_line("a.npy", 12, line, sizeof line);
    char *machine = strstr(line, "\"machine\""), *next = strstr(line, "\"version\"");
    assert_true(length < sizeof line && machine && next > machine);
    memmove(machine, next, strlen(next) + 1);
    RELEASED_BY(results_release_run) stored_run run = read_back(line, strlen(line));
    assert_null(run.machine);
}

/* Every count of optimal rounds survives being written as a share. */
TEST_WITH(shares_are_exact, set_up, tear_down)
{
    const uint64_t rounds[] = {1, 3, 7, 333, 10000, 1000000000000};
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        result.rounds = rounds[i];
        uint64_t step = rounds[i] / 1000 + 1;
        for (result.optimal = 0; result.optimal <= rounds[i]; result.optimal += step) {
            char line[1024];
            RELEASED_BY(results_release_run) stored_run run = {0};
            ok(results_parse(line, format_line(NULL, 0, line, sizeof line), 1, &run, NULL));
            assert_true(run.result.optimal == result.optimal);
        }
    }
}

TEST_WITH(a_folder_reads_back, set_up, tear_down)
{
    char line[1024];
    RELEASED_BY(results_release) stored_runs list = {0};
    assert_int_equal(results_read(folder, &list, &last_error), EE_FILE_ERROR); /* no file */
    ok(results_read_any(folder, &list, &last_error));
    ok(results_read_any("/no/such/folder", &list, &last_error));
    assert_int_equal(list.count, 0);
    write_log("", "w");
    ok(results_read(folder, &list, &last_error));
    assert_int_equal(list.count, 0);
    for (job.seed = 0; job.seed < 3; job.seed++) {
        format_line("a.npy", (size_t)job.seed, line, sizeof line);
        write_log(line, "a");
    }
    line[strlen(line) - 1] = '\0';
    write_log(line, "a"); /* whole but for its end: it is not there */
    ok(results_read_any(folder, &list, &last_error));
    assert_int_equal(list.count, 3);
    for (size_t i = 0; i < 3; i++) assert_true(list.runs[i].seed == i && list.runs[i].curve_row == i);
}

/* A member that is not known is passed over; one that is known must be right. */
TEST_WITH(wrong_lines, set_up, tear_down)
{
    static const char *const cases[][3] = {
        /* what stands in the line, what is put there, what is said */
        {"{", "{\"new\":[1],", NULL},
        {"\"regret\":0.1,", "", "line 2: expected a number in 'regret'"},
        {"\"regret\":0.1", "\"regret\":\"0.1\"", "line 2: expected a number in 'regret'"},
        {"\"seed\":7", "\"seed\":-7", "line 2: expected a whole number in 'seed'"},
        {"\"optimal\":0.25", "\"optimal\":1.5", "line 2: expected a share in 'optimal'"},
        {"\"tuning\":false", "\"tuning\":0", "line 2: expected true or false in 'tuning'"},
        {"\"tuning\":false", "\"tuning\":false,\"delay\":\"0\"", NULL},
        {"\"tuning\":false", "\"tuning\":false,\"delay\":\"geometric:5\"", NULL},
        {"\"tuning\":false", "\"tuning\":false,\"delay\":\"soon\"", "line 2: expected a delay in 'delay'"},
        {"\"tuning\":false", "\"tuning\":false,\"delay\":5", "line 2: expected a delay in 'delay'"},
        {"\"marks\":[0,", "\"marks\":[", "line 2: expected 20 numbers in 'marks'"},
        {"\"curve\":\"a.npy\"", "\"curve\":\"../a.npy\"", "line 2: expected a file name in 'curve'"},
        {"\"curve\":\"a.npy\",", "", "line 2: expected a file name in 'curve'"},
        {"\"arms\":10", "\"arms\":10,\"rows\":0.5", "line 2: expected a whole number in 'rows'"},
        {"\"bytes\":4096", "\"directions\":[[1]],\"bytes\":4096",
         "line 2: expected 20 lists of 10 numbers in 'directions'"},
        {"}\n", "\n", "line 2: invalid JSON at byte "},
        {"{", "[", "line 2: invalid JSON at byte "},
    };
    char line[1024];
    format_line("a.npy", 0, line, sizeof line);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *place = strstr(line, cases[i][0]);
        assert_non_null(place);
        write_log(formatted("%s%.*s%s%s", line, (int)(place - line), line, cases[i][1], place + strlen(cases[i][0])),
                  "w");
        RELEASED_BY(results_release) stored_runs list = {0};
        assert_int_equal(results_read(folder, &list, &last_error), cases[i][2] ? EE_BAD_INPUT : EE_OK);
        if (cases[i][2]) assert_non_null(strstr(last_error.message, cases[i][2]));
        if (cases[i][2]) assert_non_null(strstr(last_error.message, "/results.jsonl: line 2"));
    }
}

enum { ROUNDS = 5 };

static void write_rows(size_t count)
{
    for (size_t row = 0; row < count; row++) {
        double curve[ROUNDS];
        for (size_t i = 0; i < ROUNDS; i++) curve[i] = (double)(10 * row + i);
        ok(curves_write(curve_path, row, curve, 1, ROUNDS, NULL));
    }
}

/* The file as any reader of .npy sees it. */
static void assert_rows(size_t count)
{
    RELEASED_BY(npy_release) npy_array array;
    ok(npy_read(curve_path, &array, NULL));
    assert_true(array.type == NPY_FLOAT64 && array.rank == 2 && array.shape[0] == count && array.shape[1] == ROUNDS);
    for (size_t i = 0; i < array.count; i++)
        assert_true(npy_real(&array, i) == (double)(10 * (i / ROUNDS) + i % ROUNDS));
}

TEST_WITH(curves_grow_and_are_cut, set_up, tear_down)
{
    for (size_t count = 1; count <= 12; count++) { /* of one digit, and of two */
        write_rows(count);
        assert_rows(count);
    }
    FILE *file = fopen(curve_path, "a");
    fputs("half a row", file);
    fclose(file);
    ok(curves_cut(curve_path, 12, ROUNDS, NULL));
    assert_rows(12);
    ok(curves_cut(curve_path, 3, ROUNDS, NULL));
    assert_rows(3);
    ok(curves_cut(curve_path, 4, ROUNDS, NULL)); /* it has fewer */
    ok(curves_cut(curve_path, 3, ROUNDS + 1, NULL));
    assert_rows(3);
}

TEST_WITH(curves_of_runs, set_up, tear_down)
{
    double curve[ROUNDS];
    write_rows(3);
    stored_run run = {.rounds = ROUNDS, .curve = (char[]){"a.npy"}, .curve_row = 1, .result = {.regret = 14.0}};
    ok(results_curve(folder, &run, curve, NULL));
    for (size_t i = 0; i < ROUNDS; i++) assert_true(curve[i] == (double)(10 + i));
    run.result.regret = 13.0; /* the curve of another run */
    fails_saying(results_curve(folder, &run, curve, &last_error), EE_BAD_INPUT,
                 "curves/a.npy is missing or damaged; repeat the command that made it");
    run.result.regret = 4.0;
    run.curve_row = 3;
    assert_int_equal(results_curve(folder, &run, curve, &last_error), EE_BAD_INPUT);
    run.curve_row = 0;
    run.rounds = 4;
    assert_int_equal(results_curve(folder, &run, curve, &last_error), EE_BAD_INPUT);
    run.rounds = ROUNDS;
    assert_int_equal(truncate(curve_path, 128 + 2), 0);
    assert_int_equal(results_curve(folder, &run, curve, &last_error), EE_BAD_INPUT);
    assert_int_equal(unlink(curve_path), 0);
    assert_int_equal(results_curve(folder, &run, curve, &last_error), EE_BAD_INPUT);
}
