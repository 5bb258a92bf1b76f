"""Explanations against what they must be: differences of the expected reward."""

import copy

import numpy as np
import pytest

import eenet

DIM, ARMS = 6, 4


def taught(policy, **settings):
    bandit = eenet.Bandit(policy, dim=DIM, seed=1, **settings)
    for arms in rounds(60):
        decision = bandit.decide(arms)
        bandit.learn(decision, float(arms[decision.arm] @ np.arange(DIM) * 0.1 + 0.5))
    return bandit


def rounds(count, seed=0):
    return np.random.default_rng(seed).standard_normal((count, ARMS, DIM)).astype("f4")


def test_a_policy_that_does_not_learn_has_nothing_to_tell():
    assert not eenet.Bandit("uniform", dim=DIM).explain(rounds(1)[0], 1).any()


def test_of_sparse_arms_each_entry_is_reported():
    sparse = pytest.importorskip("scipy.sparse")
    bandit = taught("linucb")
    arms = rounds(1, seed=2)[0] * (np.random.default_rng(3).random((ARMS, DIM)) < 0.5)
    matrix = sparse.csr_matrix(arms)
    for arm in range(ARMS):
        contributions = bandit.explain(matrix, arm)
        entries = matrix[arm].indices
        assert contributions.shape == entries.shape
        assert contributions == pytest.approx(bandit.explain(arms, arm)[entries], abs=1e-6)
    empty = sparse.csr_matrix((2, DIM), dtype="f4")
    assert bandit.explain(empty, 1).shape == (0,)


def named(**features):
    return named_and_rewards(**features)[0]


def named_and_rewards(**features):
    bandit = eenet.Bandit("linucb", seed=1, features=features or {"names": 200, "hashes": 20})
    rewards = []
    for turn in range(60):
        decision = bandit.decide(actions(turn), context=visitor(turn))
        rewards.append(0.3 * decision.arm + 0.01 * turn)
        bandit.learn(decision, rewards[-1])
    assert bandit.info.limited == 0
    return bandit, rewards


def actions(turn):
    return [{"item": {"id": name, "price": turn % 7 + i, "tags": ["new", "new"]}} for i, name in enumerate("abc")]


def visitor(turn):
    return {"user": {"age": 20 + turn % 30, "plan": "free" if turn % 2 else "paid"}, "né": "日本"}


@pytest.mark.parametrize(
    "features", [{}, {"names": 4, "hashes": 3}, {"names": 2, "hashes": 0}, {"hashing": "vw", "bits": 6}]
)
def test_names_add_up_to_the_expected_reward(features):
    """With the base, which all arms share and which follows the mean reward in steps of a twentieth of the spread. Also
    where names share places, or have none."""
    bandit, rewards = named_and_rewards(**features)
    base = float(bandit.score([{}]).exploitation[0]) - bandit.explain([{}], 0)["constant"]
    assert abs(base - np.mean(rewards)) < 2 * np.std(rewards) / 20
    for arm in range(3):
        contributions = bandit.explain(actions(4), arm, context=visitor(4))
        expected = float(bandit.score(actions(4), context=visitor(4)).exploitation[arm])
        assert base + sum(contributions.values()) == pytest.approx(expected, abs=1e-4)
        assert all(type(name) is str and type(value) is float for name, value in contributions.items())
        sizes = [abs(value) for name, value in contributions.items() if "tags" not in name]  # which come twice and are added up
        assert sizes == sorted(sizes, reverse=True)


def test_names_are_those_of_the_features():
    bandit = named()
    contributions = bandit.explain(actions(4), 1, context=visitor(4))
    places = {bandit.feature(place).name for place in range(bandit.dim)}
    assert set(contributions) <= places
    assert {"constant", "item.id=b", "user.plan=paid", "user.plan=paid*item.id=b", "né=日本"} <= set(contributions)
    assert "item.id=a" not in contributions
    assert bandit.explain([{}, {"unheard": "of"}], 0).keys() == {"constant"}


def test_nothing_is_changed():
    bandit = named()
    before = bandit.to_bytes()
    bandit.explain([{"new": "name"}], 0, context={"other": 1})
    assert bandit.to_bytes() == before
    vectors = taught("eenet")
    before = vectors.to_bytes()
    vectors.explain(rounds(1)[0], 0)
    assert vectors.to_bytes() == before
    assert copy.deepcopy(vectors).explain(rounds(1)[0], 0).tobytes() == vectors.explain(rounds(1)[0], 0).tobytes()


@pytest.mark.parametrize("call, error, sentence", [
    (lambda b, a: b.explain(a, ARMS), eenet.BadInput, "expected an arm from 0 to 3, got 4"),
    (lambda b, a: b.explain(a, -1), eenet.BadInput, "arm"),
    (lambda b, a: b.explain(a, 2**64), eenet.BadInput, "arm"),
    (lambda b, a: b.explain(a, "0"), TypeError, "arm: expected an integer"),
    (lambda b, a: b.explain(a), TypeError, "is missing the argument 'arm'"),
    (lambda b, a: b.learn_names(a), eenet.BadInput, "expected named features"),
])
def test_sentences(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call(eenet.Bandit("linucb", dim=DIM), rounds(1)[0])
