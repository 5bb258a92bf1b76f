"""The face of MABWiser's MAB; side by side with MABWiser itself where that is there."""

import copy
import pickle

import numpy
import pytest
from conftest import refuses

import eenet
from eenet.mabwiser import MAB

ARMS = ["a", "b", "c"]


def problem(rounds, seed=0, features=4):
    """Contexts, and the arm that each wants: that of the largest of three mixtures of its features."""
    random = numpy.random.default_rng(seed)
    contexts = random.normal(size=(rounds, features)).astype("f")
    weights = numpy.random.default_rng(99).normal(size=(features, len(ARMS)))
    return contexts, [ARMS[best] for best in numpy.argmax(contexts @ weights, axis=1)]


def play(mab, contexts, wanted):
    """Fits on ten rounds of chance, then decides and learns round by round; how many decisions were right."""
    first = [ARMS[i % 3] for i in range(10)]
    mab.fit(first, [float(arm == best) for arm, best in zip(first, wanted)], contexts[:10])
    right = 0
    for row in range(10, len(contexts)):
        arm = mab.predict(contexts[row : row + 1])
        reward = float(arm == wanted[row])
        mab.partial_fit([arm], [reward], contexts[row : row + 1])
        right += reward
    return right / (len(contexts) - 10)


@pytest.mark.parametrize("policy, bound", [("eenet", 0.75), ("eenet:fast", 0.75), ("linucb", 0.75), ("lints", 0.7)])
def test_learns(policy, bound):
    contexts, wanted = problem(1200)
    mab = MAB(ARMS, policy, seed=1)
    assert play(mab, contexts, wanted) > bound  # chance is 1/3
    assert mab.bandit.info.pending == 0


def test_learns_without_contexts():
    random = numpy.random.default_rng(0)
    mab = MAB(ARMS, "eenet", seed=1)
    mab.fit(ARMS, [0, 0, 0])
    chosen = []
    for _ in range(600):
        arm = mab.predict()
        chosen.append(arm)
        mab.partial_fit([arm], [float(random.random() < {"a": 0.2, "b": 0.8, "c": 0.5}[arm])])
    assert not mab.is_contextual
    assert chosen[-300:].count("b") > 250
    assert mab.predict([[1], [1]]) == ["b", "b"]  # as many as there are contexts, which do not matter


def test_forms_of_what_is_returned():
    contexts, wanted = problem(30)
    mab = MAB(ARMS, "linucb", seed=1)
    mab.fit(numpy.array(wanted), numpy.arange(30) % 2, contexts)
    assert mab.predict(contexts[:1]) in ARMS
    assert set(mab.predict(contexts[:5])) <= set(ARMS) and len(mab.predict(contexts[:5])) == 5
    for values in (mab.predict_expectations, mab.expected_rewards, mab.probabilities):
        assert list(values(contexts[:1])) == ARMS
        assert [list(each) for each in values(contexts[:2])] == [ARMS, ARMS]
    above = mab.predict_expectations(contexts[:1])["a"] - mab.expected_rewards(contexts[:1])["a"]
    assert above > 0
    assert sum(mab.probabilities(contexts[:1]).values()) == pytest.approx(1)
    for one_row in (contexts[0], contexts[0].tolist()):
        refuses(TypeError, "2D list", mab.predict, one_row)


def test_pandas():
    pandas = pytest.importorskip("pandas")
    contexts, wanted = problem(30)
    frame = pandas.DataFrame(contexts)
    one, other = MAB(ARMS, "linucb", seed=1), MAB(ARMS, "linucb", seed=1)
    one.fit(wanted, list(range(30)), contexts)
    other.fit(pandas.Series(wanted), pandas.Series(range(30)), frame)
    assert one.predict_expectations(contexts[:3]) == other.predict_expectations(frame[:3])
    assert other.predict_expectations(frame.iloc[0]) == one.predict_expectations(contexts[:1])


def test_arms_come_and_go():
    contexts, wanted = problem(400)
    mab = MAB(["a", "b"], "eenet:fast", seed=1, max_arms=4)
    first = ["ab"[row % 2] for row in range(400)]
    mab.fit(first, [float(arm == best) for arm, best in zip(first, wanted)], contexts)
    mab.add_arm("c")
    assert mab.arms == ARMS and mab.cold_arms == ["c"]
    mab.partial_fit(["c"] * 400, [float(best == "c") for best in wanted], contexts)
    assert mab.cold_arms == []
    new, best = problem(300, seed=5)
    expected = mab.expected_rewards(new)
    assert numpy.mean([max(each, key=each.get) == arm for each, arm in zip(expected, best)]) > 0.7
    mab.remove_arm("a")
    assert mab.arms == ["b", "c"] and set(mab.predict(new)) == {"b", "c"}
    mab.add_arm("d")
    refuses(ValueError, "all 4 arms of max_arms are used", mab.add_arm, "e")
    assert mab.arms == ["b", "c", "d"]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda mab: pickle.loads(pickle.dumps(mab))])
def test_copies_go_on_alike(again):
    contexts, wanted = problem(100)
    mab = MAB(ARMS, "eenet:fast", seed=1)
    play(mab, contexts, wanted)
    other = again(mab)
    more, best = problem(50, seed=2)
    for each in (mab, other):
        each.partial_fit(each.predict(more), [float(arm == "a") for arm in best], more)
    assert mab.predict_expectations(more) == other.predict_expectations(more)


