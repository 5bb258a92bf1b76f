"""Threads: one bandit for several of them, and Python goes on while the library computes."""

from __future__ import annotations

import contextlib
import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from released_gil import await_others_during, no_forced_switches, progress_meanwhile
from server_process import Meanwhile, wait_for

import eenet

ROUNDS = np.random.default_rng(0).standard_normal((400, 5, 4), dtype=np.float32)


def test_threads_share_a_bandit() -> None:
    bandit = eenet.Bandit("linucb", 4, pending=100_000)

    def work(first: int) -> list[int]:
        ids = []
        for arms in ROUNDS[first::4]:
            decision = bandit.decide(arms)
            assert np.isfinite(decision.scores).all()
            bandit.learn(decision, float(arms[decision.arm].sum()))
            ids.append(decision.id)
            bandit.score(arms)
            assert bandit.info.decisions >= decision.id
        bandit.decide_many(ROUNDS[:3])
        bandit.to_bytes()
        return ids

    with ThreadPoolExecutor(4) as pool:
        ids = [id for part in pool.map(work, range(4)) for id in part]
    assert len(set(ids)) == len(ids) == 400
    assert bandit.info.rewards == 400 and bandit.info.decisions == 412 and bandit.info.pending == 12


def test_threads_that_compute_at_once_do_not_meet() -> None:
    # A bandit scores in room of its own: two calls at once would write over each other's scores.
    bandit = eenet.Bandit("eenet", 4)
    for arms in ROUNDS[:20]:
        bandit.learn(bandit.decide(arms), float(arms.sum()))
    batches = np.random.default_rng(1).standard_normal((4, 3000, 4)).astype(np.float32)
    expected = [bandit.score(arms) for arms in batches]
    with ThreadPoolExecutor(4) as pool:
        for which in range(15):
            assert list(pool.map(bandit.score, batches)) == expected, which


def test_another_thread_runs_while_one_computes() -> None:
    bandit = eenet.Bandit("eenet", 4, f1_steps=2000, f1_width=100, pending=4000)
    decisions = bandit.decide_many(np.tile(ROUNDS, (10, 1, 1)))
    with no_forced_switches():
        assert progress_meanwhile(lambda: sum(range(1000))) == 0, "the measure itself is wrong"
    large = np.zeros((50_000, 4), np.float32)
    calls = {
        "learn": lambda: bandit.learn(decisions.pop(), 1.0),
        "learn_from": lambda: bandit.learn_from(ROUNDS[0], 0, 1.0),
        "score": lambda: bandit.score(large),
        "probabilities": lambda: bandit.probabilities(large),
        "decide": lambda: bandit.decide(large),
        "decide_many": lambda: bandit.decide_many([large]),
        "to_bytes": lambda: eenet.Bandit.from_bytes(bandit.to_bytes()),
    }
    for name, call in calls.items():
        await_others_during(call, name)


def test_a_bandit_that_computes_holds_up_no_other() -> None:
    slow, quick = eenet.Bandit("eenet", 4, f1_steps=2000, f1_width=100), eenet.Bandit("linucb", 4)

    def decided_meanwhile() -> int:
        learning = threading.Thread(target=slow.learn, args=(slow.decide(ROUNDS[0]), 1.0))
        decided = 0
        learning.start()
        while learning.is_alive():
            quick.learn(quick.decide(ROUNDS[decided % 400]), 1.0)
            decided += 1
        learning.join()
        return decided

    # If the system gives this thread no processor meanwhile, it is few. If one waits for the other, it always is.
    wait_for(lambda: decided_meanwhile() > 100, "one bandit waits for another")
    assert slow.info.rewards == slow.info.decisions


def test_a_bandit_may_go_while_a_thread_computes_with_it() -> None:
    results: list[eenet.Scores] = []
    bandit = eenet.Bandit("eenet", 4)
    large = np.zeros((50_000, 4), np.float32)
    thread = threading.Thread(target=lambda own=bandit: results.append(own.score(large)))  # type: ignore[misc]
    thread.start()
    del bandit
    thread.join()
    assert len(results[0]) == 50_000


def test_arms_that_change_meanwhile_do_no_harm() -> None:
    """A thread writes to the arms while others read them: what is decided is anybody's guess, nothing else."""
    arms = np.zeros((50, 2000), np.float32)
    indices = np.tile(np.arange(0, 2000, 40, dtype=np.int32), 50)
    sparse = eenet.SparseArms(np.arange(0, 2501, 50), indices, np.ones(2500, np.float32), (50, 2000))
    bandit, turns = eenet.Bandit("greedy", 2000, f1_width=8), itertools.count()
    values = np.array([0, np.nan, 1e30, -1, np.inf], np.float32)

    def change() -> None:
        i = next(turns)
        arms[:, i % 2000] = values[i % 5]
        arms[:, (i + 1000) % 2000] = 0
        sparse.indices[:] = (i * 2654435761) % 2**31 if i % 2 else indices

    with Meanwhile(change):
        for _ in range(300):
            for call, which in itertools.product((bandit.score, bandit.decide), (arms, sparse)):
                with contextlib.suppress(eenet.BadInput, eenet.Diverged):
                    call(which)
    assert bandit.score(np.zeros((2, 2000))).scores.shape == (2,)
