#!/usr/bin/env python3
"""load.py EENET [--rounds N] [--seconds N] [--output FILE] [--only TEXT]: measures a fleet, next to one server on SQLite.

Deployments, all on this machine:
  sqlite    one server with a folder
  pg1       one server on PostgreSQL
  pg1s      the same with a synchronous standby
  pg3       three servers on PostgreSQL, clients on all three
  pg3s      the same with a synchronous standby

Cases: decisions and rewards, of one bandit ("hot") and of 24 ("many"); decisions at a low rate ("light"); no requests ("idle",
with all numbers per second); and, on three servers, decisions of one bandit with all clients on its owner ("owner") or all on
another server ("other"), which shows the cost of forwarding. Rates depend on what else the machine does; processor time per request depends on it much less. Each round measures
all cases once, every other round in reverse order. Prints medians, and writes all measurements as JSON.

Processor time is counted until all events are learned. Client: wrk, three processes with 21 connections each.
"""
import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import counters
import traffic
from deployment import Cluster, Deployment, wait_for

MANY = [f"m{i}" for i in range(24)]
PREPARED = 7200  # decisions to reward, per client
LIGHT_RATE, LIGHT_CONNECTIONS = 300, 4


class Case:
    """One measurement of a deployment."""

    def __init__(self, deployment, name):
        self.deployment, self.name = deployment, name
        _, self.mode, bandits, *where = name.split()
        self.bandits = MANY if bandits == "many" else ["hot"]
        self.where = where[0] if where else ""

    def ports(self):
        servers = self.deployment.servers
        if self.where in ("owner", "other"):
            owner = self.deployment.owners()["hot"]
            servers = [server for server in servers if (server is owner) == (self.where == "owner")][:1]
        return [server.port for server in servers]

    def snapshot(self):
        deployment, cluster = self.deployment, self.deployment.cluster
        pids = {server.pid for server in deployment.servers}
        return {
            "servers": {server.port: counters.cpu_of(server.pid) for server in deployment.servers},
            "nodes": [counters.cpu_of_node(node) for node in cluster.nodes] if cluster else [],
            "database": counters.bytes_of(pids, {cluster.primary.port}) if cluster else {},
            "peers": counters.bytes_of(pids, {server.port for server in deployment.servers}),
        }

    def measure(self, seconds, ids):
        deployment, cluster = self.deployment, self.deployment.cluster
        ports = self.ports()
        owner = deployment.owners().get("hot")
        if self.mode == "reward":
            traffic.run("prepare", ports, self.bandits, 60, ids, PREPARED, connections=4)
            deployment.wait_until_trained()
        wal = counters.database_counts(cluster, deployment.name) if cluster else None
        metrics = deployment.metrics()
        before = self.snapshot()
        if self.mode == "idle":  # per second instead of per request
            result = traffic.Result()
            time.sleep(seconds)
            result.requests, result.seconds = seconds, seconds
        elif self.mode == "light":
            result = traffic.run("decide", ports, self.bandits, seconds, ids, rate=LIGHT_RATE, connections=LIGHT_CONNECTIONS)
        else:
            result = traffic.run(self.mode, ports, self.bandits, seconds, ids, PREPARED)
        deployment.wait_until_trained()
        after = self.snapshot()
        row = {"case": self.name, "requests": result.requests, "rate": result.rate, "p50": result.percentile(0.5),
               "p99": result.percentile(0.99), "refused": result.refused, "broken": result.broken,
               "load": os.getloadavg()[0]}
        each = 1e6 / result.requests
        row["client_us"] = result.cpu * each
        servers = {port: after["servers"][port] - before["servers"][port] for port in after["servers"]}
        row["server_us"] = sum(servers.values()) * each
        if owner:
            row["owner_us"] = servers[owner.port] * each
        for name, old, new in zip(("primary", "standby"), before["nodes"], after["nodes"]):
            kinds = counters.add_up(old, new)
            row[f"{name}_us"] = sum(kinds.values()) * each
            if name == "primary":
                writers = {f"backend {port}" for port in counters.writers_of(after["database"])}
                row["writer_us"] = sum(used for kind, used in kinds.items() if kind in writers) * each
                row["reader_us"] = sum(used for kind, used in kinds.items()
                                       if kind.startswith("backend") and kind not in writers) * each
            row[f"{name}_kinds_us"] = {kind: used * each for kind, used in kinds.items() if used * each >= 0.5}
        writer_ports = counters.writers_of(after["database"])
        for name, key, among in (("database", "database", None), ("writer", "database", writer_ports), ("peers", "peers", None)):
            sent, received = counters.bytes_between(before[key], after[key], among)
            row[f"{name}_sent"], row[f"{name}_received"] = sent / result.requests, received / result.requests
        metrics = {name: value - metrics.get(name, 0) for name, value in deployment.metrics().items()}
        groups = metrics["eenet_sync_seconds_count"] or 1
        owned = list(deployment.owners().values())
        row["owned"] = [owned.count(server) for server in deployment.servers]
        row["group"] = metrics["eenet_synced_entries_total"] / groups
        row["commit_ms"] = 1e3 * metrics["eenet_sync_seconds_sum"] / groups
        row["forwarded"] = metrics.get("eenet_forwarded_requests_total", 0) / result.requests
        if wal:
            time.sleep(1.2)  # PostgreSQL's processes report their counts once a second
            new = counters.database_counts(cluster, deployment.name)
            row["commits"], row["wal_bytes"], row["wal_writes"], row["wal_syncs"] = (
                (b - a) / result.requests for a, b in zip(wal, new))
        row["total_us"] = row["server_us"] + row.get("primary_us", 0) + row.get("standby_us", 0)
        return row


