#!/usr/bin/env python3
"""outage.py EENET: servers with --spool-seconds whose database goes away. They stay ready, decide with their last models and
keep what comes in a spool; when the database is back, each event is there once, although the server was killed. Runs in an
empty folder; exits with 77 if PostgreSQL is not installed."""
import sys
from pathlib import Path

from fleet import Fleet, one_database

from harness import Failure, at_once, run, run_cases, same, wait_for

ACTIONS = [{"id": "a", "features": {"x": 1}}, {"id": "b", "features": {"x": 0}}]
LONG = 3600  # seconds of the spool: no test waits for them
SHORT = 5  # the test waits for them


def decide(server, identity, status=200):
    return server.expect("POST", "/v1/bandits/shop/decide", {"id": identity, "actions": ACTIONS}, status)


def reward(server, identity, **more):
    return server.expect("POST", "/v1/bandits/shop/reward", {"id": identity, "value": 1, **more}).json["outcome"]


def readiness(server):
    """What /readyz says; a server that is not ready is an error."""
    return server.expect("GET", "/readyz").json


def start(program, folder, database, count, seconds):
    fleet = Fleet(program, folder, database, count, options=["--replication", "any", "--spool-seconds", str(seconds)])
    for server in fleet.servers:
        server.start()
    return fleet


def log_of(database):
    """{(kind, id): how often it is in the log}"""
    rows = database.sql("SELECT kind, id, count(*) FROM eenet.log WHERE kind IN ('decision', 'reward') GROUP BY kind, id")
    return {(kind, identity): int(count) for kind, identity, count in rows}


def refuse_another_database(program, server, database):
    """The spool belongs to the database from which its bandits are."""
    database.sql("CREATE DATABASE other", name="postgres")
    where = database.url().replace("/eenet?", "/other?")
    said = run(program, "serve", "--store", where, "--replication", "any", "--folder", server.folder, "--port", "0", expect=1)
    same("another database has not received" in said, True, f"a start on another database: {said}")


def served_and_delivered(program, folder, database):
    fleet = start(program, folder, database, 2, LONG)
    try:
        fleet.servers[0].expect("POST", "/v1/bandits", {"name": "shop", "features": "", "seed": 3, "wait": "1h"}, 201)
        owner = wait_for(lambda: fleet.owner("shop"), "the bandit has no owner")
        other = next(server for server in fleet.servers if server is not owner)
        decide(other, "before")
        for server in fleet.servers:
            same(readiness(server)["mode"], "normal", f"mode of {server.name}")

        database.kill_primary()
        # Nothing is sent that could tell the journal, and they are ready all the time.
        for server in fleet.servers:
            wait_for(lambda at=server: readiness(at)["mode"] == "spooling", f"{server.name} does not notice that the database is away")
            same(readiness(server)["spool"]["entries"], 0, f"entries in the spool of {server.name}")

        answers = {f"d{number}": decide(server, f"d{number}").bytes for number, server in enumerate((owner, other))}
        for identity, answer in answers.items():
            for server in fleet.servers:
                same(decide(server, identity).bytes, answer, "the answer to a repeat")
        same(reward(owner, "d0", reward_id="r"), "spooled", "outcome")
        same(reward(other, "d1"), "spooled", "outcome of a reward without an id")
        same(reward(other, "before"), "spooled", "outcome of a reward for a decision from before")
        same(readiness(owner)["spool"]["entries"], 5, "entries in the spool of the owner")
        same(readiness(other)["spool"]["entries"], 0, "entries in the spool of the other server")

        owner.kill()
        database.primary.start()
        refuse_another_database(program, owner, database)
        owner.start()
        for server in fleet.servers:
            wait_for(lambda at=server: at.ask("GET", "/readyz").json.get("mode") == "normal", f"{server.name} does not end spooling")
        wait_for(lambda: "\neenet_spool_entries 0\n" in owner.ask("GET", "/metrics").bytes.decode(), "the spool is not delivered")
        wanted = {(kind, identity): 1 for kind in ("decision", "reward") for identity in ("before", "d0", "d1")}
        same(log_of(database), wanted, "decisions and rewards in the log")
        for server in fleet.servers:
            for identity, answer in answers.items():
                same(decide(server, identity).bytes, answer, "the answer to a repeat after the outage")
        same(reward(other, "d0", reward_id="r"), "joined", "outcome of a reward that is sent again")
        wait_for(lambda: other.expect("GET", "/v1/bandits/shop").json["learned"] == 3, "three rewards are not learned")
        same(log_of(database), wanted, "decisions and rewards in the log, after all were sent again")
    finally:
        fleet.stop()
    for command in ("check", "replay"):
        run(program, command, database.url())


