"""What tests in Python share: servers of ours, requests to them, and the one function that waits.

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests
    from harness import Server, check, wait_for

    server = Server(program, folder / "data", "--checkpoint-events", "50").start()
    server.call("POST", "/v1/bandits", {"name": "offers"})
    wait_for(lambda: server.call("GET", "/v1/bandits/offers")["learned"] == 1, "the reward is not learned")
    server.kill()                             # kill -9; start() starts it again
    server.stop()

postgres.py has PostgreSQL with a standby, proxy.py a network with faults. Whatever a test starts ends with it, even if it
is killed: see watchdog.py."""
import contextlib
import http.client
import json
import os
import random
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from .watchdog import watch

LIMIT = 600.0  # seconds: only ends what hangs
LONG = bool(os.environ.get("EENET_TEST_LONG"))  # make test-all: the long form of tests that repeat themselves


class Failure(Exception):
    """Something else happened than should."""


class Refused(Failure):
    """A response with another status than expected."""

    def __init__(self, asked, response, expected):
        super().__init__(f"{asked}: expected {expected or 'success'}, got {response}")
        self.status, self.message = response.status, str(response)


# ---- conditions ----

def check(condition, what):
    if not condition:
        raise Failure(what() if callable(what) else what)


def shortened(value):
    text = repr(value)
    return text if len(text) <= 2000 else f"{text[:2000]}… ({len(text)} characters)"


def same(got, wanted, what):
    check(got == wanted, lambda: f"{what}: expected {shortened(wanted)}, got {shortened(got)}")


def pause(seconds):
    """How long a fault lasts, or the pace of a load; nothing happens because of it. To wait for something: wait_for."""
    time.sleep(seconds)


def wait_for(condition, what, between=0.02):
    """Polls until the condition returns something true, and returns that. what: the failure if it never does, or a function
    that returns it."""
    end = time.monotonic() + LIMIT
    while not (value := condition()):
        check(time.monotonic() < end, lambda: f"after {LIMIT:.0f} s: {what() if callable(what) else what}")
        pause(between)
    return value


def at_once(*functions):
    """Runs them at the same time; their results, in order. Raises the first of their failures, of any kind."""
    results, failures = [None] * len(functions), []
    barrier = threading.Barrier(len(functions))

    def run(index):
        try:
            barrier.wait()
            results[index] = functions[index]()
        except BaseException as failure:  # pylint: disable=broad-exception-caught
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return results


class Meanwhile:
    """Calls a function again and again in threads, until the end of the `with` block, which raises the first failure."""

    def __init__(self, work, threads=1):
        self.over, self.failures, self.work = threading.Event(), [], work
        self.threads = [threading.Thread(target=self.run) for _ in range(threads)]

    def run(self):
        try:
            while not self.over.is_set():
                self.work()
        except BaseException as failure:  # pylint: disable=broad-exception-caught
            self.failures.append(failure)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, kind, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()
        if self.failures and not kind:
            raise self.failures[0]


def run_cases(cases, *given):
    """Runs each; the exit status of the test."""
    failed = 0
    for case in cases:
        try:
            case(*given)
            outcome = "ok"
        except Exception as error:  # pylint: disable=broad-exception-caught
            outcome, failed = f"FAILED: {type(error).__name__}: {error}", 1
        print(f"{case.__name__}: {outcome}", flush=True)
    return failed


@contextlib.contextmanager
def scratch_folder():
    """A folder that others may enter, as PostgreSQL's user must. It is deleted, unless the test fails."""
    folder = Path(tempfile.mkdtemp(prefix="eenet-test-"))
    folder.chmod(0o755)
    try:
        yield folder
    except BaseException:
        print(f"evidence: {folder}", file=sys.stderr)
        raise
    shutil.rmtree(folder)


# ---- programs ----

