#!/usr/bin/env python3
"""pgbouncer.py EENET: servers whose database is behind pgbouncer. With pool_mode = session they work as without it. With
transaction and statement they refuse to start, and say what to do, whatever else runs in the pool. Exits with 77 if PostgreSQL
or pgbouncer are not installed."""
import os
import pwd
import subprocess
import sys
from pathlib import Path

from fleet import Fleet, find, one_database

from harness import Meanwhile, reserve_port, run, run_cases, same, wait_for, watch
from harness.postgres import NAME, USER

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


class Bouncer:
    """pgbouncer in front of a database."""

    def __init__(self, folder, database, mode, robin=0, more=""):
        self.port = reserve_port()
        folder.mkdir(parents=True, exist_ok=True)
        settings = folder / "pgbouncer.ini"
        settings.write_text(SETTINGS.format(name=NAME, user=USER, port=database.primary.port, listen=self.port, mode=mode,
                                            robin=robin, folder=folder, more=more))
        command = [find("pgbouncer"), str(settings)]
        if os.geteuid() == 0:  # it refuses to run as root
            user = pwd.getpwnam(USER)
            os.chown(folder, user.pw_uid, user.pw_gid)
            command = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", *command]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        watch("process", self.process.pid)
        self.url = f"postgresql://{USER}@127.0.0.1:{self.port}/{NAME}"
        wait_for(lambda: self.query("SELECT 1"), f"pgbouncer does not start: {folder}/pgbouncer.log")

    def query(self, sql):
        done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-c", sql, self.url], capture_output=True, check=False)
        return done.returncode == 0

    def close(self):
        self.process.terminate()
        self.process.wait()


def busy(bouncer):
    """Other clients of the pool, which begin and end transactions."""
    return Meanwhile(lambda: bouncer.query("SELECT pg_sleep(0.01)"), 3)


def refuses(program, folder, bouncer, what):
    said = run(program, "serve", "--store", bouncer.url, "--replication", "any", "--port", "0", "--folder", folder / "refused", expect=1)
    same(ADVICE in said, True, f"{what}: {said}")


def two_sessions_in_turn_are_refused(program, folder, database):
    bouncer = Bouncer(folder / "two", database, "transaction", 1, "default_pool_size = 2")
    pooled = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{NAME}' AND pid <> pg_backend_pid()"
    try:
        with busy(bouncer):
            wait_for(lambda: database.sql(pooled) == [["2"]], "the pool does not have two sessions")
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
    database.url = lambda ports=None: f"{bouncer.url}?target_session_attrs=read-write"
    try:
        for server in fleet.servers:
            server.start()
        one, two = fleet.servers
        one.expect("POST", "/v1/bandits", {"name": "pooled", "dim": 2, "wait": "1h"}, 201)
        answers = []
        for number in range(50):
            body = {"id": f"d{number}", "actions": [[1, 0], [0, 1]]}
            answers.append(fleet.servers[number % 2].expect("POST", "/v1/bandits/pooled/decide", body).bytes)
            rewarded = {"id": f"d{number}", "value": 1}
            fleet.servers[1 - number % 2].expect("POST", "/v1/bandits/pooled/reward", rewarded)
        one.kill()  # its sessions end, and pgbouncer gives their places to others
        wait_for(lambda: two.ask("GET", "/v1/bandits/pooled").status == 200, "no takeover")
        for number, answer in enumerate(answers):
            body = {"id": f"d{number}", "actions": [[1, 0], [0, 1]]}
            same(two.expect("POST", "/v1/bandits/pooled/decide", body).bytes, answer, "the answer after the takeover")
        one.start()
    finally:
        fleet.stop()
        bouncer.close()
    said = run(program, "replay", f"postgresql://{USER}@127.0.0.1:{database.primary.port}/{NAME}")
    same("identical" in said, True, f"replay: {said}")


def main():
    if not find("pgbouncer"):
        print("pgbouncer is not installed")
        return 77
    with one_database() as (folder, database):
        cases = [shared_sessions_are_refused, own_sessions_work]
        return run_cases(cases, str(Path(sys.argv[1]).resolve()), folder, database)


if __name__ == "__main__":
    sys.exit(main())
