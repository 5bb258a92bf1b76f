"""The asyncio client: the same calls, awaited."""

# The types of JSON values and generators are unknown.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import asyncio
import functools
import os
import time
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Coroutine, List, Optional, TypeVar, Union

from . import bandit_calls, server_calls
from .retrying import Failure, Items, Pause, Steps
from .server_calls import BanditEndpoint, ServerEndpoint
from .shape import Settings, result_signature
from .wire import Answer, AnswerReader, BadAnswer, NotHTTP, Request

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")
T = TypeVar("T")

LONGEST_IDLE = 50.0  # seconds; the server closes what is idle for 60


class _Connection(asyncio.Protocol):
    """One exchange at a time: incoming bytes go to the reader of the current request."""

    def __init__(self, loop: asyncio.AbstractEventLoop, timeout: float) -> None:
        self._loop = loop
        self._timeout = timeout
        self._transport: Optional[asyncio.Transport] = None
        self._answer: Optional[asyncio.Future[Answer]] = None
        self._reader = AnswerReader()
        self._active_at = 0.0  # when bytes were last received or sent
        self._unsent = 0
        self._timer: Optional[asyncio.TimerHandle] = None
        self._spoke_unasked = False
        self.is_open = False
        self.was_used = False
        self.idle_since = 0.0

    # ---- callbacks of the event loop ----

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        self._active_at = self._loop.time()
        if self._answer is None:  # no request is waiting
            self._spoke_unasked = True
            self.close()
            return
        try:
            answer = self._reader.feed(data)
        except BadAnswer as error:
            self._fail(error)
            return
        if answer is not None and not self._answer.done():
            self._answer.set_result(answer)

    def eof_received(self) -> None:
        self._end(None)

    def connection_lost(self, error: Optional[Exception]) -> None:
        self._end(error)

    # ---- calls of the client ----

    async def exchange(self, data: bytes) -> Answer:
        assert self._transport is not None
        self._reader = AnswerReader()
        if not self.is_open:
            raise NotHTTP() if self._spoke_unasked else BadAnswer("the connection was closed without a response")
        self._answer = self._loop.create_future()
        self._active_at = self._loop.time()
        self._timer = self._loop.call_later(self._timeout, self._check_timeout)
        self._transport.write(data)
        self._unsent = self._transport.get_write_buffer_size()
        try:
            return await self._answer
        finally:
            self._timer.cancel()
            self._answer = None

    @property
    def has_begun(self) -> bool:
        return self._reader.begun

    @property
    def keeps(self) -> bool:
        return self._reader.keeps and self.is_open

    def is_good(self) -> bool:
        return self.is_open and time.monotonic() - self.idle_since < LONGEST_IDLE

    def close(self) -> None:
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    # ---- inside ----

    def _end(self, error: Optional[Exception]) -> None:
        self.is_open = False
        if self._answer is None or self._answer.done():
            return
        try:
            if error is not None:
                raise error
            self._answer.set_result(self._reader.end())
        except Exception as failed:
            self._fail(failed)

    def _fail(self, error: Exception) -> None:
        self.is_open = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)

    def _check_timeout(self) -> None:
        assert self._transport is not None
        unsent = self._transport.get_write_buffer_size()
        if unsent < self._unsent:  # a large request is being sent
            self._unsent, self._active_at = unsent, self._loop.time()
        left = self._active_at + self._timeout - self._loop.time()
        if left <= 0:
            self._fail(TimeoutError())
        else:
            self._timer = self._loop.call_later(left, self._check_timeout)


