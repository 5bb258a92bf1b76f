/* The fleet that this server belongs to. */
#include "call.h"
#include "handlers.h"

ee_status api_fleet(call *self)
{
    if (!self->owner->fleet)
        return call_refuse(self, 404, "this server is alone: it stores its data in a folder. See docs/fleet.md");
    fleet_describe(self->owner->fleet, &self->exchange->answer);
    return call_answer(self, 200);
}
