/* Articles that come and go. A site shows one of eight articles, and replaces one of them every 300 visits. Each
 * article has a block of the features, and a bandit keeps the number of blocks that it was created with: here 16. A new
 * article takes a free block. When none is free, a new bandit replaces the old one: it gets blocks for the current
 * articles, learns what the log says about them, and has eight spare blocks again.
 *
 * Do not give a new article the block of an old one: the bandit would take it for the old one. */
#include <eenet.h>
#include <stdio.h>
#include <stdlib.h>

enum { VISITS = 6000, SHOWN = 8, BLOCKS = 16, GROUPS = 6, EVERY = 300, ARTICLES = SHOWN + VISITS / EVERY };

/* Each group of readers likes about one article in five. */
static int likes[ARTICLES][GROUPS];

/* The log: who came, what was shown, and whether it was read. */
typedef struct visit {
    int group, article, read;
} visit;

static visit visits[VISITS];

static int shown[SHOWN];    /* articles on the site */
static int block_of[SHOWN]; /* the block of each of them */
static int used_blocks;

static void stop(const ee_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static ee_bandit *make_bandit(uint64_t seed)
{
    ee_settings settings = {.policy = "eenet", .dim = BLOCKS * GROUPS, .seed = seed, .options = "blocks=16"};
    ee_bandit *bandit;
    ee_error error;
    if (ee_bandit_create(&settings, &bandit, &error)) stop(&error);
    return bandit;
}

/* The feature of the reader's group in the block of the article. */
static uint32_t place_of(int slot, int group)
{
    return (uint32_t)(block_of[slot] * GROUPS + group);
}

/* Creates a new bandit and teaches it what the log says about the articles on the site. */
static ee_bandit *start_over(ee_bandit *old, int past)
{
    ee_bandit *bandit = make_bandit(ee_bandit_info(old).seed + 1);
    ee_error error;
    ee_bandit_free(old);
    for (used_blocks = 0; used_blocks < SHOWN; used_blocks++) block_of[used_blocks] = used_blocks;
    for (int i = 0; i < past; i++)
        for (int slot = 0; slot < SHOWN; slot++) {
            if (visits[i].article != shown[slot]) continue;
            const size_t starts[2] = {0, 1};
            const uint32_t place = place_of(slot, visits[i].group);
            const float one = 1;
            ee_arms arm = ee_arms_sparse(starts, &place, &one, 1, BLOCKS * GROUPS);
            if (ee_bandit_learn_from(bandit, &arm, 0, visits[i].read, &error)) stop(&error);
        }
    return bandit;
}

static visit serve_visitor(ee_bandit *bandit)
{
    size_t starts[SHOWN + 1] = {0};
    uint32_t places[SHOWN];
    float ones[SHOWN];
    visit now = {.group = rand() % GROUPS};
    for (int slot = 0; slot < SHOWN; slot++) {
        places[slot] = place_of(slot, now.group);
        ones[slot] = 1;
        starts[slot + 1] = (size_t)slot + 1;
    }
    ee_arms arms = ee_arms_sparse(starts, places, ones, SHOWN, BLOCKS * GROUPS);
    ee_decision decision;
    ee_error error;
    if (ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, &error)) stop(&error);
    now.article = shown[decision.arm];
    now.read = rand() % 100 < (likes[now.article][now.group] ? 70 : 10);
    if (ee_bandit_learn(bandit, decision.id, now.read, &error)) stop(&error);
    return now;
}

int main(void)
{
    int read = 0, moves = 0;
    for (int i = 0; i < ARTICLES * GROUPS; i++) likes[i / GROUPS][i % GROUPS] = rand() % 5 == 0;
    for (int slot = 0; slot < SHOWN; slot++) shown[slot] = block_of[slot] = used_blocks++;
    ee_bandit *bandit = make_bandit(1);
    for (int i = 0; i < VISITS; i++) {
        if (i && i % EVERY == 0) {
            int slot = i / EVERY % SHOWN;
            shown[slot] = SHOWN - 1 + i / EVERY; /* the new article */
            if (used_blocks < BLOCKS) {
                block_of[slot] = used_blocks++;
            } else {
                bandit = start_over(bandit, i);
                moves++;
            }
        }
        visits[i] = serve_visitor(bandit);
        read += visits[i].read;
    }
    printf("%d of %d visitors read what they were shown; the bandit was replaced %d times\n", read, VISITS, moves);
    ee_bandit_free(bandit);
    return 0;
}
