#include "event_row.h"

#include <inttypes.h>

#include "row_checksum.h"

int64_t store_event_checksum(uint32_t bandit, const event *of)
{
    row_checksum sum = {0};
    row_add_integer(&sum, store_place(bandit, of->number));
    row_add_integer(&sum, (int64_t)of->kind);
    row_add_integer(&sum, of->time);
    row_add_text(&sum, of->id);
    if (of->decision)
        row_add_integer(&sum, (int64_t)of->decision);
    else
        row_add_null(&sum);
    if (event_has_value(of))
        row_add_real(&sum, of->value);
    else
        row_add_null(&sum);
    if (event_has_outcome(of))
        row_add_integer(&sum, (int64_t)of->outcome);
    else
        row_add_null(&sum);
    row_add_text(&sum, of->reward_id);
    row_add_blob(&sum, of->body, of->size);
    return row_checksum_end(&sum);
}

ee_status store_event_damaged(int64_t place, ee_error *error)
{
    return status_fail(error, EE_FILE_ERROR,
                       "store: event %" PRIu64 " of bandit %u is damaged: its checksum does not match; run 'eenet "
                       "check'",
                       store_number_at(place), (unsigned)(place >> STORE_NUMBER_BITS));
}
