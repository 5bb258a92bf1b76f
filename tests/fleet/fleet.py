"""A fleet on this machine: servers that share a database, each through its own proxy, and haproxy in front of them.

    fleet = Fleet(program, folder, database, 3)
    fleet.start()
    fleet.url                         # haproxy
    fleet.servers[0].kill()           # and pause, resume, terminate, shift_clock, start
    fleet.stop()
"""
import contextlib
import http.client
import os
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import harness  # noqa: E402  pylint: disable=wrong-import-position
from harness import reserve_port, scratch_folder, wait_for, watch  # noqa: E402  pylint: disable=wrong-import-position
from harness.postgres import Database, DatabaseError, binaries  # noqa: E402  pylint: disable=wrong-import-position
from harness.proxy import Proxy  # noqa: E402  pylint: disable=wrong-import-position

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


def find(program):
    """A program that may be where only root looks; None: it is not installed."""
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def need_postgres():
    if not binaries():
        print("PostgreSQL is not installed")
        sys.exit(77)


@contextlib.contextmanager
def running(database):
    try:
        database.start()
        yield database
    finally:
        database.stop()


@contextlib.contextmanager
def one_database():
    """A scratch folder with a running primary alone: (folder, database). Exits with 77 if PostgreSQL is not installed."""
    need_postgres()
    with scratch_folder() as folder, running(Database(folder / "database", standby=False)) as database:
        yield folder, database


class Server(harness.Server):
    """One server of the fleet, with a proxy between it and the database. It keeps its port and its folder."""

    def __init__(self, program, folder, index, database, clock_library=None, options=()):
        super().__init__(program, folder / f"server{index + 1}", port=reserve_port())
        self.folder.mkdir(parents=True, exist_ok=True)
        self.index, self.database, self.options = index, database, list(options)
        self.proxy = Proxy([node.port for node in database.nodes])
        self.clock_library = clock_library
        self.clock = folder / f"{self.name}.clock"
        self.starts = 0
        self.paused = False
        self.numbers = {}  # application name of each start -> number of the server in the fleet
        if clock_library:
            self.clock.write_bytes(struct.pack("=qq", 0, 0))
            self.environment = {"LD_PRELOAD": str(clock_library), "MOVED_CLOCK": str(self.clock)}

    @property
    def application(self):
        """The name that the connections of this start have in the database."""
        return f"{self.name}.{self.starts}"

    def launch(self, *words):
        self.starts += 1
        store = f"{self.database.url(self.proxy.ports)}&application_name={self.application}"
        self.words = ["--store", store, "--folder", str(self.folder), *self.options]
        super().launch(*words)
        self.paused = False

    def start(self, *words):
        """Starts it, again if it gives up because the database is away, and waits until it is ready."""
        self.launch(*words)
        wait_for(self.ready_or_again, lambda: f"{self.name} is not ready: {self.said()}")
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError, KeyError, harness.Refused):
            self.numbers[self.application] = self.call("GET", "/v1/fleet", timeout=5)["server"]
        return self

    def ready(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.alive() and self.ask("GET", "/readyz", timeout=5).status == 200
        return False

    def ready_or_again(self):
        if not self.alive():
            self.launch()
        return self.ready()

    def pause(self):
        self.send_signal(signal.SIGSTOP)
        self.paused = True

    def resume(self):
        self.send_signal(signal.SIGCONT)
        self.paused = False

    def shift_clock(self, wall, boot=0):
        """Adds seconds to the wall clock, and to the time since the start of the machine, while it runs."""
        with open(self.clock, "r+b") as clock:
            clock.write(struct.pack("=qq", wall, boot))

    def stop(self):
        if self.alive():
            if self.paused:
                self.resume()
            self.terminate()
        self.proxy.close()


class Fleet:
    """The servers and haproxy. clock: index of the server whose clock can be shifted."""

    def __init__(self, program, folder, database, count=3, clock=None, clock_library=None, options=()):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.database = database
        self.servers = [Server(program, self.folder, index, database, clock_library if index == clock else None, options)
                        for index in range(count)]
        self.port = reserve_port()
        self.haproxy = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        harness.at_once(*(server.start for server in self.servers))
        self.start_haproxy()

    def start_haproxy(self):
        settings = self.folder / "haproxy.cfg"
        lines = "".join(f"    server {server.name} 127.0.0.1:{server.port}\n" for server in self.servers)
        settings.write_text(HAPROXY.format(port=self.port) + lines)
        with open(self.folder / "haproxy.log", "ab") as log:
            self.haproxy = subprocess.Popen([find("haproxy"), "-db", "-f", str(settings)], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, start_new_session=True)
        watch("process", self.haproxy.pid)
        front = harness.Server("", self.folder / "front")
        front.port, front.process, front.log = self.port, self.haproxy, self.folder / "haproxy.log"
        wait_for(front.ready, "haproxy does not get ready")

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
