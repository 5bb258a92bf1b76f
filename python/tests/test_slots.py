"""Slots: the forms in which they are given. The rule: see tests/unit."""

import json

import numpy as np
import pytest

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


@pytest.mark.parametrize(
    "call, error, sentence",
    [
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
    ],
)
def test_sentences(call, error, sentence):
    bandit, arms = eenet.Bandit("linucb", dim=DIM), rounds(1)[0]
    before = bandit.to_bytes()
    with pytest.raises(error, match=sentence):
        call(bandit, arms)
    assert bandit.to_bytes() == before
