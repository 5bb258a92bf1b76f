"""Candidates of `eenet.evaluate.frame` that are given by probabilities or by a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy

from ._columns import (action_name, check_probabilities, find_column, plain, read_actions, read_columns, read_numbers,
                       shown)
from ._errors import BadInput
from ._frames import Frame

_ROUNDING = 1e-3  # the sum of probabilities may differ from 1 by this


class Probabilities(NamedTuple):
    """A candidate's probabilities by action, each (n,)."""

    label: str
    by_action: dict[str, numpy.ndarray[Any, Any]]


def is_table(given: Any) -> bool:
    """A DataFrame, or something similar."""
    return hasattr(given, "columns") and not isinstance(given, type)


def is_probabilities(given: Any) -> bool:
    """Whether a candidate is given by probabilities: columns by action, or the names of columns."""
    return isinstance(given, (Mapping, list, numpy.ndarray)) or is_table(given)


def read_probabilities(frame: Frame, label: str, given: Any) -> Probabilities:
    """A candidate by its probabilities."""
    what = f"candidate '{label}'"
    if isinstance(given, numpy.ndarray):
        raise BadInput(
            f"{what}: an array has no names of actions; use a DataFrame or a dict with a column for each action"
        )
    if is_table(given):
        _check_index(frame, given, what)
        found = {name: (values, name) for name, values in read_columns(given).items()}
    elif isinstance(given, Mapping):
        found = {action: _by_action(frame, values, f"{what}, action '{action}'") for action, values in given.items()}
    else:
        found = _by_columns(frame, given, what)
    by_action: dict[str, numpy.ndarray[Any, Any]] = {}
    for action, (values, column) in found.items():
        name = action_name(action)
        if name in by_action:
            raise BadInput(f"{what}: action '{name}' is given twice")
        frame.add_action(name, action, what)
        by_action[name] = _read_column(frame, values, column, what)
    sums = numpy.sum(list(by_action.values()), axis=0)
    for row in numpy.flatnonzero(numpy.abs(sums - 1) > _ROUNDING)[:1]:
        raise BadInput(f"{what}, row {row}: expected probabilities that sum to 1, got {sums[row]:g}")
    return Probabilities(label, by_action)


def _check_index(frame: Frame, given: Any, what: str) -> None:
    """Rows are matched by position, so an index of pandas must be that of the data."""
    if not hasattr(given, "iloc") or not hasattr(frame.data, "iloc") or len(given) != frame.rows:
        return
    if not given.index.equals(frame.data.index):
        raise BadInput(
            f"{what}: its index differs from that of the data; if its rows are the same decisions, drop the index with "
            "to_numpy() or set_index(data.index)"
        )


def _by_action(frame: Frame, values: Any, what: str) -> tuple[Any, str]:
    if isinstance(values, str):
        return frame.take_column(values, what), values
    if isinstance(values, (int, float)):
        return numpy.full(frame.rows, float(values)), str(values)
    _check_index(frame, values, what)
    return values, "given"


def _by_columns(frame: Frame, given: Sequence[Any], what: str) -> dict[Any, tuple[Any, str]]:
    """Columns named PREFIX + action, with the same prefix, which may be empty."""
    names = [find_column(frame.columns, name, what) for name in given]
    if not names:
        raise BadInput(f"{what}: expected columns of probabilities, got none")
    prefixes: dict[str, int] = {}
    actions = frame.actions
    for name in names:
        for action in actions:
            if name.endswith(action):
                prefix = name[: len(name) - len(action)]
                prefixes[prefix] = prefixes.get(prefix, 0) + 1
    right = [one for one in prefixes if all(name.startswith(one) and len(name) > len(one) for name in names)]
    most = max((prefixes[one] for one in right), default=0)
    best = [one for one in right if prefixes[one] == most]
    if len(best) != 1:
        why = "fit several ways" if best else "do not end with the names of the actions"
        raise BadInput(
            f"{what}: the columns {shown(names)} {why} ({shown(actions)}); use a dict, such as "
            f"{{'{actions[0]}': '{names[0]}', ...}}"
        )
    return {name[len(best[0]) :]: (frame.take_column(name, what), name) for name in names}


def _read_column(frame: Frame, values: Any, column: str, what: str) -> numpy.ndarray[Any, Any]:
    try:
        numbers = read_numbers(values, column, "a probability")
        if len(numbers) != frame.rows:
            raise BadInput(f"column '{column}': expected {frame.rows} rows, as in the data, got {len(numbers)}")
        check_probabilities(numbers, column, True, "a probability from 0 to 1")
    except BadInput as error:
        raise BadInput(f"{what}, {error}") from None
    return numpy.minimum(numbers, 1.0)


def call_policy(frame: Frame, label: str, policy: Callable[..., Any], context: Any) -> Probabilities:
    """A candidate by a function of the contexts and the actions: see `eenet.evaluate.frame`."""
    what = f"candidate '{label}'"
    names = frame.actions
    given = policy(context, [frame.meanings[name] for name in names])
    if isinstance(given, Mapping) or is_table(given):
        return read_probabilities(frame, label, given)
    got: Any = type(given).__name__
    if not isinstance(given, (str, bytes)) and hasattr(given, "__len__"):
        _check_index(frame, given, what)
        array = _object_array(given) if isinstance(given, (list, tuple)) else numpy.asarray(given)
        if array.shape == (frame.rows, len(names)):
            return read_probabilities(frame, label, {name: array[:, i] for i, name in enumerate(names)})
        if array.shape == (frame.rows,):
            return _of_choices(frame, label, given, what)
        got = array.shape
    raise BadInput(
        f"{what}: expected {frame.rows} actions, probabilities of shape ({frame.rows}, {len(names)}), or a DataFrame "
        f"with a column for each action; got {got}"
    )


def _object_array(given: Sequence[Any]) -> numpy.ndarray[Any, Any]:
    if given and isinstance(given[0], (list, tuple, numpy.ndarray)):
        return numpy.array([list(row) for row in given], dtype=object)
    return plain(given, "result")


def _of_choices(frame: Frame, label: str, given: Any, what: str) -> Probabilities:
    try:
        names, meanings = read_actions(given, "result")
    except BadInput as error:
        raise BadInput(f"{what}, {error}") from None
    unknown = [name for name in meanings if name not in frame.meanings]
    if len(unknown) == len(meanings) or any(re.fullmatch(r"\d*\.\d+(e-\d+)?", name) for name in unknown):
        raise BadInput(f"{what}: expected actions such as {shown(frame.actions)}; got {shown(unknown)}")
    for name in unknown:
        frame.add_action(name, meanings[name], what)
    chosen = numpy.array(names, dtype=object)
    return Probabilities(label, {name: (chosen == name).astype(float) for name in meanings})
