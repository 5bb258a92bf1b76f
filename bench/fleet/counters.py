"""What processes and databases have used so far, from /proc, ss and PostgreSQL's statistics."""
import contextlib
import os
import re
import subprocess

TICK = 1 / os.sysconf("SC_CLK_TCK")


def cpu_of(pid, with_children=False):
    """Seconds of processor time of a process; with_children: and of those that it has reaped."""
    with contextlib.suppress(OSError, IndexError):
        if not with_children:
            total = 0
            for thread in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/schedstat", encoding="utf-8") as stat:
                    total += int(stat.read().split()[0])
            return total * 1e-9
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[13]) + int(fields[14])) * TICK + cpu_of(pid)
    return 0.0


def kind_of(pid):
    """What a process of PostgreSQL does: walsender, walreceiver, startup, ..., or "backend" with the port of its client."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        title = file.read().replace(b"\0", b" ").decode(errors="replace")
        found = re.match(r"postgres: \S+: (walsender|walreceiver|startup|walwriter|checkpointer|background writer|"
                         r"autovacuum launcher|autovacuum worker|logical replication)", title)
        if found:
            return found.group(1)
        port = re.search(r"127\.0\.0\.1\((\d+)\)", title)
        return f"backend {port.group(1)}" if port else "postmaster"
    return "gone"


def cpu_of_node(node):
    """{pid: (kind, seconds)} of all processes of a PostgreSQL server."""
    first, *others = node.processes()
    result = {first: ("postmaster", cpu_of(first, with_children=True))}
    for pid in others:
        result[pid] = (kind_of(pid), cpu_of(pid))
    return result


def add_up(before, after):
    """{kind: seconds} between two results of cpu_of_node."""
    sums = {}
    for pid, (kind, seconds) in after.items():
        sums[kind] = sums.get(kind, 0.0) + seconds - before.get(pid, (kind, 0.0))[1]
    return sums


def bytes_of(pids, ports):
    """{(pid, local port): (sent, received)} of the connections of these processes to these ports."""
    text = subprocess.run(["ss", "-tinpHO", "state", "established"], check=True, stdout=subprocess.PIPE, text=True).stdout
    result = {}
    for line in text.splitlines():
        head = re.search(r":(\d+)\s+\S+:(\d+)\s+users:\(\(\"[^\"]*\",pid=(\d+)", line)
        if not head or int(head.group(3)) not in pids or int(head.group(2)) not in ports:
            continue
        sent, received = re.search(r"bytes_acked:(\d+)", line), re.search(r"bytes_received:(\d+)", line)
        result[int(head.group(3)), int(head.group(1))] = (int(sent.group(1)) if sent else 0,
                                                          int(received.group(1)) if received else 0)
    return result


def writers_of(connections):
    """The local ports of the connections that servers write with: those that have sent the most, of each process."""
    most = {}
    for (pid, port), (sent, _) in connections.items():
        most[pid] = max(most.get(pid, (0, 0)), (sent, port))
    return {port for _, port in most.values()}


def bytes_between(before, after, ports=None):
    """Bytes sent and received, of all of them together, or of those with these local ports."""
    sums = [0, 0]
    for key, pair in after.items():
        if ports is not None and key[1] not in ports:
            continue
        for i in range(2):
            sums[i] += pair[i] - before.get(key, (0, 0))[i]
    return sums


def database_counts(cluster, database):
    """Commits of a database; bytes, writes and syncs of the cluster's write-ahead log."""
    row = cluster.sql("SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()), wal_bytes, wal_write,"
                      " wal_sync FROM pg_stat_wal", database)
    return [float(value) for value in row.split("|")]
