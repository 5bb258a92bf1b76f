#!/usr/bin/env python3
"""learning.py EENET [OTHER...]: how fast a bandit learns a backlog, with its log in SQLite, in PostgreSQL, and in PostgreSQL
behind a network with delays.

A bandit gets DECISIONS decisions, and then their rewards, which it learns from their records: together three events each.
Meanwhile it learns, but sending is faster. When all is sent, the delay begins, and four busy loops where the table says so. What is
measured is from then until all events are learned, or for at most --limit seconds. Programs and places take turns, and the table
has medians. Exits with 1 if the first program learns more slowly on PostgreSQL on this machine than on SQLite: by more than 10%, or
25% beside busy loops.
"""
import argparse
import json
import multiprocessing
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fleet"))

import counters  # noqa: E402  pylint: disable=wrong-import-position
from deployment import Cluster, Server, wait_for  # noqa: E402  pylint: disable=wrong-import-position
from harness.proxy import Proxy  # noqa: E402  pylint: disable=wrong-import-position

BATCH = 500
BUSY = 4
DELAYS = (0, 0.5, 5, 10)  # one way, in milliseconds
SQLITE, POSTGRES = ("SQLite", None, 0), ("PostgreSQL", None, 0)
PLACES = [SQLITE, POSTGRES, *((f"PostgreSQL, {delay:g} ms away", delay, 0) for delay in DELAYS),
          ("SQLite, busy", None, BUSY), ("PostgreSQL, busy", None, BUSY)]
LIMITS = (("PostgreSQL", "SQLite", 0.10), ("PostgreSQL, busy", "SQLite, busy", 0.25))


def spin():
    while True:
        pass


def fill(server, decisions):
    """All decisions, and then all rewards: most decisions no longer wait for their reward then."""
    draw = random.Random(1)
    server.ask("/v1/bandits", {"name": "b", "policy": "eenet", "dim": 10, "wait": 3600, "default_reward": None})
    made = []
    for _ in range(0, decisions, BATCH):
        batch = [{"actions": [[round(draw.random(), 3) for _ in range(10)] for _ in range(5)]} for _ in range(BATCH)]
        made += json.loads(server.ask("/v1/bandits/b/decide/batch", {"decisions": batch}))["decisions"]
    for first in range(0, decisions, BATCH):
        rewards = [{"id": one["id"], "value": draw.randrange(2)} for one in made[first:first + BATCH]]
        server.ask("/v1/bandits/b/reward/batch", {"rewards": rewards})


def behind(server):
    return json.loads(server.ask("/v1/bandits/b"))["behind"]


def measure(program, place, folder, cluster, options):
    """Events that were left, how many of them it learned, in how many seconds, and CPU seconds of server and database."""
    name, delay, busy = place
    stored, proxy, loops = ["--most-behind", "1000000000"], None, []
    if name.startswith("PostgreSQL"):
        database = folder.name
        cluster.sql(f'CREATE DATABASE "{database}"')
        url = cluster.url(database)
        if delay is not None:
            proxy = Proxy([cluster.primary.port])
            url = url.replace(str(cluster.primary.port), str(proxy.ports[0]))
        stored += ["--store", url, "--replication", "any"]
    server = Server(program, folder, stored)
    try:
        wait_for(server.ready, "the server to get ready")
        fill(server, options.decisions)
        if proxy:
            proxy.delay(delay * 1e-3)
        loops = [multiprocessing.Process(target=spin, daemon=True) for _ in range(busy)]
        for loop in loops:
            loop.start()

        def used():
            return counters.cpu_of(server.pid), sum(seconds for _, seconds in counters.cpu_of_node(cluster.primary).values())
        before, total, begun = used(), behind(server), time.monotonic()
        left = total
        while left and time.monotonic() < begun + options.limit:
            time.sleep(0.03)  # asking takes processor time of the server
            left = behind(server)
        seconds = time.monotonic() - begun
        return total, total - left, seconds, *(b - a for a, b in zip(before, used()))
    finally:
        for loop in loops:
            loop.kill()
        server.stop()
        if proxy:
            proxy.close()
        if name.startswith("PostgreSQL"):
            cluster.sql(f'DROP DATABASE "{folder.name}" WITH (FORCE)')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", metavar="EENET")
    parser.add_argument("--decisions", type=int, default=10000)
    parser.add_argument("--limit", type=float, default=30)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory(prefix="eenet-learning-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        cluster = Cluster(folder, "db", False)
        try:
            for turn in range(options.turns):
                for at, place in list(enumerate(PLACES))[::-1 if turn % 2 else 1]:
                    for number, program in enumerate(options.programs):
                        own = folder / f"run_{turn}_{at}_{number}"
                        results.setdefault((program, place[0]), []).append(measure(program, place, own, cluster, options))
        finally:
            cluster.stop()
    rates = {}
    print(f"{os.cpu_count()} processors, {options.turns} turns: medians, and in the last column the rate of each")
    for program in options.programs:
        print(f"\n{program}\n\n| log in | events left | learned | seconds | events per second | CPU seconds, server | CPU seconds, database |"
              " turns |\n|---|---|---|---|---|---|---|---|")
        for place, _, _ in PLACES:
            runs = results[program, place]
            left, learned, seconds, own, database = (statistics.median(column) for column in zip(*runs))
            each = [run[1] / run[2] for run in runs]
            rates[program, place] = statistics.median(each)
            print(f"| {place} | {left:,.0f} | {learned:,.0f} | {seconds:.2f} | {rates[program, place]:,.0f} | {own:.2f} |"
                  f" {database:.2f} | " + ", ".join(f"{rate:,.0f}" for rate in each) + " |")
    print()
    failed = False
    for slower, faster, limit in LIMITS:
        share = rates[options.programs[0], slower] / rates[options.programs[0], faster]
        failed = failed or share < 1 - limit
        print(f"{slower} learns at {share:.0%} of the rate of {faster} (limit {1 - limit:.0%})"
              + ("  EXCEEDED" if share < 1 - limit else ""))
    sys.exit(failed)


if __name__ == "__main__":
    main()
