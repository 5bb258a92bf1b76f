/* log: a stream of lines, as fast as the client accepts them. */
#include <stdint.h>

#include "call.h"
#include "handlers.h"
#include "log_exports.h"

ee_status api_log(call *self)
{
    bandit_settings settings = served_bandit_settings(self->bandit);
    log_range range = {.from = INT64_MIN, .until = INT64_MAX, .mode = settings.mode, .rules = settings.joining};
    static const char *const known[] = {"from", "until", "after", "limit"};
    ee_status status = call_check_query(self, known, sizeof known / sizeof *known);
    if (!status) status = call_query_number(self, "after", 0, &range.after);
    if (!status) status = call_query_number(self, "limit", 1, &range.limit);
    if (!status) status = call_query_time(self, "from", &range.from);
    if (!status) status = call_query_time(self, "until", &range.until);
    if (status) return status;
    content_coding coding = content_coding_choose(http_header(self->exchange, "Accept-Encoding"));
    if (log_exports_start(self->owner->exports, self, &range, coding)) return EE_OK;
    return status_fail(&self->error, EE_FILE_ERROR, "%d logs are being read, the maximum; try again", MOST_EXPORTS);
}
