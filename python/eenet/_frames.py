"""Logged decisions in columns: the table behind `eenet.evaluate.frame`.

The columns are checked here and written as a CSV log, so that roles, context and numbers are those of `eenet evaluate`
on the same file.
"""

from __future__ import annotations

import csv
import difflib
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, NamedTuple

import numpy

from ._errors import BadInput
from ._lab_library import lab as _lab

_LARGEST = 1e9  # reward, in either direction
_ROUNDING = 1e-6  # a probability may exceed 1 by this
_SUM_ROUNDING = 1e-3  # and the sum of a candidate's may differ from 1 by this
FILE = "frame.csv"


class Probabilities(NamedTuple):
    """A candidate's probabilities by action, each (n,)."""

    label: str
    by_action: dict[str, numpy.ndarray[Any, Any]]


def _at(column: str, row: int) -> str:
    return f"column '{column}', row {row}"


def _shown(names: Iterable[Any], most: int = 10) -> str:
    listed = [str(name) for name in names]
    return ", ".join(listed[:most]) + (f", ... ({len(listed)})" if len(listed) > most else "")


# ---- columns ----


def read_columns(data: Any) -> dict[str, Any]:
    """The columns by name, of a DataFrame, a mapping, a structured array or a table with column names."""
    if isinstance(data, Mapping):
        pairs = list(data.items())
    elif isinstance(data, numpy.ndarray) and data.dtype.names:
        pairs = [(name, data[name]) for name in data.dtype.names]
    else:
        names = getattr(data, "columns", None)
        if names is None or not hasattr(data, "__getitem__") or isinstance(data, type):
            kind = type(data).__name__
            raise BadInput(f"data: expected a DataFrame or a dict of columns, got {kind}")
        if hasattr(data, "iloc"):  # by position, because names may repeat
            pairs = [(name, data.iloc[:, place]) for place, name in enumerate(names)]
        else:
            pairs = [(name, data[name]) for name in names]
    columns: dict[str, Any] = {}
    for key, values in pairs:
        name = str(key)
        if name in columns:
            raise BadInput(f"data: two columns are named '{name}'")
        columns[name] = values
    return columns


def _find(columns: Mapping[str, Any], name: Any, argument: str) -> str:
    """The name of an existing column."""
    if not isinstance(name, (str, int)) or isinstance(name, bool):
        raise BadInput(f"{argument}: expected the name of a column, got {name!r}")
    if str(name) in columns:
        return str(name)
    near = difflib.get_close_matches(str(name), list(columns), 1)
    hint = f"did you mean '{near[0]}'?" if near else f"the columns are {_shown(columns)}"
    raise BadInput(f"{argument}: there is no column '{name}'; {hint}")


def _plain(given: Any, column: str) -> numpy.ndarray[Any, Any]:
    """As a one-dimensional array: numbers, times, or objects."""
    if isinstance(given, (str, bytes, Mapping)) or not hasattr(given, "__len__"):
        raise BadInput(f"column '{column}': expected a list or an array, got {type(given).__name__}")
    array: numpy.ndarray[Any, Any]
    if isinstance(given, numpy.ma.MaskedArray):
        array = numpy.asarray(given.data).astype(object)
        array[numpy.broadcast_to(given.mask, array.shape)] = None
    elif isinstance(given, (list, tuple)):
        array = numpy.empty(len(given), dtype=object)
        array[:] = given
    else:
        array = numpy.asarray(given)
    if array.ndim != 1:
        raise BadInput(f"column '{column}': expected one value per row, got an array of shape {array.shape}")
    if array.dtype.kind in "bifuM" or (array.dtype.kind == "O"):
        return array
    return array.astype(object)


