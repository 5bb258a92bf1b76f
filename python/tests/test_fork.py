"""Forks while another thread is inside a call: the child gets an error where it would wait forever."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import Callable, Iterator

import numpy as np
import pytest
from server_process import LONG, Meanwhile, wait_for

import eenet

FORKS = 60 if LONG else 8
ARMS = np.random.default_rng(0).standard_normal((5, 4), dtype=np.float32)
MANY = np.zeros((20_000, 4), np.float32)
WORKED, REFUSED, OTHER = 0, 3, 4

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


@contextmanager
def used_by_a_thread(call: Callable[[], object]) -> Iterator[None]:
    """Another thread makes the call over and over."""
    inside = threading.Event()
    with Meanwhile(lambda: (inside.set(), call())):
        inside.wait()
        yield


def in_child(call: Callable[[], object]) -> int:
    """How the call ends in a child process."""
    child = os.fork()
    if not child:
        ended = OTHER
        try:
            call()
            ended = WORKED
        except RuntimeError as error:
            if "in use by another thread when the process forked" in str(error):
                ended = REFUSED
        finally:
            os._exit(ended)
    _, status = wait_for(lambda: any(ended := os.waitpid(child, os.WNOHANG)) and ended, "the child hangs", 0.001)
    return os.waitstatus_to_exitcode(status)


def endings(call: Callable[[], object]) -> set[int]:
    """How the call ends in many children; more of them until one was refused."""
    seen = {in_child(call) for _ in range(FORKS)}
    for _ in range(600):
        if REFUSED in seen:
            break
        seen.add(in_child(call))
    return seen


def every_call(bandit: eenet.Bandit) -> None:
    """Each call either works or raises; a bandit that was in use raises at all of them."""
    calls: list[Callable[[], object]] = [
        lambda: bandit.info,
        lambda: bandit.memory,
        lambda: repr(bandit),
        lambda: bandit.decide(ARMS),
        lambda: bandit.decide_many([ARMS]),
        lambda: bandit.decide_slots(ARMS, 2),
        lambda: bandit.score(ARMS),
        lambda: bandit.probabilities(ARMS),
        lambda: bandit.explain(ARMS, 0),
        lambda: bandit.learn(bandit.decide(ARMS), 1.0),
        lambda: bandit.learn_from(ARMS, 0, 1.0),
        lambda: bandit.forget(bandit.decide(ARMS)),
        lambda: bandit.set_time(1),
        lambda: bandit.snapshot(),
        lambda: bandit.to_bytes(),
        lambda: bandit.__sizeof__(),
    ]
    refused = 0
    for call in calls:
        try:
            call()
        except RuntimeError:
            refused += 1
    if refused:
        assert refused == len(calls)
        bandit.decide(ARMS)


def test_a_bandit_that_another_thread_uses_is_refused_in_the_child() -> None:
    bandit = eenet.Bandit("linucb", 4)
    with used_by_a_thread(lambda: bandit.score(MANY)):
        assert endings(lambda: every_call(bandit)) <= {WORKED, REFUSED}
        assert REFUSED in endings(lambda: bandit.decide(ARMS))
    assert in_child(lambda: bandit.decide(ARMS)) == WORKED
    assert len(bandit.decide(ARMS).scores) == 5


def test_a_bandit_that_waits_for_no_thread_works_in_the_child() -> None:
    busy, idle = eenet.Bandit("linucb", 4), eenet.Bandit("linucb", 4)
    copied = busy.to_bytes()
    with used_by_a_thread(lambda: busy.score(MANY)):
        for _ in range(FORKS):
            assert in_child(lambda: every_call(idle)) == WORKED
            assert in_child(lambda: eenet.Bandit.from_bytes(copied).decide(ARMS)) == WORKED


def test_a_bandit_that_was_in_use_can_be_dropped_in_the_child() -> None:
    for _ in range(FORKS):
        held = [eenet.Bandit("linucb", 4)]
        with used_by_a_thread(lambda own=held[0]: own.score(MANY)):  # type: ignore[misc]
            assert in_child(held.clear) == WORKED


def test_a_snapshot_that_another_thread_uses_is_refused_in_the_child() -> None:
    bandit = eenet.Bandit("linucb", 4)
    snapshot = bandit.snapshot()

    def all_calls() -> None:
        snapshot.decide(ARMS)
        snapshot.score(ARMS)
        snapshot.explain(ARMS, 0)
        for _ in range(3):  # the second one waits until nobody decides on the first copy
            snapshot.update()

    with used_by_a_thread(lambda: snapshot.score(MANY)):
        seen = endings(all_calls)
        assert REFUSED in seen and seen <= {WORKED, REFUSED}
        for _ in range(FORKS):
            assert in_child(lambda: bandit.snapshot().decide(ARMS)) == WORKED
    assert in_child(all_calls) == WORKED


def test_a_snapshot_works_in_the_child_while_its_bandit_is_in_use() -> None:
    bandit = eenet.Bandit("linucb", 4)
    snapshot = bandit.snapshot()
    with used_by_a_thread(lambda: bandit.score(MANY)):
        for _ in range(FORKS):
            assert in_child(lambda: snapshot.decide(ARMS)) == WORKED
        assert REFUSED in endings(snapshot.update)
