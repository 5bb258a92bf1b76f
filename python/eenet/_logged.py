"""The events of a log, to inspect and to learn from."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timezone
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

import numpy

from ._blocks import SparseArms
from ._errors import BadInput, BadOption, NoFile
from ._evaluations import python_errors
from ._lab_library import lab as _lab
from ._optional import need

if TYPE_CHECKING:
    from pandas import DataFrame

Time = Union[str, float, date, None]


class LoggedRound(NamedTuple):
    """An event of a log, in the form that `Bandit.learn_from` expects.

    arms: an array, or a list of named features; context: the named features that all arms share.
    """

    arms: Any
    arm: int
    reward: float
    probability: float
    context: Optional[Mapping[str, Any]]


class Log:
    """A log in memory: its numbers as arrays, its rounds by index or in a loop.

    rewards, actions, probabilities (of the action taken), copies, times (seconds
    since 1970) and counts (of actions) have shape (n,). logged has shape (n, k), the
    probabilities of all actions; it is None if the log lacks them or their number
    varies. For events with several slots, only the first slot is included.
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        def numbers(name: str, dtype: Any) -> numpy.ndarray[Any, Any]:
            return numpy.frombuffer(columns[name], dtype=dtype)

        self.rewards = numbers("reward", numpy.float64)
        self.actions = numbers("action", numpy.int64)
        self.probabilities = numbers("probability", numpy.float64)
        self.copies = numbers("copies", numpy.float64)
        self.times = numbers("time", numpy.float64)
        self.counts = numbers("actions", numpy.int64)
        self.ids = [one.decode("utf-8", "replace") for one in columns["id"].split(b"\0")[:-1]]
        #: Dimension of the arms; 0 if they have named features or none.
        self.dim: int = columns["dim"]
        #: Events that were never shown (skipped) and lines that are not events (passed); neither is included.
        self.skipped: int = columns["skipped"]
        self.passed: int = columns["passed"]
        self._contexts = columns["context"].split(b"\0")[:-1]
        self._ends = numpy.concatenate([[0], numpy.cumsum(self.counts)])
        self._arms = numbers("arms", numpy.float32)
        self._starts = numbers("starts", numpy.int64)
        self._indices = numbers("indices", numpy.uint32)
        self._values = numbers("values", numpy.float32)
        self._all = numbers("probabilities", numpy.float64)

    def __len__(self) -> int:
        return len(self.rewards)

    def __repr__(self) -> str:
        mean = f", mean reward {self.rewards.mean():.4g}" if len(self) else ""
        return f"<Log of {len(self)} events{mean}>"

    @property
    def logged(self) -> Optional[numpy.ndarray[Any, Any]]:
        if not len(self) or not len(self._all) or (self.counts != self.counts[0]).any():
            return None
        return self._all.reshape(len(self), self.counts[0])

    def __getitem__(self, place: int) -> LoggedRound:
        if not -len(self) <= place < len(self):
            raise IndexError(f"expected an event from {-len(self)} to {len(self) - 1}, got {place}")
        place %= len(self)
        context = self.context(place)
        if self.dim:
            arms, shared = self._vectors(place), None
        else:
            arms, shared = context.get("_multi", []), {key: context[key] for key in context if key != "_multi"}
        return LoggedRound(
            arms, int(self.actions[place]), float(self.rewards[place]), float(self.probabilities[place]), shared
        )

    def __iter__(self) -> Iterator[LoggedRound]:
        return (self[place] for place in range(len(self)))

    def context(self, place: int) -> dict[str, Any]:
        """The event's context as logged: shared features, and "_multi" with the list of actions."""
        text = self._contexts[place]
        context: dict[str, Any] = json.loads(text) if text else {}
        return context

    def _vectors(self, place: int) -> Any:
        first, count = int(self._ends[place]), int(self.counts[place])
        if len(self._arms):
            return self._arms[first * self.dim : (first + count) * self.dim].reshape(count, self.dim)
        # Each event has one start more than actions.
        starts = self._starts[first + place : first + place + count + 1]
        begin = int(self._entries[place])
        end = begin + int(starts[-1])
        return SparseArms(starts, self._indices[begin:end], self._values[begin:end], (count, self.dim))

    @cached_property
    def _entries(self) -> numpy.ndarray[Any, Any]:
        """The first entry of each event."""
        lasts = self._starts[self._ends[1:] + numpy.arange(len(self))]
        return numpy.concatenate([[0], numpy.cumsum(lasts)])

    def frame(self) -> DataFrame:
        """A pandas DataFrame with one row per event: time, action, probability, reward, and the named features that
        all actions share."""
        pandas = need("pandas", "frame()")
        columns: dict[str, Any] = {}
        if not numpy.isnan(self.times).all():
            columns["time"] = pandas.to_datetime(self.times, unit="s")
        columns.update(action=self.actions, probability=self.probabilities, reward=self.rewards)
        frame: DataFrame = pandas.DataFrame(columns)
        if self.dim or not any(self._contexts):
            return frame
        shared = pandas.json_normalize([self[place].context for place in range(len(self))])
        whole: DataFrame = pandas.concat([frame, shared.drop(columns=[name for name in frame if name in shared])], axis=1)
        return whole


