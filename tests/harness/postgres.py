"""A primary and a synchronous standby of PostgreSQL on this machine, in a scratch folder, for tests.

    database = Database(folder)
    database.start()                  # both are running; commits wait for the standby
    database.kill_primary()           # as when its machine loses power
    database.promote()                # the standby is the primary now
    database.rebuild_standby()        # the old primary's port gets a new standby
    database.stop()

PostgreSQL refuses to run as root: then everything runs as the user postgres.
"""
import contextlib
import csv
import os
import pwd
import shutil
import signal
import subprocess
from pathlib import Path

from . import LIMIT, Failure, reserve_port, wait_for
from .proxy import Proxy
from .watchdog import fields_of, tree_of, watch

USER = "postgres"
NAME = "eenet"  # of the database
csv.field_size_limit(1 << 30)

SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = ''
shared_buffers = 64MB
max_connections = 100
max_wal_senders = 10
wal_level = replica
wal_keep_size = 256MB
hot_standby = on
fsync = on
synchronous_commit = on
checkpoint_timeout = 60s
tcp_keepalives_idle = 2
wal_sender_timeout = 60s
wal_receiver_timeout = 10s
wal_retrieve_retry_interval = 200ms
logging_collector = off
"""


class DatabaseError(Failure):
    """A command of PostgreSQL failed."""


def binaries():
    """The folder of initdb and its like; None: PostgreSQL is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4].split(".")[0]))
    path = str(found[-1]) if found else shutil.which("initdb")
    return Path(path).parent if path and shutil.which("psql") else None


class Psql:
    """SQL on one database, by psql."""

    def __init__(self, where):
        self.where = where

    def psql(self, text, timeout=LIMIT):
        """What psql prints; DatabaseError if it fails."""
        command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.where, "-f", "-"]
        try:
            done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired as error:
            raise DatabaseError(f"psql: no answer within {timeout} s to: {text}") from error
        if done.returncode:
            raise DatabaseError(f"psql: {done.stderr.strip()}")
        return done.stdout

    def sql(self, text, **more):
        """The rows of a query, as lists of texts; NULL is ''."""
        return [line.split("|") for line in self.psql(text, **more).splitlines()]

    def copy(self, query, **more):
        """The rows of a query as dictionaries of texts, by COPY."""
        return list(csv.DictReader(self.psql(f"COPY ({query}) TO STDOUT WITH (FORMAT csv, HEADER)", **more).splitlines()))


