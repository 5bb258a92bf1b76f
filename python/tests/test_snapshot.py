"""Snapshots: what they decide, what their records teach, and threads."""

import copy
import gc
import json
import pickle
import threading
import weakref

import numpy as np
import pytest
from conftest import refuses
from released_gil import await_others_during
from server_process import in_threads

import eenet

DIM, ARMS = 5, 6


def rounds(count, seed=0):
    """Arms, and a reward that is the first feature of the arm."""
    return np.random.default_rng(seed).random((count, ARMS, DIM), dtype="f4")


def taught(policy):
    bandit = eenet.Bandit(policy, dim=DIM, seed=1)
    for arms in rounds(40):
        decision = bandit.decide(arms)
        bandit.learn(decision, float(arms[decision.arm, 0]))
    return bandit


def parts(decision):
    """All that a decision is but its id and record."""
    return (decision.arm, decision.probability, decision.probabilities.tobytes(), decision.scores.tobytes(),
            decision.exploitation.tobytes(), decision.exploration.tobytes())


@pytest.mark.parametrize("policy", ["eenet", "linucb", "neural-ucb", "greedy"])
def test_a_snapshot_decides_as_the_bandit_would(policy):
    bandit = taught(policy)
    snapshot = bandit.snapshot()
    for arms in rounds(20, seed=1):
        seen = copy.deepcopy(bandit).decide(arms)
        own = snapshot.decide(arms)
        assert own.id == 0 and isinstance(own.record, bytes)
        assert seen.id == 41 and seen.record is None
        assert own.scores.tobytes() == seen.scores.tobytes()
        assert own.probabilities.tobytes() == seen.probabilities.tobytes()
        assert snapshot.score(arms).scores.tobytes() == seen.scores.tobytes()
        assert snapshot.explain(arms, 2).tobytes() == bandit.explain(arms, 2).tobytes()


@pytest.mark.parametrize("policy", ["eenet", "linucb", "ucb1", "squarecb"])
def test_many_rounds_and_slots_on_a_snapshot(policy):
    bandit = taught(policy)
    snapshot, other, excluded = bandit.snapshot(), copy.deepcopy(bandit), np.arange(ARMS) == 2
    arms = rounds(8, seed=1)
    many = snapshot.decide_many(arms)
    seen = copy.deepcopy(bandit).decide_many(arms)
    assert [one.scores.tobytes() for one in many] == [one.scores.tobytes() for one in seen]
    assert [one.probabilities.tobytes() for one in many] == [one.probabilities.tobytes() for one in seen]
    assert snapshot.decide_many(list(arms), seed=7) == snapshot.decide_many(arms, seed=7)
    slots = snapshot.decide_slots(arms[0], 3, excluded=excluded, seed=7)
    assert len({one.arm for one in slots} - {2}) == 3 and not any(one.probabilities[2] for one in slots)
    assert [parts(one) for one in slots] == [
        parts(one) for one in snapshot.decide_slots([arms[0]] * 3, excluded=excluded, seed=7)
    ]
    one = snapshot.decide(arms[0], excluded=excluded, seed=7)
    assert parts(one) == parts(slots[0]) and one.record == slots[0].record
    assert snapshot.probabilities(arms[0]).tobytes() == bandit.probabilities(arms[0]).tobytes()
    bandit.learn_many(many + slots, np.ones(11))
    for one in many + slots:
        other.learn_record(one.record, 1.0)
    assert bandit.to_bytes() == other.to_bytes()
    assert snapshot.decide_many([]) == []


def test_named_rounds_and_slots_on_a_snapshot():
    bandit = eenet.Bandit("linucb", features=True)
    items = [{"id": name} for name in "abcd"]
    for number in range(40):
        decision = bandit.decide(items, context={"user": number % 2})
        bandit.learn(decision, float(decision.arm == number % 2))
    snapshot = bandit.snapshot()
    contexts = [{"user": 0}, {"user": 1}]
    for one, context in zip(snapshot.decide_many([items] * 2, contexts=contexts), contexts):
        assert parts(one) == parts(snapshot.decide(items, context=context))
        assert snapshot.probabilities(items, context=context).tobytes() == one.probabilities.tobytes()
        assert snapshot.score(items, context=context).scores.tobytes() == one.scores.tobytes()
    slots = snapshot.decide_slots(items, 2, contexts=contexts, excluded=[False, False, True, True])
    assert {one.arm for one in slots} == {0, 1}
    assert snapshot.decide(items, context=contexts[0], excluded=[True, False, True, True]).arm == 1
    before = bandit.info.rewards
    bandit.learn_many(slots, [1.0, 0.0])
    assert bandit.info.rewards == before + 2


