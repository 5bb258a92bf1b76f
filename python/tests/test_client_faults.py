"""eenet.Client where the network and the server fail: nothing is lost, and nothing is done twice."""

import asyncio
import random
import socket
import threading
from types import SimpleNamespace

import pytest

from eenet.client import AsyncClient, Client, ServerError, Timeout, Unavailable, blocking, retrying
from flaky_proxy import FlakyProxy, Listener
from server_process import LONG, ServerProcess, in_threads, pause, wait_for

ACTIONS = [[1.0, 0.0], [0.0, 1.0]]
SETTINGS = {"dim": 2, "policy": "linucb", "aggregation": "sum", "wait": "1h"}


def dice(seed, **odds):
    """Chooses at random; what is left of 1 passes."""
    draw, lock = random.Random(seed), threading.Lock()
    names, weights = list(odds) + ["pass"], list(odds.values()) + [1 - sum(odds.values())]

    def choose(request):
        with lock:
            return draw.choices(names, weights)[0]

    return choose


HARM = {"drop": 0.06, "lose": 0.06, "cut": 0.06, "hang": 0.01, "503": 0.06}
CALLERS, CALLS = (10, 50) if LONG else (5, 20)
PATIENT = {"timeout": 2, "retry_for": 600}


def script(*what):
    """What becomes of each request in turn; those that follow pass."""
    left = list(what)
    return lambda request: left.pop(0) if left else "pass"


def check_once(server, bandit, values):
    """The store has each decision once, and each reward once, with its value."""
    decisions = server.events(bandit, "decision")
    rewards = server.events(bandit, "reward")
    assert sorted(event["id"] for event in decisions) == sorted(values)
    assert {event["id"]: event["value"] for event in rewards} == values and len(rewards) == len(values)
    assert all(event["outcome"] == "joined" for event in rewards)


def test_decisions_and_rewards_over_a_flaky_network(server):
    Client(server.url).create("flaky", **SETTINGS)
    values, answers = {}, {}
    with FlakyProxy(server.port, dice(1, **HARM)) as proxy, Client(proxy.url, **PATIENT) as client:
        bandit = client.bandit("flaky")

        def work(number):
            for i in range(CALLS):
                decision = bandit.decide(ACTIONS)
                answers[decision.id] = decision
                values[decision.id] = float(i)
                bandit.reward(decision, i)

        in_threads(CALLERS, work)
        assert len(proxy.requests) > 2.2 * CALLERS * CALLS  # there were retries
    check_once(server, "flaky", values)
    # Each is the decision that the server stored, however many of its answers were lost.
    assert len(answers) == CALLERS * CALLS


def test_asyncio_over_a_flaky_network(server):
    values = {}

    async def visit(bandit, i):
        decision = await bandit.decide(ACTIONS, id=f"a{i}")
        values[decision.id] = float(i)
        await bandit.reward(decision, i)

    async def run(url):
        async with AsyncClient(url, connections=20, **PATIENT) as client:
            bandit = await client.create("flaky-async", **SETTINGS)
            await asyncio.gather(*(visit(bandit, i) for i in range(CALLERS * CALLS)))

    with FlakyProxy(server.port, dice(2, **HARM)) as proxy:
        asyncio.run(run(proxy.url))
    check_once(server, "flaky-async", values)


def test_the_server_is_killed_and_comes_back(program, tmp_path):
    with ServerProcess(program, tmp_path) as server, Client(server.url) as client:
        bandit = client.create("killed", **SETTINGS)
        values, started = {}, threading.Semaphore(0)

        def work(number):
            for i in range(60):
                decision = bandit.decide(ACTIONS, id=f"{number}-{i}")
                values[decision.id] = float(i)
                started.release()
                bandit.reward(decision, i)

        def killer():
            for _ in range(2):
                for _ in range(50):  # so many decisions later
                    started.acquire()
                server.kill()
                server.start()

        in_threads(5, lambda number: work(number) if number else killer())
        check_once(server, "killed", values)
        assert len(values) == 240


def test_retries_send_the_same_bytes(server):
    bandit_name = Client(server.url).create("bytes", **SETTINGS).name
    with FlakyProxy(server.port, script("drop", "lose", "cut", "503")) as proxy, Client(proxy.url) as client:
        decision = client.bandit(bandit_name).decide(ACTIONS)
        sent = proxy.requests[:]
        assert len(sent) == 5 and len(set(sent)) == 1 and decision.id.encode() in sent[0]
        client.bandit(bandit_name).reward(decision, 1)
    with FlakyProxy(server.port, script("lose", "lose")) as proxy, Client(proxy.url) as client:
        assert client.bandit(bandit_name).reward(decision, 1) == ("joined", True)
    assert len(server.events("bytes", "reward")) == 2


@pytest.fixture
def clock(monkeypatch):
    """The pauses of blocking clients, by which alone their clock moves."""
    pauses = []
    for module in (blocking, retrying):
        monkeypatch.setattr(module, "time", SimpleNamespace(sleep=pauses.append, monotonic=lambda: sum(pauses)))
    return pauses


def test_retry_after_is_obeyed(server, clock):
    Client(server.url).create("after", **SETTINGS)
    with FlakyProxy(server.port, script("503"), retry_after=1) as proxy, Client(proxy.url) as client:
        client.bandit("after").decide(ACTIONS)
        assert len(proxy.requests) == 2 and len(clock) == 1 and clock[0] >= 1
    with FlakyProxy(server.port, lambda request: "503", retry_after=60) as proxy:
        with pytest.raises(Unavailable, match="later") as caught:
            Client(proxy.url).bandit("after").decide(ACTIONS)
        assert len(proxy.requests) == 1  # to wait that long is of no use
        assert caught.value.http_status == 503 and caught.value.maybe_done  # who knows what a stranger's 503 means


