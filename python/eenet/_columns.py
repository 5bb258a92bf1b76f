"""Columns of a table as numbers, text, times and names of actions; errors name the column and the row."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import numpy

from ._errors import BadInput

_ROUNDING = 1e-6  # a probability may exceed 1 by this


def at(column: str, row: int) -> str:
    """Where, in messages. Rows count from 0."""
    return f"column '{column}', row {row}"


def shown(names: Iterable[Any], most: int = 10) -> str:
    """A list of names in a message."""
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
        names = getattr(data, "column_names", getattr(data, "columns", None))  # the first in pyarrow
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


def find_column(columns: Mapping[str, Any], name: Any, argument: str) -> str:
    """The name of an existing column."""
    if not isinstance(name, (str, int)) or isinstance(name, bool):
        raise BadInput(f"{argument}: expected the name of a column, got {name!r}")
    if str(name) in columns:
        return str(name)
    near = difflib.get_close_matches(str(name), list(columns), 1)
    hint = f"did you mean '{near[0]}'?" if near else f"the columns are {shown(columns)}"
    raise BadInput(f"{argument}: there is no column '{name}'; {hint}")


def plain(given: Any, column: str) -> numpy.ndarray[Any, Any]:
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
    return array if array.dtype.kind in "bifuMO" else array.astype(object)


def _is_missing(value: Any) -> bool:
    """None, NaN, pandas.NA and NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, numpy.floating, numpy.datetime64)) and bool(value != value)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, (bool, numpy.bool_))


def read_numbers(given: Any, column: str, expected: str) -> numpy.ndarray[Any, Any]:
    """As float64, without missing values; True counts as 1."""
    array = plain(given, column)
    if array.dtype.kind in "biuf":
        numbers = array.astype(numpy.float64)
    else:
        numbers = numpy.array([_number(value, column, row, expected) for row, value in enumerate(array)], dtype=float)
    for row in numpy.flatnonzero(numpy.isnan(numbers))[:1]:
        raise BadInput(f"{at(column, int(row))}: expected {expected}, got a missing value")
    return numbers


def _number(value: Any, column: str, row: int, expected: str) -> float:
    if _is_missing(value):
        return math.nan
    if isinstance(value, (bool, int, float, Decimal, numpy.bool_, numpy.integer, numpy.floating)):
        return float(value)
    hint = " (text; convert the column with astype(float))" if isinstance(value, str) and _is_number(value) else ""
    raise BadInput(f"{at(column, row)}: expected {expected}, got {value!r}{hint}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# ---- cells of the CSV log ----


def read_texts(given: Any, column: str) -> list[str]:
    """The cells as text, in the form that pandas writes; "" for missing values, times as UTC."""
    array = plain(given, column)
    kind = array.dtype.kind
    if kind == "f":
        for row in numpy.flatnonzero(numpy.isinf(array))[:1]:
            raise BadInput(f"{at(column, int(row))}: expected a finite number, got {array[row]}")
        texts = list(map(repr, array.tolist())) if array.dtype == numpy.float64 else array.astype(str).tolist()
        return ["" if text == "nan" else text for text in texts]
    if kind == "M":
        texts = numpy.datetime_as_string(array.astype("datetime64[us]"), timezone="UTC").tolist()
        return ["" if text == "NaT" else text for text in texts]
    if kind in "iub":
        return [str(value) for value in array.tolist()]
    values: list[Any] = array.tolist()
    if all(type(value) is str for value in values) and _is_clean("".join(values)):
        return values
    return [_text(value, column, row) for row, value in enumerate(values)]


def _text(value: Any, column: str, row: int) -> str:
    if isinstance(value, str):
        if not _is_clean(value):
            raise BadInput(f"{at(column, row)}: expected text without NUL bytes and lone surrogates, got {value!r}")
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
        utc = value if value.tzinfo is None else value.astimezone(timezone.utc)
        return utc.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    if isinstance(value, date):
        return value.isoformat()
    raise BadInput(f"{at(column, row)}: expected a number, text or a time, got {value!r}")


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


def read_actions(given: Any, column: str) -> tuple[list[str], dict[str, Any]]:
    """The name of the action in each row, and the value that each name stands for."""
    names: dict[Any, str] = {}
    found: list[str] = []
    meanings: dict[str, Any] = {}
    for row, value in enumerate(plain(given, column).tolist()):
        if isinstance(value, (list, dict, set, date, datetime, bytes)) or type(value).__hash__ is None:
            raise BadInput(f"{at(column, row)}: expected the name of an action, got {value!r}")
        key = (type(value), value)
        if key not in names:
            name = "" if _is_missing(value) else action_name(value)
            if not name:
                raise BadInput(f"{at(column, row)}: expected the name of an action, got a missing value")
            names[key] = name
            meanings.setdefault(name, value)
        found.append(names[key])
    return found, meanings


_TIME = re.compile(r"\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d)?(\.\d+)?([Zz]|[+-]\d\d:?(\d\d)?)?)?")


def read_times(given: Any, column: str) -> list[str]:
    array = plain(given, column)
    texts = read_texts(array, column)
    if "" in texts:
        raise BadInput(f"{at(column, texts.index(''))}: expected a time, got a missing value")
    if array.dtype.kind in "iufM":
        return texts
    for row, text in enumerate(texts):
        if isinstance(array[row], (int, float)) and not _is_boolean(array[row]):
            continue
        if array.dtype.kind == "b" or not _TIME.fullmatch(text):
            raise BadInput(
                f"{at(column, row)}: expected a datetime, seconds since 1970, or text such as 2021-05-18T13:28:29Z, "
                f"got {array[row]!r}"
            )
    return texts


def check_probabilities(values: numpy.ndarray[Any, Any], column: str, zero: bool, expected: str) -> None:
    """zero: whether 0 is allowed."""
    wrong = numpy.flatnonzero((values < 0) | (values > 1 + _ROUNDING) | ((values == 0) & (not zero)))
    if not len(wrong):
        return
    row = int(wrong[0])
    more = f" ({len(wrong)} rows in total)" if len(wrong) > 1 else ""
    hint = "; are these percentages? Divide them by 100" if 1 < values.max() <= 100 and values.min() >= 0 else ""
    raise BadInput(f"{at(column, row)}: expected {expected}, got {values[row]:g}{more}{hint}")
