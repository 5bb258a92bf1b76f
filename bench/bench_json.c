/* Reading JSON: all values of a document, by the reader, and as a tree of them. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/random.h"
#include "bench_report.h"
#include "data/files/source.h"
#include "data/values/json_tree.h"

enum { ARMS = 10, NUMBERS = 100, EVENTS = 500, BYTES_AT_ONCE = 1 << 20 };
static const double SECONDS = 0.5;

/* Documents, each on a line of its own, which ends with a newline. */
typedef struct lines {
    const char *name;
    char *bytes;
    size_t size, capacity;
} lines;

static ee_status append(lines *to, const void *bytes, size_t size, ee_error *error)
{
    ee_status status = memory_grow(NULL, &to->bytes, &to->capacity, to->size + size, 1, error);
    if (status) return status;
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    return EE_OK;
}

static ee_status append_text(lines *to, const char *text, ee_error *error)
{
    return append(to, text, strlen(text), error);
}

/* ---- what is read ---- */

static ee_status make_request(lines *to, const bench_request *request, ee_error *error)
{
    (void)request;
    return append_text(
        to,
        "{\"contextFeatures\":[{\"timeOfDay\":\"morning\",\"device\":\"mobile\"},{\"location\":{\"country\":\"de\","
        "\"city\":\"Berlin\"},\"age\":31}],\"actions\":[{\"id\":\"pasta\",\"features\":[{\"taste\":\"salty\","
        "\"spiceLevel\":\"medium\"},{\"nutritionLevel\":5,\"cuisine\":\"italian\"}]},{\"id\":\"ice cream\","
        "\"features\":[{\"taste\":\"sweet\",\"spiceLevel\":\"none\"},{\"level\":2}]},{\"id\":\"juice\",\"features\":"
        "[{\"taste\":\"sweet\",\"spiceLevel\":\"none\"},{\"nutritionLevel\":5},{\"drink\":true}]}],"
        "\"excludedActions\":[\"juice\"],\"eventId\":\"75269AD0-BFEE-4598-8196-C57383D38E10\","
        "\"deferActivation\":false}\n",
        error);
}

static ee_status make_numbers(lines *to, const bench_request *request, ee_error *error)
{
    (void)request;
    random_stream draw = random_named(1, "json");
    ee_status status = append_text(to, "{\"arms\":[", error);
    for (int i = 0; !status && i < ARMS * NUMBERS; i++) {
        char text[64];
        const char *before = i % NUMBERS ? "," : i ? "],[" : "[";
        snprintf(text, sizeof text, "%s%.7g", before, random_normal(&draw));
        status = append_text(to, text, error);
    }
    return status ? status : append_text(to, "]]}\n", error);
}

static ee_status make_events(lines *to, ee_error *error)
{
    random_stream draw = random_named(2, "json");
    ee_status status = EE_OK;
    for (int i = 0; !status && i < EVENTS; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"_label_cost\":%d,\"_label_probability\":0.8,\"_label_Action\":1,\"_labelIndex\":0,\"Timestamp\":"
                 "\"2020-12-08T23:25:52.1830000Z\",\"Version\":\"1\",\"EventId\":\"%016llx\",\"a\":[1,2],\"c\":{"
                 "\"User\":{\"name\":\"Anna\",\"age\":%.16g},\"_multi\":[{\"Action\":{\"topic\":\"sports\"}},{"
                 "\"Action\":{\"topic\":\"politics\"}}]},\"p\":[0.8,0.2],\"VWState\":{\"m\":\"N/A\"}}\n",
                 -(i % 2), (unsigned long long)random_bits(&draw), random_unit(&draw));
        status = append_text(to, text, error);
    }
    return status;
}

static ee_status load_events(lines *to, const bench_request *request, ee_error *error)
{
    static const char *const files[] = {"dsjson/vowpal_wabbit/decisionservice.json",
                                        "dsjson/vowpal_wabbit/ccb_data.json",
                                        "dsjson/reinforcement_learning/average_reward_100_interactions.json",
                                        "dsjson/reinforcement_learning/ccb_sum_reward_100_interactions.json",
                                        "dsjson/reinforcement_learning/slates_average_reward_100_interactions.json"};
    if (!request->data) return make_events(to, error);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        uint64_t fingerprint = 0;
        source file;
        ee_status status = source_load(request->data, files[i], &fingerprint, &file, error);
        if (status == EE_NO_FILE && i == 0) return make_events(to, error);
        if (status) return status;
        status = append(to, file.bytes, file.size, error);
        if (!status && file.size && file.bytes[file.size - 1] != '\n') status = append_text(to, "\n", error);
        source_release(&file);
        if (status) return status;
    }
    to->name = "real dsjson";
    return EE_OK;
}

/* ---- readers ---- */

typedef ee_status line_reader(const char *bytes, size_t size, json_room *room, ee_error *error);

static ee_status read_values(const char *bytes, size_t size, json_room *room, ee_error *error)
{
    json_reader reader = json_start(bytes, size, room);
    json_token token;
    ee_status status;
    do status = json_next(&reader, &token, error);
    while (!status && token.kind != JSON_KIND_END);
    return status;
}

static ee_status read_tree(const char *bytes, size_t size, json_room *room, ee_error *error)
{
    (void)room;
    json_tree tree;
    ee_status status = json_tree_read(&tree, bytes, size, error);
    json_tree_release(&tree);
    return status;
}

static ee_status read_lines(const lines *all, line_reader *read, json_room *room, ee_error *error)
{
    ee_status status = EE_OK;
    const char *end = all->bytes + all->size, *line_end;
    for (const char *line = all->bytes; !status && line < end; line = line_end + 1) {
        line_end = memchr(line, '\n', (size_t)(end - line));
        if (line_end - line > 1) status = read(line, (size_t)(line_end - line), room, error); /* \r may stand alone */
    }
    return status;
}

static ee_status measure_reader(bench_report *to, const lines *all, const char *reader, line_reader *read,
                                ee_error *error)
{
    char name[96];
    snprintf(name, sizeof name, "%s, %zu bytes: %s", all->name, all->size, reader);
    if (!bench_report_wants(to, name)) return EE_OK;
    ee_status status = EE_OK;
    json_room room = {0};
    measurement taken = {0};
    size_t times = BYTES_AT_ONCE / all->size + 1;
    while (!status && measure_more(&taken, SECONDS)) {
        stretch start = measure_start();
        for (size_t i = 0; !status && i < times; i++) status = read_lines(all, read, &room, error);
        measure_add(&taken, start, (double)times);
    }
    if (!status) bench_report_row(to, name, &taken, &(work){0, (double)all->size, (double)all->size});
    memory_free(room.key);
    memory_free(room.text);
    return status;
}

ee_status bench_json(bench_report *to, ee_error *error)
{
    static const struct {
        const char *name;
        ee_status (*fill)(lines *, const bench_request *, ee_error *);
    } kinds[] = {{"rank request", make_request}, {"10 x 100 numbers", make_numbers}, {"made dsjson", load_events}};
    ee_status status = EE_OK;
    bench_report_begin(to, "json", "reading JSON");
    for (size_t i = 0; !status && i < sizeof kinds / sizeof *kinds; i++) {
        lines all = {.name = kinds[i].name};
        status = kinds[i].fill(&all, to->request, error);
        if (!status) status = measure_reader(to, &all, "in one pass", read_values, error);
        if (!status) status = measure_reader(to, &all, "as a tree", read_tree, error);
        memory_free(all.bytes);
    }
    return status;
}
