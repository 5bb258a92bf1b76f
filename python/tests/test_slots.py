"""Slots, boosts and shares: the forms in which they are given. The rules: see tests/unit."""

import json

import numpy as np
import pytest
from conftest import refuses

import eenet

DIM, ARMS = 4, 7


def rounds(count, seed=0):
    return np.random.default_rng(seed).standard_normal((count, ARMS, DIM)).astype("f4")


def taught(policy, **options):
    bandit = eenet.Bandit(policy, dim=DIM, seed=1, **options)
    for arms in rounds(40):
        decision = bandit.decide(arms)
        bandit.learn(decision, float(arms[decision.arm, 0] - arms[decision.arm, 1]))
    return bandit


def test_sparse_slots():
    sparse = pytest.importorskip("scipy.sparse")
    one, other = taught("linucb"), taught("linucb")
    views = rounds(2, seed=4) * (np.random.default_rng(1).random((2, ARMS, DIM)) < 0.5)
    assert one.decide_slots([sparse.csr_matrix(view) for view in views]) == other.decide_slots(views)


def test_named_slots():
    features = {"names": 300, "hashes": 30}
    arms = [{"item": {"id": name, "price": price}} for price, name in enumerate("abcd")]
    contexts = [{"user": {"age": 31}, "slot": {"size": size}} for size in "LM"]
    one, other, third = (eenet.Bandit("linucb", seed=1, features=features) for _ in range(3))
    for _ in range(20):
        decisions = one.decide_slots(arms, 2, contexts=contexts)
        texts = [json.dumps({**context, "_multi": arms}) for context in contexts]
        assert decisions == other.decide_slots(texts) == third.decide_slots([arms, arms], contexts=contexts)
        for decision in decisions:
            for bandit in (one, other, third):
                bandit.learn(decision.id, decision.arm)
    assert one.to_bytes() == other.to_bytes() == third.to_bytes()
    assert {"slot.size=L", "slot.size=M"} <= {one.feature(place).name for place in range(one.dim)}
    assert {decision.arm for decision in one.decide_slots(arms, 2)} == {2, 3}


def test_no_slots_are_no_decisions():
    bandit = eenet.Bandit("linucb", dim=DIM)
    assert bandit.decide_slots(rounds(1)[0], 0) == bandit.decide_slots([]) == []
    assert bandit.info.decisions == 0


@pytest.mark.parametrize("call, error, sentence", [
    (lambda b, a: b.decide_slots(a, ARMS + 1), eenet.BadInput, "got 8 slots and 7 arms"),
    (lambda b, a: b.decide_slots(a, -1), eenet.BadInput, "slots"),
    (lambda b, a: b.decide_slots(a, 2**70), eenet.BadInput, "slots"),
    (lambda b, a: b.decide_slots(a, 2**31), eenet.BadInput, "slots"),
    (lambda b, a: b.decide_slots(a, 1.5), TypeError, "slots: expected an integer"),
    (lambda b, a: b.decide_slots(a), eenet.BadInput, "expected an array of 3 dimensions, got 2"),
    (lambda b, a: b.decide_slots(5), TypeError, "expected a sequence"),
    (lambda b, a: b.decide_slots([a, a[:3]]), eenet.BadInput, "slot 0 has 7 and slot 1 has 3"),
    (lambda b, a: b.decide_slots(a, 2, excluded=[True] * 6), eenet.BadInput, r"\(2 slots, 7 arms\)"),
    (lambda b, a: b.decide_slots(a, 2, excluded=np.zeros((3, 7))), eenet.BadInput, "excluded"),
    (lambda b, a: b.decide_slots(a, 2, excluded=np.zeros((2, 7, 1))), eenet.BadInput, "excluded"),
    (lambda b, a: b.decide_slots(a, 2, excluded=True), eenet.BadInput, "excluded"),
    (lambda b, a: b.decide_slots(a, 2, excluded=[[1], [1, 2]]), ValueError, "sequence"),
    (lambda b, a: b.decide_slots(a, 1, excluded=[True] * 7), eenet.BadInput, "no arm is left for slot 0"),
    (lambda b, a: b.decide_slots(a, 2, contexts=[{}]), eenet.BadInput, "got 1 contexts for 2 slots"),
    (lambda b, a: b.decide_slots(a, 2, contexts=[{}, {}]), eenet.BadInput, "only named features take a context"),
    (lambda b, a: b.decide_slots([a, a], contexts=[{}]), eenet.BadInput, "got 1 contexts for 2 rounds"),
    (lambda b, a: b.decide_slots(a, 2, contexts={}), eenet.BadInput, "got 0 contexts for 2 slots"),
    (lambda b, a: b.decide_slots(a, 2, contexts=5), TypeError, "len"),
    (lambda b, a: b.decide_slots([{"a": 1}], 1), eenet.BadInput, "expects vectors"),
    (lambda b, a: b.decide_slots(np.zeros((2**40, 0), dtype="f4"), 2**32 - 1), MemoryError, None),
])
def test_sentences(call, error, sentence):
    bandit, arms = eenet.Bandit("linucb", dim=DIM), rounds(1)[0]
    before = bandit.to_bytes()
    refuses(error, sentence, call, bandit, arms)
    assert bandit.to_bytes() == before


# ---- boosts and shares in the draw ----

VECTORS = rounds(1, seed=1)[0][:4]


