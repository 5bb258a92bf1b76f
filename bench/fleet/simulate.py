#!/usr/bin/env python3
"""A discrete-event simulation of a fleet: servers with cores, forwarding, one journal per server that writes groups, the cores of
the database, and a standby. model.py compares its formulas with it. A standby that is slower than the primary delays nothing here:
its backlog grows.

Requests arrive as a Poisson process at a random server. Each task occupies one core for its time; tasks wait in order of arrival.
Times of tasks vary: they have an exponential share (VARIES), because real ones do too.
"""
import collections
import heapq
import random

VARIES = 0.5
TOGETHER = 16  # events that a trainer, or the process that replicates, handles at once


class Cores:
    """Tasks of a machine, in order of arrival."""

    def __init__(self, simulation, count):
        self.simulation, self.free = simulation, count
        self.waiting = collections.deque()
        self.busy = 0.0

    def run(self, seconds, then, count=1):
        """count: independent pieces that the task consists of, one after the other."""
        seconds *= 1 - VARIES + VARIES * self.simulation.draw.gammavariate(count, 1) / count
        self.waiting.append((seconds, then))
        self.start()

    def start(self):
        while self.free and self.waiting:
            seconds, then = self.waiting.popleft()
            self.free -= 1
            self.busy += seconds
            self.simulation.after(seconds, lambda then=then: self.end(then))

    def end(self, then):
        self.free += 1
        if then:
            then()
        self.start()


class Threads:
    """A few threads that share the cores of a machine with others: each runs one task at a time."""

    def __init__(self, cores, count):
        self.cores, self.free = cores, count
        self.waiting = collections.deque()

    def run(self, seconds):
        self.waiting.append(seconds)
        self.start()

    def start(self):
        while self.free and self.waiting:
            self.free -= 1
            self.cores.run(self.waiting.popleft(), self.end)

    def end(self):
        self.free += 1
        self.start()


class Journal:
    """Writes all requests that wait as one group, and then the next group."""

    def __init__(self, simulation, cores):
        self.simulation, self.cores = simulation, cores
        self.waiting = collections.deque()
        self.trainers = Threads(cores, max(2, simulation.machines.cores // 2))
        self.readers = Threads(simulation.database, 2)
        self.is_writing = False
        self.groups = self.entries = 0

    def submit(self, then):
        self.waiting.append(then)
        if not self.is_writing:
            self.write()

    def write(self):
        machines, parts = self.simulation.machines, self.simulation.parts
        if not self.waiting:
            self.is_writing = False
            return
        self.is_writing = True
        group = [self.waiting.popleft() for _ in range(min(len(self.waiting), machines.most_group))]
        self.groups += 1
        self.entries += len(group)
        work = (parts.journal_group + parts.journal * len(group)) * 1e-6
        stored = (parts.backend_group + parts.backend * len(group)) * 1e-6
        # Two round trips: lock and fetch; write and commit.
        waits = (4 * machines.network + machines.commit) * 1e-6
        self.cores.run(work, lambda: self.simulation.database.run(
            stored, lambda: self.simulation.after(waits, lambda: self.finish(group)), len(group)), len(group))

    def finish(self, group):
        parts = self.simulation.parts
        self.write()
        self.cores.run(parts.wake_group * 1e-6, None)
        for then in group:
            then()
        for first in range(0, len(group), TOGETHER):
            count = min(len(group) - first, TOGETHER) * 1e-6
            self.trainers.run(parts.train * count)
            self.readers.run(parts.train_read * count)
            self.simulation.replication.run(parts.replicate * count)
            self.simulation.standby.run(parts.standby * count)


class Simulation:
    """run() returns latencies in seconds, sorted, of the requests that arrived after the first fifth."""

    def __init__(self, parts, machines, rate, seconds, seed=1):
        self.parts, self.machines, self.rate, self.seconds = parts, machines, rate, seconds
        self.draw = random.Random(seed)
        self.now, self.order, self.events = 0.0, 0, []
        self.servers = [Cores(self, machines.cores) for _ in range(machines.servers)]
        self.database = Cores(self, machines.database_cores)
        self.replication = Threads(self.database, 1)
        self.standby = Threads(Cores(self, 1), 1)
        self.journals = [Journal(self, cores) for cores in self.servers]
        self.latencies, self.completed = [], 0  # completed: responses after the first fifth

    def after(self, seconds, then):
        self.order += 1
        heapq.heappush(self.events, (self.now + seconds, self.order, then))

    def arrive(self):
        self.after(self.draw.expovariate(self.rate), self.arrive)
        began = self.now
        entry = self.draw.randrange(self.machines.servers)
        owner = self.draw.randrange(self.machines.bandits) % self.machines.servers
        handle, forward = self.parts.handle * 1e-6, self.parts.forward * 1e-6
        network = self.machines.network * 1e-6

        def done():
            if self.now >= 0.2 * self.seconds:
                self.completed += 1
            if began >= 0.2 * self.seconds:
                self.latencies.append(self.now - began)

        def respond():
            if entry == owner:
                done()
            else:  # half of the work of forwarding is for the response
                self.after(network, lambda: self.servers[entry].run(forward / 2, done))

        def own():
            self.servers[owner].run(handle, lambda: self.journals[owner].submit(respond))

        if entry == owner:
            own()
        else:
            self.servers[entry].run(forward / 2, lambda: self.after(network, own))

    def run(self):
        self.arrive()
        while self.events and self.now < self.seconds:
            self.now, _, then = heapq.heappop(self.events)
            then()
        return sorted(self.latencies)

    @property
    def throughput(self):
        return self.completed / (0.8 * self.seconds)

    @property
    def backlog(self):
        """Seconds of work that wait at the standby."""
        return sum(self.standby.waiting)

    @property
    def group(self):
        return sum(each.entries for each in self.journals) / max(1, sum(each.groups for each in self.journals))
