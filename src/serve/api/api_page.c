/* The dashboard: its files, and what it needs to know before any other request. */
#include "call.h"
#include "data/values/json_members.h"
#include "evaluate/estimators/estimator.h"
#include "handlers.h"
#include "serve/page/page_files.h"

/* Nothing but what this server gives, and no other page around it: neither a script nor a picture of others, nothing
 * inline, and no text that becomes a script. */
static const char *const policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

static const char *type_of(const char *name)
{
    static const struct {
        const char *end, *type;
    } types[] = {{".html", "text/html; charset=utf-8"},
                 {".css", "text/css; charset=utf-8"},
                 {".js", "text/javascript; charset=utf-8"},
                 {".svg", "image/svg+xml"}};
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end && i < sizeof types / sizeof *types; i++)
        if (strcmp(end, types[i].end) == 0) return types[i].type;
    return "application/octet-stream";
}

static bool is_on(const call *self)
{
    return service_config_now(self->owner)->settings.page.pick == 0;
}

static ee_status refuse_off(call *self)
{
    return call_refuse(self, 404, "the dashboard is off (--page off); see /openapi.json");
}

static ee_status answer_file(http_exchange *exchange, const page_file *file)
{
    const char *known = http_header(exchange, "If-None-Match");
    bool same = known && strstr(known, file->tag);
    exchange->content_type = type_of(file->name);
    http_add_header(exchange, "Content-Security-Policy", policy);
    http_add_header(exchange, "X-Content-Type-Options", "nosniff");
    http_add_header(exchange, "Referrer-Policy", "same-origin");
    http_add_header(exchange, "Cross-Origin-Resource-Policy", "same-origin");
    http_add_header(exchange, "Cache-Control", "no-cache"); /* asked for again, by its tag */
    http_add_header(exchange, "ETag", file->tag);
    if (!same) text_bytes(&exchange->answer, (const char *)file->bytes, file->size);
    http_answer(exchange, same ? 304 : 200);
    return EE_OK;
}

static ee_status answer_named(call *self, const char *name)
{
    if (!is_on(self)) return refuse_off(self);
    for (size_t i = 0; i < page_file_count; i++)
        if (strcmp(page_files[i].name, name) == 0) return answer_file(self->exchange, &page_files[i]);
    return call_refuse(self, 404, "the dashboard has no file '%.64s'", name);
}

ee_status api_page(call *self)
{
    return answer_named(self, "index.html");
}

ee_status api_page_file(call *self)
{
    return answer_named(self, self->match.parts[0]);
}

/* Whether keys are needed, what the key of this request is for, and whether there is a fleet, so that the page need not
 * try. */
ee_status api_page_visitor(call *self)
{
    text *answer = &self->exchange->answer;
    if (!is_on(self)) return refuse_off(self);
    text_add(answer, "{");
    text_member_flag(answer, "keys", service_config_now(self->owner)->keys != NULL);
    text_member(answer, "role", key_role_name(self->role));
    text_member(answer, "name", self->key_name);
    if (self->only_bandit)
        text_member(answer, "bandit", self->only_bandit);
    else
        text_add(answer, ",\"bandit\":null");
    if (self->owner->fleet) text_member_flag(answer, "fleet", true);
    text_add(answer, "}");
    http_add_header(self->exchange, "Cache-Control", "no-store");
    return call_answer(self, 200);
}

static void add_choice(text *into, const char *name, const char *summary)
{
    text_comma(into);
    text_add(into, "{");
    text_member(into, "name", name);
    text_member(into, "summary", summary);
}

/* What forms offer: the policies, the estimators, and the defaults of a bandit's settings. */
ee_status api_page_choices(call *self)
{
    text *answer = &self->exchange->answer;
    bandit_settings defaults = bandit_settings_usual();
    ee_policy one;
    if (!is_on(self)) return refuse_off(self);
    text_add(answer, "{\"policies\":[");
    for (size_t i = 0; !ee_policy_describe(i, &one, NULL); i++) {
        add_choice(answer, one.name, one.summary);
        text_member_flag(answer, "propensity", policy_has_option(one.name, "propensity"));
        text_add(answer, "}");
    }
    text_add(answer, "],\"estimators\":[");
    for (int i = 0; i < ESTIMATOR_KINDS; i++) {
        const estimator_info *estimator = estimator_describe((estimator_kind)i);
        add_choice(answer, estimator->name, estimator->summary);
        text_add(answer, "}");
    }
    text_add(answer, "],\"defaults\":");
    bandit_settings_write(&defaults, answer);
    text_add(answer, "}");
    http_add_header(self->exchange, "Cache-Control", "no-cache");
    return call_answer(self, 200);
}
