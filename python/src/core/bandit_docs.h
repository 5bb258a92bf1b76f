/* What help(eenet.Bandit) says. The examples are run by python/tests/test_docstrings.py. */
#ifndef EENET_PYTHON_BANDIT_DOCS_H
#define EENET_PYTHON_BANDIT_DOCS_H

#define BANDIT_DOC                                                                                                     \
    "Bandit(policy='eenet', dim=None, seed=0, *, features=None, options=None, **named)\n"                              \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "Sees the arms of a round, decides for one, and learns from the reward of that one.\n"                             \
    "\n"                                                                                                               \
    "Arms are vectors: an array with a row for each arm. float32 in C order is read\n"                                 \
    "where it is; other numbers, lists and data frames are converted; scipy.sparse\n"                                  \
    "matrices stay sparse.\n"                                                                                          \
    "\n"                                                                                                               \
    ">>> import numpy as np\n"                                                                                         \
    ">>> random = np.random.default_rng(1)\n"                                                                          \
    ">>> weights = np.array([0.5, -0.2, 0.1, 0.0], dtype='f4')   # what it has to find\n"                              \
    ">>> bandit = eenet.Bandit('linucb', dim=4, seed=1, alpha=0.2)\n"                                                  \
    ">>> regret = 0.0\n"                                                                                               \
    ">>> for t in range(200):\n"                                                                                       \
    "...     arms = random.standard_normal((10, 4), dtype='f4')\n"                                                     \
    "...     decision = bandit.decide(arms)\n"                                                                         \
    "...     rewards = arms @ weights\n"                                                                               \
    "...     bandit.learn(decision, rewards[decision.arm])\n"                                                          \
    "...     regret += rewards.max() - rewards[decision.arm]\n"                                                        \
    ">>> bool(regret < 10)                                       # by chance it is 160\n"                              \
    "True\n"                                                                                                           \
    "\n"                                                                                                               \
    "Or they have names (features=True), and come as they are: a mapping for each arm, in a\n"                         \
    "list or by id, and one for what all of them share. What it holds is numbers, texts,\n"                            \
    "True, and lists and mappings of such; a text is an indicator, an object a namespace. A\n"                         \
    "data frame has an arm in each row. What is missing (None, NaN, NaT, pandas.NA) is no\n"                           \
    "feature; a text is a round in Vowpal Wabbit's JSON.\n"                                                            \
    "\n"                                                                                                               \
    ">>> shop = eenet.Bandit('linucb', features=True)\n"                                                               \
    ">>> items = {'a7': {'price': 9.5}, 'b2': {'price': 3}}\n"                                                         \
    ">>> decision = shop.decide(items, context={'user': {'age': 31, 'plan': 'free'}})\n"                               \
    ">>> decision.action in ('a7', 'b2')\n"                                                                            \
    "True\n"                                                                                                           \
    ">>> shop.learn(decision, 1.0)\n"                                                                                  \
    ">>> shop.feature(1).name\n"                                                                                       \
    "'user.age'\n"                                                                                                     \
    "\n"                                                                                                               \
    "Names are learned as they come, by decide, decide_many, decide_slots, learn_from and\n"                           \
    "learn_names; score, probabilities and explain change nothing. See docs/features.md.\n"                            \
    "\n"                                                                                                               \
    "policy: a name or an object of eenet.policies(). dim: features of an arm. seed: of all\n"                         \
    "randomness; the same seed and the same calls give the same decisions. Options of the\n"                           \
    "policy are given by name with _ in place of dots (f1_width=50 is f1.width), or as\n"                              \
    "options={'f1.width': 50} or options='f1.width=50, w2=0.1'; eenet.policy('eenet')\n"                               \
    "shows them all. What has no effect is refused, and what is misspelled is told.\n"                                 \
    "\n"                                                                                                               \
    "A reward may come later and in any order, by decision or by its id:\n"                                            \
    "\n"                                                                                                               \
    ">>> first, second = bandit.decide_many([arms, arms])\n"                                                           \
    ">>> bandit.learn(second.id, 0.25)\n"                                                                              \
    ">>> bandit.forget(first)\n"                                                                                       \
    "\n"                                                                                                               \
    "A bandit may be shared by threads: calls run one after the other, and let other\n"                                \
    "threads of Python run meanwhile. Many threads decide at once on a Snapshot.\n"                                    \
    "Bandits are saved, pickled and copied with all that they know.\n"

