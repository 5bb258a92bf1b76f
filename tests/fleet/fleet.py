"""A fleet on this machine: servers that share a database, each through its own proxy, and haproxy in front of them.

    fleet = Fleet(program, folder, database, 3)
    fleet.start()
    fleet.url                         # haproxy
    fleet.servers[0].kill()           # and pause, resume, terminate, shift_clock, start
    fleet.stop()
"""
import contextlib
import http.client
import json
import os
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

from postgres import DatabaseError, free_port
from proxy import Proxy
from watchdog import watch

HAPROXY = """
global
    maxconn 2000
defaults
    mode http
    timeout connect 1s
    timeout client 60s
    timeout server 6s
    timeout check 1s
    # A request that was sent is never sent again: that is up to the client, which has an id for it. A connection that
    # was refused carried nothing, so another server is tried.
    retries 2
    option redispatch 1
    retry-on conn-failure
frontend fleet
    bind 127.0.0.1:{port}
    default_backend servers
backend servers
    balance roundrobin
    option httpchk GET /readyz
    http-check expect status 200
    default-server check inter 200ms fall 2 rise 1
"""


class FleetError(Exception):
    """A server does not start, or does not get ready."""


def missing():
    """What a fleet needs and this machine lacks, in words; '' if nothing."""
    from postgres import binaries  # pylint: disable=import-outside-toplevel

    lacks = [] if binaries() else ["PostgreSQL with initdb and psql"]
    if not shutil.which("haproxy", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
        lacks.append("haproxy")
    return " and ".join(lacks)


def ask(port, path, body=None, timeout=5.0):
    """(status, bytes) of one request; OSError or HTTPException if there is no response."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET" if body is None else "POST", path,
                           None if body is None else json.dumps(body).encode(), {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


class Server:
    """One server of the fleet. It keeps its port and its folder when it is started again."""

    def __init__(self, program, folder, index, database, clock_library=None, options=()):
        self.program, self.index, self.database = program, index, database
        self.name = f"server{index + 1}"
        self.folder = folder / self.name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / f"{self.name}.log"
        self.port = free_port()
        self.options = list(options)
        self.proxy = Proxy([node.port for node in database.nodes])
        self.clock_library = clock_library
        self.clock = folder / f"{self.name}.clock"
        self.process = None
        self.starts = 0
        self.paused = False
        self.numbers = {}  # application name of each start -> number of the server in the fleet
        if clock_library:
            self.clock.write_bytes(struct.pack("=qq", 0, 0))

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def application(self):
        """The name that the connections of this start have in the database."""
        return f"{self.name}.{self.starts}"

    def launch(self):
        self.starts += 1
        environment = dict(os.environ)
        if self.clock_library:
            environment.update(LD_PRELOAD=str(self.clock_library), MOVED_CLOCK=str(self.clock))
        store = f"{self.database.url(self.proxy.ports)}&application_name={self.application}"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--store", store, "--folder", str(self.folder), "--port", str(self.port), *self.options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True)
        watch("process", self.process.pid)
        self.paused = False

    def start(self, seconds=60):
        """Starts it, again if it gives up because the database is away, and waits until it is ready."""
        end = time.monotonic() + seconds
        self.launch()
        while not self.ready():
            if time.monotonic() > end:
                raise FleetError(f"{self.name} is not ready after {seconds} s; the end of {self.log}:\n{self.tail()}")
            if self.process.poll() is not None:
                time.sleep(0.3)
                self.launch()
            time.sleep(0.05)
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError, KeyError):
            self.numbers[self.application] = json.loads(ask(self.port, "/v1/fleet")[1])["server"]

    def tail(self, size=2000):
        return self.log.read_bytes()[-size:].decode(errors="replace")

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def ready(self):
        try:
            return self.alive() and ask(self.port, "/readyz", timeout=2)[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)
        self.paused = True

    def resume(self):
        self.process.send_signal(signal.SIGCONT)
        self.paused = False

    def terminate(self, seconds=60):
        """SIGTERM: it hands its bandits over. Returns its exit status."""
        self.process.terminate()
        return self.process.wait(seconds)

    def shift_clock(self, wall, boot=0):
        """Adds seconds to the wall clock, and to the time since the start of the machine, while it runs."""
        with open(self.clock, "r+b") as clock:
            clock.write(struct.pack("=qq", wall, boot))

    def stop(self):
        if self.alive():
            if self.paused:
                self.resume()
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()
        self.proxy.close()


class Fleet:
    """The servers and haproxy. clock: index of the server whose clock can be shifted."""

    def __init__(self, program, folder, database, count=3, clock=None, clock_library=None, options=()):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.database = database
        self.servers = [Server(program, self.folder, index, database, clock_library if index == clock else None, options)
                        for index in range(count)]
        self.port = free_port()
        self.haproxy = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        for server in self.servers:
            server.start()
        self.start_haproxy()

    def start_haproxy(self):
        settings = self.folder / "haproxy.cfg"
        lines = "".join(f"    server {server.name} 127.0.0.1:{server.port}\n" for server in self.servers)
        settings.write_text(HAPROXY.format(port=self.port) + lines)
        program = shutil.which("haproxy", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        with open(self.folder / "haproxy.log", "ab") as log:
            self.haproxy = subprocess.Popen([program, "-db", "-f", str(settings)], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, start_new_session=True)
        watch("process", self.haproxy.pid)
        end = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if ask(self.port, "/readyz")[0] == 200:
                    return
            if time.monotonic() > end or self.haproxy.poll() is not None:
                raise FleetError(f"haproxy does not get ready: {(self.folder / 'haproxy.log').read_text()[-1000:]}")
            time.sleep(0.1)

    def stop(self):
        if self.haproxy and self.haproxy.poll() is None:
            self.haproxy.kill()
            self.haproxy.wait()
        for server in self.servers:
            server.stop()

    # ---- who owns what, as the database knows it ----

    def owners(self):
        """{name of a bandit: index of the server that owns it, or None}; "" is the leader."""
        rows = self.database.sql("SELECT coalesce(bandits.name, ''), servers.address FROM eenet.log_ends "
                                 "LEFT JOIN eenet.bandits ON bandits.number = log_ends.bandit "
                                 "LEFT JOIN eenet.servers ON servers.number = log_ends.owner", timeout=15)
        ports = {str(server.port): server.index for server in self.servers}
        return {name: ports.get(address.rpartition(":")[2]) for name, address in rows}

    def owner(self, bandit):
        """The server that owns a bandit; "": the leader. None if it cannot be known now."""
        with contextlib.suppress(DatabaseError):
            index = self.owners().get(bandit)
            if index is not None:
                return self.servers[index]
        return None
