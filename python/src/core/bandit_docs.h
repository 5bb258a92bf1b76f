/* The text of help(eenet.Bandit). python/tests/test_docstrings.py runs the examples. */
#ifndef EENET_PYTHON_BANDIT_DOCS_H
#define EENET_PYTHON_BANDIT_DOCS_H

#define BANDIT_DOC                                                                                                     \
    "Bandit(policy='eenet', dim=None, seed=0, *, features=None, options=None, **named)\n--\n\n"                        \
    "A contextual bandit: it chooses one of the arms of a round and learns from that arm's\n"                          \
    "reward.\n\n"                                                                                                      \
    "Arms are vectors, one row per arm. A float32 array in C order is read in place; other\n"                          \
    "numbers, lists and data frames are converted; scipy.sparse matrices stay sparse.\n\n"                             \
    ">>> import numpy as np\n"                                                                                         \
    ">>> random = np.random.default_rng(1)\n"                                                                          \
    ">>> weights = np.array([0.5, -0.2, 0.1, 0.0], dtype='f4')   # unknown to the bandit\n"                            \
    ">>> bandit = eenet.Bandit('linucb', dim=4, seed=1, alpha=0.2)\n"                                                  \
    ">>> regret = 0.0\n"                                                                                               \
    ">>> for t in range(200):\n"                                                                                       \
    "...     arms = random.standard_normal((10, 4), dtype='f4')\n"                                                     \
    "...     decision = bandit.decide(arms)\n"                                                                         \
    "...     rewards = arms @ weights\n"                                                                               \
    "...     bandit.learn(decision, rewards[decision.arm])\n"                                                          \
    "...     regret += rewards.max() - rewards[decision.arm]\n"                                                        \
    ">>> bool(regret < 10)                                       # random choices: 160\n"                              \
    "True\n\n"                                                                                                         \
    "Or arms have named features (features=True): one mapping per arm, in a list or by id, and\n"                      \
    "one mapping for the context that all arms share. Values are numbers, strings, booleans,\n"                        \
    "and lists and mappings of these; a string becomes an indicator, a mapping a namespace. In\n"                      \
    "a data frame each row is an arm. Missing values (None, NaN, NaT, pandas.NA) are skipped. A\n"                     \
    "string is parsed as a round in Vowpal Wabbit's JSON.\n\n"                                                         \
    ">>> shop = eenet.Bandit('linucb', features=True)\n"                                                               \
    ">>> items = {'a7': {'price': 9.5}, 'b2': {'price': 3}}\n"                                                         \
    ">>> decision = shop.decide(items, context={'user': {'age': 31, 'plan': 'free'}})\n"                               \
    ">>> decision.action in ('a7', 'b2')\n"                                                                            \
    "True\n"                                                                                                           \
    ">>> shop.learn(decision, 1.0)\n"                                                                                  \
    ">>> shop.feature(1).name\n"                                                                                       \
    "'user.age'\n\n"                                                                                                   \
    "decide, decide_many, decide_slots, learn_from and learn_names add new feature names;\n"                           \
    "score, probabilities and explain change nothing. See docs/features.md.\n\n"                                       \
    "policy: a name or an object from eenet.policies(). dim: features per arm. seed: the same\n"                       \
    "seed and the same calls give the same decisions. Give the policy's options as arguments\n"                        \
    "with _ in place of dots (f1_width=50 is f1.width), as options={'f1.width': 50}, or as\n"                          \
    "options='f1.width=50, w2=0.1'. print(eenet.policy('eenet')) lists them. An unknown option,\n"                     \
    "or one that would have no effect, raises BadOption; the message suggests the nearest name.\n\n"                   \
    "A reward may arrive later and in any order, for a decision or its id:\n\n"                                        \
    ">>> first, second = bandit.decide_many([arms, arms])\n"                                                           \
    ">>> bandit.learn(second.id, 0.25)\n"                                                                              \
    ">>> bandit.forget(first)\n\n"                                                                                     \
    "Threads may share a bandit: calls run one at a time and release the GIL. To decide in many\n"                     \
    "threads at once, use a Snapshot. Saving, pickling and copying keep everything the bandit\n"                       \
    "has learned, pending decisions included.\n"