class _Pool:
    """The connections of one event loop."""

    def __init__(self, settings: Settings, connections: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.room = asyncio.Semaphore(connections)
        self._settings = settings
        self._idle: List[_Connection] = []

    async def take(self, fresh: bool) -> _Connection:
        while self._idle and not fresh:
            connection = self._idle.pop()
            if connection.is_good():
                return connection
            connection.close()
        target, timeout = self._settings.target, self._settings.timeout
        opening = self.loop.create_connection(lambda: _Connection(self.loop, timeout), target.host, target.port,
                                              ssl=self._settings.tls)
        _, connection = await asyncio.wait_for(opening, timeout)
        return connection

    def keep(self, connection: _Connection) -> None:
        connection.was_used = True
        connection.idle_since = time.monotonic()
        self._idle.append(connection)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()


class _Transport:
    """Sends each request once, and runs the steps of calls."""

    def __init__(self, settings: Settings, connections: int) -> None:
        self._settings = settings
        self._connections = connections
        self._pool: Optional[_Pool] = None

    def close(self) -> None:
        if self._pool is not None and not self._pool.loop.is_closed():
            self._pool.close()
        self._pool = None

    async def run(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                step = steps.send(await self._take(step))
        except StopIteration as end:
            return end.value

    async def iterate(self, steps: Steps[T]) -> AsyncIterator[T]:
        result: Any = None
        while True:
            try:
                step = steps.send(result)
            except StopIteration:
                return
            if isinstance(step, Items):
                for item in step.items:
                    yield item
            result = await self._take(step)

    async def _take(self, step: Any) -> Any:
        if type(step) is Request:
            return await self._exchange(step)
        if type(step) is Pause:
            await asyncio.sleep(step.seconds)
        return None

    def _pool_of_loop(self) -> _Pool:
        if self._pool is None or self._pool.loop is not asyncio.get_running_loop():
            self._pool = _Pool(self._settings, self._connections)
        return self._pool

    async def _exchange(self, request: Request) -> Union[Answer, Failure]:
        settings, pool = self._settings, self._pool_of_loop()
        async with pool.room:
            try:
                # A request that must not be repeated gets a new connection: an idle one may be half closed.
                connection = await pool.take(fresh=not request.repeatable)
            except asyncio.TimeoutError:  # not the built-in TimeoutError before Python 3.11
                return settings.failure(TimeoutError(), maybe_done=False)
            except OSError as error:
                return settings.failure(error, maybe_done=False)
            try:
                answer = await connection.exchange(settings.target.bytes_of(request))
            except (OSError, BadAnswer) as error:
                connection.close()
                return settings.failure(error, maybe_done=True,
                                        was_kept=connection.was_used and not connection.has_begun)
            except BaseException:  # for example a cancelled call, whose response may still arrive
                connection.close()
                raise
            if connection.keeps:
                pool.keep(connection)
            else:
                connection.close()
            return answer


def _awaited(plan: Callable[Concatenate[Any, P], Steps[T]]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    @functools.wraps(plan)
    async def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._transport.run(plan(self, *args, **kwargs))

    call.__signature__ = result_signature(plan)  # type: ignore[attr-defined]
    return call


def _iterated(plan: Callable[Concatenate[Any, P], Steps[T]]) -> Callable[Concatenate[Any, P], AsyncIterator[T]]:
    @functools.wraps(plan)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        return self._transport.iterate(plan(self, *args, **kwargs))

    call.__signature__ = result_signature(plan, "AsyncIterator")  # type: ignore[attr-defined]
    return call


class AsyncBanditClient(BanditEndpoint):
    """A bandit on the server: ``client.bandit("shop")``. Its calls are those of BanditClient, awaited."""

    decide = _awaited(bandit_calls.decide)
    decide_slots = _awaited(bandit_calls.decide_slots)
    decide_many = _awaited(bandit_calls.decide_many)
    reward = _awaited(bandit_calls.reward)
    reward_many = _awaited(bandit_calls.reward_many)
    activate = _awaited(bandit_calls.activate)
    explain = _awaited(bandit_calls.explain)
    explain_decision = _awaited(bandit_calls.explain_decision)
    importance = _awaited(bandit_calls.importance)
    activity = _awaited(bandit_calls.activity)
    evaluation = _awaited(bandit_calls.evaluation)
    challengers = _awaited(bandit_calls.challengers)
    add_challenger = _awaited(bandit_calls.add_challenger)
    remove_challenger = _awaited(bandit_calls.remove_challenger)
    promote = _awaited(bandit_calls.promote)
    evaluate = _awaited(bandit_calls.evaluate)
    evaluations = _awaited(bandit_calls.evaluations)
    evaluation_results = _awaited(bandit_calls.evaluation_results)
    delete_evaluation = _awaited(bandit_calls.delete_evaluation)
    log = _iterated(bandit_calls.log)
    save_log = _awaited(bandit_calls.save_log)
    model = _awaited(bandit_calls.model)
    model_bytes = _awaited(bandit_calls.model_bytes)
    versions = _awaited(bandit_calls.versions)
    upload = _awaited(bandit_calls.upload)
    reset = _awaited(bandit_calls.reset)
    describe = _awaited(bandit_calls.describe)
    change = _awaited(bandit_calls.change)
    archive = _awaited(bandit_calls.archive)
    purge = _awaited(bandit_calls.purge)
    erase = _awaited(bandit_calls.erase)
    restore = _awaited(bandit_calls.restore)


class AsyncClient(ServerEndpoint):
    """A client for ``eenet serve`` with asyncio: the calls of ``eenet.Client``, awaited.

    ``connections``: the most requests at a time (default: 64); others wait for their turn. Cancelling a call closes
    its connection; the server may have carried it out. Use a client in one event loop at a time.

    >>> async def visit():
    ...     async with AsyncClient(url) as client:
    ...         shop = await client.create("shop", features=True, wait="30m")
    ...         decision = await shop.decide({"red": {"color": "red"}, "blue": {"color": "blue"}}, {"plan": "free"})
    ...         return await shop.reward(decision, 1)
    >>> asyncio.run(visit()).outcome
    'joined'
    """

    def __init__(self, url: str, key: Optional[str] = None, *, timeout: float = 10.0, retry_for: float = 30.0,
                 ca_file: Union[str, os.PathLike[str], None] = None, connections: int = 64) -> None:
        if connections < 1:
            raise ValueError(f"connections: expected at least 1, got {connections}")
        super().__init__(url, _Transport(Settings(url, key, timeout, retry_for, ca_file), connections), retry_for)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.close()

    def bandit(self, name: str) -> AsyncBanditClient:
        """A bandit by name; sends nothing yet."""
        return AsyncBanditClient(self, name)

    async def create(self, name: str, **settings: Any) -> AsyncBanditClient:
        await self._transport.run(server_calls.create(self, name, settings))
        return self.bandit(name)

    create.__doc__ = server_calls.CREATE
    bandits = _awaited(server_calls.bandits)
    ready = _awaited(server_calls.ready)
    fleet = _awaited(server_calls.fleet)
    metrics = _awaited(server_calls.metrics)