def case_names(name, count):
    """Of a deployment with this number of servers."""
    names = [f"{name} {mode} {bandits}" for bandits in ("hot", "many") for mode in ("decide", "reward")]
    names += [f"{name} light hot", f"{name} idle hot"]
    if count > 1:
        names += [f"{name} {mode} hot {where}" for where in ("owner", "other") for mode in ("decide", "light")]
    return names


def all_cases(deployments):
    return [Case(deployment, name) for deployment in deployments.values()
            for name in case_names(deployment.name, deployment.count)]


def spread(deployment):
    """Loads all bandits until they are spread over the servers."""
    def is_spread():
        traffic.run("decide", [server.port for server in deployment.servers], MANY, 1, "spread")
        owned = list(deployment.owners().values())
        counts = [owned.count(server) for server in deployment.servers]
        return max(counts) - min(counts) <= 2
    wait_for(is_spread, f"the bandits of {deployment.name} to be spread")


def count_statements(deployment, seconds):
    """Statements per transaction and per event, from the database's log: slower, so nothing else is measured."""
    cluster, lines = deployment.cluster, []
    counts = {}
    for mode in ("decide", "reward"):
        if mode == "reward":
            traffic.run("prepare", [deployment.servers[0].port], ["hot"], 60, "st", 3000, connections=4)
            deployment.wait_until_trained()
        cluster.sql(f"ALTER DATABASE \"{deployment.name}\" SET log_statement = 'all'")
        cluster.sql("ALTER SYSTEM SET log_statement = 'all'")
        cluster.sql("SELECT pg_reload_conf()")
        time.sleep(0.5)
        start = cluster.primary.server_log.stat().st_size
        before = deployment.metrics()
        result = traffic.run(mode, [deployment.servers[0].port], ["hot"], seconds, "st", 3000)
        after = deployment.metrics()
        cluster.sql("ALTER SYSTEM RESET log_statement")
        cluster.sql(f"ALTER DATABASE \"{deployment.name}\" RESET log_statement")
        cluster.sql("SELECT pg_reload_conf()")
        deployment.wait_until_trained()
        with open(cluster.primary.server_log, "rb") as log:
            log.seek(start)
            lines = re.findall(r"LOG:  (?:execute [^:]*|statement): (.*)", log.read().decode(errors="replace"))
        kinds = {}
        for line in lines:
            kind = " ".join(line.split()[:2]) if line.split()[0] in ("BEGIN", "COMMIT") else re.sub(r"\s+", " ", line)[:110]
            kinds[kind] = kinds.get(kind, 0) + 1
        counts[mode] = {"requests": result.requests, "statements": len(lines),
                        "groups": after["eenet_sync_seconds_count"] - before["eenet_sync_seconds_count"],
                        "kinds": dict(sorted(kinds.items(), key=lambda item: -item[1])[:24])}
    return counts