class Node:
    """One PostgreSQL server: a data folder and a port, which stay the same when it is built again."""

    def __init__(self, name, folder):
        self.name = name
        self.data = folder / name
        self.log = folder / f"{name}.commands.log"
        self.server_log = folder / f"{name}.log"
        self.port = reserve_port()
        self.folder = folder
        self.settings = ""  # more lines of postgresql.conf

    def run(self, *words, check=True):
        """Runs a program of PostgreSQL, as its user."""
        command = [str(binaries() / words[0]), *map(str, words[1:])]
        if os.geteuid() == 0:
            command = ["runuser", "-u", USER, "--", *command]
        with open(self.log, "ab") as log:
            done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
        if check and done.returncode:
            tail = self.log.read_text(errors="replace")[-1500:]
            raise DatabaseError(f"{words[0]} of {self.name} failed with status {done.returncode}:\n{tail}")
        return done.returncode

    def configure(self, standby_names):
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as settings:
            settings.write(SETTINGS.format(port=self.port) + self.settings)
            settings.write(f"cluster_name = '{self.name}'\nsynchronous_standby_names = '{standby_names}'\n")

    def create(self):
        self.run("initdb", "-D", self.data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        self.configure("")

    def copy_of(self, primary, port):
        """Becomes a standby of the primary, which it reaches at a port, in an empty folder. Its name there is that of the node."""
        shutil.rmtree(self.data, ignore_errors=True)
        source = f"host=127.0.0.1 port={port} user={USER} application_name={self.name}"
        self.run("pg_basebackup", "-D", self.data, "-d", source, "-R", "-X", "stream", "-c", "fast", "--no-sync")
        self.configure(primary.name)

    def start(self):
        watch("database", self.data)
        self.run("pg_ctl", "start", "-D", self.data, "-l", self.server_log, "-w", "-t", str(int(LIMIT)))

    def pid(self):
        """Of the postmaster; None: it is not running."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            pid = int((self.data / "postmaster.pid").read_text().split("\n")[0])
            os.kill(pid, 0)
            return pid
        return None

    def processes(self):
        pid = self.pid()
        return tree_of(pid) if pid else []

    def signal(self, number):
        """The postmaster first, so that it starts no others."""
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self):
        """All processes at once, as when the machine is gone."""
        doomed = self.processes()
        for pid in doomed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in doomed:
            wait_for(lambda gone=pid: (fields_of(gone) or "Z")[0] == "Z", f"process {pid} of {self.name} does not end")

    def stop(self):
        if self.pid():
            self.signal(signal.SIGCONT)
            self.run("pg_ctl", "stop", "-D", self.data, "-m", "immediate", "-w", "-t", str(int(LIMIT)), check=False)
        if self.pid():
            self.kill()


class Database(Psql):
    """Both nodes. `primary` and `standby` change places with each failover; `replication` is the proxy between them.
    standby False: only a primary."""

    def __init__(self, folder, standby=True):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            user = pwd.getpwnam(USER)
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.folder.chmod(0o755)
        self.nodes = [Node(name, self.folder) for name in (("db_a", "db_b") if standby else ("db_a",))]
        self.primary, self.standby = self.nodes[0], self.nodes[1] if standby else None
        self.replication = None

    def start(self):
        self.primary.create()
        self.primary.start()
        self.sql(f"CREATE DATABASE {NAME}", name="postgres")
        if self.standby:
            self.rebuild_standby()

    def stop(self):
        for node in self.nodes:
            node.stop()
        if self.replication:
            self.replication.close()

    # ---- SQL ----

    def url(self, ports=None):
        """For a server: both nodes, in the order a, b, and the one that takes writes is chosen. ports: of proxies."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports or [node.port for node in self.nodes])
        return f"postgresql://{USER}@{hosts}/{NAME}?target_session_attrs=read-write"

    def psql(self, text, timeout=LIMIT, name=NAME):
        """Of the primary."""
        return Psql(f"host=127.0.0.1 port={self.primary.port} user={USER} dbname={name} connect_timeout=600").psql(text, timeout)

    # ---- replication ----

    def set_synchronous(self, names):
        """synchronous_standby_names of the primary; '' means that commits do not wait."""
        self.sql(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'", name="postgres")
        self.sql("SELECT pg_reload_conf()", name="postgres")

    def wait_for_standby(self):
        query = "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'"
        wait_for(lambda: self.sql(query, name="postgres") in ([["sync"]], [["quorum"]]), "no synchronous standby streams")

    def kill_primary(self):
        self.primary.kill()

    def promote(self):
        """The standby becomes the primary. Its commits wait for a standby, which rebuild_standby starts."""
        old = self.primary
        self.standby.run("pg_ctl", "promote", "-D", self.standby.data, "-w", "-t", str(int(LIMIT)))
        self.primary, self.standby = self.standby, old
        wait_for(lambda: self.sql("SELECT pg_is_in_recovery()", name="postgres") == [["f"]], "the standby is not promoted")

    def rebuild_standby(self):
        """A new standby in place of the node that was lost, which is stopped first if it still runs."""
        self.standby.stop()
        if self.replication:
            self.replication.close()
        self.replication = Proxy([self.primary.port])
        self.standby.copy_of(self.primary, self.replication.ports[0])
        self.standby.start()
        self.set_synchronous(self.standby.name)
        self.wait_for_standby()
