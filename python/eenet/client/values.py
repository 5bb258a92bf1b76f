"""Converts Python values to the server's JSON. numpy and pandas objects are recognised by their methods, without
importing either."""

from __future__ import annotations

import datetime
import json
import math
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, List, Optional, Tuple, Union
from urllib.parse import quote

from .._core import _vectors_json
from .._errors import Error
from .answers import Decision
from .errors import BadRequest

# ---- JSON ----


def _plain(value: Any) -> Any:
    """Converts a value that JSON cannot hold to one that it can."""
    if hasattr(value, "to_dict"):  # a row of pandas; missing values are left out
        return {str(name): each for name, each in value.to_dict().items() if not _is_missing(each)}
    if hasattr(value, "tolist"):  # numpy numbers and arrays
        kind = getattr(getattr(value, "dtype", None), "kind", "")
        # tolist turns nanoseconds into integers; converted to microseconds, times stay times and are refused.
        return value.astype(f"{kind}8[us]").tolist() if kind in ("M", "m") else value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError


def _is_missing(value: Any) -> bool:
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=_plain).encode


def features_json(value: Any, name: str) -> Written:
    """The JSON of features, as read by ``eenet.Bandit``: missing values (None, NaN, pandas' NaT and NA) become null,
    which is not a feature."""
    try:
        return Written(_encode(value).encode("ascii"))
    except (ValueError, TypeError, RecursionError):
        pass
    try:
        value = _without_missing(value)
    except RecursionError:
        pass  # to_json raises the error
    return Written(to_json({name: value})[len(name) + 4 : -1])


