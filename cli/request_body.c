#include "request_body.h"

ee_status request_body_make(request_body_room *room, const decide_request *request, size_t dim, decision_body *out,
                            ee_error *error)
{
    size_t used = 0;
    *out = (decision_body){.count = request->count,
                           .names = request->named ? request->names : NULL,
                           .excluded = request->excluded_count ? request->excluded : NULL,
                           .dim = dim,
                           .values = dim ? request->values : NULL};
    if (dim) return EE_OK;
    ee_status status = decide_request_context(request, room->owner, &room->context, &used, &room->capacity, error);
    out->context = (json_text){room->context, used};
    return status;
}