def _is_missing(value: Any) -> bool:
    """None, NaN, pandas.NA and NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, numpy.floating, numpy.datetime64)) and bool(value != value)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, (bool, numpy.bool_))


def read_numbers(given: Any, column: str, expected: str) -> numpy.ndarray[Any, Any]:
    """As float64, without missing values; True counts as 1."""
    array = _plain(given, column)
    if array.dtype.kind in "biuf":
        numbers = array.astype(numpy.float64)
    else:
        numbers = numpy.array([_number(value, column, row, expected) for row, value in enumerate(array)], dtype=float)
    for row in numpy.flatnonzero(numpy.isnan(numbers))[:1]:
        raise BadInput(f"{_at(column, int(row))}: expected {expected}, got a missing value")
    return numbers


def _number(value: Any, column: str, row: int, expected: str) -> float:
    if _is_missing(value):
        return math.nan
    if isinstance(value, (bool, int, float, Decimal, numpy.bool_, numpy.integer, numpy.floating)):
        return float(value)
    hint = " (text; convert the column with astype(float))" if isinstance(value, str) and _is_number(value) else ""
    raise BadInput(f"{_at(column, row)}: expected {expected}, got {value!r}{hint}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# ---- cells of the CSV log ----


def read_texts(given: Any, column: str) -> list[str]:
    """The cells as text, in the form that pandas writes; "" for missing values, times as UTC."""
    array = _plain(given, column)
    kind = array.dtype.kind
    if kind == "f":
        for row in numpy.flatnonzero(numpy.isinf(array))[:1]:
            raise BadInput(f"{_at(column, int(row))}: expected a finite number, got {array[row]}")
        shown = list(map(repr, array.tolist())) if array.dtype == numpy.float64 else array.astype(str).tolist()
        return ["" if text == "nan" else text for text in shown]
    if kind == "M":
        shown = numpy.datetime_as_string(array.astype("datetime64[us]"), timezone="UTC").tolist()
        return ["" if text == "NaT" else text for text in shown]
    if kind in "iub":
        return [str(value) for value in array.tolist()]
    values: list[Any] = array.tolist()
    if all(type(value) is str for value in values) and _is_clean("".join(values)):
        return values
    return [_text(value, column, row) for row, value in enumerate(values)]


def _text(value: Any, column: str, row: int) -> str:
    if isinstance(value, str):
        if not _is_clean(value):
            raise BadInput(f"{_at(column, row)}: expected text without NUL bytes and lone surrogates, got {value!r}")
        return str(value)
    if _is_missing(value):
        return ""
    if _is_boolean(value):
        return str(bool(value))
    if isinstance(value, (int, numpy.integer)):
        return str(int(value))
    if isinstance(value, (float, numpy.floating)) and math.isfinite(value):
        return repr(value) if type(value) is float else str(value)
    if isinstance(value, Decimal) and value.is_finite():
        return str(value)
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None) if value.tzinfo is None else value.astimezone(timezone.utc).replace(tzinfo=None)
        return value.isoformat(timespec="microseconds") + "Z"
    if isinstance(value, date):
        return value.isoformat()
    raise BadInput(f"{_at(column, row)}: expected a number, text or a time, got {value!r}")


def _is_clean(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def action_name(value: Any) -> str:
    """The name of an action: its text, without ".0" if it is a whole number. "" if there is none."""
    if isinstance(value, (float, numpy.floating)) and math.isfinite(value) and float(value).is_integer():
        value = int(value)
    name = _text(value, "", 0).strip(" \t\r\n")
    return re.sub(r"^(\d+)\.0+$", r"\1", name)


def _read_actions(given: Any, column: str) -> tuple[list[str], dict[str, Any]]:
    """The name of the action in each row, and the value that each name stands for."""
    names: dict[Any, str] = {}
    found: list[str] = []
    meanings: dict[str, Any] = {}
    for row, value in enumerate(_plain(given, column).tolist()):
        if isinstance(value, (list, dict, set, date, datetime, bytes)) or type(value).__hash__ is None:
            raise BadInput(f"{_at(column, row)}: expected the name of an action, got {value!r}")
        key = (type(value), value)
        if key not in names:
            name = "" if _is_missing(value) else action_name(value)
            if not name:
                raise BadInput(f"{_at(column, row)}: expected the name of an action, got a missing value")
            names[key] = name
            meanings.setdefault(name, value)
        found.append(names[key])
    return found, meanings


_TIME = re.compile(r"\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d)?(\.\d+)?([Zz]|[+-]\d\d:?(\d\d)?)?)?")


def _read_times(given: Any, column: str) -> list[str]:
    array = _plain(given, column)
    texts = read_texts(array, column)
    if "" in texts:
        raise BadInput(f"{_at(column, texts.index(''))}: expected a time, got a missing value")
    if array.dtype.kind in "iufM":
        return texts
    for row, text in enumerate(texts):
        if isinstance(array[row], (int, float)) and not _is_boolean(array[row]):
            continue
        if array.dtype.kind == "b" or not _TIME.fullmatch(text):
            raise BadInput(
                f"{_at(column, row)}: expected a datetime, seconds since 1970, or text such as 2021-05-18T13:28:29Z, "
                f"got {array[row]!r}"
            )
    return texts


def _check_probabilities(values: numpy.ndarray[Any, Any], column: str, least: float, expected: str) -> None:
    wrong = numpy.flatnonzero(~((values >= least) & (values <= 1 + _ROUNDING)))
    if least == 0 or not len(wrong):
        zero = numpy.flatnonzero(values <= 0) if least else wrong[:0]
        wrong = numpy.union1d(wrong, zero)
    if not len(wrong):
        return
    row = int(wrong[0])
    more = f" ({len(wrong)} rows in total)" if len(wrong) > 1 else ""
    hint = "; are these percentages? Divide them by 100" if 1 < values.max() <= 100 and values.min() >= 0 else ""
    raise BadInput(f"{_at(column, row)}: expected {expected}, got {values[row]:g}{more}{hint}")


# ---- the log ----


def ordered(names: Iterable[str]) -> list[str]:
    """In the order of the log: by number if all are whole numbers, otherwise by their bytes."""
    listed = list(names)
    if all(re.fullmatch(r"-?\d{1,18}", name) for name in listed):
        return sorted(listed, key=lambda name: (int(name), name.encode()))
    return sorted(listed, key=str.encode)


class Frame:
    """Logged decisions, checked. Write them with `write`; then `context` and `describe` know how they are read."""

    def __init__(
        self,
        data: Any,
        action: Any,
        reward: Any,
        probability: Any,
        context: Any,
        ignore: Any,
        time: Any,
        id: Any,
        actions: Any,
    ) -> None:
        self.data = data
        self.columns = read_columns(data)
        self.roles = {
            argument: _find(self.columns, name, argument)
            for argument, name in (
                ("action", action), ("reward", reward), ("probability", probability), ("time", time), ("id", id)
            )
            if name is not None or argument not in ("time", "id")
        }
        self._check_roles()
        self.listed = None if context is None else self._read_context(context)
        self.names, self.meanings = _read_actions(self.columns[self.roles["action"]], self.roles["action"])
        self.rows = len(self.names)
        self.cells = self._read_cells(self._read_ignored(ignore))
        self.actions = ordered(self.meanings)
        self.only_in: dict[str, str] = {}  # where an action comes from that no row has
        if actions is not None:
            self._list_actions(actions)
        self.closed = actions is not None

    def _check_roles(self) -> None:
        used: dict[str, str] = {}
        for argument, name in self.roles.items():
            if name in used:
                raise BadInput(f"{argument}: column '{name}' is already the {used[name]}")
            used[name] = argument

    def _read_context(self, given: Any) -> list[str]:
        names = [given] if isinstance(given, (str, int)) else list(given)
        found = [_find(self.columns, name, "context") for name in names]
        for name in found:
            if found.count(name) > 1:
                raise BadInput(f"context: column '{name}' is given twice")
            for argument in ("action", "reward", "probability"):
                if name == self.roles[argument]:
                    raise BadInput(f"context: column '{name}' is the {argument}, which is not known before the decision")
        return found

    def _read_ignored(self, given: Any) -> list[str]:
        names = [] if given is None else [given] if isinstance(given, (str, int)) else list(given)
        found = [_find(self.columns, name, "ignore") for name in names]
        for name in found:
            if name in self.roles.values() or name in (self.listed or ()):
                raise BadInput(f"ignore: column '{name}' is used by another argument")
        return found

    def _read_cells(self, ignored: Sequence[str]) -> dict[str, list[str]]:
        """Of the columns that the log needs, all of the same length."""
        numbers = {"reward": "a number", "probability": "a probability above 0 and at most 1"}
        kept = self.columns if self.listed is None else dict.fromkeys([*self.roles.values(), *self.listed])
        uses = {name: argument for argument, name in self.roles.items()}
        cells: dict[str, list[str]] = {}
        for name in kept:
            if name in ignored:
                continue
            given, use = self.columns[name], uses.get(name, "")
            if use in numbers:
                values = read_numbers(given, name, numbers[use])
                self._check_numbers(values, name, use, numbers[use])
                cells[name] = read_texts(values if _plain(given, name).dtype.kind in "bO" else given, name)
            elif use == "action":
                cells[name] = self.names
            elif use == "time":
                cells[name] = _read_times(given, name)
            else:
                cells[name] = read_texts(given, name)
        lengths = {name: len(values) for name, values in cells.items()}
        first = next(iter(lengths.values()))
        for name, length in lengths.items():
            if length != first:
                raise BadInput(f"column '{name}': expected {first} rows, as in column '{next(iter(lengths))}', got {length}")
        if not first:
            raise BadInput("data: expected at least one row, got none")
        return cells

    @staticmethod
    def _check_numbers(values: numpy.ndarray[Any, Any], name: str, use: str, expected: str) -> None:
        if use == "probability":
            return _check_probabilities(values, name, math.ulp(0.0), expected)
        for row in numpy.flatnonzero(~(numpy.abs(values) <= _LARGEST))[:1]:
            raise BadInput(f"{_at(name, int(row))}: expected a reward from -1e9 to 1e9, got {values[row]:g}")

    # ---- actions ----

    def _list_actions(self, given: Any) -> None:
        if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
            raise BadInput(f"actions: expected a list of names, got {given!r}")
        listed = {action_name(value): value for value in given}
        for row, name in enumerate(self.names):
            if name not in listed:
                raise BadInput(f"{_at(self.roles['action'], row)}: action '{name}' is not one of actions=: "
                               f"{_shown(listed)}")
        for name in listed:
            self.add_action(name, listed[name], "actions=")

    def add_action(self, name: str, value: Any, source: str) -> None:
        """Another action, which no row has."""
        if not name:
            raise BadInput(f"{source}: expected names of actions, got an empty one")
        if name in self.meanings:
            return
        if getattr(self, "closed", False):
            raise BadInput(f"{source}: action '{name}' is not one of actions=: {_shown(self.actions)}")
        self.meanings[name] = value
        self.only_in[name] = source
        self.actions = ordered(self.meanings)

    # ---- writing and reading ----

    def write(self, folder: str) -> bytes:
        """Writes the log, and returns the text that names it."""
        path = os.path.join(folder, FILE)
        headers = self._headers()
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(headers.values())
            writer.writerows(zip(*self.cells.values()))
        options = [f"{argument}={headers[name]}" for argument, name in self.roles.items()]
        free = "auto" if self.listed is None else "none"
        options += [f"{argument}={free}" for argument in ("time", "id") if argument not in self.roles]
        options += ["count=none", "skipped=none", f"copies={free}"]
        options.append("context=" + ("auto" if self.listed is None else "all" if self.listed else "none"))
        if self.only_in:
            options.append(f"actions=@{self._write_actions(folder)}")
        return os.fsencode(f"csv:{path},{','.join(options)}")

    def in_rows(self, message: str) -> str:
        """A message about the log, with rows of the data in place of lines; the first line is the header."""
        message = re.sub(rf"\S*{re.escape(FILE)}, line (\d+)", lambda found: f"row {int(found[1]) - 2}", message)
        for name, header in self._headers().items():
            if header != name:
                message = message.replace(header, name)
        return message.replace("=COLUMN+COLUMN", "=[COLUMN, ...]")

    def _headers(self) -> dict[str, str]:
        """The header of each column: its name. A role's column has another one if an option could not name it."""
        taken = [name.casefold() for name in self.cells]
        headers = {}
        for name in self.cells:
            headers[name] = name
            plain = re.fullmatch(r"[^\s,+=:\"']([^,+=:\"'\r\n]*[^\s,+=:\"'])?", name) and len(name.encode()) < 80
            if name in self.roles.values() and (not plain or taken.count(name.casefold()) > 1 or name in ("auto", "none")):
                number = next(i for i in range(len(taken) + 1) if f"column_{i}" not in taken)
                headers[name] = f"column_{number}"
                taken.append(headers[name])
        return headers

    def _write_actions(self, folder: str) -> str:
        """The names in a file, one per line."""
        for name in self.actions:
            if "\n" in name or "\r" in name:
                raise BadInput(f"actions: expected names without line breaks, got {name!r}")
        path = os.path.join(folder, "actions")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.writelines(f"{name}\n" for name in self.actions)
        return path

    def take_column(self, name: Any, what: str) -> Any:
        """A column of a candidate's probabilities, which is then no context, unless context= lists it."""
        found = _find(self.columns, name, what)
        if found not in self.roles.values() and found not in (self.listed or ()):
            self.cells.pop(found, None)
        return self.columns[found]

    def context_columns(self, log: bytes) -> list[str]:
        """The columns that policies see, by the rule of CSV logs."""
        if self.listed is not None:
            return self.listed
        return [name for name, _, used, _ in _lab.log_columns(log) if used]

    def notes(self) -> list[str]:
        """Sentences about actions that no row has."""
        sources: dict[str, list[str]] = {}
        for name, source in self.only_in.items():
            sources.setdefault(source, []).append(f"'{name}'")
        return [
            f"Only {source} has {'action' if len(names) == 1 else 'actions'} {_shown(names)}: the log never takes "
            f"{'it' if len(names) == 1 else 'them'}, so it cannot say what {'it' if len(names) == 1 else 'they'} would earn."
            for source, names in sources.items()
        ]

    def part(self, names: Sequence[str]) -> Any:
        """These columns, in the form of the data."""
        if hasattr(self.data, "iloc"):
            places = [list(self.columns).index(name) for name in names]
            return self.data.iloc[:, places]
        return {name: self.columns[name] for name in names}

    def write_probabilities(self, of: Probabilities, path: str) -> None:
        """The probabilities as a file of candidates: a column for each action, by name."""
        zeros = ["0"] * self.rows
        columns = [list(map(repr, of.by_action[name].tolist())) if name in of.by_action else zeros for name in self.actions]
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.actions)
            writer.writerows(zip(*columns))


