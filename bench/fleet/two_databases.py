#!/usr/bin/env python3
"""two_databases.py EENET [--seconds N]: bandits partitioned over two databases, each with its own fleet of two servers.

haproxy looks at the bandit's name in the path and sends the request to the fleet that has it. The servers do not know of each
other. Compares with one fleet of two servers, behind the same haproxy: requests per second and processor time per request, in
alternating order, medians of three. Then checks in the databases that each bandit's events are in one of them only.
"""
import argparse
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import counters
import traffic
from deployment import Cluster, Deployment, reserve_port, wait_for

BANDITS = [f"m{i}" for i in range(24)]
HAPROXY = """
global
    maxconn 2000
defaults
    mode http
    timeout connect 1s
    timeout client 60s
    timeout server 20s
frontend partitioned
    bind 127.0.0.1:{port}
    # /v1/bandits/NAME/...: the file names the fleet of each bandit. A bandit that it does not name gets 404.
    http-request deny deny_status 404 unless {{ path,field(4,/),map({directory}) -m found }}
    use_backend %[path,field(4,/),map({directory})]
"""


def start_haproxy(folder, fleets, directory):
    """fleets: {name: deployment}; directory: {bandit: name of the fleet}."""
    program = shutil.which("haproxy", path="/usr/sbin:/usr/bin:/usr/local/sbin")
    port = reserve_port()
    folder.mkdir()
    (folder / "directory").write_text("".join(f"{bandit} {name}\n" for bandit, name in directory.items()))
    text = HAPROXY.format(port=port, directory=folder / "directory")
    for name, fleet in fleets.items():
        text += f"backend {name}\n    balance roundrobin\n    option httpchk GET /readyz\n"
        text += "".join(f"    server s{at.port} 127.0.0.1:{at.port} check inter 500ms\n" for at in fleet.servers)
    (folder / "haproxy.cfg").write_text(text)
    with open(folder / "log", "wb") as log:
        return port, subprocess.Popen([program, "-db", "-f", str(folder / "haproxy.cfg")], stdout=log, stderr=log)


def answers(port):
    try:
        result = traffic.run("decide", [port], BANDITS, 1, "w")
        return result.requests and not result.refused
    except ZeroDivisionError:
        return False


def measure(port, haproxy, fleets, clusters, seconds):
    def used():
        return [sum(counters.cpu_of(at.pid) for fleet in fleets for at in fleet.servers), counters.cpu_of(haproxy.pid),
                sum(seconds for cluster in clusters for node in cluster.nodes
                    for _, seconds in counters.cpu_of_node(node).values())]
    before = used()
    result = traffic.run("decide", [port], BANDITS, seconds, "t")
    for fleet in fleets:
        fleet.wait_until_trained()
    return [result.rate, result.percentile(0.5), result.percentile(0.99), result.refused,
            *(1e6 * (b - a) / result.requests for a, b in zip(before, used()))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("eenet")
    parser.add_argument("--seconds", type=int, default=5)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="eenet-two-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        clusters, fleets, proxies = [], {}, []
        try:
            clusters = [Cluster(folder, f"db{i}", False) for i in range(3)]
            for cluster, fleet in zip(clusters, ("first", "second", "single")):
                fleets[fleet] = Deployment(fleet, options.eenet, folder, 2, cluster)
                fleets[fleet].start()
            halves = {bandit: ("first", "second")[i % 2] for i, bandit in enumerate(BANDITS)}
            for fleet in ("first", "second"):
                fleets[fleet].create([bandit for bandit, of in halves.items() if of == fleet])
            fleets["single"].create(BANDITS)
            two = {name: fleets[name] for name in ("first", "second")}
            proxies = [start_haproxy(folder / "two", two, halves),
                       start_haproxy(folder / "one", {"single": fleets["single"]}, dict.fromkeys(BANDITS, "single"))]
            for port, _ in proxies:
                wait_for(lambda at=port: answers(at), "haproxy to answer")
            rows = {"two databases": [], "one database": []}
            setups = [("two databases", *proxies[0], list(two.values()), clusters[:2]),
                      ("one database", *proxies[1], [fleets["single"]], clusters[2:])]
            for turn in range(3):
                for what, port, haproxy, of, databases in setups if turn % 2 == 0 else setups[::-1]:
                    rows[what].append(measure(port, haproxy, of, databases, options.seconds))
            print(f"{'':14}{'rate':>8}{'p50 ms':>8}{'p99 ms':>8}{'refused':>9}{'server us':>11}{'haproxy us':>12}{'PostgreSQL us':>15}")
            for what, group in rows.items():
                middle = [statistics.median(column) for column in zip(*group)]
                print(f"{what:14}{middle[0]:8.0f}{middle[1]:8.1f}{middle[2]:8.1f}{middle[3]:9.0f}{middle[4]:11.0f}{middle[5]:12.0f}"
                      f"{middle[6]:15.0f}   " + "/".join(f"{row[0]:.0f}" for row in group))
            for fleet in ("first", "second"):
                has = set(fleets[fleet].cluster.sql("SELECT name FROM eenet.bandits ORDER BY 1", fleet).split())
                events = fleets[fleet].cluster.sql("SELECT count(*), count(DISTINCT place >> 40) FROM eenet.events", fleet)
                if has != {bandit for bandit, of in halves.items() if of == fleet}:
                    sys.exit(f"{fleet} has other bandits than the directory says: {sorted(has)}")
                print(f"{fleet}: {events.split('|')[0]} events of {events.split('|')[1]} bandits, all of them of this database only")
        finally:
            for _, haproxy in proxies:
                haproxy.terminate()
                haproxy.wait()
            for fleet in fleets.values():
                fleet.stop()
            for cluster in clusters:
                cluster.stop()


if __name__ == "__main__":
    main()
