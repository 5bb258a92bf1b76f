"""Retries: when to send a request again, and how long to wait before. No I/O: these are generators of steps, which the
blocking and the asyncio client carry out.

A step is a Request to send once (its Answer or Failure is sent into the generator), a Pause, or Items for an iterator.
The generator returns the result of the call.
"""

from __future__ import annotations

import random
import time
from typing import Any, Generator, List, NamedTuple, Optional, TypeVar, Union

from .errors import ServerError, Timeout, Unavailable, error_of_answer
from .wire import Answer, Request

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 5.0
AGAIN = frozenset((408, 429, 500, 502, 503, 504))


class Pause(NamedTuple):
    seconds: float


class Items(NamedTuple):
    items: List[Any]


class Failure(NamedTuple):
    """No response arrived."""

    sentence: str
    maybe_done: bool  # bytes of the request left this machine
    timed_out: bool = False
    was_kept: bool = False  # a reused connection, which the server probably closed as idle
    is_final: bool = False  # a retry would fail the same way


Step = Union[Request, Pause, Items]
T = TypeVar("T")
Steps = Generator[Step, Any, T]


class Backoff:
    """How long to wait before each retry; None once the time is up."""

    def __init__(self, retry_for: float) -> None:
        self._until = time.monotonic() + retry_for
        self._pause = FIRST_PAUSE

    def next(self, retry_after: float = 0.0) -> Optional[float]:
        # Jitter, so that clients disconnected together do not reconnect together.
        pause = retry_after + self._pause * random.uniform(0.5, 1.0)
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
        return pause if time.monotonic() + pause < self._until else None


def answered(request: Request, retry_for: float) -> Steps[Answer]:
    """Sends a request until a response arrives: the same bytes each time."""
    backoff, maybe_done, had_stale = Backoff(retry_for), False, False
    while True:
        result = yield request
        if type(result) is Answer and result.status < 300:
            return result
        error = _error_of(result)
        maybe_done = error.maybe_done = maybe_done or error.maybe_done
        passing = not result.is_final if type(result) is Failure else result.status in AGAIN
        if not passing or (maybe_done and not request.repeatable):
            raise error
        if type(result) is Failure and result.was_kept and not had_stale:
            had_stale = True  # a new connection will probably work
            continue
        pause = backoff.next(_retry_after(result))
        if pause is None:
            raise error
        yield Pause(pause)


def _error_of(result: Union[Answer, Failure]) -> ServerError:
    if isinstance(result, Answer):
        return error_of_answer(result.status, result.headers, result.body)
    return (Timeout if result.timed_out else Unavailable)(result.sentence, maybe_done=result.maybe_done)


def _retry_after(result: Union[Answer, Failure]) -> float:
    """The Retry-After of the server in seconds; dates, which our server does not send, are ignored."""
    text = result.headers.get("retry-after", "") if isinstance(result, Answer) else ""
    return float(text) if text.isdecimal() and len(text) < 9 else 0.0