# ---- candidates ----


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
        raise BadInput(f"{what}: an array has no names of actions; use a DataFrame or a dict with a column for each action")
    if is_table(given):
        both = hasattr(given, "iloc") and hasattr(frame.data, "iloc") and len(given) == frame.rows
        if both and not given.index.equals(frame.data.index):
            raise BadInput(f"{what}: its index differs from that of the data, so its rows may be others")
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
    return _checked(Probabilities(label, by_action), what)


def _by_action(frame: Frame, values: Any, what: str) -> tuple[Any, str]:
    if isinstance(values, str):
        return frame.take_column(values, what), values
    if isinstance(values, (int, float)):
        return numpy.full(frame.rows, float(values)), str(values)
    return values, "given"


def _by_columns(frame: Frame, given: Sequence[Any], what: str) -> dict[Any, tuple[Any, str]]:
    """Columns named PREFIX + action, with the same prefix, which may be empty."""
    names = [_find(frame.columns, name, what) for name in given]
    if not names:
        raise BadInput(f"{what}: expected columns of probabilities, got none")
    prefixes: dict[str, int] = {}
    for name in names:
        for action in frame.actions:
            if name.endswith(action):
                prefix = name[: len(name) - len(action)]
                prefixes[prefix] = prefixes.get(prefix, 0) + 1
    right = [one for one in prefixes if all(name.startswith(one) and len(name) > len(one) for name in names)]
    most = max((prefixes[one] for one in right), default=0)
    best = [one for one in right if prefixes[one] == most]
    if len(best) != 1:
        why = "fit several ways" if best else "do not end with the names of the actions"
        raise BadInput(
            f"{what}: the columns {_shown(names)} {why} ({_shown(frame.actions)}); use a dict, such as "
            f"{{'{frame.actions[0]}': '{names[0]}', ...}}"
        )
    return {name[len(best[0]) :]: (frame.take_column(name, what), name) for name in names}


