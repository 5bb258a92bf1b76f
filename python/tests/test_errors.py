"""Every status is an exception of its own, and nothing that is passed in brings the interpreter down."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import refuses

import eenet

ARMS = np.eye(3, 4, dtype=np.float32)


def bandit(policy: str = "linucb", **options: Any) -> eenet.Bandit:
    return eenet.Bandit(policy, 4, **options)


def rewarded() -> None:
    own = bandit()
    decision = own.decide(ARMS)
    own.learn(decision, 1)
    own.learn(decision, 1)


def expired() -> None:
    own = bandit(pending=1)
    first = own.decide(ARMS)
    own.decide(ARMS)
    own.learn(first, 1)


def diverged() -> None:
    own = bandit("eenet", f1_rate=1000, f1_optimizer="sgd", standardize=False, f1_steps=1000)
    for _ in range(100):
        own.learn(own.decide(1e9 * ARMS), 1e9)


def no_memory() -> None:
    eenet.Bandit("eenet", 2**32 - 1, f1_width=65536)  # more than any address


KINDS = {
    "BadInput": ("EE_BAD_INPUT", ValueError, lambda: bandit().decide(ARMS[:, :2])),
    "BadOption": ("EE_BAD_OPTION", ValueError, lambda: bandit(alpha=-1)),
    "NoMemory": ("EE_NO_MEMORY", MemoryError, no_memory),
    "UnknownDecision": ("EE_UNKNOWN_DECISION", LookupError, lambda: bandit().learn(1, 1.0)),
    "ExpiredDecision": ("EE_EXPIRED_DECISION", LookupError, expired),
    "RewardedDecision": ("EE_REWARDED_DECISION", LookupError, rewarded),
    "FileError": ("EE_FILE_ERROR", OSError, lambda: bandit().save("/no folder of this name/model")),
    "BadModel": ("EE_BAD_MODEL", ValueError, lambda: eenet.Bandit.from_bytes(bandit().to_bytes()[:-1])),
    "Diverged": ("EE_DIVERGED", ArithmeticError, diverged),
    "NoFile": ("EE_NO_FILE", FileNotFoundError, lambda: eenet.Bandit.load("/no model of this name")),
    "BadRecord": ("EE_BAD_RECORD", ValueError, lambda: bandit().learn_record(b"no record", 1)),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_status_is_an_exception(name: str) -> None:
    kind, (status, base, way) = getattr(eenet, name), KINDS[name]
    with pytest.raises(kind) as caught:
        way()
    assert type(caught.value) is kind
    assert isinstance(caught.value, (eenet.Error, base)) and issubclass(kind, base)
    assert caught.value.status == status
    assert len(str(caught.value)) > 10 and str(caught.value) == caught.value.args[0]
    back = pickle.loads(pickle.dumps(caught.value))
    assert type(back) is kind and str(back) == str(caught.value)
    assert kind.__module__ == "eenet"


def test_they_are_all_of_the_library() -> None:
    kinds = {kind.__name__ for kind in vars(eenet).values() if isinstance(kind, type) and issubclass(kind, eenet.Error)}
    assert kinds == {*KINDS, "Error"}


def test_sentences_say_what_to_do() -> None:
    refuses(eenet.BadOption, r"has no option 'f1_widht'; did you mean 'f1.width'\?", bandit, "eenet", f1_widht=3)
    refuses(eenet.BadOption, r"unknown policy 'eenett'; did you mean 'eenet'\?", bandit, "eenett")
    refuses(eenet.UnknownDecision, "there is no decision 7; the last one is 0", bandit().learn, 7, 1)
    with pytest.raises(eenet.BadOption, match="\ufffd|…|option"):  # a name that the sentence cuts within a character
        bandit(options={"ä" * 100: 1})


def test_a_call_that_fails_has_changed_nothing() -> None:
    own = bandit("eenet")
    decision = own.decide(ARMS)
    before = own.to_bytes()
    for call in (
        lambda: own.decide(np.full((3, 4), np.nan)),
        lambda: own.decide_many([ARMS, ARMS[:, :1]]),
        lambda: own.learn(decision, float("nan")),
        lambda: own.learn(decision, 1e10),
        lambda: own.learn(99, 1),
        lambda: own.learn_from(ARMS, 3, 1),
        lambda: own.forget(99),
        lambda: own.set_time(-1),
        lambda: own.learn_record(b"", 1),
    ):
        refuses(eenet.Error, None, call)
    assert own.to_bytes() == before


# ---- wrong arguments ----


@pytest.mark.parametrize("call, sentence", [
    (lambda own: own.decide(), r"decide\(\) is missing the argument 'arms'"),
    (lambda own: own.decide(ARMS, None), r"takes at most 1 positional argument, got 2; use context=$"),
    (lambda own: own.decide(ARMS, contxt=1), r"decide\(\) got an unexpected argument 'contxt'"),
    (lambda own: own.decide(ARMS, arms=ARMS), r"got 'arms' twice"),
    (lambda own: own.decide(ARMS, **{"ä\0": 1}), r"got an unexpected argument"),
    (lambda own: own.learn(1, 1, 1), r"takes at most 2 positional arguments, got 3$"),
    (lambda own: own.learn(1), r"learn\(\) is missing the argument 'reward'"),
    (lambda own: own.learn(1, "1"), "reward: expected a number, got str"),
    (lambda own: own.learn(1, None), "reward: expected a number, got NoneType"),
    (lambda own: own.learn(1, 1j), "reward: expected a number, got complex"),
    (lambda own: own.learn(1, [1.0]), "reward: expected a number, got list"),
    (lambda own: own.learn("1", 1), "decision: expected a Decision or its id, got str"),
    (lambda own: own.learn(1.0, 1), "decision: expected a Decision or its id, got float"),
    (lambda own: own.learn(None, 1), "decision: expected a Decision or its id, got NoneType"),
    (lambda own: own.forget(b"1"), "got bytes"),
    (lambda own: own.learn_from(ARMS, 1.0, 1), "arm: expected an integer, got float"),
    (lambda own: own.learn_record("text", 1), "."),
    (lambda own: own.set_time("now"), "now: expected a number"),
    (lambda own: own.feature("x"), "place: expected an integer"),
    (lambda own: own.save(3), "."),
    (lambda own: own.save(None), "."),
    (lambda own: eenet.Bandit.load(3.5), "."),
    (lambda own: eenet.Bandit.load("x", 3), "policy: expected a string, got int"),
    (lambda own: eenet.Bandit.load("x", None, "4"), "dim: expected an integer, got str"),
    (lambda own: eenet.Bandit.from_bytes("text"), "."),
    (lambda own: eenet.Bandit.from_bytes(None), "."),
    (lambda own: own.to_bytes(1), "."),
    (lambda own: own.decide_many(), "is missing the argument 'rounds'"),
    (lambda own: own.decide_many(3), "rounds: expected a sequence, got int"),
    (lambda own: own.decide_many([ARMS], contexts=3), "contexts: expected a sequence, got int"),
    (lambda own: eenet.Bandit(), "needs dim"),
    (lambda own: eenet.Bandit("linucb", "4"), "dim: expected an integer, got str"),
    (lambda own: eenet.Bandit("linucb", 4.0), "dim: expected an integer, got float"),
    (lambda own: eenet.Bandit("linucb", 4, 1.5), "seed: expected an integer, got float"),
    (lambda own: eenet.Bandit("linucb", 4, None), "seed: expected an integer, got NoneType"),
    (lambda own: eenet.Bandit(3, 4), "policy: expected a name or a Policy"),
    (lambda own: eenet.Bandit("linucb", 4, 0, 1), "positional"),
    (lambda own: eenet.Bandit("linucb", 4, options=3), "options: expected a string or a mapping"),
    (lambda own: eenet.Bandit("linucb", 4, options={3: 3}), "expected a string as the name of an option"),
    (lambda own: eenet.Bandit("linucb", 4, alpha=[1]), "alpha: expected a number, a string, True, False or None"),
    (lambda own: eenet.Bandit("linucb", features=3.5), "features: expected a string or a mapping"),
    (lambda own: eenet.Bandit.decide(3, ARMS), "."),
    (lambda own: eenet.Bandit.decide(), "."),
    (lambda own: eenet.Bandit.__new__(int), "."),
    (lambda own: object.__new__(eenet.Bandit), "not safe"),
    (lambda own: object.__new__(eenet.Decision), "not safe"),
    (lambda own: object.__new__(eenet.Scores), "not safe"),
    (lambda own: eenet.Info(3), "."),
    (lambda own: eenet.Info([1, 2]), "."),
    (lambda own: type("Both", (eenet.Bandit, int), {}), "."),
])
def test_a_wrong_argument_is_reported(call: Any, sentence: str) -> None:
    refuses(TypeError, sentence, call, bandit())


def calls_with(own: eenet.Bandit, number: Any) -> list[Any]:
    """The calls that take a whole number, with this in its place."""
    return [
        lambda: own.learn(number, 1),
        lambda: own.forget(number),
        lambda: own.learn_from(ARMS, number, 1),
        lambda: own.feature(number),
        lambda: own.snapshot(number),
        lambda: own.snapshot().decide(ARMS, seed=number),
        lambda: eenet.Bandit("linucb", number),
        lambda: bandit(seed=number),
        lambda: eenet.Bandit.load("x", None, number),
    ]


@pytest.mark.parametrize("value", [True, False, np.True_, 1.0, np.float64(1)])
def test_ids_and_places_are_whole_numbers(value: Any) -> None:
    own = bandit()
    decision = own.decide(ARMS)
    for call in (*calls_with(own, value), lambda: own.explain(ARMS, value), lambda: own.decide_slots(ARMS, value)):
        refuses(TypeError, "expected .*, got (numpy.)?(bool|float)", call)
    assert own.info.pending == 1 and own.info.rewards == 0
    own.learn(decision, True)  # a reward of True is 1, as of a click


@pytest.mark.parametrize("number", [-1, 2**64, 2**200, -(2**200)])
def test_numbers_that_are_too_large(number: int) -> None:
    for call in calls_with(bandit(), number):
        refuses(eenet.BadInput, "expected an integer from 0 to", call)


def test_rewards_that_are_too_large() -> None:
    own = bandit()
    decision = own.decide(ARMS)
    for reward in (2**200, -(2**200), 1e10, float("inf")):
        refuses(eenet.BadInput, "reward must be -1e9 to 1e9", own.learn, decision, reward)
    refuses(OverflowError, None, own.learn, decision, 10**400)


def test_texts_with_zeros_and_halves_of_characters(tmp_path: Path) -> None:
    for call in (
        lambda: bandit("lin\0ucb"),
        lambda: bandit("\ud800"),
        lambda: bandit(options="alpha=1\0"),
        lambda: bandit(options="\ud800"),
        lambda: eenet.policy("lin\0ucb"),
        lambda: eenet.policy("\ud800"),
        lambda: bandit().save("a\0b"),
        lambda: eenet.Bandit.load("a\0b"),
    ):
        refuses(ValueError, None, call)
    os.fsencode("\udcff")  # a path may hold any byte
    bandit().save(str(tmp_path / "\udcff"))
    assert eenet.Bandit.load(tmp_path / "\udcff").dim == 4


# ---- objects that do as they please ----


class Raises:
    def __init__(self, *names: str) -> None:
        self.names = names

    def __getattr__(self, name: str) -> Any:
        if name in object.__getattribute__(self, "names"):
            raise ZeroDivisionError(name)
        raise AttributeError(name)

    def __index__(self) -> int:
        raise ZeroDivisionError("__index__")

    def __float__(self) -> float:
        raise ZeroDivisionError("__float__")

    def __fspath__(self) -> str:
        raise ZeroDivisionError("__fspath__")


def test_what_an_object_raises_comes_out() -> None:
    own, odd = bandit(), Raises()
    for call in (
        *calls_with(own, odd),
        lambda: own.learn(1, odd),
        lambda: own.set_time(odd),
        lambda: own.save(odd),
        lambda: eenet.Bandit.load(odd),
        lambda: own.decide(Raises("indptr")),
        lambda: own.decide(Raises("tocsr")),
        lambda: own.decide(Raises("__array_interface__")),
        lambda: own.decide(SimpleNamespace(indptr=[0, 1], indices=[0], data=[1.0], shape=(odd, 4))),
    ):
        refuses((ZeroDivisionError, TypeError), None, call)
    assert own.info.decisions == 0


class Lies:
    """Shows something that is no array as one."""

    def __init__(self, shown: Any) -> None:
        self.__array_struct__ = shown


def test_an_array_struct_that_lies_is_not_believed() -> None:
    import datetime

    own = bandit()
    named_capsule = getattr(datetime, "datetime_CAPI", None) or __import__("_datetime").datetime_CAPI
    for shown in (3, None, b"bytes", named_capsule, ARMS, object()):
        refuses((TypeError, ValueError), None, own.decide, Lies(shown))
    assert own.score(Lies(ARMS.__array_struct__)) == own.score(ARMS)


class ChangesItself(list):  # type: ignore[type-arg]
    """A list of rounds that empties itself when it is looked at."""

    def __iter__(self) -> Any:
        while self:
            yield self.pop()


def test_containers_that_change_while_they_are_read() -> None:
    own = bandit()
    assert len(own.decide_many(ChangesItself([ARMS, ARMS]))) == 2
    shape = [2, 4]

    class Data:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            shape.clear()
            return np.ones(2, np.float32)

    sparse = SimpleNamespace(indptr=[0, 1, 2], indices=[0, 1], data=Data(), shape=shape)
    own.decide(sparse)
    refuses(eenet.BadInput, None, own.decide, sparse)


class Changes:
    """Another array each time that it is asked, or one whose shape its own elements change."""

    shapes = [(3, 4), (12,), (3, 2, 2), ()]

    def __init__(self, dtype: str) -> None:
        self.asked, self.dtype = 0, dtype

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        shape = self.shapes[self.asked % 4]
        self.asked += 1
        return np.ones(shape, self.dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f4", "i4", "f2", "O"])
def test_an_object_is_asked_once(dtype: str) -> None:
    own, odd = bandit(), Changes(dtype)
    own.decide(odd)
    assert odd.asked == 1
    for dimensions in (1, 3, 0):
        refuses(eenet.BadInput, f"got {dimensions}", own.decide, odd)


def test_numbers_that_change_the_array_that_holds_them() -> None:
    class Number:
        def __float__(self) -> float:
            array.shape = (12,) if array.shape == (3, 4) else (3, 4)
            return 1.0

    own, array = bandit(), np.array([[Number()] * 4] * 3, dtype=object)
    for _ in range(3):
        try:
            own.decide(array)
        except eenet.BadInput:
            pass
    array.shape = (3, 4)


def test_a_pickled_decision_may_be_anybodys() -> None:
    own = bandit()
    decision = own.decide(ARMS)
    maker, (arm, id, probability, columns, record, _) = decision.__reduce__()
    for bad in (
        (3, id, probability, columns, record),
        (-1, id, probability, columns, record),
        (arm, id, probability, columns[:-1], record),
        (arm, id, probability, b"", record),
        (arm, id, probability, columns, "text"),
        (arm, id, probability, bytearray(columns), record),
        (arm, "x", probability, columns, record),
        (2**70, id, probability, columns, record),
    ):
        refuses((TypeError, ValueError, OverflowError), None, maker, *bad)
    refuses(eenet.UnknownDecision, None, own.learn, maker(arm, 2**63, probability, columns, None), 1)
    refuses(eenet.BadRecord, None, own.learn, maker(arm, 0, probability, columns, b"no record"), 1)
