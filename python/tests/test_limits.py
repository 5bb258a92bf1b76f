"""Boosts and shares in the draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eenet

ARMS, DIM = 4, 3
VECTORS = np.random.default_rng(1).standard_normal((ARMS, DIM)).astype("f4")


def taught(policy: str = "linucb", **options: Any) -> eenet.Bandit:
    bandit = eenet.Bandit(policy, dim=DIM, seed=1, **options)
    for arms in np.random.default_rng(2).standard_normal((30, ARMS, DIM)).astype("f4"):
        decision = bandit.decide(arms)
        bandit.learn(decision, float(arms[decision.arm, 0]))
    return bandit


def test_boosts_are_added_to_the_scores() -> None:
    bandit = taught()
    boosts = [0.0, 0.5, -0.25, 100.0]
    before = bandit.score(VECTORS)
    decision = bandit.decide(VECTORS, boosts=boosts)
    assert decision.arm == 3
    assert decision.scores == pytest.approx(before.scores + np.array(boosts, dtype="f4"))
    assert np.array_equal(decision.exploitation, before.exploitation)
    assert bandit.decide(VECTORS, boosts=np.array(boosts[::-1])).arm == 0


@pytest.mark.parametrize("policy", ["uniform", "linucb", "eenet"])
def test_shares_bound_the_probability_of_a_group(policy: str) -> None:
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


def test_a_snapshot_takes_limits_too() -> None:
    bandit = taught(propensity="softmax")
    limits: Any = {"boosts": [0.1, 0.0, 0.2, 0.0], "groups": [0, 0, 1, None], "shares": [(0.5, 0.5), (0.2, 0.3)]}
    expected = bandit.probabilities(VECTORS, **limits)
    snapshot = bandit.snapshot()
    assert np.array_equal(snapshot.probabilities(VECTORS, **limits), expected)
    drawn = [snapshot.decide(VECTORS, **limits).arm for _ in range(4000)]
    frequencies = np.bincount(drawn, minlength=ARMS) / len(drawn)
    assert np.abs(frequencies - expected).max() < 4.5 * np.sqrt(0.25 / len(drawn))


def test_named_features_take_limits() -> None:
    bandit = eenet.Bandit("uniform", features=True)
    actions = {"a": {"price": 1}, "b": {"price": 2}, "c": {}, "d": {}}
    for decider in (bandit, bandit.snapshot()):
        decision = decider.decide(actions, context={"age": 3}, groups=[0, None, None, None], shares=[(0.7, 1)])
        assert decision.probabilities == pytest.approx([0.7, 0.1, 0.1, 0.1])
        assert decider.decide(actions).probabilities == pytest.approx([0.25] * 4), "limits are for one call"


@pytest.mark.parametrize(
    ("limits", "error", "message"),
    [
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
    ],
)
def test_bad_limits_are_refused(limits: Any, error: type[Exception], message: str) -> None:
    bandit = taught()
    model = bandit.to_bytes()
    for call in (bandit.decide, bandit.probabilities, bandit.snapshot().decide):
        with pytest.raises(error, match=message):
            call(VECTORS, **limits)
    assert bandit.to_bytes() == model