def refused_after_a_time(program, folder, database):
    """A spool of some seconds: then requests are refused, until the database is back. One server has traffic, the other none."""
    fleet = start(program, folder, database, 2, SHORT)
    try:
        owner = wait_for(lambda: fleet.owner("shop"), "the bandit has no owner")
        other = next(server for server in fleet.servers if server is not owner)
        decide(owner, "first")  # which loads the model
        database.kill_primary()
        last = owner.ask("POST", "/v1/bandits/shop/decide", {"id": "last", "actions": ACTIONS}).status
        same(last in (200, 503), True, f"a decision without the database, {last}, which a machine that stalls may refuse")
        for server in (owner, other):
            wait_for(lambda at=server: at.ask("GET", "/readyz").status == 503, f"{server.name} is ready for longer than it may")
        decide(owner, "refused", 503)
        database.primary.start()
        for server in (owner, other):
            wait_for(server.ready, f"{server.name} is not ready again")
        wait_for(lambda: other.ask("POST", "/v1/bandits/shop/decide", {"id": "again", "actions": ACTIONS}).status == 200,
                   "no decisions after the outage")
        log = log_of(database)
        same([log.get(("decision", identity)) for identity in ("last", "refused", "again")],
             [1 if last == 200 else None, None, 1], "decisions in the log")
    finally:
        fleet.stop()


def delivered_to_other_owners(program, folder, database):
    """One server is cut off, and the other takes its bandits: more than a server asks for at a time. One is removed meanwhile."""
    fleet = Fleet(program, folder, database, 2, options=["--replication", "any", "--spool-seconds", str(LONG)])
    lonely, other = fleet.servers
    names = [f"many-{number}" for number in range(20)]
    settings = {"features": "", "policy": "linucb", "wait": "1h"}

    def decide_all(server, identity):
        ask = [lambda name=name: server.expect("POST", f"/v1/bandits/{name}/decide", {"id": identity, "actions": ACTIONS})
               for name in names]
        return [response.bytes for response in at_once(*ask)]

    try:
        lonely.start()
        for name in names:
            lonely.expect("POST", "/v1/bandits", {"name": name, **settings}, 201)
        decide_all(lonely, "before")
        other.start()
        lonely.proxy.refuse()
        wait_for(lambda: readiness(lonely)["mode"] == "spooling", "the server does not notice that the database is away")
        answers = decide_all(lonely, "alone")
        same(readiness(lonely)["spool"]["entries"], len(names), "entries in the spool")
        wait_for(lambda: {fleet.owners()[name] for name in names} == {other.index}, "the bandits are not taken over")
        decide_all(other, "meanwhile")
        gone = names.pop()
        del answers[-1]
        other.expect("DELETE", f"/v1/bandits/{gone}?purge=true&confirm={gone}", status=204)
        wait_for(lambda: database.sql("SELECT count(*) FROM eenet.bandits WHERE purged = 2") == [["1"]], "it is not removed")
        lonely.proxy.restore()
        wait_for(lambda: "\neenet_spool_entries 0\n" in lonely.ask("GET", "/metrics").bytes.decode(), "the spool is not delivered")
        if "\neenet_spool_dropped_total 1\n" not in lonely.ask("GET", "/metrics").bytes.decode():
            raise Failure("the decision of the bandit that was removed is not counted")
        wait_for(lambda: lonely.ask("GET", "/readyz").json.get("mode") == "normal", "the server does not end spooling")
        same(decide_all(other, "alone"), answers, "answers after the delivery")
        counts = database.sql("SELECT count(*), count(DISTINCT (bandit, id)) FROM eenet.log"
                              " WHERE kind = 'decision' AND bandit LIKE 'many-%'")
        same(counts, [[str(3 * len(names))] * 2], "decisions in the log")
    finally:
        fleet.stop()


def main():
    program = str(Path(sys.argv[1]).resolve())
    with one_database() as (folder, database):
        cases = [served_and_delivered, refused_after_a_time, delivered_to_other_owners]
        same(sum(run_cases([case], program, folder / case.__name__, database) for case in cases), 0, "failures")


if __name__ == "__main__":
    main()