def read_log(
    path: Union[str, os.PathLike[str]],
    *,
    reward: str = "label",
    default_reward: Optional[float] = None,
    start: Time = None,
    until: Time = None,
    strict: bool = False,
) -> Log:
    """Reads a whole log: dsjson, CSV, Vowpal Wabbit text or .eelog, compressed or not.

    reward: how to combine several observations of an event: "label" (default: as
        logged), "first", "last", "sum", "mean" or "max".
    default_reward: the reward of an event without observations (optional).
    start, until: times, such as "2021-05-18" or a datetime; UTC if they have no zone.
    strict: if True, a line that is not an event raises an error (default: False).

    To learn from a log: ``for one in log: bandit.learn_from(*one[:3], context=one.context)``.
    """
    with python_errors():
        return Log(_lab.log_events(log_path(path), reading_settings(reward, default_reward, start, until, strict)))


# ---- settings for reading logs, in the form that the extension expects ----


def log_path(given: Union[str, os.PathLike[str]]) -> bytes:
    """Without a colon it is a file, or "-"."""
    path = os.fsencode(given)
    if b"\0" in path or not path:
        raise BadInput(f"path: expected the name of a file, got {given!r}")
    if b":" not in path and path != b"-" and not os.path.exists(path):
        raise NoFile(f"log: there is no file {os.fsdecode(path)}")
    return path


def reading_settings(
    reward: str, default_reward: Optional[float], start: Time, until: Time, strict: bool
) -> dict[str, Any]:
    return {
        "reward": read_choice(reward, "reward", ("label", "first", "last", "sum", "mean", "max")),
        "default_reward": default_reward,
        "start": read_time(start, "start"),
        "until": read_time(until, "until"),
        "strict": int(bool(strict)),
    }


def read_time(given: Time, what: str) -> Union[bytes, float, None]:
    """Seconds since 1970, or a string. Without a zone, both a datetime and a string mean UTC."""
    if isinstance(given, datetime):
        return (given if given.tzinfo else given.replace(tzinfo=timezone.utc)).timestamp()
    if given is None or isinstance(given, (int, float)):
        return given
    return read_text(given.isoformat() if isinstance(given, date) else given, what)


def read_choice(given: str, what: str, choices: tuple[str, ...]) -> bytes:
    if given in choices:
        return given.encode()
    near = difflib.get_close_matches(str(given), choices, 1)
    hint = f"did you mean '{near[0]}'?" if near else f"expected {', '.join(choices)}"
    raise BadOption(f"{what}: unknown value '{given}'; {hint}")


def read_text(given: Any, what: str) -> bytes:
    if not isinstance(given, str) or "\0" in given:
        raise BadInput(f"{what}: expected a string, got {given!r}")
    return given.encode("utf-8", "replace")
