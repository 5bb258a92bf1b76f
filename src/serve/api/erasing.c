#include "erasing.h"

#include "scrubbing.h"

enum { PORTION = 128 }; /* events of a transaction */

static bool is_ending(void *context)
{
    return atomic_load(&((service *)context)->ending);
}

static ee_status stop(ee_error *error)
{
    return status_fail(error, EE_FILE_ERROR, "the server is stopping; erasing continues at the next start");
}

/* ---- removing the content ---- */

typedef struct portion {
    uint32_t bandit;
    const uint64_t *numbers; /* (count) */
    size_t count;
} portion;

static ee_status erase_portion(void *context, store *into, ee_error *error)
{
    const portion *self = context;
    return store_erase(into, self->bandit, self->numbers, self->count, error);
}

static ee_status erase_numbers(service *of, uint32_t bandit, const uint64_t *numbers, size_t count, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < count && !status; i += PORTION) {
        portion next = {bandit, numbers + i, count - i < PORTION ? count - i : PORTION};
        status = is_ending(of) ? stop(error) : journal_run(of->journal, erase_portion, &next, error);
    }
    return status;
}

/* The decisions last: as long as the last has its content, erasing has not ended. */
static ee_status erase_listed(service *of, uint32_t bandit, const erased_body *body, store_reader *log, ee_error *error)
{
    ee_status status = erase_numbers(of, bandit, body->others, body->other_count, error);
    if (!status) status = erasure_remove_checkpoints(of->store, log, bandit, body, error);
    return status ? status : erase_numbers(of, bandit, body->decisions, body->decision_count, error);
}

/* Lists what is to be erased in the log, and then erases it. */
static ee_status erase_found(service *of, erasure *found, bool with_decisions, erasing_result *out, ee_error *error)
{
    erased_body body = {.others = found->others, .other_count = found->other_count};
    if (with_decisions) {
        body.decisions = found->decisions;
        body.decision_count = found->decision_count;
        body.models = found->models;
        body.model_count = found->model_count;
        body.settled_to = erasure_last_settled(found);
    }
    if (!body.other_count && !body.decision_count) return EE_OK;
    journal_entry entry = {.bandit = found->bandit, .event = {.kind = EVENT_ERASED}};
    uint8_t *bytes = NULL;
    ee_status status = erased_body_write(&body, &bytes, &entry.event.size, error);
    entry.event.body = bytes;
    if (!status) status = journal_write(of->journal, &entry, error);
    memory_free(bytes);
    if (!status) status = erase_listed(of, found->bandit, &body, found->log, error);
    out->decisions += body.decision_count;
    out->events += body.decision_count + body.other_count;
    return status;
}

/* ---- the whole ---- */

/* Pending decisions are settled with nothing, so that no model has them among those that it waits for. */
static ee_status settle_pending(service *of, const erasure *found, ee_error *error)
{
    ee_status status = EE_OK;
    for (size_t i = 0; i < found->decision_count && !status; i++) {
        stored_decision row;
        size_t count;
        status = store_next_decisions(found->log, found->bandit, found->decisions[i] - 1, &row, 1, &count, error);
        if (status || !count || row.number != found->decisions[i] || row.settled) continue;
        journal_entry entry = {.bandit = found->bandit,
                               .event = {.kind = EVENT_SETTLED, .decision = found->decisions[i]}};
        status = journal_write(of->journal, &entry, error);
    }
    return status;
}

static ee_status do_nothing(void *context, store *into, ee_error *error)
{
    (void)context, (void)into, (void)error;
    return EE_OK;
}

/* Ends the repeats of the decisions. What was decided before is in the log when this returns: the journal takes
 * it at the latest between the two. */
static ee_status end_repeats(service *of, served_bandit *bandit, const erasure *found, ee_error *error)
{
    ee_status status = EE_OK;
    served_bandit_forget(bandit, found->draws, found->draw_count);
    for (int i = 0; i < 2 && found->draw_count && !status; i++)
        status = journal_run(of->journal, do_nothing, NULL, error);
    return status;
}

static ee_status prepare(service *of, served_bandit *bandit, erasure *found, ee_error *error)
{
    bandit_settings settings = served_bandit_settings(bandit);
    ee_status status = erasure_find_decisions(found, error);
    if (!status) status = end_repeats(of, bandit, found, error);
    if (!status) status = erasure_find_repeats(found, error);
    if (!status) status = settle_pending(of, found, error);
    if (!status) status = erasure_find_others(found, error);
    if (status || !found->decision_count) return status;
    status = served_bandit_checkpoint(bandit, erasure_last_settled(found), is_ending, of, error);
    return status ? status : erasure_store_models(found, &settings, error);
}

static ee_status erase_all(service *of, served_bandit *bandit, erasure *found, erasing_result *out, ee_error *error)
{
    ee_status status = prepare(of, bandit, found, error);
    out->proven = found->is_proven || !found->decision_count;
    if (!status) status = erase_found(of, found, true, out, error);
    served_bandit_forget(bandit, found->draws,
                         found->draw_count); /* guardrails may have been read from the log since */
    do { /* what came meanwhile: after the first round the ids are not known any more */
        if (!status) status = erasure_find_others(found, error);
        if (!status) status = erase_found(of, found, false, out, error);
    } while (!status && found->other_count);
    return status ? status : service_scrub(of, error);
}

ee_status erasing_run(service *of, served_bandit *bandit, erasure_request *request, erasing_result *out,
                      ee_error *error)
{
    erasure found;
    *out = (erasing_result){0};
    worker_go_last();
    request->cancel = is_ending;
    request->context = of;
    ee_status status = erasure_create(&found, of->store, served_bandit_number(bandit), request, error);
    if (!status) status = erase_all(of, bandit, &found, out, error);
    erasure_free(&found);
    return status;
}

ee_status erasings_resume(service *of, ee_error *error)
{
    store_reader *log = NULL;
    served_bandit *bandit;
    bool any = false;
    ee_status status = store_reader_create(of->store, &log, error);
    for (size_t i = 0; !status && (bandit = served_bandits_at(of->bandits, i)); i++) {
        memory owner = {0};
        erased_body body;
        bool found = false;
        uint32_t number = served_bandit_number(bandit);
        status = erasure_find_unfinished(log, number, &owner, &body, &found, error);
        if (!status && found) status = erase_listed(of, number, &body, log, error);
        any |= found;
        memory_release(&owner);
    }
    store_reader_free(log);
    return status || !any ? status : service_scrub(of, error);
}
