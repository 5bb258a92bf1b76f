"""Clients: wrk with traffic.lua, one process for each of CLIENTS, so that they can go to several servers."""
import concurrent.futures
import contextlib
import os
import resource
import signal
import subprocess
from pathlib import Path

CLIENTS = 3
CONNECTIONS = 21  # of each client
SCRIPTS = Path(__file__).resolve().parent


class Result:
    """Sums over the clients. latencies: {microseconds: count}."""

    def __init__(self):
        self.requests = self.refused = self.broken = 0
        self.seconds = self.cpu = 0.0
        self.latencies = {}

    def add(self, text):
        for line in text.splitlines():
            words = line.split()
            if words[:1] == ["result"]:
                self.requests += int(words[1])
                self.seconds = max(self.seconds, int(words[2]) * 1e-6)
                self.refused += int(words[3])
                self.broken += int(words[4])
            elif words[:1] == ["bin"]:
                value = int(words[1])
                self.latencies[value] = self.latencies.get(value, 0) + int(words[2])

    @property
    def rate(self):
        return self.requests / self.seconds

    def percentile(self, share):
        """In milliseconds."""
        left = share * sum(self.latencies.values())
        for value in sorted(self.latencies):
            left -= self.latencies[value]
            if left <= 0:
                return value * 1e-3
        return 0.0


def read(client):
    """The output of a client. It is interrupted when it has sent all that it has to send."""
    lines = []
    for line in client.stdout:
        if line == "stopped\n":
            client.send_signal(signal.SIGINT)
        lines.append(line)
    return "".join(lines)


def run(mode, ports, bandits, seconds, ids, count=0, rate=0, connections=CONNECTIONS):
    """Runs the clients at once, the i-th on ports[i % len(ports)]. count: of each client. rate: requests per second of all."""
    result = Result()
    environment = dict(os.environ, LOAD_MODE=mode, LOAD_BANDITS=",".join(bandits), LOAD_COUNT=str(count),
                       LOAD_PAUSE=str(1000 * CLIENTS * connections / rate if rate else 0), LOAD_SCRIPTS=str(SCRIPTS))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    clients = []
    with contextlib.ExitStack() as stack:
        for i in range(CLIENTS):
            clients.append(stack.enter_context(subprocess.Popen(
                ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(SCRIPTS / "traffic.lua"),
                 f"http://127.0.0.1:{ports[i % len(ports)]}"],
                env=dict(environment, LOAD_IDS=f"{ids}-{i}-"), stdout=subprocess.PIPE, text=True)))
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            for text in pool.map(read, clients):
                result.add(text)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    result.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result