def median_rows(rows):
    """One row for each case: medians of numbers."""
    result = {}
    for row in rows:
        result.setdefault(row["case"], []).append(row)
    for case, group in result.items():
        result[case] = {key: statistics.median(row[key] for row in group) for key, value in group[0].items()
                        if isinstance(value, (int, float))}
        result[case]["rates"] = [round(row["rate"]) for row in group]
    return result


def print_table(medians):
    columns = [("rate", 7, 0), ("p50", 7, 1), ("p99", 7, 1), ("server_us", 9, 0), ("primary_us", 10, 0), ("standby_us", 10, 0),
               ("writer_us", 9, 0), ("reader_us", 9, 0),
               ("client_us", 9, 0), ("total_us", 8, 0), ("group", 6, 1), ("commit_ms", 9, 2), ("commits", 8, 3),
               ("wal_bytes", 9, 0), ("database_sent", 13, 0), ("database_received", 17, 0), ("forwarded", 9, 2)]
    print(f"{'':28}" + " ".join(f"{name:>{width}}" for name, width, _ in columns))
    for case, row in medians.items():
        note = f"  {row['refused']} refused, {row['broken']} broken" if row["refused"] or row["broken"] else ""
        print(f"{case:28}" + " ".join(f"{row[name]:{width}.{digits}f}" if name in row else " " * width
                                       for name, width, digits in columns) + "  " + "/".join(map(str, row["rates"])) + note)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("eenet")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--output", default="load-fleet.json")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = Path(tempfile.mkdtemp(prefix="eenet-load-"))
    folder.chmod(0o755)
    clusters, deployments, rows, statements = [], {}, [], {}
    try:
        clusters = [Cluster(folder, "plain", False), Cluster(folder, "sync", True)]
        for name, count, cluster in (("sqlite", 1, None), ("pg1", 1, clusters[0]), ("pg1s", 1, clusters[1]),
                                     ("pg3", 3, clusters[0]), ("pg3s", 3, clusters[1])):
            if not any(options.only in each for each in case_names(name, count)):
                continue
            deployments[name] = Deployment(name, options.eenet, folder, count, cluster)
            deployments[name].start()
            deployments[name].create(["hot", *MANY])
            if count > 1:
                spread(deployments[name])
        cases = [case for case in all_cases(deployments) if options.only in case.name]
        for turn in range(options.rounds):
            for number, case in enumerate(cases if turn % 2 == 0 else reversed(cases)):
                rows.append(case.measure(options.seconds, f"{turn}-{number}"))
                print(f"round {turn + 1}: {case.name}: {rows[-1]['rate']:.0f} /s, {rows[-1]['total_us']:.0f} us", file=sys.stderr,
                      flush=True)
        statements = count_statements(deployments["pg1"], options.seconds) if not options.only else {}
    finally:
        for deployment in deployments.values():
            deployment.stop()
        for cluster in clusters:
            cluster.stop()
        subprocess.run(["rm", "-rf", str(folder)], check=False)
        if rows:
            medians = median_rows(rows)
            Path(options.output).write_text(json.dumps({"rows": rows, "medians": medians, "statements": statements}, indent=1))
            print_table(medians)
            for mode, counts in statements.items():
                print(f"{mode}: {counts['requests']} requests, {counts['groups']:.0f} groups, {counts['statements']} statements")


if __name__ == "__main__":
    main()