#define BANDIT_POLICY_DOC "The name of the policy, as given."
#define BANDIT_DIM_DOC "Features per arm."
#define BANDIT_SEED_DOC "The seed of all randomness."

#define BANDIT_OPTIONS_DOC                                                                                             \
    "Every option in effect, with its value as a string.\n\n"                                                          \
    ">>> eenet.Bandit('linucb', dim=4, alpha=0.5).options['alpha']\n"                                                  \
    "'0.5'\n"

#define BANDIT_FEATURES_DOC                                                                                            \
    "Every option of the named features, with its value as a string; None if arms are vectors.\n\n"                    \
    ">>> eenet.Bandit('linucb', features={'names': 500}).features['names']\n"                                          \
    "'500'\n"

#define BANDIT_INFO_DOC                                                                                                \
    "The bandit's settings and counters: see Info.\n\n"                                                                \
    ">>> bandit = eenet.Bandit('uniform', dim=1)\n"                                                                    \
    ">>> decision = bandit.decide([[1.0]])\n"                                                                          \
    ">>> bandit.info.decisions, bandit.info.pending\n"                                                                 \
    "(1, 1)\n"

#define BANDIT_MEMORY_DOC "Bytes of memory the bandit has allocated."

#define BANDIT_DECIDE_DOC                                                                                              \
    "decide($self, arms, *, context=None, excluded=None, boosts=None, groups=None, shares=None)\n--\n\n"               \
    "Chooses an arm, and keeps the decision pending until its reward arrives.\n\n"                                     \
    "arms: (n, dim) numbers, dense or sparse; or named features, in a list or in a mapping by\n"                       \
    "id. context: the named features that all arms share (optional). excluded: booleans, one\n"                        \
    "per arm; an arm that is True cannot be chosen, and its probability is 0.\n"                                       \
    "boosts: numbers, one per arm, that are added to the scores. groups: the group of each arm, an\n"                  \
    "integer or None; shares: (low, high) for each group, the bounds of the probability of its arms\n"                 \
    "together. The probabilities of the decision include both.\n"                                                      \
    "Returns a Decision: its action is the element of the list, or the id.\n\n"                                        \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> bandit.learn_from([[1, 0], [0, 1]], 0, 0.0)\n"                                                                \
    ">>> bandit.learn_from([[1, 0], [0, 1]], 1, 1.0)\n"                                                                \
    ">>> bandit.decide([[1, 0], [0, 2], [0.5, 0]])\n"                                                                  \
    "Decision(arm=1, id=1, probability=1.0)\n"                                                                         \
    ">>> bandit.decide([[1, 0], [0, 2], [0.5, 0]], excluded=[False, True, False]).arm\n"                               \
    "0\n"                                                                                                              \
    ">>> bandit.decide([[1, 0], [0, 2]], groups=[0, None], shares=[(0.25, 1)]).probabilities\n"                        \
    "array([0.25, 0.75])\n"

#define BANDIT_DECIDE_MANY_DOC                                                                                         \
    "decide_many($self, rounds, *, contexts=None)\n--\n\n"                                                             \
    "Decides several rounds at once, all with the bandit's present model.\n\n"                                         \
    "rounds: one array of (rounds, n, dim), or a sequence of what decide takes. contexts: a\n"                         \
    "sequence with one context per round. Returns a list of decisions. The option pending\n"                           \
    "(default: 1024) limits the number of rounds. If any round is invalid, no round is\n"                              \
    "decided.\n\n"                                                                                                     \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> bandit.learn_from([[1, 0], [0, 1]], 0, 0.0)\n"                                                                \
    ">>> bandit.learn_from([[1, 0], [0, 1]], 1, 1.0)\n"                                                                \
    ">>> bandit.decide_many([[[1, 0], [0, 2]], [[3, 0], [0, 1], [1, 1]]])\n"                                           \
    "[Decision(arm=1, id=1, probability=1.0), Decision(arm=0, id=2, probability=1.0)]\n"