def _read_column(frame: Frame, values: Any, column: str, what: str) -> numpy.ndarray[Any, Any]:
    try:
        numbers = read_numbers(values, column, "a probability")
        if len(numbers) != frame.rows:
            raise BadInput(f"column '{column}': expected {frame.rows} rows, as in the data, got {len(numbers)}")
        _check_probabilities(numbers, column, 0.0, "a probability from 0 to 1")
    except BadInput as error:
        raise BadInput(f"{what}, {error}") from None
    return numpy.minimum(numbers, 1.0)


def _checked(of: Probabilities, what: str) -> Probabilities:
    sums = numpy.sum(list(of.by_action.values()), axis=0)
    for row in numpy.flatnonzero(numpy.abs(sums - 1) > _SUM_ROUNDING)[:1]:
        raise BadInput(f"{what}, row {row}: expected probabilities that sum to 1, got {sums[row]:g}")
    return of


def call_policy(frame: Frame, label: str, policy: Callable[..., Any], context: Any) -> Probabilities:
    """A candidate by a function of the contexts and the actions: see `eenet.evaluate.frame`."""
    what = f"candidate '{label}'"
    actions = [frame.meanings[name] for name in frame.actions]
    given = policy(context, actions)
    if isinstance(given, Mapping) or is_table(given):
        return read_probabilities(frame, label, given)
    if not isinstance(given, (str, bytes)) and hasattr(given, "__len__"):
        array = numpy.asarray(given) if not isinstance(given, (list, tuple)) else _object_array(given)
        if array.ndim == 2 and array.shape == (frame.rows, len(actions)):
            return read_probabilities(frame, label, {name: array[:, i] for i, name in enumerate(frame.actions)})
        if array.ndim == 1 and len(array) == frame.rows:
            return _of_choices(frame, label, given, what)
    shape = numpy.shape(given) if hasattr(given, "__len__") and not isinstance(given, (str, bytes)) else type(given).__name__
    raise BadInput(
        f"{what}: expected {frame.rows} actions, probabilities of shape ({frame.rows}, {len(actions)}), or a DataFrame "
        f"with a column for each action; got {shape}"
    )


def _object_array(given: Sequence[Any]) -> numpy.ndarray[Any, Any]:
    if given and isinstance(given[0], (list, tuple, numpy.ndarray)):
        return numpy.array([list(row) for row in given], dtype=object)
    return _plain(given, "result")


def _of_choices(frame: Frame, label: str, given: Any, what: str) -> Probabilities:
    try:
        names, meanings = _read_actions(given, "result")
    except BadInput as error:
        raise BadInput(f"{what}, {error}") from None
    unknown = [name for name in meanings if name not in frame.meanings]
    if len(unknown) == len(meanings) or any(re.fullmatch(r"\d*\.\d+(e-\d+)?", name) for name in unknown):
        raise BadInput(f"{what}: expected actions such as {_shown(frame.actions)}; got {_shown(unknown)}")
    for name in unknown:
        frame.add_action(name, meanings[name], what)
    chosen = numpy.array(names, dtype=object)
    return Probabilities(label, {name: (chosen == name).astype(float) for name in meanings})


