"""The blocking client: plain sockets, one connection per calling thread."""

# The types of JSON values and generators are unknown.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import functools
import os
import select
import socket
import time
from typing import TYPE_CHECKING, Any, Callable, Iterator, List, Optional, TypeVar, Union

from . import bandit_calls, server_calls
from .retrying import Failure, Items, Pause, Steps
from .server_calls import BanditEndpoint, ServerEndpoint
from .shape import Settings, result_signature
from .wire import Answer, AnswerReader, BadAnswer, Request

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")
T = TypeVar("T")

PIECE = 1 << 16
MOST_IDLE = 64  # idle connections in the pool
LONGEST_IDLE = 50.0  # seconds; the server closes what is idle for 60


class _Connection:
    def __init__(self, settings: Settings) -> None:
        target = settings.target
        plain = socket.create_connection((target.host, target.port), settings.timeout)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            tls = settings.tls
            self._socket = tls.wrap_socket(plain, server_hostname=target.host) if tls else plain
        except BaseException:
            plain.close()
            raise
        self.was_used = False
        self.idle_since = 0.0
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)

    def close(self) -> None:
        self._socket.close()

    def is_good(self) -> bool:
        """Whether it can be used again: not too old, not closed, no unexpected bytes."""
        return time.monotonic() - self.idle_since < LONGEST_IDLE and not self._poll.poll(0)

    def exchange(self, data: bytes, reader: AnswerReader) -> Answer:
        try:
            self._send(data)
        except ConnectionError:
            # A server that refuses a large body may answer and close before it has read all of it.
            answer = self._receive(reader)
            reader.keeps = False
            return answer
        return self._receive(reader)

    def _send(self, data: bytes) -> None:
        if len(data) <= PIECE:
            self._socket.sendall(data)
            return
        view = memoryview(data)  # in pieces: the timeout applies to each
        for at in range(0, len(data), PIECE):
            self._socket.sendall(view[at : at + PIECE])

    def _receive(self, reader: AnswerReader) -> Answer:
        while True:
            data = self._socket.recv(PIECE)
            answer = reader.feed(data) if data else reader.end()
            if answer is not None:
                return answer


