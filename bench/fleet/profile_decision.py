#!/usr/bin/env python3
"""profile_decision.py EENET BUILD [--seconds N] [--output FILE]: where the processor time of one decision goes, by perf.

Three servers on PostgreSQL with a synchronous standby, one bandit: all clients on its owner, then all on another server. Samples
are attributed to threads by what they run, and to parts by the source file of the function (from the objects in BUILD). Needs the
right to use perf.
"""
import argparse
import collections
import json
import re
import subprocess
import tempfile
from pathlib import Path

import counters
import traffic
from deployment import Cluster, Deployment

# A thread belongs to the role whose files it runs most, of those that only this role runs.
ROLES = [("http", r"serve/http/http_"), ("journal", r"serve/journal/|pg_group|pg_transaction|joining|join_set"),
         ("forwarder", r"serve/fleet/forward"), ("trainer", r"model/follower|model/train|pg_read|settled_reader")]
PARTS = [("HTTP", r"serve/http/"), ("forwarding", r"serve/fleet/|api/forwarding"),
         ("JSON", r"data/json|serve/requests|data/values|base/.*number"), ("deciding", r"^src/(engine|policy|net|math|features)/"),
         ("store", r"serve/store/"), ("journal", r"serve/journal/"), ("model", r"serve/model/"), ("api", r"serve/")]


def symbols_of(build):
    """{function: source file}; functions of the same name in several files: None."""
    found = {}
    for path in Path(build).rglob("*.c.o"):
        match = re.search(r"\.dir/((?:src|cli)/.*)\.o$", str(path))
        if not match:
            continue
        text = subprocess.run(["nm", "--defined-only", str(path)], check=True, stdout=subprocess.PIPE, text=True).stdout
        for name in re.findall(r" [tTwW] (\S+)$", text, re.MULTILINE):
            found[name] = None if found.get(name, match.group(1)) != match.group(1) else match.group(1)
    return found


def first_match(table, path):
    return next((name for name, pattern in table if path and re.search(pattern, path)), None)


def samples_of(recording, pids):
    """[(pid, tid, function, object)] of these processes; None: all."""
    text = subprocess.run(["perf", "script", "-i", recording, "-F", "pid,tid,ip,sym,dso"], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    result = []
    for line in text.splitlines():
        found = re.match(r"\s*(-?\d+)/(-?\d+)\s+[0-9a-f]+ (.*) \((.*)\)\s*$", line)
        if found and int(found.group(1)) in pids:
            result.append((int(found.group(1)), int(found.group(2)), found.group(3).split("+")[0], found.group(4)))
    return result


def object_kind(name, path):
    if "kernel" in name or name.startswith("["):
        return "kernel"
    if "libpq" in name:
        return "libpq"
    return first_match(PARTS, path) or ("eenet, other" if path or "eenet" in name else "libc")


def split(samples, symbols, each):
    """{"role: part": microseconds per request} of one server."""
    votes = collections.defaultdict(collections.Counter)
    for _, tid, function, _ in samples:
        role = first_match(ROLES, symbols.get(function))
        if role:
            votes[tid][role] += 1
    computing = {tid for _, tid, function, _ in samples if first_match(PARTS, symbols.get(function)) == "deciding"}
    parts = collections.Counter()
    for _, tid, function, name in samples:
        role = votes[tid].most_common(1)[0][0] if votes[tid] else "trainer" if tid in computing else "other thread"
        parts[f"{role}: {object_kind(name, symbols.get(function))}"] += each
    return parts


def used_by(deployment):
    """Seconds of processor time: {pid of a server, or name of a node: seconds}."""
    used = {at.pid: counters.cpu_of(at.pid) for at in deployment.servers}
    for node in deployment.cluster.nodes:
        used[node.name] = sum(seconds for _, seconds in counters.cpu_of_node(node).values())
    return used


def record(deployment, direct, seconds, folder, symbols):
    """One run with all clients on the owner, or on another server. perf says how the time is divided, /proc how much it is."""
    recording = str(folder / "perf.data")
    owner = deployment.owners()["hot"]
    server = owner if direct else next(at for at in deployment.servers if at is not owner)
    before = used_by(deployment)
    with subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", "1999", "-a", "-o", recording, "sleep", "600"],
                          stderr=subprocess.DEVNULL) as perf:
        result = traffic.run("decide", [server.port], ["hot"], seconds, "p")
        after = used_by(deployment)
        perf.terminate()
    if deployment.owners()["hot"] is not owner:
        raise RuntimeError("the bandit has another owner now: try again")
    rows = {"requests": result.requests, "rate": result.rate, "refused": result.refused}
    for at in deployment.servers:
        what = ("owner" if at is owner else "entry" if at is server else "idle")
        samples = samples_of(recording, {at.pid})
        if what != "idle":
            used = 1e6 * (after[at.pid] - before[at.pid]) / result.requests
            rows[what] = dict(split(samples, symbols, used / max(1, len(samples))))
            rows[what]["all"] = used
    for node, name in zip(deployment.cluster.nodes, ("primary", "standby")):
        samples = samples_of(recording, set(node.processes()))
        used = 1e6 * (after[node.name] - before[node.name]) / result.requests
        kernel = sum(1 for one in samples if "kernel" in one[3])
        rows[name] = {"all": used, "kernel": used * kernel / max(1, len(samples))}
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("eenet")
    parser.add_argument("build")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--output", default="profile-fleet.json")
    options = parser.parse_args()
    symbols = symbols_of(options.build)
    with tempfile.TemporaryDirectory(prefix="eenet-profile-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        cluster = Cluster(folder, "sync", True)
        deployment = Deployment("three", options.eenet, folder, 3, cluster)
        try:
            deployment.start()
            deployment.create(["hot"])
            traffic.run("decide", [deployment.servers[0].port], ["hot"], 2, "w")
            result = {}
            for where in ("direct", "through another server"):
                result[where] = record(deployment, where == "direct", options.seconds, folder, symbols)
                deployment.wait_until_trained()
        finally:
            deployment.stop()
            cluster.stop()
    Path(options.output).write_text(json.dumps(result, indent=1))
    for where, rows in result.items():
        print(f"{where}: {rows['requests']} decisions, {rows['rate']:.0f} /s, {rows['refused']} refused")
        for what in ("entry", "owner", "primary", "standby"):
            for part, used in sorted(rows.get(what, {}).items(), key=lambda item: -item[1]):
                if used >= 0.5:
                    print(f"  {what:8} {part:32} {used:7.1f} us")


if __name__ == "__main__":
    main()
