#!/usr/bin/env python3
"""full_disk.py EENET: the disk of the database fills up under load. The servers refuse what they cannot store with 503, and so
does /readyz. Once there is space again they continue without help, and nothing that was acknowledged is lost. Exits with 77 if
PostgreSQL is not installed, or no file system can be mounted."""
import collections
import contextlib
import http.client
import itertools
import os
import subprocess
import sys
from pathlib import Path

from fleet import Fleet, need_postgres, running

from harness import Failure, Meanwhile, run, same, scratch_folder, wait_for, watch
from harness.postgres import Database, DatabaseError

SIZE = "160m"
SETTINGS = """
wal_keep_size = 0
min_wal_size = 32MB
max_wal_size = 48MB
"""
FILLING = "x" * 2000
BODY = {"context": {"page": FILLING}, "actions": [{"id": "a"}, {"id": "b"}]}


class Load:
    """What clients that decide and reward remember of it."""

    def __init__(self, servers):
        self.servers, self.numbers = servers, itertools.count()
        self.decided, self.rewarded, self.refused = {}, set(), collections.Counter()

    def work(self):
        """A decision and its reward, unless one of them is refused."""
        number = next(self.numbers)
        server = self.servers[number % len(self.servers)]
        with contextlib.suppress(OSError, http.client.HTTPException):
            got = server.ask("POST", "/v1/bandits/shop/decide", {"id": f"d{number}", **BODY})
            if got.status == 200:
                self.decided[f"d{number}"] = got.bytes
                got = server.ask("POST", "/v1/bandits/shop/reward", {"id": f"d{number}", "value": 1, "reward_id": "r"})
            if got.status == 200:
                same(got.json["outcome"], "joined", f"outcome of the reward of d{number}")
                self.rewarded.add(f"d{number}")
            else:
                self.refused[got.status] += 1


def fill(path):
    """Everything that is free now."""
    with open(path, "ab", buffering=0) as ballast:
        for size in (1 << 20, 1 << 16, 1 << 12):
            with contextlib.suppress(OSError):
                while True:
                    ballast.write(b"\0" * size)


def status_of(server, method, path, body=None):
    """0: no response."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        return server.ask(method, path, body).status
    return 0


def is_refused(fleet):
    """No server decides, and the owner of the bandit, which writes, is not ready."""
    ready = [status_of(server, "GET", "/readyz") for server in fleet.servers]
    return 503 in ready and all(status_of(server, "POST", "/v1/bandits/shop/decide", BODY) == 503 for server in fleet.servers)


def stop_database(database):
    """Fills the write-ahead log: PostgreSQL crashes when it cannot write that."""
    messages = "SELECT count(pg_logical_emit_message(false, 'eenet', repeat('x', 1000000))) FROM generate_series(1, 4)"
    for _ in range(200):
        try:
            database.sql(messages)
        except DatabaseError:
            if b"PANIC" in database.primary.server_log.read_bytes():
                return
        fill(database.folder / "ballast")
    raise Failure("PostgreSQL does not stop when its disk is full")


def disk_fills_up(program, database, fleet):
    for server in fleet.servers:
        server.start()
    fleet.servers[0].expect("POST", "/v1/bandits", {"name": "shop", "policy": "linucb", "wait": "1h"}, 201)
    load = Load(fleet.servers)
    ballast = database.folder / "ballast"
    with Meanwhile(load.work, 4):
        for turn in range(2):
            before = len(load.rewarded)
            wait_for(lambda: len(load.rewarded) >= before + 100, "no progress")

            def is_full():
                fill(ballast)
                return is_refused(fleet)

            wait_for(is_full, "the disk is full, and the servers decide")
            if turn:
                stop_database(database)
                wait_for(is_full, "PostgreSQL has stopped, and the servers decide")
            print(f"full: PostgreSQL {'runs' if database.primary.pid() else 'has stopped'}; refused: {dict(load.refused)}", flush=True)
            same(set(load.refused), {503}, "statuses while the disk is full")
            ballast.unlink()

            def has_recovered():
                if not database.primary.pid():  # it has stopped itself
                    database.primary.start()
                return all(server.ready() for server in fleet.servers)

            wait_for(has_recovered, "the servers do not recover")
            for server in fleet.servers:
                same(server.starts, 1, "starts of a server")
            wait_for(lambda: fleet.servers[turn].ask("POST", "/v1/bandits/shop/decide", BODY).status == 200, "no decisions")
    for number, (identity, answer) in enumerate(load.decided.items()):
        got = fleet.servers[number % 2].expect("POST", "/v1/bandits/shop/decide", {"id": identity, **BODY}).bytes
        same(got, answer, "an acknowledged decision")
    for identity in load.rewarded:
        got = fleet.servers[0].expect("POST", "/v1/bandits/shop/reward", {"id": identity, "value": 1, "reward_id": "r"}).json
        same(got, {"outcome": "joined", "repeated": True}, "an acknowledged reward")
    print(f"{len(load.decided)} decisions and {len(load.rewarded)} rewards acknowledged, all are there", flush=True)
    for server in fleet.servers:
        same(server.terminate(), 0, "exit status")
    said = run(program, "replay", database.url())
    same("identical" in said, True, f"replay: {said}")


@contextlib.contextmanager
def small_disk(folder):
    """A small file system there; exits with 77 if it cannot be mounted."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=777", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        print("no file system can be mounted here")
        sys.exit(77)
    watch("mount", folder)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=False)


def main():
    program = str(Path(sys.argv[1]).resolve())
    need_postgres()
    with scratch_folder() as folder, small_disk(folder / "disk") as disk:
        logs = folder / "logs"
        logs.mkdir()
        logs.chmod(0o777)
        database = Database(disk, standby=False)
        database.primary.settings = SETTINGS
        database.primary.server_log = logs / "postgresql.log"  # the disk has no space for it
        with running(database), Fleet(program, folder / "servers", database, 2, options=["--replication", "any"]) as fleet:
            disk_fills_up(program, database, fleet)


if __name__ == "__main__":
    main()
