"""Requests to a server of a fleet, and conditions to wait for, for the tests of what a fleet does."""
import http.client
import json
import ssl
import sys
import threading
import time


class Failure(Exception):
    """The fleet did something else than it should."""


class Response:
    """Status, headers and bytes."""

    def __init__(self, response):
        self.status, self.headers, self.bytes = response.status, response.headers, response.read()

    @property
    def json(self):
        return json.loads(self.bytes)

    def __str__(self):
        return f"{self.status} {self.bytes[:300]!r}"


def call(server, method, path, body=None, key=None, headers=None, timeout=30.0):
    """One request on its own connection. A server with `tls` is asked by TLS, whatever its certificate."""
    kind = http.client.HTTPConnection
    more = {}
    if getattr(server, "tls", False):
        kind = http.client.HTTPSConnection
        more["context"] = ssl._create_unverified_context()  # pylint: disable=protected-access
    connection = kind("127.0.0.1", server.port, timeout=timeout, **more)
    sent = {"Content-Type": "application/json", **(headers or {})}
    if key:
        sent["Authorization"] = f"Bearer {key}"
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    try:
        connection.request(method, path, body, sent)
        return Response(connection.getresponse())
    finally:
        connection.close()


def expect(server, method, path, body=None, status=200, **more):
    response = call(server, method, path, body, **more)
    if response.status != status:
        raise Failure(f"{method} {path} on {server.name}: expected {status}, got {response}")
    return response


def same(got, wanted, what):
    if got != wanted:
        raise Failure(f"{what}: expected {wanted!r}, got {got!r}")


def at_once(*functions):
    """Runs them at the same time; their results, in order."""
    results = [None] * len(functions)
    barrier = threading.Barrier(len(functions))

    def run(index):
        try:
            barrier.wait()
            results[index] = functions[index]()
        except Exception as error:  # pylint: disable=broad-exception-caught
            results[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


def eventually(condition, what, seconds=60.0):
    """Polls until the condition returns something true, and returns that."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure(f"after {seconds:.0f} s: {what}")
        time.sleep(0.03)


def run_cases(cases, *given):
    """Runs each, and prints how long it took; the exit status of the test."""
    failed = 0
    for case in cases:
        begun = time.monotonic()
        try:
            case(*given)
            outcome = "ok"
        except Exception as error:  # pylint: disable=broad-exception-caught
            outcome = f"FAILED: {type(error).__name__}: {error}"
            failed = 1
        print(f"{case.__name__}: {outcome} ({time.monotonic() - begun:.1f} s)", flush=True)
    sys.stdout.flush()
    return failed
