/* The text of help() for what a bandit returns. python/tests/test_docstrings.py runs the examples. */
#ifndef EENET_PYTHON_RESULT_DOCS_H
#define EENET_PYTHON_RESULT_DOCS_H

#define DECISION_DOC                                                                                                   \
    "The arm that Bandit.decide chose, with its probability and the scores of all arms.\n"                             \
    "Immutable.\n\n"                                                                                                   \
    ">>> bandit = eenet.Bandit('linucb:paper', dim=2)\n"                                                               \
    ">>> decision = bandit.decide([[1, 0], [0, 2], [0.5, 0]])\n"                                                       \
    ">>> decision\n"                                                                                                   \
    "Decision(arm=1, id=1, probability=1.0)\n"                                                                         \
    ">>> decision.probabilities\n"                                                                                     \
    "array([0., 1., 0.])\n"                                                                                            \
    ">>> decision.exploration\n"                                                                                       \
    "array([0.1 , 0.2 , 0.05], dtype=float32)\n\n"                                                                     \
    "Decisions can be compared, hashed and pickled. The arrays are read-only and are created\n"                        \
    "on first use.\n"

#define DECISION_ARM_DOC "The chosen arm: 0 to the number of arms - 1."

#define DECISION_ACTION_DOC                                                                                            \
    "The chosen arm as given: the key of a mapping, the element of a list, the label of a data frame's row.\n"         \
    "For the rows of an array it equals arm.\n\n"                                                                      \
    ">>> shop = eenet.Bandit('uniform', features=True)\n"                                                              \
    ">>> shop.decide({'a7': {'price': 9.5}, 'b2': {'price': 3}}).action in ('a7', 'b2')\n"                             \
    "True\n"

#define DECISION_ID_DOC "The id to learn its reward with: 1, 2, 3, ... for a bandit's decisions, 0 for a snapshot's."

#define DECISION_PROBABILITY_DOC                                                                                       \
    "The probability of the chosen arm; NaN for a Thompson policy whose option probability_draws is 0."

#define DECISION_PROBABILITIES_DOC "The probability of each arm: float64."

#define DECISION_RECORD_DOC                                                                                            \
    "For a decision of a Snapshot: everything learning needs except the reward, as bytes. Otherwise None."

#define SCORES_DOC                                                                                                     \
    "A policy's scores of the arms of a round, as returned by Bandit.score.\n\n"                                       \
    ">>> bandit = eenet.Bandit('linucb:paper', dim=2)\n"                                                               \
    ">>> scores = bandit.score([[1, 0], [0, 2]])\n"                                                                    \
    ">>> scores.scores, scores.exploitation\n"                                                                         \
    "(array([0.1, 0.2], dtype=float32), array([0., 0.], dtype=float32))\n"                                             \
    ">>> len(scores)\n"                                                                                                \
    "2\n"

#define SCORES_SCORES_DOC "The score that ranks each arm, exploration included: float32."
#define SCORES_EXPLOITATION_DOC "The expected reward of each arm: float32."
#define SCORES_EXPLORATION_DOC "The exploration bonus of each arm: float32; 0 if the policy has none."

#define INFO_DOC                                                                                                       \
    "A bandit's settings and counters: a named tuple.\n\n"                                                             \
    ">>> info = eenet.Bandit('uniform', dim=2).info\n"                                                                 \
    ">>> info.policy, info.decisions, info.rewards\n"                                                                  \
    "('uniform', 0, 0)\n"

#define FEATURE_DOC                                                                                                    \
    "A named feature and its statistics: a named tuple.\n\n"                                                           \
    ">>> bandit = eenet.Bandit('linucb', features=True)\n"                                                             \
    ">>> bandit.feature(0).count\n"                                                                                    \
    "0\n"

#endif