def test_boosts_are_added_to_the_scores():
    bandit = taught("linucb")
    boosts = [0.0, 0.5, -0.25, 100.0]
    before = bandit.score(VECTORS)
    decision = bandit.decide(VECTORS, boosts=boosts)
    assert decision.arm == 3
    assert decision.scores == pytest.approx(before.scores + np.array(boosts, dtype="f4"))
    assert np.array_equal(decision.exploitation, before.exploitation)
    assert bandit.decide(VECTORS, boosts=np.array(boosts[::-1])).arm == 0


@pytest.mark.parametrize("policy", ["uniform", "linucb", "eenet"])
def test_shares_bound_the_probability_of_a_group(policy):
    bandit = taught(policy, propensity="softmax") if policy != "uniform" else taught(policy)
    groups, shares = [0, 1, None, 0], [(0.6, 0.9), (0.0, 0.05)]
    before = bandit.probabilities(VECTORS)
    after = bandit.probabilities(VECTORS, groups=groups, shares=shares)
    decision = bandit.decide(VECTORS, groups=groups, shares=shares)
    assert after.sum() == pytest.approx(1)
    assert 0.6 <= after[[0, 3]].sum() + 1e-12 and after[1] <= 0.05 + 1e-12
    assert after[0] * before[3] == pytest.approx(after[3] * before[0])
    assert decision.probability == decision.probabilities[decision.arm]
    assert decision.probabilities[[0, 3]].sum() + 1e-12 >= 0.6


def test_a_snapshot_takes_limits_too():
    bandit = taught("linucb", propensity="softmax")
    limits = {"boosts": [0.1, 0.0, 0.2, 0.0], "groups": [0, 0, 1, None], "shares": [(0.5, 0.5), (0.2, 0.3)]}
    expected = bandit.probabilities(VECTORS, **limits)
    snapshot = bandit.snapshot()
    assert np.array_equal(snapshot.probabilities(VECTORS, **limits), expected)
    drawn = [snapshot.decide(VECTORS, **limits).arm for _ in range(4000)]
    frequencies = np.bincount(drawn, minlength=4) / len(drawn)
    assert np.abs(frequencies - expected).max() < 4.5 * np.sqrt(0.25 / len(drawn))


def test_named_features_take_limits():
    bandit = eenet.Bandit("uniform", features=True)
    actions = {"a": {"price": 1}, "b": {"price": 2}, "c": {}, "d": {}}
    for decider in (bandit, bandit.snapshot()):
        decision = decider.decide(actions, context={"age": 3}, groups=[0, None, None, None], shares=[(0.7, 1)])
        assert decision.probabilities == pytest.approx([0.7, 0.1, 0.1, 0.1])
        assert decider.decide(actions).probabilities == pytest.approx([0.25] * 4), "limits are for one call"


@pytest.mark.parametrize(("limits", "error", "message"), [
    ({"boosts": [1.0]}, eenet.BadInput, "boosts: expected 4 numbers, one per arm, got 1"),
    ({"boosts": 1.0}, TypeError, "boosts: expected a sequence, got float"),
    ({"boosts": {0: 1.0, 1: 2.0, 2: 0.0, 3: 0.0}}, TypeError, "boosts: expected a sequence, got dict"),
    ({"boosts": ["a"] * 4}, TypeError, "boosts: expected a number, got str"),
    ({"boosts": [0, 0, float("nan"), 0]}, eenet.BadInput, "boost of arm 2 must be -1e9 to 1e9, got nan"),
    ({"boosts": [0, 1e300, 0, 0]}, eenet.BadInput, "boost of arm 1 must be -1e9 to 1e9, got inf"),
    ({"shares": [(0, 1)]}, eenet.BadInput, "shares: expected groups too"),
    ({"groups": [0] * 4}, eenet.BadInput, "groups: expected shares too"),
    ({"groups": [0] * 3, "shares": [(0, 1)]}, eenet.BadInput, "groups: expected 4 integers or None, one per arm"),
    ({"groups": [0, 1, 0, 0], "shares": [(0, 1)]}, eenet.BadInput, "arm 1 has group 1, but shares has 1 entries"),
    ({"groups": [0, -1, 0, 0], "shares": [(0, 1)]}, eenet.BadInput, "groups: expected an integer from 0"),
    ({"groups": [0, "a", 0, 0], "shares": [(0, 1)]}, TypeError, "groups: expected an integer, got str"),
    ({"groups": [0] * 4, "shares": [0.5]}, TypeError, "shares: expected a sequence, got float"),
    ({"groups": [0] * 4, "shares": [(0, 1, 2)]}, eenet.BadInput, r"2 numbers for each group, \(low, high\), got 3"),
    ({"groups": [0] * 4, "shares": [(0.5, 0.2)]}, eenet.BadInput, "share of group 0 .* got 0.5 to 0.2"),
    ({"groups": [0] * 4, "shares": [(0.5, 1.5)]}, eenet.BadInput, "share of group 0 must be within 0 to 1"),
])
def test_bad_limits_are_refused(limits, error, message):
    bandit = taught("linucb")
    model = bandit.to_bytes()
    for call in (bandit.decide, bandit.probabilities, bandit.snapshot().decide):
        refuses(error, message, call, VECTORS, **limits)
    assert bandit.to_bytes() == model