#define BANDIT_DECIDE_SLOTS_DOC                                                                                        \
    "decide_slots($self, /, arms, slots=None, *, contexts=None, excluded=None)\n--\n\n"                                \
    "Fills several slots, such as places on a page, each with a different arm. If the slots are\n"                     \
    "alike, the best arm comes first.\n\n"                                                                             \
    "slots: how many, if all slots choose among the same arms. With None, arms is a list with\n"                       \
    "the arms of each slot: the same actions in the same order, with the features they have in\n"                      \
    "that slot. contexts: one context per slot, for named features. excluded: booleans of shape\n"                     \
    "(slots, arms) or (arms,); an arm that is True cannot fill the slot. Each slot is a separate\n"                    \
    "decision with its own id and reward. Its probability is conditional on the slots before it;\n"                    \
    "arms already taken have probability 0.\n\n"                                                                       \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> first, second = bandit.decide_slots([[1, 0], [0, 1], [1, 1]], 2)\n"                                           \
    ">>> first.arm != second.arm\n"                                                                                    \
    "True\n"                                                                                                           \
    ">>> bandit.learn_many([first, second], [1.0, 0.0])\n"

#define BANDIT_SCORE_DOC                                                                                               \
    "score($self, arms, *, context=None)\n--\n\n"                                                                      \
    "Scores the arms with the present model. Decides nothing and changes nothing.\n\n"                                 \
    ">>> eenet.Bandit('linucb:paper', dim=2).score([[1, 0], [0, 2]])\n"                                                \
    "Scores(scores=array([0.1, 0.2], dtype=float32))\n"

#define BANDIT_PROBABILITIES_DOC                                                                                       \
    "probabilities($self, arms, *, context=None, boosts=None, groups=None, shares=None)\n--\n\n"                       \
    "The probability with which decide would choose each arm: float64, one per arm. Changes\n"                         \
    "nothing.\n\n"                                                                                                     \
    ">>> eenet.Bandit('uniform', dim=1).probabilities([[1], [2], [3], [4]])\n"                                         \
    "array([0.25, 0.25, 0.25, 0.25])\n"

#define BANDIT_LEARN_DOC                                                                                               \
    "learn($self, decision, reward)\n--\n\n"                                                                           \
    "Learns the reward of a decision. Each decision takes one reward. decision: a Decision of\n"                       \
    "this bandit or of its snapshot, or an id.\n\n"                                                                    \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> decision = bandit.decide([[1, 0], [0, 1]])\n"                                                                 \
    ">>> bandit.learn(decision, 1.5)\n"                                                                                \
    ">>> bandit.learn(decision.id, 1.5)\n"                                                                             \
    "Traceback (most recent call last):\n"                                                                             \
    "eenet.RewardedDecision: learn: decision 1 already has its reward\n"

#define BANDIT_LEARN_MANY_DOC                                                                                          \
    "learn_many($self, decisions, rewards)\n--\n\n"                                                                    \
    "Learns the rewards of several decisions, in order, as learn does. Stops at the first\n"                           \
    "error: its attribute learned counts the rewards learned before it, and those stay\n"                              \
    "learned.\n\n"                                                                                                     \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> decisions = bandit.decide_many([[[1, 0], [0, 1]]] * 3)\n"                                                     \
    ">>> bandit.learn_many(decisions, [1.0, 0.0, 0.5])\n"                                                              \
    ">>> bandit.info.rewards\n"                                                                                        \
    "3\n"