def test_what_is_learned_is_seen_after_update_alone():
    bandit = eenet.Bandit("linucb", dim=DIM)
    snapshot, arms = bandit.snapshot(), rounds(1)[0]
    before = snapshot.score(arms).scores.tobytes()
    bandit.learn_from(arms, 2, 1.0)
    assert snapshot.score(arms).scores.tobytes() == before != bandit.score(arms).scores.tobytes()
    snapshot.update()
    assert snapshot.score(arms).scores.tobytes() == bandit.score(arms).scores.tobytes()


def test_seeds_follow_each_other_and_decide_all_draws():
    bandit = eenet.Bandit("lints", dim=DIM, seed=1, probability_draws=0)
    arms = rounds(1)[0]
    bandit.learn_from(arms, 0, 1.0)
    bandit.learn_from(arms, 1, 0.0)
    one, other = bandit.snapshot(seed=7), bandit.snapshot()
    for number in range(20):
        looked = one.score(arms).scores.tobytes()
        assert looked == other.score(arms, seed=7 + number).scores.tobytes()
        decision = one.decide(arms)
        assert decision == other.decide(arms, seed=7 + number)
        assert decision.scores.tobytes() == looked
    assert len({other.decide(arms, seed=number).scores.tobytes() for number in range(20)}) > 10
    last = bandit.snapshot(seed=2**64 - 1)
    assert last.decide(arms) == other.decide(arms, seed=2**64 - 1)
    assert last.decide(arms) == other.decide(arms, seed=0)  # behind the last comes the first


def test_named_rounds():
    bandit = eenet.Bandit("linucb", seed=1, features={"names": 200, "hashes": 20})
    arms, context = [{"item": {"id": name, "price": i}} for i, name in enumerate("abc")], {"user": {"age": 31}}
    text = json.dumps({**context, "_multi": arms})
    snapshot = bandit.snapshot()
    for age in range(40):
        context["user"]["age"] = age
        bandit.learn_names(arms, context=context)
        decision = snapshot.decide(arms, context=context)
        bandit.learn(decision, decision.arm * 0.5)
        snapshot.update()
    context["user"]["age"] = 31
    assert snapshot.decide(arms, context=context, seed=1) == snapshot.decide(text, seed=1)
    seen = bandit.score(arms, context=context)
    assert snapshot.score(arms, context=context).scores.tobytes() == seen.scores.tobytes()
    explained, own = snapshot.explain(arms, 2, context=context), bandit.explain(arms, 2, context=context)
    assert set(explained) == set(own) and "user.age*item.id=c" in explained
    for name, contribution in explained.items():
        assert contribution == pytest.approx(own[name], rel=1e-5, abs=1e-7)
    before = bandit.to_bytes()
    snapshot.decide([{"unheard": "of"}, {"b": 1}])
    snapshot.update()
    assert bandit.to_bytes() == before  # a snapshot teaches no names


# ---- threads ----


@pytest.mark.parametrize("policy", ["eenet", "linucb"])
def test_four_threads_decide_while_one_learns(policy):
    """Each decision is one that some published version makes, and the learner ends as if alone."""
    history, checked = rounds(60), rounds(8, seed=5)
    versions, replay = [], eenet.Bandit(policy, dim=DIM, seed=1)
    for number, arms in enumerate([None, *history]):
        if arms is not None:
            replay.learn_from(arms, number % ARMS, float(arms[number % ARMS, 0]))
        still = replay.snapshot()
        versions.append([parts(still.decide(arms, seed=i)) for i, arms in enumerate(checked)])
    bandit = eenet.Bandit(policy, dim=DIM, seed=1)
    snapshot = bandit.snapshot()
    done = threading.Event()
    seen = [[] for _ in range(4)]

    def decide(number):
        while not done.is_set() or not seen[number]:
            i = len(seen[number]) % len(checked)
            seen[number].append((i, parts(snapshot.decide(checked[i], seed=i))))

    def learn():
        for number, arms in enumerate(history, 1):
            bandit.learn_from(arms, number % ARMS, float(arms[number % ARMS, 0]))
            snapshot.update()
        done.set()

    in_threads(5, lambda number: decide(number) if number < 4 else learn())
    allowed = [{version[i] for version in versions} for i in range(len(checked))]
    assert all(made in allowed[i] for own in seen for i, made in own)
    assert [parts(snapshot.decide(arms, seed=i)) for i, arms in enumerate(checked)] == versions[-1]
    assert bandit.to_bytes() == replay.to_bytes()


