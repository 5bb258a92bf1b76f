/* Sparse arms with blocks: a visitor, described by eight of a thousand words, sees one of five articles. Every arm of a
 * round is the same visitor in another block of the features. The option `blocks` tells the policy, which then learns
 * what the articles have in common. */
#include <eenet.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 3000, ARTICLES = 5, WORDS = 1000, WORDS_OF_A_VISITOR = 8, NONZEROS = ARTICLES * WORDS_OF_A_VISITOR };

/* Draws one word from each eighth, in ascending order. The first determines which article the visitor likes. */
static void draw_visitor(uint32_t *words)
{
    enum { PART = WORDS / WORDS_OF_A_VISITOR };
    for (uint32_t i = 0; i < WORDS_OF_A_VISITOR; i++) words[i] = i * PART + (uint32_t)rand() % PART;
}

int main(void)
{
    ee_settings settings = {.policy = "eenet", .dim = ARTICLES * WORDS, .seed = 1, .options = "blocks=5, exclusive=on"};
    ee_bandit *bandit;
    ee_error error;
    int right = 0;
    if (ee_bandit_create(&settings, &bandit, &error)) return fprintf(stderr, "%s\n", error.message), 1;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t words[WORDS_OF_A_VISITOR], indices[NONZEROS];
        float values[NONZEROS];
        size_t starts[ARTICLES + 1] = {0}, end = 0;
        draw_visitor(words);
        for (uint32_t article = 0; article < ARTICLES; article++) {
            for (int i = 0; i < WORDS_OF_A_VISITOR; i++, end++) {
                indices[end] = article * WORDS + words[i]; /* ascending within an arm */
                values[end] = 1;
            }
            starts[article + 1] = end;
        }
        ee_arms arms = ee_arms_sparse(starts, indices, values, ARTICLES, ARTICLES * WORDS);
        ee_decision decision;
        if (ee_bandit_decide(bandit, &arms, &decision, NULL, NULL, &error))
            return fprintf(stderr, "%s\n", error.message), 1;
        int reward = decision.arm == words[0] % ARTICLES;
        if (ee_bandit_learn(bandit, decision.id, reward, &error)) return fprintf(stderr, "%s\n", error.message), 1;
        if (round >= ROUNDS / 2) right += reward;
    }
    printf("%d of the last %d visitors were shown what they like; chance is %d\n", right, ROUNDS / 2,
           ROUNDS / 2 / ARTICLES);
    ee_bandit_free(bandit);
    return 0;
}
