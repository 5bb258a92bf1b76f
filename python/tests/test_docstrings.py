"""Every public object says what it is, and every example in a docstring is run."""

from __future__ import annotations

import doctest
import importlib
import inspect
from typing import Any, Iterator, Tuple

import numpy
import pytest

import eenet

OTHERS = ["sklearn", "coba", "obp"]  # packages that have adapters
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

# What Python itself defines on every class, or on every exception and named tuple.
PYTHONS_OWN = {name for base in (object, Exception, tuple) for name in dir(base)}
PYTHONS_OWN |= {"n_fields", "n_sequence_fields", "n_unnamed_fields"}


def members(owner: type) -> Iterator[Tuple[str, Any]]:
    for name, value in vars(owner).items():
        is_slot = name in vars(owner).get("__slots__", ())  # which can have no docstring
        if not name.startswith("_") and name not in PYTHONS_OWN and not is_slot:
            yield name, value


def public_objects() -> Iterator[Tuple[str, Any]]:
    yield "eenet", eenet
    for name in eenet.__all__:
        if name in ("__version__", "Client", "AsyncClient", "client", "lab", "evaluate"):
            continue  # what is imported when it is used has tests of its own
        value = getattr(eenet, name)
        yield f"eenet.{name}", value
        if inspect.isclass(value):
            yield from ((f"eenet.{name}.{own}", member) for own, member in members(value))


OBJECTS = dict(public_objects())


@pytest.mark.parametrize("name", OBJECTS)
def test_it_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(OBJECTS[name]), f"{name} says nothing of itself"


@pytest.mark.parametrize("name", OBJECTS)
def test_its_examples_hold(name: str) -> None:
    text = inspect.getdoc(OBJECTS[name]) or ""
    example = doctest.DocTestParser().get_doctest(text, {"eenet": eenet, "np": numpy}, name, None, 0)
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    said: list[str] = []
    runner.run(example, out=said.append)
    assert not runner.failures, "".join(said)


@pytest.mark.parametrize("name", ["mabwiser", *(pytest.param(name, marks=pytest.mark.ci) for name in OTHERS)])
def test_examples_of_modules_hold(name: str) -> None:
    if name in OTHERS:
        pytest.importorskip(name)
    found = doctest.testmod(importlib.import_module(f"eenet.{name}"))
    assert found.attempted and not found.failed


def test_calls_have_signatures() -> None:
    expected = "(self, /, arms, *, context=None, excluded=None, boosts=None, groups=None, shares=None)"
    assert str(inspect.signature(eenet.Bandit.decide)) == expected
    for name, value in OBJECTS.items():
        if callable(value) and not (inspect.isclass(value) and value is not eenet.Bandit):
            assert inspect.signature(value) is not None, name


def test_help_is_enough_to_start() -> None:
    text = eenet.Bandit.__doc__
    assert text is not None
    for word in (".decide(", ".learn(", "policies()", "features=True", "decide_many"):
        assert word in text, word


def test_all_lists_what_there_is() -> None:
    public = {name for name, value in vars(eenet).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert public - {"annotations", "importlib", "Any", "List", "TYPE_CHECKING"} <= set(eenet.__all__)