def test_there_is_an_end_to_retries(server, clock):
    with FlakyProxy(server.port, lambda request: "drop") as proxy:
        with pytest.raises(Unavailable, match="the connection was closed without a response") as caught:
            Client(proxy.url, retry_for=3).bandit("any").decide(ACTIONS)
        assert caught.value.maybe_done and caught.value.http_status is None
        assert len(proxy.requests) == len(clock) + 1 > 2 and sum(clock) <= 3
        with pytest.raises(Unavailable):
            Client(proxy.url, retry_for=0).bandits()
    with pytest.raises(Unavailable, match="Connection refused; is eenet serve running there") as caught:
        Client(proxy.url, retry_for=0.2).bandits()
    assert not caught.value.maybe_done and isinstance(caught.value, ConnectionError)


SOON = 0.1  # seconds: for requests that never get a response


def test_a_timeout(server):
    with FlakyProxy(server.port, lambda request: "hang") as proxy:
        for call in (lambda: Client(proxy.url, timeout=SOON, retry_for=0).bandits(),
                     lambda: asyncio.run(AsyncClient(proxy.url, timeout=SOON, retry_for=0).bandits())):
            with pytest.raises(Timeout, match="did not respond within 0.1 s") as caught:
                call()
            assert isinstance(caught.value, TimeoutError) and caught.value.maybe_done


class Stranger(Listener):
    """Answers whatever it is asked with the same bytes."""

    def __init__(self, answer, pause=None):
        self._answer, self._pause = answer, pause
        super().__init__()

    def _serve(self, client):
        if self._pause:
            self._pause(client)
        client.sendall(self._answer)
        client.recv(1 << 20)


def test_what_is_not_the_server_is_reported():
    with Stranger(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n<html/>") as stranger:
        with pytest.raises(ServerError, match="expected eenet serve at this url, got a response that is not JSON"):
            Client(stranger.url).bandits()
    with Stranger(b"220 mail.example.org ready\r\n") as stranger:
        for call in (Client(stranger.url).bandits, lambda: asyncio.run(AsyncClient(stranger.url).bandits())):
            with pytest.raises(Unavailable, match="expected an HTTP/1.1 server"):
                call()


@pytest.mark.night
def test_a_slow_reader_is_no_timeout():
    """A large model takes longer to send than the timeout; each piece does not."""
    def read_slowly(client):
        for _ in range(size >> 18):
            pause(0.5)
            client.recv(1 << 18, socket.MSG_WAITALL)

    size, settings = 1 << 25, {"timeout": 50, "retry_for": 0}
    for kind in ("blocking", "asyncio"):
        with Stranger(b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"event":7}', read_slowly) as stranger:
            if kind == "blocking":
                event = Client(stranger.url, **settings).bandit("a").upload(bytes(size))
            else:
                event = asyncio.run(AsyncClient(stranger.url, **settings).bandit("a").upload(bytes(size)))
            assert event == 7


def test_a_cancelled_call_closes_its_connection(server):
    async def run(proxy):
        async with AsyncClient(proxy.url) as client:
            task = asyncio.create_task(client.bandits())
            await asyncio.to_thread(proxy.came.acquire)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(proxy.gave_up.acquire)  # the connection is closed

    with FlakyProxy(server.port, script("hang")) as proxy:
        asyncio.run(run(proxy))


def test_what_may_be_done_once_alone_is_not_repeated(server):
    bandit = Client(server.url).create("once", **SETTINGS)
    with FlakyProxy(server.port, script("lose")) as proxy:
        with pytest.raises(Unavailable) as caught:
            Client(proxy.url).bandit("once").reset()
        assert caught.value.maybe_done and len(proxy.requests) == 1
    assert len(server.events("once", "model")) == 1
    with FlakyProxy(server.port, script("503")) as proxy:  # a stranger's: it may have been passed on
        with pytest.raises(Unavailable):
            Client(proxy.url).bandit("once").reset()
    assert bandit.reset() > 0


def test_a_server_of_few_requests_a_second(program, tmp_path):
    with ServerProcess(program, tmp_path, "--rate", "5") as server, Client(server.url, retry_for=600) as client:
        bandit = client.create("rate", **SETTINGS)
        in_threads(4, lambda number: [bandit.decide(ACTIONS, id=f"{number}-{i}") for i in range(3)])
        with pytest.raises(Unavailable, match="rate limit exceeded: 5 requests per second") as caught:
            impatient = Client(server.url, retry_for=0).bandit("rate")
            while True:
                in_threads(10, lambda number: impatient.decide(ACTIONS))
        assert caught.value.http_status == 429 and not caught.value.maybe_done


def test_connections_that_the_server_closed_meanwhile(program, tmp_path):
    def await_end(client):
        (kept,) = client._transport._pool._idle
        wait_for(lambda: not kept.is_good(), "the server keeps an idle connection")

    async def run(url):
        async with AsyncClient(url, retry_for=0) as client:
            for _ in range(2):
                await client.bandit("idle").decide(ACTIONS)
                await asyncio.to_thread(await_end, client)

    with ServerProcess(program, tmp_path, "--idle-seconds", "1") as server, Client(server.url, retry_for=0) as client:
        bandit = client.create("idle", **SETTINGS)
        for _ in range(2):
            bandit.decide(ACTIONS)
            await_end(client)
        asyncio.run(run(server.url))


def test_errors_have_one_root(server):
    import eenet.client

    for name in eenet.client.__all__:
        kind = getattr(eenet.client, name)
        if isinstance(kind, type) and issubclass(kind, Exception):
            assert issubclass(kind, ServerError) and kind.__module__ == "eenet.client"
