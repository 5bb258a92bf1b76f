"""References are counted right and memory is given back, also where a call fails."""

from __future__ import annotations

import copy
import gc
import pickle
import resource
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable

import numpy as np
import pytest

import eenet

ARMS = np.eye(3, 4, dtype=np.float32)
CALLS = 100_000


def bandit(**options: Any) -> eenet.Bandit:
    return eenet.Bandit("linucb", 4, **options)


def forms() -> dict[str, Any]:
    return {
        "float32": ARMS.copy(),
        "float64": ARMS.astype(float),
        "strided": np.zeros((3, 8), np.float32)[:, ::2],
        "int64": ARMS.astype(int),
        "big-endian": ARMS.astype(">f4"),
        "list": [[1.0, 2.0, 3.0, 4.0]],
        "csr": eenet.SparseArms([0, 1, 2], [0, 3], [1.0, 2.0], (2, 4)),
        "one dimension": ARMS[0].copy(),
        "other dimension": ARMS[:, :3].copy(),
        "not finite": np.full((3, 4), np.nan, np.float32),
        "texts": [["a"]],
        "complex": ARMS.astype(complex),
        "sparse in disorder": SimpleNamespace(indptr=[0, 2], indices=[1, 0], data=[1.0, 2.0], shape=(1, 4)),
        "sparse beyond its dimension": SimpleNamespace(indptr=[0, 1], indices=[9], data=[1.0], shape=(1, 4)),
        "sparse of texts": SimpleNamespace(indptr=[0, 1], indices=[0], data=["a"], shape=(1, 4)),
        "named": [{"a": 1}],
    }


def quietly(call: Callable[[], Any]) -> None:
    try:
        call()
    except (TypeError, ValueError, LookupError, MemoryError):
        pass


@pytest.mark.parametrize("form", forms())
def test_what_is_passed_in_keeps_its_references(form: str) -> None:
    own, arms, context = bandit(), forms()[form], {"a": 1}
    held = [arms, context, own, *vars(arms).values()] if isinstance(arms, SimpleNamespace) else [arms, context, own]
    calls = [
        lambda: own.decide(arms),
        lambda: own.decide(arms, context=context),
        lambda: own.score(arms),
        lambda: own.probabilities(arms),
        lambda: own.decide_many([arms, arms]),
        lambda: own.decide_many(arms),
        lambda: own.decide_many([arms], contexts=[context]),
        lambda: own.learn_from(arms, 0, 1.0),
        lambda: own.learn_from(arms, 9, 1.0),
    ]
    for call in calls:
        quietly(call)  # what is looked up once and kept
        before = [sys.getrefcount(thing) for thing in held]
        for _ in range(10):
            quietly(call)
        assert [sys.getrefcount(thing) for thing in held] == before


def test_the_capsule_of_an_array_is_let_go() -> None:
    class Watched(np.ndarray):
        pass

    own, arms = bandit(), ARMS.copy().view(Watched)
    gone = weakref.ref(arms)
    decision = own.decide(arms)
    scores = decision.scores
    del arms
    assert gone() is None
    del decision
    assert np.isfinite(scores).all(), "an array outlives the decision that it came from"


def test_types_are_not_used_up() -> None:
    own = bandit()
    kinds = (eenet.Bandit, eenet.Decision, eenet.Scores, eenet.Info)
    gc.collect()
    before = [sys.getrefcount(kind) for kind in kinds]
    for _ in range(200):
        decision = own.decide(ARMS)
        pickle.loads(pickle.dumps(decision))
        own.score(ARMS)
        _ = own.info, own.options, repr(own), repr(decision)
        copy.copy(own)
        quietly(lambda: eenet.Bandit("linucb", 4, alpha=-1))
        quietly(lambda: eenet.Bandit.from_bytes(b"none"))
        quietly(lambda: eenet.Decision())  # type: ignore[call-arg]
    del decision, _
    gc.collect()
    assert [sys.getrefcount(kind) for kind in kinds] == before


def most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB


def calls_that_leak_nothing(tmp_path: Path) -> dict[str, Callable[[], Any]]:
    own, kept = bandit(pending=4), bandit().to_bytes()
    wide, broken = ARMS.astype(float), np.full((3, 4), np.nan, np.float32)
    sparse = SimpleNamespace(indptr=np.array([0, 1]), indices=np.array([0]), data=np.ones(1), shape=(1, 4))
    many = np.stack([ARMS] * 3)

    def decide() -> None:
        own.learn(own.decide(ARMS), 0.5)

    def arrays() -> None:
        decision = own.decide(ARMS)
        _ = decision.scores, decision.probabilities, decision.exploitation, decision.exploration

    return {
        "decide, learn": decide,
        "arrays": arrays,
        "float64": lambda: own.decide(wide),
        "sparse": lambda: own.score(sparse),
        "refused": lambda: quietly(lambda: own.decide(broken)),
        "refused learning": lambda: quietly(lambda: own.learn(10**9, 1)),
        "many": lambda: own.decide_many(many),
        "info": lambda: (own.info, own.memory, repr(own)),
        "bytes": lambda: eenet.Bandit.from_bytes(kept),
        "pickle": lambda: pickle.loads(pickle.dumps(own.decide(ARMS))),
    }


@pytest.mark.parametrize("name", calls_that_leak_nothing(Path()))
def test_a_hundred_thousand_calls_take_no_memory(name: str, tmp_path: Path) -> None:
    call = calls_that_leak_nothing(tmp_path)[name]
    count = CALLS // 50 if name == "bytes" else CALLS // 10 if name in ("arrays", "pickle", "info", "many") else CALLS
    for _ in range(count // 10):
        call()
    before = most_memory()
    for _ in range(count):
        call()
    # Every call of them would leave at least 16 bytes: 1,600 KiB in all, or 10 times that of what is called less often.
    assert most_memory() - before < 16 * count // 1024 // 2 + 64