def run(program, *words, expect=0):
    """Runs eenet: its output. expect: the exit status."""
    done = subprocess.run([program, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    check(done.returncode == expect, lambda: f"eenet {' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def new_database(name):
    """The URL of an empty database on the server of EENET_TEST_POSTGRES; None: the test has none."""
    where = os.environ.get("EENET_TEST_POSTGRES")
    if not where:
        return None
    name = f"{name}_{os.getpid()}"
    subprocess.run(["psql", "-q", where, "-c", "SET client_min_messages = warning", "-c", f"DROP DATABASE IF EXISTS {name}",
                    "-c", f"CREATE DATABASE {name}"], check=True)
    return where.replace("/postgres?", f"/{name}?")


def make_certificate(folder):
    """Writes a self-signed certificate: the options of a server that uses it. Exits with 77 if openssl is not installed."""
    if not shutil.which("openssl"):
        print("openssl is not installed")
        sys.exit(77)
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return ["--certificate", str(certificate), "--certificate-key", str(key)]


_reserved = []


def reserve_port():
    """A port that belongs to this process until it ends, also while no server listens there: the kernel gives these to no connection, and
    a name that goes with the process keeps other tests away."""
    for port in random.SystemRandom().sample(range(20000, 32000), 1000):
        mark = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(OSError), socket.socket() as probe:
            mark.bind(f"\0eenet-port-{port}")
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            _reserved.append(mark)
            return port
        mark.close()
    raise Failure("there is no free port")


# ---- servers ----

class Response:
    """Status, headers and bytes."""

    def __init__(self, response):
        self.status, self.headers, self.bytes = response.status, response.headers, response.read()

    @property
    def type(self):
        return self.headers.get("Content-Type", "").partition(";")[0]

    @property
    def json(self):
        return json.loads(self.bytes)

    @property
    def content(self):
        """The JSON; the bytes, if it is something else."""
        return self.json if self.type == "application/json" and self.bytes else self.bytes

    @property
    def message(self):
        """Of an error; else ''."""
        error = self.content.get("error", {}) if isinstance(self.content, dict) else {}
        return error.get("message", "") if isinstance(error, dict) else ""

    def __str__(self):
        return f"{self.status} {self.bytes[:300].decode(errors='replace')}"


class Server:
    """`eenet serve` on loopback. It keeps its folder when it is started again."""

    tls = False

    def __init__(self, program, folder, *words, store=None, environment=None, port=0):
        """folder: where its data are; its log is beside it, FOLDER.log. store: the URL of a database. port: of each start;
        default: any that is free."""
        self.program, self.folder = str(program), Path(folder)
        self.words = ["--store", store, "--replication", "any"] if store else []
        self.words += ["--folder", str(self.folder), *map(str, words)]
        self.store, self.place = store, store or str(self.folder)
        self.environment = environment or {}
        self.prefix = []  # what executes it, as prlimit
        self.inherited = []  # descriptors
        self.name = self.folder.name
        self.log = Path(f"{self.folder}.log")
        self.fixed_port = self.port = port
        self.process, self.begin = None, 0

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()  # saving its models would only take time

    @property
    def url(self):
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}"

    def launch(self, *words):
        """Starts it without waiting for anything. words: more of this start's."""
        with open(self.log, "ab") as log:
            self.begin = log.tell()
            self.process = subprocess.Popen(
                [*self.prefix, self.program, "serve", "--port", str(self.fixed_port), *self.words, *map(str, words)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={"TSAN_OPTIONS": "halt_on_error=1", **os.environ, **self.environment},
                start_new_session=True, pass_fds=self.inherited)
        watch("process", self.process.pid)

    def start(self, *words):
        """Starts it, and waits until it is ready."""
        self.launch(*words)
        wait_for(self.listens, lambda: f"{self.name} does not listen: {self.said()}")
        wait_for(self.ready, lambda: f"{self.name} does not get ready: {self.said()}")
        return self

    def listens(self):
        found = re.search(r"listening on (https?)://[^\s/]*:(\d+)\s", self.said(None))
        if found:
            self.tls, self.port = found[1] == "https", int(found[2])
        check(found or self.alive(), lambda: f"{self.name} ended: {self.said()}")
        return found

    def said(self, size=2000):
        """The end of what it wrote since it was started; None: all of it."""
        return self.log.read_bytes()[self.begin:][-size if size else 0:].decode(errors="replace")

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def ready(self):
        check(self.alive(), lambda: f"{self.name} ended: {self.said()}")
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.ask("GET", "/readyz").status == 200
        return False

    def send_signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        """As a crash does."""
        if self.process:
            self.process.kill()
            self.process.wait()

    def terminate(self):
        """SIGTERM: its exit status."""
        self.process.terminate()
        return self.process.wait(LIMIT)

    def restart(self, *words):
        """kill -9, and a new start."""
        self.kill()
        return self.start(*words)

    def stop(self):
        """SIGTERM; it must end well."""
        same(self.terminate(), 0, f"the exit status of {self.name}: {self.said()}")

    # ---- requests, each on its own connection ----

    def send(self, method, path, body=None, key=None, headers=None, timeout=LIMIT):
        """A connection on which a request was sent: Response(connection.getresponse()). body: JSON, or bytes."""
        kind, more = http.client.HTTPConnection, {}
        if self.tls:  # whatever its certificate
            kind, more = http.client.HTTPSConnection, {"context": ssl._create_unverified_context()}  # pylint: disable=protected-access
        sent = {"Content-Type": "application/json", **(headers or {})}
        if key:
            sent["Authorization"] = f"Bearer {key}"
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        connection = kind("127.0.0.1", self.port, timeout=timeout, **more)
        connection.request(method, path, body, sent)
        return connection

    def ask(self, method, path, body=None, **more):
        """The Response to a request, whatever its status."""
        with contextlib.closing(self.send(method, path, body, **more)) as connection:
            return Response(connection.getresponse())

    def expect(self, method, path, body=None, status=None, **more):
        """The response, which must have this status; default: any of success. Else Refused."""
        response = self.ask(method, path, body, **more)
        if response.status != status if status else response.status >= 300:
            raise Refused(f"{method} {path} on {self.name}", response, status)
        return response

    def call(self, method, path, body=None, status=None, **more):
        """The same: the content of the response."""
        return self.expect(method, path, body, status, **more).content

    @contextlib.contextmanager
    def unread(self, path, count=8):
        """Inside it, `count` responses to GET path have begun and are not read on. Until the server has noted the end of an
        earlier response, it may refuse a new one: then this asks again."""
        readers = []

        def begin():
            reader = socket.socket()
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(("127.0.0.1", self.port))
            readers.append(reader)
            reader.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            if reader.recv(12, socket.MSG_WAITALL) == b"HTTP/1.1 200":
                return True
            readers.pop().close()
            return False

        try:
            for _ in range(count):
                wait_for(begin, f"no answer to GET {path} begins")
            yield
        finally:
            for reader in readers:
                reader.close()

    def wait_for(self, path, done):
        """Asks until the content of the response is as it should be, and returns that."""
        found = []

        def is_done():
            found[:] = [self.call("GET", path)]
            return done(found[0])

        wait_for(is_done, lambda: f"GET {path}: what the test waits for does not come: {found}")
        return found[0]

    def metric(self, name):
        """A number of /metrics, by its name with its labels."""
        found = re.search(f"^{re.escape(name)} (\\S+)$", self.call("GET", "/metrics").decode(), re.MULTILINE)
        check(found, f"there is no metric {name}")
        return float(found[1])

    def learned(self, bandit, count=0):
        """Waits until the model of a bandit has learned all of its log, and that many decisions; returns the description of the bandit."""
        return self.wait_for(f"/v1/bandits/{bandit}", lambda now: now["learned"] >= count and now["behind"] == 0)
