#!/usr/bin/env python3
"""full_disk.py EENET: the disk of the database fills up under load. The servers refuse what they cannot store with 503, and so
does /readyz. Once there is space again they continue without help, and nothing that was acknowledged is lost. Exits with 77 if
PostgreSQL is not installed, or no file system can be mounted."""
import contextlib
import http.client
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from client import Failure, call, eventually, expect, run_cases, same
from fleet import Fleet
from postgres import Database, DatabaseError, binaries
from watchdog import watch

SIZE = "160m"
SETTINGS = """
wal_keep_size = 0
min_wal_size = 32MB
max_wal_size = 48MB
"""
FILLING = "x" * 2000
BODY = {"context": {"page": FILLING}, "actions": [{"id": "a"}, {"id": "b"}]}


class Load:
    """Clients that decide and reward, and remember what was acknowledged."""

    def __init__(self, servers):
        self.servers = servers
        self.over = threading.Event()
        self.decided, self.rewarded = {}, set()
        self.refused = {}
        self.trouble = []
        self.threads = [threading.Thread(target=self.run, args=(index,)) for index in range(4)]
        for thread in self.threads:
            thread.start()

    def run(self, index):
        number = 0
        while not self.over.is_set():
            identity = f"{index}-{number}"
            number += 1
            server = self.servers[(index + number) % len(self.servers)]
            with contextlib.suppress(OSError, http.client.HTTPException):
                got = call(server, "POST", "/v1/bandits/shop/decide", {"id": identity, **BODY})
                if got.status != 200:
                    self.refused[got.status] = self.refused.get(got.status, 0) + 1
                    self.over.wait(0.02)
                    continue
                self.decided[identity] = got.bytes
                got = call(server, "POST", "/v1/bandits/shop/reward", {"id": identity, "value": 1, "reward_id": "r"})
                if got.status == 200:
                    if got.json["outcome"] != "joined":
                        self.trouble.append(f"reward of {identity}: {got}")
                    self.rewarded.add(identity)
                else:
                    self.refused[got.status] = self.refused.get(got.status, 0) + 1

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join()


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
        return call(server, method, path, body).status
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
    expect(fleet.servers[0], "POST", "/v1/bandits", {"name": "shop", "policy": "linucb", "wait": "1h"}, 201)
    load = Load(fleet.servers)
    ballast = database.folder / "ballast"
    try:
        for turn in range(2):
            before = len(load.rewarded)
            eventually(lambda: len(load.rewarded) >= before + 100, "no progress")

            def is_full():
                fill(ballast)
                return is_refused(fleet)

            eventually(is_full, "the disk is full, and the servers decide", 120)
            if turn:
                stop_database(database)
                eventually(is_full, "PostgreSQL has stopped, and the servers decide", 120)
            alive = database.primary.pid() is not None
            print(f"full: PostgreSQL {'runs' if alive else 'has stopped'}; refused so far: {load.refused}", flush=True)
            if 503 not in load.refused or set(load.refused) - {503}:
                raise Failure(f"statuses while the disk is full: {load.refused}")
            ballast.unlink()

            def has_recovered():
                if not database.primary.pid():  # it has stopped itself
                    database.primary.start()
                return all(server.ready() for server in fleet.servers)

            eventually(has_recovered, "the servers do not recover", 120)
            for server in fleet.servers:
                same(server.starts, 1, "starts of a server")
            eventually(lambda: call(fleet.servers[turn], "POST", "/v1/bandits/shop/decide", BODY).status == 200, "no decisions")
    finally:
        load.stop()
    same(load.trouble, [], "rewards that were not joined")
    for number, (identity, answer) in enumerate(load.decided.items()):
        got = expect(fleet.servers[number % 2], "POST", "/v1/bandits/shop/decide", {"id": identity, **BODY}).bytes
        same(got, answer, "an acknowledged decision")
    for identity in load.rewarded:
        got = expect(fleet.servers[0], "POST", "/v1/bandits/shop/reward", {"id": identity, "value": 1, "reward_id": "r"}).json
        same(got, {"outcome": "joined", "repeated": True}, "an acknowledged reward")
    print(f"{len(load.decided)} decisions and {len(load.rewarded)} rewards acknowledged, all are there", flush=True)
    for server in fleet.servers:
        same(server.terminate(), 0, "exit status")
    done = subprocess.run([program, "replay", database.url()], capture_output=True, text=True, check=False)
    same((done.returncode, "identical" in done.stdout), (0, True), f"replay: {done.stdout}{done.stderr}")


def mounted(folder):
    """A small file system there; False: it cannot be mounted."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=755", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        return False
    watch("mount", folder)
    return True


def main():
    program = str(Path(sys.argv[1]).resolve())
    if not binaries():
        print("PostgreSQL is not installed")
        return 77
    folder = Path(tempfile.mkdtemp(prefix="eenet-full-disk-"))
    folder.chmod(0o755)
    disk = folder / "disk"
    if not mounted(disk):
        print("no file system can be mounted here")
        shutil.rmtree(folder)
        return 77
    logs = folder / "logs"
    logs.mkdir()
    logs.chmod(0o777)
    failed = 1
    fleet = None
    database = Database(disk, standby=False)
    try:
        database.primary.settings = SETTINGS
        database.primary.server_log = logs / "postgresql.log"  # the disk has no space for it
        database.start()
        fleet = Fleet(program, folder / "servers", database, 2, options=["--replication", "any"])
        failed = run_cases([disk_fills_up], program, database, fleet)
    finally:
        if fleet:
            fleet.stop()
        database.stop()
        if failed:
            shutil.copytree(disk, folder / "evidence", ignore=shutil.ignore_patterns("ballast"))
        subprocess.run(["umount", str(disk)], check=False)
        if not failed:
            shutil.rmtree(folder)
        else:
            print(f"evidence: {folder}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
