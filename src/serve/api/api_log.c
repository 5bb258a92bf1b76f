/* log: a stream of lines, as fast as the client accepts them. */
#include <math.h>
#include <stdint.h>

#include "call.h"
#include "data/logs/log_time.h"
#include "handlers.h"
#include "log_exports.h"

/* A moment of the query as microseconds; false, and answered, where it is none. */
static bool read_time(call *self, const char *name, int64_t *out)
{
    const char *words = http_query(self->exchange, name);
    double seconds;
    if (!words) return true;
    if (log_time_parse((json_text){words, strlen(words)}, &seconds)) {
        *out = (int64_t)llround(seconds * 1e6);
        return true;
    }
    http_refuse(self->exchange, 400, "%s must be a time such as 2026-11-16T10:00:00Z, got '%.60s'", name, words);
    return false;
}

void api_log(call *self)
{
    log_range range = {.from = INT64_MIN, .until = INT64_MAX, .mode = served_bandit_settings(self->bandit).mode};
    static const char *const known[] = {"from", "until", "after", "limit"};
    if (!call_check_query(self, known, sizeof known / sizeof *known)) return;
    if (!call_query_number(self, "after", 0, &range.after) || !call_query_number(self, "limit", 1, &range.limit) ||
        !read_time(self, "from", &range.from) || !read_time(self, "until", &range.until))
        return;
    content_coding coding = content_coding_choose(http_header(self->exchange, "Accept-Encoding"));
    if (!log_exports_start(self->owner->exports, self, &range, coding))
        call_refuse_for(self->exchange, 503, 1, "%d logs are being read, the maximum; try again", MOST_EXPORTS);
}
