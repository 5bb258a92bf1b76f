#!/usr/bin/env python3
"""upgrade.py EENET NEXT: a fleet is upgraded under load, as docs/fleet.md describes it: servers of the next version start, and
the old ones are stopped one after the other. No request fails, bandits never move to an older version, all of them end on new
servers, and every decision replays. Exits with 77 if PostgreSQL is not installed."""
import http.client
import itertools
import sys
import threading
import time
from pathlib import Path

from fleet import Fleet, Server, one_database

from harness import Failure, run, same, wait_for

BANDITS = [f"bandit-{number}" for number in range(8)]
SILENCE = 2  # seconds after which others take the bandits of a server
STALL = 30  # seconds in which a fleet that stood still is as before
DRAIN = 1  # seconds for which a server that stops says so, and goes on
OPTIONS = ["--replication", "any", "--drain", str(DRAIN)]
# Every change of an owner.
WITNESS = """
CREATE TABLE public.moves (id bigserial, bandit bigint, before bigint, after bigint);
CREATE FUNCTION public.note_move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.owner <> OLD.owner THEN
        INSERT INTO public.moves (bandit, before, after) VALUES (NEW.bandit, OLD.owner, NEW.owner);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER note_move AFTER UPDATE ON eenet.log_ends FOR EACH ROW EXECUTE FUNCTION public.note_move();
"""


class Load:
    """Clients behind a load balancer: it asks each server whether it is ready, and uses those that are. On a busy machine
    it may ask too seldom to notice in time that a server stops: what such a server did not get or refused is sent again."""

    def __init__(self, fleet):
        self.fleet = fleet
        self.ready = list(fleet.servers)
        self.asked = {server: time.monotonic() for server in fleet.servers}  # when a server was last asked that was ready
        self.over = threading.Event()
        self.stalled = -STALL  # when this process last stood still for longer than servers may be silent
        self.failures = []
        self.decided = {}
        self.threads = [threading.Thread(target=self.balance)]
        self.threads += [threading.Thread(target=self.run, args=(name,)) for name in BANDITS]
        for thread in self.threads:
            thread.start()

    def balance(self):
        while not self.over.is_set():
            ready = []
            for server in list(self.fleet.servers):
                begun = time.monotonic()
                if server.ready():
                    self.asked[server] = begun
                    ready.append(server)
            self.ready = ready or self.ready  # a machine that is too busy to answer
            begun = time.monotonic()
            self.over.wait(0.05)
            if time.monotonic() - begun > SILENCE:
                self.stalled = time.monotonic()

    def send(self, number, path, body):
        for attempt in itertools.count():
            ready = self.ready
            server = ready[(number + attempt) % len(ready)]
            try:
                return server.expect("POST", path, body)
            except (Failure, OSError, http.client.HTTPException) as error:
                late = time.monotonic() - self.asked[server] >= 0.9 * DRAIN
                has_ended = (isinstance(error, OSError) or getattr(error, "status", 0) == 503) and late and not server.ready()
                # Servers that were silent have lost their bandits: nothing is promised then.
                if has_ended or time.monotonic() - self.stalled < STALL:
                    if self.over.wait(0.05):
                        return None
                    continue
                self.failures.append(f"{path} {body['id']} on {server.name}: {type(error).__name__} {error}")
                return None

    def run(self, name):
        for number in itertools.count():
            if self.over.is_set():
                return
            body = {"id": f"d{number}", "actions": [[1, number % 7], [number % 5, 1]]}
            got = self.send(number, f"/v1/bandits/{name}/decide", body)
            if got:
                self.decided[name, number] = got.bytes
                rewarded = {"id": f"d{number}", "value": number % 2, "reward_id": "r"}
                self.send(number, f"/v1/bandits/{name}/reward", rewarded)

    def progress(self, count=60):
        before = len(self.decided)
        wait_for(lambda: len(self.decided) >= before + count, f"no progress: {self.failures[:3]}")

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join()


def owners_are(fleet, servers):
    indexes = {server.index for server in servers}
    owners = fleet.owners()
    return len(owners) == len(BANDITS) + 1 and set(owners.values()) <= indexes


def start_new(fleet, program, folder):
    server = Server(program, folder, len(fleet.servers), fleet.database, options=OPTIONS)
    server.start()
    fleet.servers.append(server)
    return server


def upgrade(old_program, next_program, folder, fleet):
    database = fleet.database
    old = list(fleet.servers)
    for server in old:
        server.start()
    for name in BANDITS:
        old[0].expect("POST", "/v1/bandits", {"name": name, "dim": 2, "policy": "linucb", "wait": "1h"}, 201)
    database.psql(WITNESS)
    load = Load(fleet)
    try:
        load.progress()
        new = [start_new(fleet, next_program, folder)]
        versions = {one["version"] for one in new[0].expect("GET", "/v1/fleet").json["servers"]}
        same(len(versions), 2, f"versions {versions}")
        load.progress()
        for server in old:
            load.progress()
            same(server.terminate(), 0, "exit status of an old server")
            load.progress()
            if server is old[0]:
                new.append(start_new(fleet, next_program, folder))
                # A new server that stops hands its bandits to the other new one, not to the old one.
                same(new[0].terminate(), 0, "exit status of a new server")
                load.progress()
                new[0].start()
        wait_for(lambda: owners_are(fleet, new), f"bandits are not on new servers: {fleet.owners()}")
        load.progress()
    finally:
        load.stop()
    if load.failures:
        raise Failure(f"{len(load.failures)} of {len(load.decided)} requests failed: {load.failures[:5]}")
    for (name, number), answer in list(load.decided.items())[::7]:
        body = {"id": f"d{number}", "actions": [[1, number % 7], [number % 5, 1]]}
        same(new[number % 2].expect("POST", f"/v1/bandits/{name}/decide", body).bytes, answer, "a decision before the upgrade")
    check_moves(database, old, new)
    for server in new:
        same(server.terminate(), 0, "exit status of a new server")
    for program in (next_program, old_program):
        said = run(program, "replay", database.url())
        same("identical" in said, True, f"replay: {said}")
    print(f"{len(load.decided)} decisions; {said.splitlines()[0]}", flush=True)


def check_moves(database, old, new):
    numbers = {number: is_new for servers, is_new in ((old, False), (new, True)) for server in servers
               for number in server.numbers.values()}
    moves = [(int(bandit), int(before), int(after)) for bandit, before, after in
             database.sql("SELECT bandit, before, after FROM public.moves ORDER BY id")]
    if len({bandit for bandit, _, after in moves if numbers.get(after)}) != len(BANDITS) + 1:
        raise Failure(f"not all bandits moved to a new server: {moves}")
    reached = set()
    for bandit, _, after in moves:
        if numbers.get(after):
            reached.add(bandit)
        elif bandit in reached and after:
            raise Failure(f"bandit {bandit} moved from a new to an old server: {moves}; new: {numbers}")


def main():
    program, next_program = (str(Path(path).resolve()) for path in sys.argv[1:3])
    with one_database() as (folder, database), Fleet(program, folder / "servers", database, 2, options=OPTIONS) as fleet:
        upgrade(program, next_program, folder / "servers", fleet)


if __name__ == "__main__":
    main()