#define BANDIT_LEARN_FROM_DOC                                                                                          \
    "learn_from($self, arms, arm, reward, *, context=None)\n--\n\n"                                                    \
    "Learns from a decision made elsewhere, for example one in a log: among arms, arm was\n"                           \
    "chosen and earned reward.\n\n"                                                                                    \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> bandit.learn_from([[1, 0], [0, 1]], 1, 0.8)\n"                                                                \
    ">>> bandit.info.rewards\n"                                                                                        \
    "1\n"

#define BANDIT_LEARN_RECORD_DOC                                                                                        \
    "learn_record($self, record, reward)\n--\n\n"                                                                      \
    "Learns the reward of a Snapshot's decision from its record (Decision.record), in any\n"                           \
    "process whose bandit has the same policy and dimension. If the policy stores something per\n"                     \
    "decision, the options for it must match too; seed, pending and the like may differ.\n\n"                          \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> decision = bandit.snapshot().decide([[1, 0], [0, 1]])\n"                                                      \
    ">>> bandit.learn_record(decision.record, 0.5)\n"

#define BANDIT_TAKE_RECORD_DOC                                                                                         \
    "take_record($self, record)\n--\n\n"                                                                               \
    "Adds a Snapshot's decision to this bandit's pending decisions, and returns its new id.\n\n"                       \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> id = bandit.take_record(bandit.snapshot().decide([[1, 0], [0, 1]]).record)\n"                                 \
    ">>> bandit.learn(id, 0.5)\n"

#define BANDIT_FORGET_DOC                                                                                              \
    "forget($self, decision)\n--\n\n"                                                                                  \
    "Drops a pending decision, or its id, whose reward will never be known. If you know that\n"                        \
    "nothing happened, learn that reward instead: usually 0.\n\n"                                                      \
    ">>> bandit = eenet.Bandit('uniform', dim=1)\n"                                                                    \
    ">>> bandit.forget(bandit.decide([[1.0]]))\n"                                                                      \
    ">>> bandit.info.pending\n"                                                                                        \
    "0\n"

#define BANDIT_SET_TIME_DOC                                                                                            \
    "set_time($self, now)\n--\n\n"                                                                                     \
    "Sets the bandit's clock, in any unit. Decisions pending for longer than the option wait\n"                        \
    "expire: they are learned with the option default_reward, or dropped if there is none.\n\n"                        \
    ">>> bandit = eenet.Bandit('uniform', dim=1, wait=10, default_reward=0)\n"                                         \
    ">>> decision = bandit.decide([[1.0]])\n"                                                                          \
    ">>> bandit.set_time(11)\n"                                                                                        \
    ">>> bandit.info.defaulted\n"                                                                                      \
    "1\n"

#define BANDIT_FEATURE_DOC                                                                                             \
    "feature($self, place)\n--\n\n"                                                                                    \
    "The named feature at a position, 0 to dim - 1: see Feature.\n\n"                                                  \
    ">>> bandit = eenet.Bandit('linucb', features=True)\n"                                                             \
    ">>> decision = bandit.decide([{'price': 2}, {'price': 4}])\n"                                                     \
    ">>> bandit.feature(1)\n"                                                                                          \
    "eenet.Feature(name='price', count=2, mean=3.0, deviation=1.0, limited=0)\n"

#define BANDIT_SAVE_DOC                                                                                                \
    "save($self, path)\n--\n\n"                                                                                        \
    "Saves everything in a file, atomically: after a crash the file is the old one or the new\n"                       \
    "one, complete.\n\n"                                                                                               \
    ">>> import os, tempfile\n"                                                                                        \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> with tempfile.TemporaryDirectory() as folder:\n"                                                              \
    "...     path = os.path.join(folder, 'model.eenet')\n"                                                             \
    "...     bandit.save(path)\n"                                                                                      \
    "...     eenet.Bandit.load(path, policy='linucb')\n"                                                               \
    "<Bandit linucb, dim 2, seed 0: 0 decisions, 0 rewards>\n"