#define BANDIT_POLICY_DOC "The name of the policy, as it was asked for."
#define BANDIT_DIM_DOC "Features of an arm."
#define BANDIT_SEED_DOC "Of all randomness."
#define BANDIT_OPTIONS_DOC                                                                                             \
    "Every option that acts, with its value as a text.\n"                                                              \
    "\n"                                                                                                               \
    ">>> eenet.Bandit('linucb', dim=4, alpha=0.5).options['alpha']\n"                                                  \
    "'0.5'\n"
#define BANDIT_FEATURES_DOC                                                                                            \
    "Every option of the named features, with its value as a text; None where the bandit takes vectors alone.\n"       \
    "\n"                                                                                                               \
    ">>> eenet.Bandit('linucb', features={'names': 500}).features['names']\n"                                          \
    "'500'\n"
#define BANDIT_INFO_DOC                                                                                                \
    "What it is and what it has seen: see Info.\n"                                                                     \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('uniform', dim=1)\n"                                                                    \
    ">>> decision = bandit.decide([[1.0]])\n"                                                                          \
    ">>> bandit.info.decisions, bandit.info.pending\n"                                                                 \
    "(1, 1)\n"
#define BANDIT_MEMORY_DOC "Bytes that it has asked the system for."

#define BANDIT_DECIDE_DOC                                                                                              \
    "decide($self, arms, *, context=None, excluded=None)\n"                                                            \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "Chooses an arm, and remembers the decision until its reward comes.\n"                                             \
    "\n"                                                                                                               \
    "arms: (n, dim) numbers, dense or sparse; or named features, with a context that all\n"                            \
    "of them share; in a list, or in a mapping by id. excluded: truth values, one for each\n"                          \
    "arm: it chooses as if the arms that are True were not there, and their probability is 0.\n"                       \
    "Returns a Decision: its action is the element of the list, or the id.\n"                                          \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> bandit.learn_from([[1, 0], [0, 1]], 0, 0.0)\n"                                                                \
    ">>> bandit.learn_from([[1, 0], [0, 1]], 1, 1.0)\n"                                                                \
    ">>> bandit.decide([[1, 0], [0, 2], [0.5, 0]])\n"                                                                  \
    "Decision(arm=1, id=1, probability=1.0)\n"                                                                         \
    ">>> bandit.decide([[1, 0], [0, 2], [0.5, 0]], excluded=[False, True, False]).arm\n"                               \
    "0\n"

#define BANDIT_DECIDE_MANY_DOC                                                                                         \
    "decide_many($self, rounds, *, contexts=None)\n"                                                                   \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "Decides several rounds at once, all on what the bandit knows now.\n"                                              \
    "\n"                                                                                                               \
    "rounds: one array of (rounds, n, dim), or a sequence of what decide takes; contexts:\n"                           \
    "a sequence as long. Returns a list of decisions. At most as many rounds as the option\n"                          \
    "pending (default: 1024) lets decisions wait. If one round is refused, none is\n"                                  \
    "decided.\n"                                                                                                       \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> bandit.learn_from([[1, 0], [0, 1]], 0, 0.0)\n"                                                                \
    ">>> bandit.learn_from([[1, 0], [0, 1]], 1, 1.0)\n"                                                                \
    ">>> bandit.decide_many([[[1, 0], [0, 2]], [[3, 0], [0, 1], [1, 1]]])\n"                                           \
    "[Decision(arm=1, id=1, probability=1.0), Decision(arm=0, id=2, probability=1.0)]\n"

