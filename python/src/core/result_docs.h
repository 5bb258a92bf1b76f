/* What help() says of what a bandit returns. The examples are run by python/tests/test_docstrings.py. */
#ifndef EENET_PYTHON_RESULT_DOCS_H
#define EENET_PYTHON_RESULT_DOCS_H

#define DECISION_DOC                                                                                                   \
    "What Bandit.decide chose, and how it saw the arms. It cannot be changed.\n"                                       \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('linucb:paper', dim=2)\n"                                                               \
    ">>> decision = bandit.decide([[1, 0], [0, 2], [0.5, 0]])\n"                                                       \
    ">>> decision\n"                                                                                                   \
    "Decision(arm=1, id=1, probability=1.0)\n"                                                                         \
    ">>> decision.probabilities\n"                                                                                     \
    "array([0., 1., 0.])\n"                                                                                            \
    ">>> decision.exploration\n"                                                                                       \
    "array([0.1 , 0.2 , 0.05], dtype=float32)\n"                                                                       \
    "\n"                                                                                                               \
    "Decisions can be compared, hashed and pickled. The arrays are made when they are\n"                               \
    "asked for, and nobody can write to them.\n"

#define DECISION_ARM_DOC "Which arm: 0 to the number of arms - 1."
#define DECISION_ACTION_DOC                                                                                            \
    "What was chosen, as it was given: the key of a mapping, the element of a list, the label of a data frame's "      \
    "row.\n"                                                                                                           \
    "The same as arm for the rows of an array.\n"                                                                      \
    "\n"                                                                                                               \
    ">>> shop = eenet.Bandit('uniform', features=True)\n"                                                              \
    ">>> shop.decide({'a7': {'price': 9.5}, 'b2': {'price': 3}}).action in ('a7', 'b2')\n"                             \
    "True\n"
#define DECISION_ID_DOC "What Bandit.learn knows it by: 1 for the first of a bandit, then 2, 3, ...; 0 of a snapshot's."
#define DECISION_PROBABILITY_DOC                                                                                       \
    "With which this arm was drawn; nan of a Thompson policy whose option probability_draws is 0."
#define DECISION_PROBABILITIES_DOC "With which each arm could have been drawn: float64, one an arm."
#define DECISION_RECORD_DOC                                                                                            \
    "Of a decision that a Snapshot made: all that learning needs but the reward, as bytes. Else None."

#define SCORES_DOC                                                                                                     \
    "How a policy sees the arms of a round: what Bandit.score returns.\n"                                              \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('linucb:paper', dim=2)\n"                                                               \
    ">>> scores = bandit.score([[1, 0], [0, 2]])\n"                                                                    \
    ">>> scores.scores, scores.exploitation\n"                                                                         \
    "(array([0.1, 0.2], dtype=float32), array([0., 0.], dtype=float32))\n"                                             \
    ">>> len(scores)\n"                                                                                                \
    "2\n"

#define SCORES_SCORES_DOC "What the arms are ranked by: float32, one an arm."
#define SCORES_EXPLOITATION_DOC "The reward that the policy expects of each arm: float32."
#define SCORES_EXPLORATION_DOC "The potential gain on top of it: float32; 0 where a policy has none."

#define INFO_DOC                                                                                                       \
    "What a bandit is, and what it has seen: a named tuple.\n"                                                         \
    "\n"                                                                                                               \
    ">>> info = eenet.Bandit('uniform', dim=2).info\n"                                                                 \
    ">>> info.policy, info.decisions, info.rewards\n"                                                                  \
    "('uniform', 0, 0)\n"

#define FEATURE_DOC                                                                                                    \
    "What is known of a named feature: a named tuple.\n"                                                               \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('linucb', features=True)\n"                                                             \
    ">>> bandit.feature(0).count\n"                                                                                    \
    "0\n"

#endif