#define BANDIT_LOAD_DOC                                                                                                \
    "load($type, path, policy=None, dim=None)\n--\n\n"                                                                 \
    "Loads a saved bandit, which continues exactly as if it had never stopped. policy, dim:\n"                         \
    "what you expect (optional); a different model raises BadModel. A missing file raises\n"                           \
    "NoFile.\n\n"                                                                                                      \
    ">>> eenet.Bandit.load('/no file of this name')\n"                                                                 \
    "Traceback (most recent call last):\n"                                                                             \
    "eenet.NoFile: load: there is no file /no file of this name\n"

#define BANDIT_TO_BYTES_DOC                                                                                            \
    "to_bytes($self, /)\n--\n\n"                                                                                       \
    "The same as save, in memory.\n\n"                                                                                 \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> eenet.Bandit.from_bytes(bandit.to_bytes())\n"                                                                 \
    "<Bandit linucb, dim 2, seed 0: 0 decisions, 0 rewards>\n"

#define BANDIT_FROM_BYTES_DOC                                                                                          \
    "from_bytes($type, data, policy=None, dim=None)\n--\n\n"                                                           \
    "The same as load, from the bytes of to_bytes.\n\n"                                                                \
    ">>> model = eenet.Bandit('linucb', dim=2).to_bytes()\n"                                                           \
    ">>> eenet.Bandit.from_bytes(model, dim=2).policy\n"                                                               \
    "'linucb'\n"

#define BANDIT_EXPLAIN_DOC                                                                                             \
    "explain($self, /, arms, arm, *, context=None)\n--\n\n"                                                            \
    "What each feature contributes to the expected reward of an arm.\n\n"                                              \
    "For vectors: a float32 array, one number per feature of a dense arm or per entry of a sparse\n"                   \
    "one. For named features: a dict from name to number, largest first. An interaction is named\n"                    \
    "like 'user.age*item.id=a7'; 'constant' is the term that all arms share. Exact for linear\n"                       \
    "policies, approximate for the others, and 0 for policies that do not learn. The mean of the\n"                    \
    "rewards and the exploration bonus are not included. Changes nothing, and adds no names.\n\n"                      \
    ">>> bandit = eenet.Bandit('linucb', features=True)\n"                                                             \
    ">>> arms = [{'topic': 'music'}, {'topic': 'sport'}]\n"                                                            \
    ">>> for _ in range(20):\n"                                                                                        \
    "...     decision = bandit.decide(arms)\n"                                                                         \
    "...     bandit.learn(decision, decision.arm)\n"                                                                   \
    ">>> sorted(bandit.explain(arms, 1))\n"                                                                            \
    "['constant', 'topic=sport']"

#define BANDIT_LEARN_NAMES_DOC                                                                                         \
    "learn_names($self, /, arms, *, context=None)\n--\n\n"                                                             \
    "Adds the feature names of a round and updates the scale of its numbers; learns nothing else.\n\n"                 \
    "decide, decide_many, decide_slots and learn_from already do this; score, probabilities and\n"                     \
    "explain never do. Call it once for each round that a snapshot decided, in order.\n\n"                             \
    ">>> bandit = eenet.Bandit('linucb', features=True)\n"                                                             \
    ">>> bandit.learn_names([{'topic': 'music'}], context={'age': 31})\n"                                              \
    ">>> bandit.feature(1).name\n"                                                                                     \
    "'age'"

#define BANDIT_SNAPSHOT_DOC                                                                                            \
    "snapshot($self, /, seed=0)\n--\n\n"                                                                               \
    "An immutable copy of the model, on which any number of threads decide while one learns.\n\n"                      \
    ">>> bandit = eenet.Bandit('linucb', dim=2)\n"                                                                     \
    ">>> snapshot = bandit.snapshot(seed=1)\n"                                                                         \
    ">>> snapshot.decide([[1, 0], [0, 1]]).id\n"                                                                       \
    "0"

#endif