def test_bad_input_is_a_sentence():
    for arguments, error in (({"arms": ("a",)}, TypeError), ({"arms": []}, ValueError),
                             ({"arms": ["a", "a"]}, ValueError), ({"arms": ["a", None]}, ValueError),
                             ({"arms": ["a"], "seed": "x"}, TypeError), ({"arms": ["a"], "n_jobs": 0}, ValueError),
                             ({"arms": ["a", "b"], "max_arms": 1}, ValueError),
                             ({"arms": ["a"], "learning_policy": "lincub"}, eenet.BadOption),
                             ({"arms": ["a"], "alpha": 0.1, "learning_policy": "uniform"}, eenet.BadOption)):
        refuses(error, None, MAB, **arguments)
    mab = MAB(ARMS, "linucb")
    refuses(Exception, "Call fit before", mab.predict)
    mab.fit(["a"], [1], [[1, 2]])
    refuses(ValueError, "'z' is not one of the arms", mab.partial_fit, ["z"], [1], [[1, 2]])
    refuses(ValueError, "expected 2 features", mab.partial_fit, ["a"], [1], [[1]])
    refuses(ValueError, "same length", mab.partial_fit, ["a"], [1, 2], [[1, 2]])
    refuses(TypeError, "Rewards cannot", mab.partial_fit, ["a"], [numpy.nan], [[1, 2]])
    refuses(ValueError, "Contexts cannot", mab.fit, ["a"], [1], [[1, numpy.inf]])
    refuses(ValueError, "requires context", mab.predict)
    assert mab.bandit.info.rewards == 1  # nothing of that was learned, nothing lost
    refuses(NotImplementedError, "cannot be copied", mab.warm_start, {}, 0.5)


# ---- beside MABWiser itself ----


def test_linucb_is_mabwisers_linucb():
    theirs_mab = pytest.importorskip("mabwiser.mab")
    policy = theirs_mab.LearningPolicy.LinUCB(alpha=1.25, l2_lambda=2.0)
    contexts, wanted = problem(300)
    decisions = [ARMS[i % 3] for i in range(300)]
    rewards = [float(arm == best) for arm, best in zip(decisions, wanted)]
    ours, theirs = MAB(ARMS, policy, seed=1), theirs_mab.MAB(ARMS, policy, seed=1)
    for mab in (ours, theirs):
        mab.fit(decisions[:200], rewards[:200], contexts[:200])
        mab.partial_fit(decisions[200:], rewards[200:], contexts[200:])
        mab.add_arm("d")
    for mine, yours in zip(ours.predict_expectations(contexts), theirs.predict_expectations(contexts)):
        # A new arm of theirs has A^-1 = l2_lambda * I, where the formula says I / l2_lambda.
        assert [mine[arm] for arm in ARMS] == pytest.approx([yours[arm] for arm in ARMS], abs=1e-4)
    for mab in (ours, theirs):
        mab.remove_arm("d")
    agree = numpy.mean([one == other for one, other in zip(ours.predict(contexts), theirs.predict(contexts))])
    assert agree > 0.99


def test_lints_draws_by_mabwisers_regressions():
    """Draws of independent arms; those of MABWiser's arms are not, as each gets a copy of the same generator."""
    theirs_mab = pytest.importorskip("mabwiser.mab")
    policy = theirs_mab.LearningPolicy.LinTS(alpha=0.7, l2_lambda=1.0)
    contexts, wanted = problem(30)
    ours, theirs = MAB(ARMS, policy, seed=1), theirs_mab.MAB(ARMS, policy, seed=1)
    for mab in (ours, theirs):
        mab.fit(wanted, [1.0] * 30, contexts)
    seen = [ours.predict_expectations(contexts[:1]) for _ in range(4000)]
    random, drawn = numpy.random.default_rng(0), []
    for arm in ARMS:
        model = theirs._imp.arm_to_model[arm]
        deviation = 0.7 * numpy.sqrt(contexts[0] @ model.A_inv @ contexts[0])
        draws = numpy.array([expectations[arm] for expectations in seen])
        assert abs(draws.mean() - contexts[0] @ model.beta) < 5 * deviation / numpy.sqrt(4000)
        assert abs(draws.std() - deviation) < 5 * deviation / numpy.sqrt(8000)
        drawn.append(random.multivariate_normal(model.beta, 0.7**2 * model.A_inv, 4000) @ contexts[0])
    expected = numpy.bincount(numpy.argmax(drawn, axis=0), minlength=3) / 4000
    chosen = ours.predict(numpy.repeat(contexts[:1], 4000, axis=0))
    shares = [chosen.count(arm) / 4000 for arm in ARMS]
    assert numpy.abs(shares - expected).max() < 5 * numpy.sqrt(2 * 0.25 / 4000)  # five deviations


def test_other_policies_of_mabwisers_are_refused():
    theirs_mab = pytest.importorskip("mabwiser.mab")
    refuses(ValueError, "Softmax is not supported", MAB, ARMS, theirs_mab.LearningPolicy.Softmax())
    refuses(ValueError, "scale the contexts", MAB, ARMS, theirs_mab.LearningPolicy.LinUCB(scale=True))
    with pytest.raises(ValueError, match="neighborhood_policy is not supported"):
        MAB(ARMS, "eenet", theirs_mab.NeighborhoodPolicy.KNearest())


def test_readme_example_of_mabwiser():
    """MABWiser's own first example, with the policy exchanged."""
    arms = ["Arm1", "Arm2"]
    decisions = ["Arm1", "Arm1", "Arm2", "Arm1"]
    rewards = [20, 17, 25, 9]
    mab = MAB(arms=arms, learning_policy="linucb", alpha=1.25)
    mab.fit(decisions=decisions, rewards=rewards)
    assert mab.predict() == "Arm2"
    assert set(mab.predict_expectations()) == set(arms)