def test_threads_on_one_bandit_and_rounds_of_names():
    bandit = eenet.Bandit("linucb", features={"names": 500, "hashes": 50})
    snapshot = bandit.snapshot()

    def play(number):
        for turn in range(60):
            arms = [{"id": f"{number}-{i}", "price": turn + i} for i in range(4)]
            decision = (bandit if number % 2 else snapshot).decide(arms, context={"turn": turn})
            bandit.learn(decision, decision.arm)
            if turn % 10 == 0:
                snapshot.update()

    in_threads(4, play)
    assert bandit.info.rewards == 240 and bandit.info.decisions == 120 and bandit.info.pending == 0


def test_no_two_threads_take_the_same_seed():
    bandit = eenet.Bandit("lints", features={"names": 100, "hashes": 10}, probability_draws=0)
    arms = [{"id": name} for name in "abc"]
    bandit.learn_from(arms, 0, 1.0)
    snapshot, seen = bandit.snapshot(), []
    in_threads(4, lambda number: seen.extend(snapshot.decide(arms).scores.tobytes() for _ in range(200)))
    still = bandit.snapshot()
    assert sorted(seen) == sorted(still.decide(arms, seed=seed).scores.tobytes() for seed in range(800))


def test_the_gil_is_released_while_a_snapshot_decides():
    snapshot = eenet.Bandit("eenet", dim=1000, seed=1, f1_width=500).snapshot()
    arms = np.random.default_rng(0).random((500, 1000), dtype="f4")
    await_others_during(lambda: snapshot.decide(arms), "decide")


# ---- lives and errors ----


def test_a_snapshot_keeps_its_bandit():
    snapshot = eenet.Bandit("linucb", dim=DIM).snapshot()
    gc.collect()
    snapshot.update()
    assert snapshot.decide(rounds(1)[0]).arm < ARMS


def test_a_bandit_that_holds_its_snapshot_is_freed():
    class Server(eenet.Bandit):
        pass

    server = Server("linucb", dim=DIM)
    server.published = server.snapshot()
    server.published.decide(rounds(1)[0])
    gone = weakref.ref(server)
    del server
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("call, error, sentence", [
    (lambda s: s.decide(np.eye(DIM), seed=-1), eenet.BadInput, "seed"),
    (lambda s: s.decide(np.eye(DIM), seed=2**64), eenet.BadInput, "seed"),
    (lambda s: s.decide(np.eye(DIM), seed="x"), TypeError, "seed: expected an integer"),
    (lambda s: s.decide(np.eye(DIM), 1), TypeError, "positional"),
    (lambda s: s.decide(), TypeError, "is missing the argument 'arms'"),
    (lambda s: s.explain(np.eye(DIM), DIM), eenet.BadInput, "expected an arm from 0 to 4, got 5"),
    (lambda s: s.explain(np.eye(DIM), -1), eenet.BadInput, "arm"),
    (lambda s: eenet.Snapshot(), TypeError, "call Bandit.snapshot"),
    (lambda s: pickle.dumps(s), TypeError, "pickle the bandit"),
    (lambda s: copy.copy(s), TypeError, "pickle the bandit"),
])
def test_sentences(call, error, sentence):
    refuses(error, sentence, call, eenet.Bandit("linucb", dim=DIM).snapshot())


def test_decisions_with_other_records_are_not_equal():
    decision = eenet.Bandit("linucb", dim=2).snapshot().decide(np.eye(2))
    maker, (*parts, record, _) = decision.__reduce__()
    assert maker(*parts, record) == decision
    for other in (record[:-1] + b"?", record + b"?", None):
        assert maker(*parts, other) != decision
