"""Sends many items in as few requests as the server allows."""

from __future__ import annotations

from typing import Any, Callable, Iterator, List, NamedTuple

from .errors import ServerError, SomeRefused, TooLarge, error_of_item
from .retrying import Backoff, Pause, Steps
from .server_calls import Endpoint, ask_json

# The default limits of the server; if it accepts less, a batch is split in halves.
MOST_ITEMS = 1000
MOST_BYTES = 4_000_000


class Item(NamedTuple):
    body: bytes
    read: Callable[[Any], Any]  #: converts the response to an object


def in_batches(self: Endpoint, path: str, member: str, items: List[Item], return_errors: bool) -> Steps[List[Any]]:
    """The result of each item, in order; an exception for each item the server refused."""
    answers: List[Any] = []
    for batch in _batches(items):
        try:
            answers += yield from _batch(self, path, member, batch)
        except ServerError as error:  # of the whole batch: later ones would fail the same way
            answers += [error] * (len(items) - len(answers))
            break
    if not return_errors:
        _raise_first(answers, member)
    return answers


def _batches(items: List[Item]) -> Iterator[List[Item]]:
    batch: List[Item] = []
    size = 0
    for item in items:
        if batch and (len(batch) == MOST_ITEMS or size + len(item.body) > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += len(item.body) + 1
    if batch:
        yield batch


def _batch(self: Endpoint, path: str, member: str, items: List[Item]) -> Steps[List[Any]]:
    try:
        answers = yield from _sent(self, path, member, items)
    except TooLarge as error:
        if len(items) == 1:
            return [error]
        half = len(items) // 2
        answers = yield from _batch(self, path, member, items[:half])
        return answers + (yield from _batch(self, path, member, items[half:]))
    return answers


def _sent(self: Endpoint, path: str, member: str, items: List[Item]) -> Steps[List[Any]]:
    """Sends a batch, and retries the items that the server could not store."""
    backoff, left = Backoff(self._retry_for), list(range(len(items)))
    answers: List[Any] = [None] * len(items)
    while True:
        body = b'{"%b":[%b]}' % (member.encode(), b",".join([items[place].body for place in left]))
        results = (yield from ask_json(self, "POST", path, body))[member]
        for place, each in zip(left, results):
            answers[place] = error_of_item(each["error"]) if "error" in each else items[place].read(each)
        left = [place for place in left if getattr(answers[place], "http_status", 0) == 503]
        pause = backoff.next() if left else None
        if pause is None:
            return answers
        yield Pause(pause)


def _raise_first(answers: List[Any], member: str) -> None:
    errors = [each for each in answers if isinstance(each, ServerError)]
    if not errors:
        return
    if len(errors) == len(answers) and all(each is errors[0] for each in errors):
        raise errors[0]
    place = next(place for place, each in enumerate(answers) if each is errors[0])
    raise SomeRefused(f"the server refused {len(errors)} of {len(answers)} {member}; the first is {member}[{place}]: "
                      f"{errors[0]}", answers)
