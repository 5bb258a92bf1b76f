/* The checks of a log: good logs of many kinds raise no alarm, whatever the seed; damaged ones do. What the commands
 * say about damaged files is in tests/misleading. */
#include "evaluate/checks/log_checks.h"

#include "base/random.h"
#include "support.h"

enum { MOST_ACTIONS = 100 };

/* How a log is made. */
typedef struct kind {
    const char *name;
    size_t actions;
    double exploration;                                    /* share of random choices; the rest follows the context */
    bool softmax;                                          /* graded probabilities instead */
    bool some;                                             /* every second action is impossible in half of the events */
    bool bare;                                             /* only the probability of the chosen action is logged */
    bool learns;                                           /* the policy becomes better */
    double rate;                                           /* of rewards */
    enum { CLICKS, REVENUE, RATINGS, COMPLAINTS } rewards; /* the last: mostly negative */
    size_t contexts;                                       /* different ones; 0: each event has its own */
    bool times;
    double pdrop; /* events without reward that are dropped, and counted by the others */
} kind;

static const kind kinds[] = {
    {"uniform", .actions = 5, .exploration = 1.0, .rate = 0.1, .times = true},
    {"epsilon", .actions = 5, .exploration = 0.3, .rate = 0.1, .times = true},
    {"epsilon, chosen only", .actions = 5, .exploration = 0.3, .bare = true, .rate = 0.1, .times = true},
    {"little exploration", .actions = 10, .exploration = 0.02, .rate = 0.3},
    {"little exploration, chosen only", .actions = 2, .exploration = 0.1, .bare = true, .rate = 0.4, .contexts = 3},
    {"softmax, many actions", .actions = 100, .softmax = true, .rate = 0.05, .times = true},
    {"softmax, chosen only", .actions = 20, .softmax = true, .bare = true, .rate = 0.05},
    {"learning", .actions = 5, .exploration = 0.2, .learns = true, .rate = 0.3, .times = true},
    {"learning, revenue", .actions = 5, .exploration = 0.2, .learns = true, .bare = true, .rate = 0.3,
     .rewards = REVENUE},
    {"revenue", .actions = 4, .softmax = true, .rate = 0.02, .rewards = REVENUE, .contexts = 10, .times = true},
    {"ratings", .actions = 4, .exploration = 0.5, .rate = 1.0, .rewards = RATINGS, .bare = true, .contexts = 2},
    {"some impossible", .actions = 6, .exploration = 0.5, .some = true, .rate = 0.2, .contexts = 20},
    {"dropped", .actions = 3, .exploration = 0.4, .rate = 0.1, .pdrop = 0.8, .times = true},
    {"complaints, dropped", .actions = 3, .exploration = 1.0, .rate = 0.1, .rewards = COMPLAINTS, .pdrop = 0.8},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

typedef struct made_event {
    log_event event;
    double probabilities[MOST_ACTIONS];
    double context;
    size_t liked;
} made_event;

static void make_probabilities(const kind *of, double progress, made_event *out, random_stream *chance)
{
    double sum = 0.0, exploration = of->learns ? 1.0 - (1.0 - of->exploration) * progress : of->exploration;
    bool odd = random_unit(chance) < 0.5;
    for (size_t i = 0; i < of->actions; i++) {
        double p = of->softmax ? exp(1.5 * random_normal(chance)) : exploration / (double)of->actions;
        if (!of->softmax && i == out->liked) p += 1.0 - exploration;
        out->probabilities[i] = of->some && odd && i % 2 ? 0.0 : p;
        sum += out->probabilities[i];
    }
    for (size_t i = 0; i < of->actions; i++) out->probabilities[i] /= sum;
}

static double make_reward(const kind *of, const made_event *made, random_stream *chance)
{
    double rate = made->event.action == made->liked ? fmin(2.0 * of->rate, 1.0) : of->rate;
    if (of->rewards == RATINGS) return round(3.0 + random_normal(chance));
    if (random_unit(chance) >= rate) return 0.0;
    if (of->rewards == COMPLAINTS) return random_unit(chance) < 0.2 ? 1.0 : -1.0;
    return of->rewards == REVENUE ? exp(2.0 + random_normal(chance)) : 1.0;
}

static void make_event(const kind *of, size_t line, double progress, double *now, made_event *out,
                       random_stream *chance)
{
    size_t context = (size_t)(random_unit(chance) * (double)(of->contexts ? of->contexts : 1000000));
    out->context = (double)context;
    out->liked = (context * 7 + 3) % 5 % of->actions;
    make_probabilities(of, progress, out, chance);
    double draw = random_unit(chance);
    size_t action = 0;
    while (action + 1 < of->actions && (draw -= out->probabilities[action]) >= 0.0) action++;
    while (!(out->probabilities[action] > 0.0)) action--;
    *now += -10.0 * log(1.0 - random_unit(chance));
    out->event = (log_event){.line = line,
                             .time = of->times ? *now + 20.0 * random_unit(chance) : (double)NAN,
                             .count = of->actions,
                             .action = action,
                             .probability = out->probabilities[action],
                             .probabilities = of->bare ? NULL : out->probabilities,
                             .copies = 1.0,
                             .context = {(const char *)&out->context, sizeof out->context}};
    out->event.reward = make_reward(of, out, chance);
}

/* What changes an event before it is added; its number and the number of all. */
typedef void change_event(made_event *made, size_t number, size_t events);

static log_findings check(const kind *of, size_t events, uint64_t seed, change_event *change)
{
    auto_memory log_checks *checks;
    log_findings found;
    random_stream chance = random_named(seed, of->name);
    made_event made;
    double now = 1.75e9;
    ok(log_checks_create(&checks, NULL));
    for (size_t i = 0; i < events; i++) {
        make_event(of, i + 2, (double)i / (double)events, &now, &made, &chance);
        if (made.event.reward == 0.0 && of->pdrop > 0.0) {
            if (random_unit(&chance) < of->pdrop) continue;
            made.event.copies = 1.0 / (1.0 - of->pdrop);
        }
        if (change) change(&made, i, events);
        log_checks_add(checks, &made.event);
    }
    log_checks_finish(checks, &found);
    return found;
}

TEST(test_good_logs)
{
    static const size_t sizes[] = {60, 400, 3000, 12000};
    size_t alarms = 0, seeds = test_long(5, 100);
    for (size_t k = 0; k < KINDS; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            for (uint64_t seed = 0; seed < (sizes[s] > 5000 ? seeds / 5 : seeds); seed++) {
                log_findings found = check(&kinds[k], sizes[s], seed, NULL);
                for (size_t i = 0; i < found.count; i++)
                    print_message("%s, %zu events, seed %d: %s\n", kinds[k].name, sizes[s], (int)seed,
                                  found.list[i].text);
                alarms += found.count > 0;
            }
    assert_int_equal(alarms, 0);
}

/* In every seed, the first finding has the words. */
static void expect(const kind *of, size_t events, change_event *change, bool grave, const char *words)
{
    for (uint64_t seed = 0; seed < test_long(3, 20); seed++) {
        log_findings found = check(of, events, seed, change);
        if (!found.count || !strstr(found.list[0].text, words))
            fail_msg("%s, seed %d: %s", of->name, (int)seed, found.count ? found.list[0].text : "nothing");
        assert_int_equal(found.list[0].grave, grave);
    }
}

static void halve_in_third(made_event *made, size_t number, size_t events)
{
    if (3 * number / events == 1) made->event.probability /= 2.0;
}

static void give_top(made_event *made, size_t number, size_t events)
{
    (void)number;
    (void)events;
    double *p = made->probabilities, taken = p[made->event.action];
    size_t top = 0;
    for (size_t i = 1; i < made->event.count; i++) top = p[i] > p[top] ? i : top;
    p[made->event.action] = p[top];
    p[top] = taken;
    made->event.probability = p[made->event.action];
}

static void change_unit(made_event *made, size_t number, size_t events)
{
    if (4 * number / events == 3) made->event.reward *= 100.0;
}

static void change_sign(made_event *made, size_t number, size_t events)
{
    if (2 * number / events == 1) made->event.reward *= -1.0;
}

static void forget_rewards(made_event *made, size_t number, size_t events)
{
    if (10 * number / events == 9) made->event.reward = 0.0;
}

TEST(test_damaged_logs)
{
    const kind *whole = &kinds[1], *bare = &kinds[2], *revenue = &kinds[9];
    expect(bare, 3000, halve_in_third, true, "The log's propensities look wrong in lines ");
    expect(whole, 3000, give_top, true, "as if they were the probabilities of top-ranked actions");
    expect(bare, 3000, give_top, true, "They may be those of the top-ranked action");
    expect(whole, 3000, change_unit, true, "Rewards have another size in lines 2");
    expect(revenue, 12000, change_unit, true, "Rewards have another size in lines ");
    expect(whole, 3000, change_sign, true, "as if costs were read as rewards");
    expect(whole, 12000, forget_rewards, false, "their rewards may not have arrived yet");
}

/* A third of the events have another action than the shown one, which has the longest name that is reported. */
static void report_first(made_event *made, size_t number, size_t events)
{
    static char name[LOG_CHECK_NAME];
    static json_text names[MOST_ACTIONS];
    (void)events;
    memset(name, 'n', sizeof name - 1);
    for (size_t i = 0; i < made->event.count; i++) names[i] = (json_text){name, sizeof name - 1 - i};
    made->event.actions = names;
    if (number % 3 == 0) made->event.action = 0;
}

/* The whole sentence; and no copies, though the first action follows itself too often. */
TEST(test_wrong_action)
{
    log_findings found = check(&kinds[0], 12000, 1, report_first);
    assert_int_equal(found.count, 1);
    assert_non_null(strstr(found.list[0].text, "do not fit its actions: action nnn"));
    assert_non_null(strstr(found.list[0].text, "the policy that chose it."));
}

/* The named lines are those that were damaged, about. */
TEST(test_lines)
{
    size_t first, last;
    log_findings found = check(&kinds[2], 6000, 1, halve_in_third);
    assert_int_equal(found.count, 1);
    const char *lines = strstr(found.list[0].text, "in lines ");
    assert_non_null(lines);
    assert_int_equal(sscanf(lines, "in lines %zu to %zu", &first, &last), 2);
    assert_true(first > 1500 && first < 2500 && last > 3500 && last < 4500);
}