#define BANDIT_DECIDE_SLOTS_DOC                                                                                        \
    "decide_slots($self, /, arms, slots=None, *, contexts=None, excluded=None)\n"                                      \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "Fills several slots, such as places on a page, each with another arm: the best first if\n"                        \
    "the slots are alike.\n"                                                                                           \
    "\n"                                                                                                               \
    "slots is how many there are, and all choose among the same arms; or it is None, and arms\n"                       \
    "is a list with the arms of each slot: the same actions in the same order, as that slot\n"                         \
    "sees them. contexts is a list with the context of each slot, for named features. excluded\n"                      \
    "is an array of truth values, (slots, arms) or (arms,): what a slot may not take. Each slot\n"                     \
    "is a decision of its own, with an id and a reward: learn them one by one. A probability is\n"                     \
    "that of the slot's choice given those before it; what it could not take has 0.\n"                                 \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> first, second = bandit.decide_slots([[1, 0], [0, 1], [1, 1]], 2)\n"                                           \
    ">>> first.arm != second.arm\n"                                                                                    \
    "True\n"                                                                                                           \
    ">>> bandit.learn_many([first, second], [1.0, 0.0])\n"

#define BANDIT_SCORE_DOC                                                                                               \
    "score($self, arms, *, context=None)\n"                                                                            \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "How the arms look by what the bandit knows now. Decides nothing and changes nothing.\n"                           \
    "\n"                                                                                                               \
    ">>> eenet.Bandit('linucb:paper', dim=2).score([[1, 0], [0, 2]])\n"                                                \
    "Scores(scores=array([0.1, 0.2], dtype=float32))\n"

#define BANDIT_PROBABILITIES_DOC                                                                                       \
    "probabilities($self, arms, *, context=None)\n"                                                                    \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "With which probability decide would take each arm: float64, one an arm. Changes\n"                                \
    "nothing.\n"                                                                                                       \
    "\n"                                                                                                               \
    ">>> eenet.Bandit('uniform', dim=1).probabilities([[1], [2], [3], [4]])\n"                                         \
    "array([0.25, 0.25, 0.25, 0.25])\n"

#define BANDIT_LEARN_DOC                                                                                               \
    "learn($self, decision, reward)\n"                                                                                 \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "Gives a decision its reward, once. decision: a Decision of this bandit or of a\n"                                 \
    "snapshot of it, or an id.\n"                                                                                      \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> decision = bandit.decide([[1, 0], [0, 1]])\n"                                                                 \
    ">>> bandit.learn(decision, 1.5)\n"                                                                                \
    ">>> bandit.learn(decision.id, 1.5)\n"                                                                             \
    "Traceback (most recent call last):\n"                                                                             \
    "eenet.RewardedDecision: learn: decision 1 has its reward already\n"

#define BANDIT_LEARN_MANY_DOC                                                                                          \
    "learn_many($self, decisions, rewards)\n"                                                                          \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "Gives several decisions their rewards, one after the other, as learn does. It stops at\n"                         \
    "the first that fails: the attribute learned of the exception says how many were learned\n"                        \
    "before it, and these stay learned.\n"                                                                             \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> decisions = bandit.decide_many([[[1, 0], [0, 1]]] * 3)\n"                                                     \
    ">>> bandit.learn_many(decisions, [1.0, 0.0, 0.5])\n"                                                              \
    ">>> bandit.info.rewards\n"                                                                                        \
    "3\n"

#define BANDIT_LEARN_FROM_DOC                                                                                          \
    "learn_from($self, arms, arm, reward, *, context=None)\n"                                                          \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "Learns the reward of a decision that somebody else made, as from a log: arm was chosen\n"                         \
    "among arms.\n"                                                                                                    \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> bandit.learn_from([[1, 0], [0, 1]], 1, 0.8)\n"                                                                \
    ">>> bandit.info.rewards\n"                                                                                        \
    "1\n"

#define BANDIT_LEARN_RECORD_DOC                                                                                        \
    "learn_record($self, record, reward)\n"                                                                            \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "Learns a decision of a Snapshot by its record (Decision.record), in any process whose\n"                          \
    "bandit has the same policy and dimension and, if the policy keeps something of a decision,\n"                     \
    "the same options for it. The seed and options such as pending may differ.\n"                                      \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> decision = bandit.snapshot().decide([[1, 0], [0, 1]])\n"                                                      \
    ">>> bandit.learn_record(decision.record, 0.5)\n"

