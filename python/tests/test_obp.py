"""The policy for Open Bandit Pipeline, run and judged by Open Bandit Pipeline."""

import copy
import itertools
import pickle

import numpy
import pytest
from conftest import refuses

pytest.importorskip("obp", reason="Open Bandit Pipeline is not there")

from obp.dataset import logistic_reward_function  # noqa: E402
from obp.policy import BaseContextualPolicy, LinUCB  # noqa: E402
from obp.policy.policy_type import PolicyType  # noqa: E402
from obp.simulator.simulator import BanditEnvironmentSimulator, BanditPolicySimulator  # noqa: E402

import eenet  # noqa: E402
from eenet.obp import EENetPolicy  # noqa: E402

POLICIES = ["eenet", "eenet:fast", "linucb", "lints"]


def test_is_a_policy_of_theirs():
    policy = EENetPolicy(dim=3, n_actions=4, len_list=2, random_state=1, policy="eenet:fast", options="w2=0.5")
    assert isinstance(policy, BaseContextualPolicy)
    assert policy.policy_type == PolicyType.CONTEXTUAL
    assert policy.policy_name == "eenet:fast"
    assert policy.bandit.options["w2"] == "0.5"
    actions = policy.select_action(numpy.ones((1, 3)))
    assert actions.shape == (2,) and len(set(actions)) == 2