def _without_missing(value: Any) -> Any:
    if _is_missing(value):
        return None
    if not isinstance(value, (str, int, float, dict, list, tuple)):
        try:
            value = _plain(value)
        except TypeError:
            return value
    if isinstance(value, dict):
        return {name: _without_missing(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_missing(each) for each in value]
    return None if _is_missing(value) else value


def to_json(value: Any) -> bytes:
    """The JSON of a value; the error for an unsupported value says where it is."""
    try:
        return _encode(value).encode("ascii")
    except RecursionError:
        raise BadRequest("the request is nested too deeply") from None
    except (ValueError, TypeError) as error:
        raise BadRequest(_find_problem(value, "", []) or f"the request cannot be written as JSON: {error}") from None


def _find_problem(value: Any, where: str, above: List[int]) -> str:
    """Describes the part of a value that is not JSON, and where it is; empty if there is none."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"{where or 'the request'}: expected a finite number, got {float(value)}"
    if value is None or isinstance(value, (str, int, float, bool)):
        return ""
    if id(value) in above:
        return f"{where} contains itself"
    here = above + [id(value)]
    if not isinstance(value, (dict, list, tuple)):
        try:
            return _find_problem(_plain(value), where, here)
        except TypeError:
            is_time = hasattr(value, "strftime") or hasattr(value, "total_seconds")
            hint = "; for a time, send its hour or weekday" if is_time else ""
            return (f"{where or 'the request'}: expected a number, a string, a bool, None, or a list or mapping of "
                    f"these, got {type(value).__name__}{hint}")
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if not isinstance(key, (str, int)):
            return f"{where or 'the request'}: expected strings as names, got {type(key).__name__}"
        place = f"{where}[{key}]" if isinstance(key, int) else f"{where}.{key}" if where else key
        problem = _find_problem(each, place, here)
        if problem:
            return problem
    return ""


class Written(bytes):
    """Finished JSON."""


def object_of(members: List[Tuple[str, Any]]) -> bytes:
    """A JSON object of these members, in order; None is left out."""
    parts = []
    for name, value in members:
        if value is not None:
            parts.append(b'"%b":%b' % (name.encode(), value if type(value) is Written else _member(name, value)))
    return b"{" + b",".join(parts) + b"}"


def _member(name: str, value: Any) -> bytes:
    try:
        return _encode(value).encode("ascii")
    except (ValueError, TypeError, RecursionError):
        return to_json({name: value})  # raises an error that includes the name


# ---- actions ----


def actions_json(actions: Any) -> Written:
    """Actions in any form that ``decide`` accepts."""
    if hasattr(actions, "toarray"):  # a scipy matrix
        actions = actions.toarray()
    if hasattr(actions, "iterrows"):
        return _all([{"id": str(name), "features": _plain(row)} for name, row in actions.iterrows()])
    if hasattr(actions, "astype"):  # one row per action, as float32, like the server stores numbers
        try:
            return Written(_vectors_json(actions))
        except (Error, TypeError, ValueError) as error:
            raise BadRequest(str(error)) from None
    if isinstance(actions, Mapping):
        return _all([_named(str(name), what) for name, what in actions.items()])
    if isinstance(actions, (str, bytes)) or not isinstance(actions, Sequence):
        raise BadRequest("actions: expected a mapping of ids to features, a list of actions, or an array with one row "
                         f"per action, got {type(actions).__name__}")
    if actions and isinstance(actions[0], (list, tuple)):
        try:
            return Written(_vectors_json(actions))
        except (Error, ImportError, TypeError, ValueError):
            pass  # plain JSON does as well, and the server reports errors
    return _all([_action(place, each) for place, each in enumerate(actions)])


def _all(actions: List[Any]) -> Written:
    return features_json(actions, "actions")


def _named(name: str, what: Any) -> Any:
    is_vector = hasattr(what, "tolist") and not hasattr(what, "to_dict") or isinstance(what, (list, tuple))
    return {"id": name, "vector" if is_vector else "features": what}


def _action(place: int, action: Any) -> Any:
    """An action as in the API, or only its features as for eenet.Bandit."""
    if not isinstance(action, Mapping) and not hasattr(action, "to_dict"):
        return action
    return action if _is_complete(action) else {"id": str(place), "features": action}


def _is_complete(action: Any) -> bool:
    return "features" in action or "vector" in action


def actions_given(actions: Any) -> Sequence[Any]:
    """The value of Decision.action for each action, as in eenet.Bandit: the key of a mapping, the element of a list,
    the label of a data frame's row, the number of an array's row; for an action as in the API, its id."""
    if hasattr(actions, "iterrows"):
        return list(actions.index)
    if hasattr(actions, "astype") or hasattr(actions, "toarray"):
        return range(actions.shape[0])
    if isinstance(actions, Mapping):
        return list(actions)
    return [each.get("id", each) if isinstance(each, Mapping) and _is_complete(each) else each for each in actions]


# ---- numbers, names, ids, times ----


def number(value: Any) -> Any:
    """A reward as a number; a bool counts as 0 or 1."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return int(value) if isinstance(value, bool) else value


def new_id() -> str:
    return uuid.uuid4().hex


def id_text(of: Any, what: str = "id") -> str:
    """The id of a decision, or an id as given."""
    if isinstance(of, (str, Decision)):
        return of if isinstance(of, str) else of.id
    if isinstance(of, (int, uuid.UUID)) and not isinstance(of, bool):
        return str(of)
    raise BadRequest(f"{what}: expected a string or a Decision of the server, got {type(of).__name__}")


def path_part(name: str) -> str:
    if not isinstance(name, str):
        raise BadRequest(f"name: expected a string, got {type(name).__name__}")
    try:
        return quote(name, safe="")
    except UnicodeEncodeError:
        raise BadRequest(f"name: expected valid Unicode, got {name!r}") from None


def query(**members: Any) -> str:
    """A query string of the members that are not None. from_ stands for from, a keyword of Python."""
    parts = [f"{name.rstrip('_')}={quote(str(value), safe='')}" for name, value in members.items() if value is not None]
    return "?" + "&".join(parts) if parts else ""


def time_text(time: Union[str, datetime.datetime, None], what: str) -> Optional[str]:
    if time is None or isinstance(time, str):
        return time
    if not isinstance(time, datetime.datetime):
        raise BadRequest(f"{what}: expected a datetime or a string such as 2026-11-16T10:00:00Z, "
                         f"got {type(time).__name__}")
    if time.tzinfo is None:
        raise BadRequest(f"{what}: expected a datetime with a time zone, for example tzinfo=datetime.timezone.utc")
    return time.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