class _Pool:
    """A pool of idle connections. append and pop of a list are thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._idle: List[_Connection] = []
        self._process = os.getpid()

    def take(self, fresh: bool) -> _Connection:
        if self._process != os.getpid():  # after a fork: these belong to the parent
            self._idle, self._process = [], os.getpid()
        while not fresh:
            try:
                connection = self._idle.pop()
            except IndexError:
                break
            if connection.is_good():
                return connection
            connection.close()
        return _Connection(self._settings)

    def keep(self, connection: _Connection) -> None:
        connection.was_used = True
        connection.idle_since = time.monotonic()
        self._idle.append(connection)
        if len(self._idle) > MOST_IDLE:
            self._idle.pop(0).close()

    def close(self) -> None:
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    __del__ = close


class _Transport:
    """Sends each request once, and runs the steps of calls."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = _Pool(settings)

    def close(self) -> None:
        self._pool.close()

    def run(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                step = steps.send(self._take(step))
        except StopIteration as end:
            return end.value

    def iterate(self, steps: Steps[T]) -> Iterator[T]:
        result: Any = None
        while True:
            try:
                step = steps.send(result)
            except StopIteration:
                return
            if isinstance(step, Items):
                yield from step.items
            result = self._take(step)

    def _take(self, step: Any) -> Any:
        if type(step) is Request:
            return self._exchange(step)
        if type(step) is Pause:
            time.sleep(step.seconds)
        return None

    def _exchange(self, request: Request) -> Union[Answer, Failure]:
        settings = self._settings
        try:
            # A request that must not be repeated gets a new connection: an idle one may be half closed.
            connection = self._pool.take(fresh=not request.repeatable)
        except OSError as error:
            return settings.failure(error, maybe_done=False)
        reader = AnswerReader()
        try:
            answer = connection.exchange(settings.target.bytes_of(request), reader)
        except (OSError, BadAnswer) as error:
            connection.close()
            return settings.failure(error, maybe_done=True, was_kept=connection.was_used and not reader.begun)
        except BaseException:
            connection.close()
            raise
        if reader.keeps:
            self._pool.keep(connection)
        else:
            connection.close()
        return answer


def _blocking(plan: Callable[Concatenate[Any, P], Steps[T]]) -> Callable[Concatenate[Any, P], T]:
    @functools.wraps(plan)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._transport.run(plan(self, *args, **kwargs))

    call.__signature__ = result_signature(plan)  # type: ignore[attr-defined]
    return call


def _iterated(plan: Callable[Concatenate[Any, P], Steps[T]]) -> Callable[Concatenate[Any, P], Iterator[T]]:
    @functools.wraps(plan)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return self._transport.iterate(plan(self, *args, **kwargs))

    call.__signature__ = result_signature(plan, "Iterator")  # type: ignore[attr-defined]
    return call


class BanditClient(BanditEndpoint):
    """A bandit on the server: ``client.bandit("shop")``. Threads may share it."""

    decide = _blocking(bandit_calls.decide)
    decide_slots = _blocking(bandit_calls.decide_slots)
    decide_many = _blocking(bandit_calls.decide_many)
    reward = _blocking(bandit_calls.reward)
    reward_many = _blocking(bandit_calls.reward_many)
    activate = _blocking(bandit_calls.activate)
    explain = _blocking(bandit_calls.explain)
    explain_decision = _blocking(bandit_calls.explain_decision)
    importance = _blocking(bandit_calls.importance)
    activity = _blocking(bandit_calls.activity)
    evaluation = _blocking(bandit_calls.evaluation)
    challengers = _blocking(bandit_calls.challengers)
    add_challenger = _blocking(bandit_calls.add_challenger)
    remove_challenger = _blocking(bandit_calls.remove_challenger)
    promote = _blocking(bandit_calls.promote)
    evaluate = _blocking(bandit_calls.evaluate)
    evaluations = _blocking(bandit_calls.evaluations)
    evaluation_results = _blocking(bandit_calls.evaluation_results)
    delete_evaluation = _blocking(bandit_calls.delete_evaluation)
    log = _iterated(bandit_calls.log)
    save_log = _blocking(bandit_calls.save_log)
    model = _blocking(bandit_calls.model)
    model_bytes = _blocking(bandit_calls.model_bytes)
    versions = _blocking(bandit_calls.versions)
    upload = _blocking(bandit_calls.upload)
    reset = _blocking(bandit_calls.reset)
    describe = _blocking(bandit_calls.describe)
    change = _blocking(bandit_calls.change)
    archive = _blocking(bandit_calls.archive)
    purge = _blocking(bandit_calls.purge)
    erase = _blocking(bandit_calls.erase)
    restore = _blocking(bandit_calls.restore)


class Client(ServerEndpoint):
    """A client for ``eenet serve``. Threads may share it.

    ``url``: the server, for example ``http://127.0.0.1:8080``, with a base path if it has one. ``key``: a key from
    ``eenet keys`` (optional). ``timeout``: seconds without a byte from the server after which an attempt fails
    (default: 10). ``retry_for``: seconds during which a call retries (default: 30; 0: never). ``ca_file``: the
    certificates that https trusts (default: the system's).

    The client retries if it cannot connect, if the connection breaks, or if the status is 408, 429, 500, 502, 503 or
    504. It backs off with growing pauses, or as the server asks. Each attempt sends the same bytes with the same id,
    so that a decision is made once and a reward counts once. An invalid request raises at once.

    >>> client = Client(url)
    >>> shop = client.create("shop", features=True, wait="30m")
    >>> decision = shop.decide({"red": {"color": "red"}, "blue": {"color": "blue"}}, {"plan": "free"})
    >>> shop.reward(decision, 1).outcome
    'joined'
    """

    def __init__(self, url: str, key: Optional[str] = None, *, timeout: float = 10.0, retry_for: float = 30.0,
                 ca_file: Union[str, os.PathLike[str], None] = None) -> None:
        super().__init__(url, _Transport(Settings(url, key, timeout, retry_for, ca_file)), retry_for)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def bandit(self, name: str) -> BanditClient:
        """A bandit by name; sends nothing yet."""
        return BanditClient(self, name)

    def create(self, name: str, **settings: Any) -> BanditClient:
        """Creates a bandit."""
        self._transport.run(server_calls.create(self, name, settings))
        return self.bandit(name)

    create.__doc__ = server_calls.CREATE
    bandits = _blocking(server_calls.bandits)
    ready = _blocking(server_calls.ready)
    fleet = _blocking(server_calls.fleet)
    metrics = _blocking(server_calls.metrics)