def rewards_of(policy, rounds=1500, dim=4, arms=4):
    """Mean reward of the last half, where the best arm is that of the largest mixture of the context."""
    random = numpy.random.default_rng(0)
    weights = numpy.random.default_rng(9).normal(size=(dim, arms))
    total = 0.0
    for round_ in range(rounds):
        context = random.normal(size=(1, dim))
        action = policy.select_action(context)[0]
        reward = float(numpy.argmax(context @ weights) == action)
        policy.update_params(action=action, reward=reward, context=context)
        total += reward * (round_ >= rounds // 2)
    return total / (rounds - rounds // 2)


@pytest.mark.parametrize("name", POLICIES)
def test_learns(name):
    policy = EENetPolicy(dim=4, n_actions=4, random_state=1, policy=name)
    assert rewards_of(policy) > 0.7  # chance is 0.25
    assert policy.n_trial == policy.action_counts.sum() == 1500
    assert policy.bandit.info.pending == 0


def test_linucb_decides_as_theirs():
    """Theirs with a constant before the context: both regress by action, with the same prior and width."""
    ours = EENetPolicy(dim=4, n_actions=3, random_state=1, policy="linucb:paper", options="alpha=0.4")
    theirs = LinUCB(dim=5, n_actions=3, random_state=1, epsilon=0.4)
    random = numpy.random.default_rng(0)
    agreed = 0
    for round_ in range(600):
        context = random.normal(size=(1, 4))
        wider = numpy.hstack([[[1.0]], context])
        chosen = ours.select_action(context)[0]
        agreed += chosen == theirs.select_action(wider)[0]
        ours.update_params(chosen, float(context[0, chosen] > 0), context)
        theirs.update_params(chosen, float(context[0, chosen] > 0), wider)
    assert agreed > 590  # equal scores, as of arms that are new, are drawn here


def test_initialize_begins_again():
    policy = EENetPolicy(dim=4, n_actions=4, random_state=1, policy="eenet:fast")
    first = rewards_of(policy, 100)
    policy.initialize()
    assert policy.n_trial == 0 and policy.bandit.info.rewards == 0
    assert rewards_of(policy, 100) == first


def test_batches_are_learned_when_they_are_full():
    policy = EENetPolicy(dim=2, n_actions=2, batch_size=10, random_state=1, policy="linucb")
    for count in range(1, 26):
        policy.update_params(0, 1.0, numpy.ones((1, 2)))
        assert policy.bandit.info.rewards == count - count % 10


def test_a_batch_keeps_contexts_as_they_were():
    one, other = (EENetPolicy(dim=2, n_actions=2, batch_size=2, random_state=1, policy="linucb") for _ in range(2))
    context = numpy.ones((1, 2), numpy.float32)
    for value in (1, 2):
        one.update_params(0, float(value), numpy.full((1, 2), value, numpy.float32))
        context[:] = value
        other.update_params(0, float(value), context)
    arms = eenet.blocks([1, 1, 2], 2)
    numpy.testing.assert_array_equal(one.bandit.score(arms).scores, other.bandit.score(arms).scores)


def test_action_context_tells_of_actions_that_were_never_tried():
    random = numpy.random.default_rng(0)
    features = random.normal(size=(6, 3))
    policy = EENetPolicy(dim=3, n_actions=6, random_state=1, policy="linucb", action_context=features)
    for _ in range(500):
        context = random.normal(size=(1, 3))
        action = random.integers(5)  # never the last
        policy.update_params(action, float(features[action] @ context[0]), context)
    right = 0
    for _ in range(200):
        context = random.normal(size=(1, 3))
        right += policy.select_action(context)[0] == numpy.argmax(features @ context[0])
    assert right > 190
    refuses(ValueError, "action_context", EENetPolicy, dim=3, n_actions=5, action_context=features)


@pytest.mark.parametrize("features", [None, numpy.eye(4)])
def test_action_distribution_is_what_is_drawn(features):
    options = {"propensity": "floor", "propensity_epsilon": 0.4}
    policy = EENetPolicy(dim=2, n_actions=4, len_list=3, random_state=1, policy="linucb", options=options,
                         action_context=features)  # fmt: skip
    context = numpy.array([[1.0, 0.5]])
    for action in range(4):
        policy.update_params(action, float(action), context)
    expected = numpy.zeros((4, 3))
    for order in itertools.permutations(range(4), 3):
        probability = 1.0
        for place, action in enumerate(order):  # the best of what is left with 0.6, any with 0.4
            left = set(range(4)) - set(order[:place])
            probability *= 0.6 * (action == max(left)) + 0.4 / len(left)
        for place, action in enumerate(order):
            expected[action, place] += probability
    dist = policy.compute_batch_action_dist(context)
    numpy.testing.assert_allclose(dist, expected[None])
    drawn = numpy.array([policy.select_action(context) for _ in range(4000)])
    for place in range(3):
        shares = numpy.bincount(drawn[:, place], minlength=4) / 4000
        assert numpy.abs(shares - expected[:, place]).max() < 5 * numpy.sqrt(0.25 / 4000)  # five deviations


def test_their_simulator_runs_it():
    environment = BanditEnvironmentSimulator(
        n_actions=4, dim_context=4, reward_function=logistic_reward_function, random_state=1
    )
    rounds = environment.next_bandit_round_batch(n_rounds=1500)
    means = {}
    for name in ("eenet", "uniform"):
        policy = EENetPolicy(dim=4, n_actions=4, random_state=1, policy=name)
        simulator = BanditPolicySimulator(policy=policy, environment=environment)
        simulator.steps(batch_bandit_rounds=rounds)
        means[policy.policy_name] = simulator.obtained_rewards.mean()
        simulator.steps(n_rounds=10)  # drawn one by one
        assert policy.n_trial == 1510
    best = rounds.expected_rewards.max(axis=1).mean()
    gained = (means["eenet"] - means["uniform"]) / (best - means["uniform"])
    assert gained > 0.5


@pytest.mark.parametrize("again", [copy.deepcopy, lambda policy: pickle.loads(pickle.dumps(policy))])
def test_copies_go_on_alike(again):
    policy = EENetPolicy(dim=4, n_actions=4, random_state=1, policy="eenet:fast")
    rewards_of(policy, 100)
    other = again(policy)
    assert rewards_of(policy, 100) == rewards_of(other, 100)


def test_bad_input_is_a_sentence():
    policy = EENetPolicy(dim=2, n_actions=3)
    for context in (1.0, numpy.ones((2, 1)), numpy.ones((2, 2)), numpy.ones((1, 3))):
        refuses(ValueError, r"context: expected shape \(1, 2\)", policy.select_action, context)
    refuses(ValueError, "0 to 2", policy.update_params, 3, 1.0, numpy.ones((1, 2)))
    refuses(ValueError, r"\(rounds, 2\)", policy.compute_batch_action_dist, numpy.ones((4, 3)))
    refuses(eenet.BadOption, None, EENetPolicy, dim=2, n_actions=3, policy="lincub")
