#include <inttypes.h>
#include <math.h>

#include "data/values/text.h"
#include "report.h"

static const char *const part_names[SUMMARY_PARTS] = {"main", "ablation-label", "ablation-decision", "ablation-weight"};

static void add_real(text *csv, double value)
{
    text_add(csv, isnan(value) ? "," : ",%.10g", value);
}

static void add_share(text *csv, uint64_t part, uint64_t whole)
{
    add_real(csv, whole ? (double)part / (double)whole : NAN);
}

static void add_direction(text *csv, const summary_cell *cell)
{
    const run_direction *sums = &cell->direction;
    add_share(csv, sums->up, sums->arms);
    add_share(csv, sums->up_right, sums->up);
    add_share(csv, sums->down, sums->arms);
    add_share(csv, sums->down_right, sums->down);
    add_real(csv, cell->correlation);
}

static void add_row(text *csv, const summary_group *group, const summary_cell *cell, summary_part part, bool reference)
{
    const stored_run *first = cell->runs[0];
    char late[DELAY_TEXT];
    delay_format(&first->late, late);
    text_csv(csv, first->dataset);
    text_add(csv, ",%016" PRIx64 ",%zu,%zu,%" PRIu64 ",", group->first->fingerprint, first->dim, first->arms,
             first->rounds);
    text_csv(csv, late);
    text_add(csv, ",%s,", part_names[part]);
    text_csv(csv, first->policy);
    text_add(csv, ",");
    text_csv(csv, cell->labels[part]);
    text_add(csv, ",%zu", cell->count);
    add_real(csv, cell->mean);
    add_real(csv, cell->deviation);
    add_real(csv, cell->mean - cell->margin);
    add_real(csv, cell->mean + cell->margin);
    text_add(csv, ",%d,%d,%zu", cell->best, reference, cell->against.pairs);
    add_real(csv, cell->against.difference);
    add_real(csv, cell->against.low);
    add_real(csv, cell->against.high);
    add_real(csv, cell->against.p);
    add_real(csv, cell->p_holm);
    add_real(csv, cell->growth);
    add_real(csv, cell->optimal);
    add_real(csv, cell->seconds);
    add_real(csv, cell->bytes);
    add_direction(csv, cell);
    text_add(csv, ",");
    text_csv(csv, first->options);
    text_add(csv, ",%zu\n", first->slots ? first->slots : (size_t)1);
}

ee_status report_csv(const summary *of, const char *path, ee_error *error)
{
    text csv = text_start(error);
    text_add(&csv, "dataset,fingerprint,dim,arms,rounds,delay,part,policy,label,seeds,regret_mean,regret_sd,regret_low,"
                   "regret_high,best,reference,pairs,difference,difference_low,difference_high,p,p_holm,growth,optimal,"
                   "seconds,bytes,up,up_right,down,down_right,correlation,options,slots\n");
    for (size_t g = 0; g < of->results.count; g++) {
        const summary_group *group = &of->results.groups[g];
        for (size_t i = 0; i < group->count; i++) {
            summary_part part = SUMMARY_MAIN; /* a cell that is in several is the reference of the ablations */
            while (!group->cells[i].labels[part]) part++;
            add_row(&csv, group, &group->cells[i], part, i == group->references[part]);
        }
    }
    return text_save(&csv, path);
}
