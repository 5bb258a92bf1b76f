#!/usr/bin/env python3
"""start.py EENET: servers that start while their database cannot be reached, and how many connections a server has. Each
case waits for lines of the server's log, never for a time. Exits with 77 if PostgreSQL is not installed."""
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from fleet import Server, one_database

from harness import at_once, check, run_cases, same, wait_for, watch
from harness.postgres import USER

FOREVER = "1e9"  # a case that waits for this long never ends
WAITS, THERE, LISTENS = "waiting up to", "the database is available", "listening on"
MOST_CONNECTIONS = 8  # PG_MOST_CONNECTIONS
BANDITS = 60


class Start:
    """A server whose output is read line by line."""

    def __init__(self, program, folder, url, *options, wait=FOREVER):
        self.lines = []
        self.process = subprocess.Popen(
            [program, "serve", "--store", url, "--folder", str(folder), "--port", "0", "--replication", "any",
             "--store-wait-seconds", wait, *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
        watch("process", self.process.pid)

    def read_until(self, sign):
        """Reads up to the line that has the sign."""
        for line in self.process.stdout:
            self.lines.append(line)
            if sign in line:
                return line
        return check(False, f"the server ended without '{sign}':\n{''.join(self.lines)}")

    def end(self):
        """Its exit status; what it still prints is read."""
        self.lines += self.process.stdout.readlines()
        return self.process.wait()

    def stop(self):
        self.process.terminate()
        return self.end()


@contextlib.contextmanager
def started(*given, **options):
    server = Start(*given, **options)
    try:
        yield server
    finally:
        server.process.kill()
        server.end()


def starts(server):
    """It has begun to wait; now the database is there."""
    server.read_until(THERE)
    server.read_until(LISTENS)
    same(server.stop(), 0, "exit status")
    same([sum(sign in line for line in server.lines) for sign in (WAITS, THERE)], [1, 1], "lines about waiting")


def late_database_is_waited_for(program, folder, database):
    database.primary.stop()
    with started(program, folder, database.url()) as server:
        server.read_until(WAITS)
        database.primary.start()
        starts(server)


def stopped_database_is_waited_for(program, folder, database):
    """The postmaster is stopped: the kernel accepts connections, and no response comes."""
    postmaster = database.primary.pid()
    os.kill(postmaster, signal.SIGSTOP)
    try:
        with started(program, folder, database.url()) as server:
            server.read_until(WAITS)
            os.kill(postmaster, signal.SIGCONT)
            starts(server)
    finally:
        os.kill(postmaster, signal.SIGCONT)


def waiting_ends(program, folder, database):
    """By a signal, with status 0, and when the time is over."""
    database.primary.stop()
    try:
        with started(program, folder, database.url()) as server:
            server.read_until(WAITS)
            same(server.stop(), 0, "exit status")
        for wait in ("0", "0.1"):
            with started(program, folder, database.url(), wait=wait) as server:
                same(server.end(), 1, "exit status")
                same("Connection refused" in server.lines[-1], True, f"the reason in {server.lines}")
                same(sum(WAITS in line for line in server.lines), int(wait != "0"), "lines about waiting")
    finally:
        database.primary.start()


def what_does_not_pass_fails_at_once(program, folder, database):
    """A password, a database, a schema of a later version."""
    hba = database.primary.data / "pg_hba.conf"
    usual = hba.read_text()
    database.sql("CREATE ROLE careful LOGIN PASSWORD 'right'", name="postgres")
    database.sql("CREATE DATABASE later", name="postgres")
    database.sql("CREATE SCHEMA eenet; CREATE TABLE eenet.version AS SELECT 1000 AS version, 1000 AS readable_by", name="later")
    hba.write_text("host all careful all scram-sha-256\n" + usual)
    database.sql("SELECT pg_reload_conf()", name="postgres")
    try:
        plain = database.url()
        careful = plain.replace(f"//{USER}@", "//careful:{}@")
        for url, reason in ((careful.format("wrong"), "password authentication failed"),
                            (plain.replace("/eenet?", "/nowhere?"), 'database "nowhere" does not exist'),
                            (plain.replace("/eenet?", "/later?"), "written by a newer eenet")):
            with started(program, folder, url) as server:
                same(server.end(), 1, "exit status")
                same(reason in server.lines[-1], True, f"'{reason}' in {server.lines}")
                same(sum(WAITS in line for line in server.lines), 0, "lines about waiting")
    finally:
        hba.write_text(usual)
        database.sql("SELECT pg_reload_conf()", name="postgres")


def programs_try_once(program, folder, database):
    """Other programs do not wait for a server that is not there."""
    database.primary.stop()
    try:
        for words in (["keys", "list", "--file", database.url()], ["check", database.url()], ["replay", database.url()],
                      ["move", database.url(), str(folder / "to")]):
            done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
            same((done.returncode, "Connection refused" in done.stderr, WAITS in done.stderr), (1, True, False),
                 f"eenet {words[0]}: {done.stderr}")
    finally:
        database.primary.start()


def a_primary_is_waited_for(program, folder, database):
    """Both hosts accept sessions, and none accepts writes."""
    database.sql("ALTER SYSTEM SET default_transaction_read_only = on", name="postgres")
    database.sql("SELECT pg_reload_conf()", name="postgres")
    with started(program, folder, database.url()) as server:
        server.read_until(WAITS)
        database.sql("SET default_transaction_read_only = off; ALTER SYSTEM RESET default_transaction_read_only",
                     name="postgres")
        database.sql("SELECT pg_reload_conf()", name="postgres")
        starts(server)


# ---- connections ----

def guarded_bandits_share_connections(program, folder, database):
    """The role has a connection limit: PostgreSQL refuses a server that opens one more, and logs it."""
    database.sql(f"CREATE ROLE few LOGIN CONNECTION LIMIT {MOST_CONNECTIONS}", name="postgres")
    database.sql("CREATE DATABASE guarded OWNER few", name="postgres")
    plain = database.url
    database.url = lambda ports=None: plain(ports).replace(f"//{USER}@", "//few@").replace("/eenet?", "/guarded?")
    server = Server(program, folder, 0, database, options=["--replication", "any"])
    names = [f"b{number}" for number in range(BANDITS)]
    two = [{"id": "a", "features": {"x": 1}}, {"id": "b", "features": {"x": 0}}]

    def visit(turn):
        for name in names:
            server.expect("POST", f"/v1/bandits/{name}/decide", {"id": f"{turn}", "key": "k", "actions": two})
            server.expect("POST", f"/v1/bandits/{name}/reward", {"id": f"{turn}", "value": 1})

    def all_learned(count):
        def learned(name):
            got = server.expect("GET", f"/v1/bandits/{name}").json
            live = server.expect("GET", f"/v1/bandits/{name}/evaluation").json
            return got["learned"] >= count and live["waiting"] == 0
        for name in names:
            wait_for(lambda name=name: learned(name), f"{name} has not learned {count} rewards")

    try:
        server.start()
        for name in names:
            server.expect("POST", "/v1/bandits", {
                "name": name, "features": "", "wait": "1h", "aggregation": "first", "policy": "linucb", "propensity": "floor:1",
                "guardrails": {"control": {"share": 0.3}}, "challengers": [{"name": "other", "policy": "uniform"}]}, 201)
        visit(1)
        all_learned(1)
        server.terminate()
        server.start()
        at_once(*(lambda turn=turn: visit(turn) for turn in range(2, 6)))
        at_once(*(lambda name=name: server.expect("GET", f"/v1/bandits/{name}/log") for name in names[:8]))
        all_learned(5)
        count = int(database.sql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'few'", name="postgres")[0][0])
        print(f"guarded_bandits_share_connections: {count} connections of {BANDITS} bandits", flush=True)
        same(count <= MOST_CONNECTIONS, True, f"{count} connections")
        same("too many connections for role" in database.primary.server_log.read_text(), False, "more connections")
    finally:
        server.stop()
        database.url = plain


def main():
    with one_database() as (folder, database):
        cases = [late_database_is_waited_for, stopped_database_is_waited_for, waiting_ends, what_does_not_pass_fails_at_once,
                 programs_try_once, a_primary_is_waited_for, guarded_bandits_share_connections]
        return run_cases(cases, str(Path(sys.argv[1]).resolve()), folder / "server", database)


if __name__ == "__main__":
    sys.exit(main())
