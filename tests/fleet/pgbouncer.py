#!/usr/bin/env python3
"""pgbouncer.py EENET: servers whose database is behind pgbouncer. With pool_mode = session they work as without it. With
transaction and statement they refuse to start, and say what to do, whatever else runs in the pool. Exits with 77 if PostgreSQL
or pgbouncer are not installed."""
import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from client import Failure, call, eventually, expect, run_cases, same
from fleet import Fleet, ask
from postgres import NAME, USER, Database, DatabaseError, binaries, free_port
from watchdog import watch

SETTINGS = """
[databases]
{name} = host=127.0.0.1 port={port} user={user} dbname={name}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = 90
max_client_conn = 400
server_round_robin = {robin}
ignore_startup_parameters = extra_float_digits
logfile = {folder}/pgbouncer.log
{more}
"""
ADVICE = "set pool_mode = session (pgbouncer), or connect to PostgreSQL itself"


def program_of_pgbouncer():
    return shutil.which("pgbouncer", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


class Bouncer:
    """pgbouncer in front of a database."""

    def __init__(self, folder, database, mode, robin=0, more=""):
        self.port = free_port()
        folder.mkdir(parents=True, exist_ok=True)
        settings = folder / "pgbouncer.ini"
        settings.write_text(SETTINGS.format(name=NAME, user=USER, port=database.primary.port, listen=self.port, mode=mode,
                                            robin=robin, folder=folder, more=more))
        command = [program_of_pgbouncer(), str(settings)]
        if os.geteuid() == 0:  # it refuses to run as root
            user = pwd.getpwnam(USER)
            os.chown(folder, user.pw_uid, user.pw_gid)
            command = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", *command]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        watch("process", self.process.pid)
        self.url = f"postgresql://{USER}@127.0.0.1:{self.port}/{NAME}"
        eventually(lambda: self.query("SELECT 1"), f"pgbouncer does not start: {folder}/pgbouncer.log")

    def query(self, sql):
        done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-c", sql, self.url], capture_output=True, check=False)
        return done.returncode == 0

    def close(self):
        self.process.terminate()
        self.process.wait(60)


@contextlib.contextmanager
def busy(bouncer):
    """Other clients of the pool, which begin and end transactions."""
    over = threading.Event()

    def run():
        while not over.is_set():
            bouncer.query("SELECT pg_sleep(0.01)")

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def refuses(program, folder, bouncer, what):
    done = subprocess.run([program, "serve", "--store", bouncer.url, "--replication", "any", "--port", "0", "--folder",
                           str(folder / "refused")], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == 0 or ADVICE not in done.stderr:
        raise Failure(f"{what}: expected a refusal, got {done.returncode} {done.stdout}{done.stderr}")


def two_sessions_in_turn_are_refused(program, folder, database):
    bouncer = Bouncer(folder / "two", database, "transaction", 1, "default_pool_size = 2")
    pooled = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{NAME}' AND pid <> pg_backend_pid()"
    try:
        with busy(bouncer):
            eventually(lambda: database.sql(pooled) == [["2"]], "the pool does not have two sessions")
        refuses(program, folder, bouncer, "two sessions in turn")
    finally:
        bouncer.close()


def shared_sessions_are_refused(program, folder, database):
    for mode in ("transaction", "statement"):
        for robin in (0, 1):
            bouncer = Bouncer(folder / f"{mode}{robin}", database, mode, robin, "min_pool_size = 5")
            try:
                refuses(program, folder, bouncer, f"{mode}, alone")
                with busy(bouncer):
                    refuses(program, folder, bouncer, f"{mode}, with other clients")
            finally:
                bouncer.close()
    two_sessions_in_turn_are_refused(program, folder, database)
    same(database.sql("SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'eenet'"), [["0"]], "schemas")


def own_sessions_work(program, folder, database):
    bouncer = Bouncer(folder / "session", database, "session")
    fleet = Fleet(program, folder / "servers", database, 2, options=["--replication", "any"])
    database.url = lambda ports=None: f"{bouncer.url}?connect_timeout=2"
    try:
        for server in fleet.servers:
            server.start()
        one, two = fleet.servers
        expect(one, "POST", "/v1/bandits", {"name": "pooled", "dim": 2, "wait": "1h"}, 201)
        answers = []
        for number in range(50):
            body = {"id": f"d{number}", "actions": [[1, 0], [0, 1]]}
            answers.append(expect(fleet.servers[number % 2], "POST", "/v1/bandits/pooled/decide", body).bytes)
            rewarded = {"id": f"d{number}", "value": 1}
            expect(fleet.servers[1 - number % 2], "POST", "/v1/bandits/pooled/reward", rewarded)
        one.kill()  # its sessions end, and pgbouncer gives their places to others
        eventually(lambda: call(two, "GET", "/v1/bandits/pooled").status == 200, "no takeover")
        for number, answer in enumerate(answers):
            body = {"id": f"d{number}", "actions": [[1, 0], [0, 1]]}
            same(expect(two, "POST", "/v1/bandits/pooled/decide", body).bytes, answer, "the answer after the takeover")
        one.start()
        same(ask(one.port, "/readyz")[0], 200, "readiness")
    finally:
        fleet.stop()
        bouncer.close()
    where = f"postgresql://{USER}@127.0.0.1:{database.primary.port}/{NAME}"
    done = subprocess.run([program, "replay", where], capture_output=True, text=True, check=False)
    same((done.returncode, "identical" in done.stdout), (0, True), f"replay: {done.stdout}{done.stderr}")


def main():
    program = str(Path(sys.argv[1]).resolve())
    if not binaries() or not program_of_pgbouncer():
        print("PostgreSQL or pgbouncer is not installed")
        return 77
    folder = Path(tempfile.mkdtemp(prefix="eenet-pgbouncer-"))
    folder.chmod(0o755)
    database = Database(folder / "database", standby=False)
    failed = 1
    try:
        database.start()
        failed = run_cases([shared_sessions_are_refused, own_sessions_work], program, folder, database)
    except DatabaseError as error:
        print(error)
    finally:
        database.stop()
        if not failed:
            shutil.rmtree(folder)
        else:
            print(f"evidence: {folder}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