#define BANDIT_TAKE_RECORD_DOC                                                                                         \
    "take_record($self, record)\n"                                                                                     \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "Takes in a decision of a Snapshot as one of the bandit's own that waits, and returns\n"                           \
    "its id here.\n"                                                                                                   \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> id = bandit.take_record(bandit.snapshot().decide([[1, 0], [0, 1]]).record)\n"                                 \
    ">>> bandit.learn(id, 0.5)\n"

#define BANDIT_FORGET_DOC                                                                                              \
    "forget($self, decision)\n"                                                                                        \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "Forgets a decision, or an id, whose reward will never be known. One that is known to be\n"                        \
    "missing is learned instead, mostly as 0.\n"                                                                       \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('uniform', dim=1)\n"                                                                    \
    ">>> bandit.forget(bandit.decide([[1.0]]))\n"                                                                      \
    ">>> bandit.info.pending\n"                                                                                        \
    "0\n"

#define BANDIT_SET_TIME_DOC                                                                                            \
    "set_time($self, now)\n"                                                                                           \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "Tells what time it is, in any unit. Decisions that have waited longer than the option\n"                          \
    "wait expire, and are learned with the option default_reward, or forgotten.\n"                                     \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('uniform', dim=1, wait=10, default_reward=0)\n"                                         \
    ">>> decision = bandit.decide([[1.0]])\n"                                                                          \
    ">>> bandit.set_time(11)\n"                                                                                        \
    ">>> bandit.info.defaulted\n"                                                                                      \
    "1\n"

#define BANDIT_FEATURE_DOC                                                                                             \
    "feature($self, place)\n"                                                                                          \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "What the named feature at a place, 0 to dim - 1, is: see Feature.\n"                                              \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('linucb', features=True)\n"                                                             \
    ">>> decision = bandit.decide([{'price': 2}, {'price': 4}])\n"                                                     \
    ">>> bandit.feature(1)\n"                                                                                          \
    "eenet.Feature(name='price', count=2, mean=3.0, deviation=1.0, limited=0)\n"

#define BANDIT_SAVE_DOC                                                                                                \
    "save($self, path)\n"                                                                                              \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "Saves everything in a file, which is the old one or the new one, whole, at any time.\n"                           \
    "\n"                                                                                                               \
    ">>> import os, tempfile\n"                                                                                        \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> with tempfile.TemporaryDirectory() as folder:\n"                                                              \
    "...     path = os.path.join(folder, 'model.eenet')\n"                                                             \
    "...     bandit.save(path)\n"                                                                                      \
    "...     eenet.Bandit.load(path, policy='linucb')\n"                                                               \
    "<Bandit linucb, dim 2, seed 0: 0 decisions, 0 rewards>\n"

#define BANDIT_LOAD_DOC                                                                                                \
    "load($type, path, policy=None, dim=None)\n"                                                                       \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "Loads what save has written. It goes on as if it had never stopped. A model of another\n"                         \
    "policy or dim than asked for is refused. There is no file: NoFile.\n"                                             \
    "\n"                                                                                                               \
    ">>> eenet.Bandit.load('/no file of this name')\n"                                                                 \
    "Traceback (most recent call last):\n"                                                                             \
    "eenet.NoFile: load: there is no file /no file of this name\n"

#define BANDIT_TO_BYTES_DOC                                                                                            \
    "to_bytes($self, /)\n"                                                                                             \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "As save, in memory.\n"                                                                                            \
    "\n"                                                                                                               \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> eenet.Bandit.from_bytes(bandit.to_bytes())\n"                                                                 \
    "<Bandit linucb, dim 2, seed 0: 0 decisions, 0 rewards>\n"

#define BANDIT_FROM_BYTES_DOC                                                                                          \
    "from_bytes($type, data, policy=None, dim=None)\n"                                                                 \
    "--\n"                                                                                                             \
    "\n"                                                                                                               \
    "As load, from what to_bytes gave.\n"                                                                              \
    "\n"                                                                                                               \
    ">>> model = eenet.Bandit('linucb', dim=2).to_bytes()\n"                                                           \
    ">>> eenet.Bandit.from_bytes(model, dim=2).policy\n"                                                               \
    "'linucb'\n"

#endif
