#!/usr/bin/env python3
"""torture.py PROGRAM [--faults N] [--seed S] [--kinds KINDS] [--check-takeovers]: a fleet under load and random faults.

Three servers, a primary with a synchronous standby, and haproxy. Servers, owners, the leader and the primary are killed or
stopped, connections to the database are cut, delayed or hang, a clock is shifted, and servers drain. After that nothing that
was acknowledged may be lost, nothing may count twice, no two owners of a bandit may have written, and the model must equal
its replay: see checker.py. Exit status: 0, or 1 with the evidence kept, or 77 if PostgreSQL or haproxy are not installed."""
import argparse
import collections
import contextlib
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

from checker import check, check_with_program
from fleet import Fleet, find, need_postgres
from history import BANDITS, DEADLINES, Load
from store_dump import dump_postgres

from harness import Failure, pause, wait_for
from harness.postgres import Database, DatabaseError

HOT = "shop"
TAKEN_WITHIN = 5.0  # seconds in which a bandit gets a new owner: the summary lists those that took longer
RATE = 80  # operations per second, without those of the probes
MANY_TAKEOVERS = 20  # for a median that says something
SHORT = ["kill_owner", "pause_owner", "kill_primary", "hang", "kill_leader", "cut", "clock", "drain"]
REST = ["kill_server", "pause_server", "kill_owner", "refuse", "delay", "pause_primary", "split_primary", "pause_standby",
        "kill_primary_behind_standby", "kill_two", "kill_owner_and_primary", "pause_owner_and_kill_leader"]


class Torture:
    """The fleet, its load, and what was done to it."""

    def __init__(self, words, folder):
        self.chance = random.Random(words.seed)
        self.folder, self.words = folder, words
        library = Path(os.environ.get("EENET_MOVED_CLOCK") or Path(words.program).resolve().parent / "tests" / "libmoved_clock.so")
        self.database = Database(folder / "database")
        # A second in which /readyz says 503 is what the checks of haproxy need to notice that a server drains.
        self.fleet = Fleet(words.program, folder / "servers", self.database, 3, clock=1,
                           clock_library=library if library.is_file() else None, options=["--drain", "1"])
        self.has_clock = library.is_file()
        if not self.has_clock:
            self.say("the clock stays as it is: there is no libmoved_clock.so; build the tests, or set EENET_MOVED_CLOCK")
        self.load = None
        self.kinds = collections.Counter()
        self.kind = None  # of the fault under way
        self.takeovers = []  # (kind, bandit, moment) when the owner was killed or stopped
        self.failovers = []  # moments when the primary was lost
        self.drains = []  # (from, until)
        self.violations = []
        self.started = time.monotonic()

    def say(self, text):
        print(f"torture: {text}", flush=True)

    # ---- start and end ----

    def start(self):
        self.database.start()
        self.say(f"database: {', '.join(f'{node.name} on port {node.port}' for node in self.database.nodes)}")
        self.fleet.start()
        self.say(f"servers: {', '.join(server.url for server in self.fleet.servers)}; haproxy: {self.fleet.url}")
        self.replicate_without_waiting()
        self.database.psql((Path(__file__).parent / "witness.sql").read_text(encoding="utf-8"))
        ports = {server.name: server.port for server in self.fleet.servers}
        self.load = Load({"front": self.fleet.port, **ports}, self.words.seed, RATE)
        self.load.create_bandits()
        self.load.start()
        self.wait_for_service(time.monotonic())
        if self.chance.random() < 0.5:
            pause(2)  # else the first fault comes when other servers have hardly heard of the bandits

    def replicate_without_waiting(self):
        """If this changes, perhaps by a failover, the servers' logs say what is at risk."""
        name = self.database.standby.name
        for names, said in (("", "no longer replicates synchronously"), (name, "replicates synchronously again")):
            self.database.set_synchronous(names)
            for server in self.fleet.servers:
                wait_for(lambda at=server, sentence=said: sentence in at.said(None), f"no '{said}' in {server.log}")

    def stop(self):
        if self.load:
            self.load.give_up = time.monotonic()
            self.load.stopping.set()
        for part in (self.fleet, self.database):
            part.stop()

    # ---- service ----

    def wait_for_service(self, since):
        """Until each bandit has decided on a request that was sent since then, and all servers are ready."""
        for bandit in self.load.bandits:
            wait_for(lambda name=bandit: self.load.history.first_ack_after(name, since), f"bandit {bandit} does not decide")
        for server in self.fleet.servers:
            wait_for(server.ready, lambda at=server: f"{at.name} is not ready: {at.said()}")

    def owned_by(self, server):
        """The bandits whose owner it is, that have load on them."""
        with contextlib.suppress(DatabaseError):
            return [bandit for bandit, index in self.fleet.owners().items() if index == server.index and bandit in self.load.bandits]
        return []

    def lose(self, server, action):
        """Kills or stops a server; the bandits that it owns need another owner."""
        owned = self.owned_by(server)
        moment = time.monotonic()
        action()
        self.takeovers += [(self.kind, bandit, moment) for bandit in owned]
        return f"{server.name}, owner of {', '.join(owned) or 'nothing'}"

    def any_server(self):
        return self.chance.choice(self.fleet.servers)

    def wait(self, least, most):
        pause(self.chance.uniform(least, most))

    # ---- faults of servers ----

    def kill(self, server):
        text = self.lose(server, server.kill)
        self.wait(0, 5)
        server.start()
        return text

    def kill_server(self):
        return self.kill(self.any_server())

    def kill_owner(self):
        return self.kill(self.fleet.owner(HOT) or self.any_server())

    def kill_leader(self):
        return self.kill(self.fleet.owner("") or self.any_server())

    def kill_two(self):
        first, second = self.chance.sample(self.fleet.servers, 2)
        text = self.lose(first, first.kill) + " and " + self.lose(second, second.kill)
        self.wait(0, 4)
        second.start()
        self.wait(0, 2)
        first.start()
        return text

    def pause(self, server):
        text = self.lose(server, server.pause)
        seconds = self.chance.uniform(3, 8)
        pause(seconds)
        server.resume()
        return f"{text}, for {seconds:.1f} s"

    def pause_server(self):
        return self.pause(self.any_server())

    def pause_owner(self):
        return self.pause(self.fleet.owner(HOT) or self.any_server())

    def pause_owner_and_kill_leader(self):
        owner = self.fleet.owner(HOT) or self.any_server()
        leader = self.fleet.owner("")
        if leader in (owner, None):
            leader = self.chance.choice([server for server in self.fleet.servers if server is not owner])
        text = self.lose(owner, owner.pause)
        self.wait(0, 1)
        text += " and " + self.lose(leader, leader.kill)
        self.wait(3, 8)
        owner.resume()
        leader.start()
        return text

    def drain(self):
        """SIGTERM: clients of the load balancer notice nothing."""
        server = self.fleet.owner(HOT) if self.chance.random() < 0.7 else self.any_server()
        server = server or self.any_server()
        begin = time.monotonic()
        status = server.terminate()
        self.drains.append((begin, time.monotonic()))
        if status:
            self.violations.append(f"drain: {server.name} ended with status {status}; the end of its log:\n{server.said()}")
        self.wait(0, 2)
        server.start()
        return f"{server.name}, in {self.drains[-1][1] - begin:.1f} s"

    def clock(self):
        server = next(server for server in self.fleet.servers if server.clock_library)
        seconds = self.chance.choice([-1, 1]) * self.chance.randrange(60, 900)
        server.shift_clock(seconds)
        self.wait(2, 4)
        return f"{server.name}, by {seconds} s"

    # ---- faults of the network ----

    def through_proxy(self, action, text):
        """A fault between one server and the database, for a while."""
        server = self.fleet.owner(HOT) if self.chance.random() < 0.7 else self.any_server()
        server = server or self.any_server()
        owned = self.owned_by(server)
        action(server.proxy)
        self.wait(2, 6)
        server.proxy.restore()
        return f"{server.name}, owner of {', '.join(owned) or 'nothing'}{text}"

    def cut(self):
        """All connections at once, several times; new ones succeed."""
        server = self.fleet.owner(HOT) or self.any_server()
        for _ in range(self.chance.randrange(1, 5)):
            server.proxy.cut()
            self.wait(0.05, 0.6)
        return server.name

    def refuse(self):
        return self.through_proxy(lambda proxy: proxy.refuse(), "")

    def hang(self):
        return self.through_proxy(lambda proxy: proxy.hang(), "")

    def delay(self):
        seconds = self.chance.choice([0.01, 0.05, 0.2, 0.5])
        return self.through_proxy(lambda proxy: proxy.delay(seconds), f", by {1000 * seconds:.0f} ms in each direction")

    # ---- faults of the database ----

    def replace_primary(self):
        """The standby becomes the primary, and gets a standby. Meanwhile commits wait, or not, as operators have it."""
        self.database.promote()
        waits = self.chance.random() < 0.5
        if not waits:
            self.database.set_synchronous("")
        self.database.rebuild_standby()
        return f"{self.database.primary.name} is the primary now; commits {'waited' if waits else 'did not wait'} for the new standby"

    def kill_primary(self):
        self.failovers.append(time.monotonic())
        self.database.kill_primary()
        self.wait(0, 2)
        return self.replace_primary()

    def split_primary(self):
        """The primary hangs and comes back when the standby is promoted: for a while there are two."""
        self.failovers.append(time.monotonic())
        self.database.primary.signal(signal.SIGSTOP)
        self.wait(0, 2)
        old = self.database.primary
        self.database.promote()
        old.signal(signal.SIGCONT)
        self.wait(0, 2)
        old.kill()
        self.database.rebuild_standby()
        return f"{self.database.primary.name} is the primary now"

    def pause_primary(self):
        node = self.database.primary
        self.failovers.append(time.monotonic())
        node.signal(signal.SIGSTOP)
        self.wait(1, 5)
        node.signal(signal.SIGCONT)
        return node.name

    def pause_standby(self):
        """No commit can end meanwhile."""
        node, by_network = self.database.standby, self.chance.random() < 0.5
        if by_network:
            self.database.replication.hang()
        else:
            node.signal(signal.SIGSTOP)
        self.wait(1, 6)
        if by_network:
            self.database.replication.restore()
        else:
            node.signal(signal.SIGCONT)
        return f"{node.name}, {'cut off from the primary' if by_network else 'stopped'}"

    def kill_primary_behind_standby(self):
        """The standby gets nothing, so that commits are waiting for it that only the primary has. Then the primary is gone."""
        self.failovers.append(time.monotonic())
        self.database.replication.hang()
        self.wait(1, 6)
        self.database.kill_primary()
        self.database.replication.refuse()
        return self.replace_primary()

    def kill_owner_and_primary(self):
        owner = self.fleet.owner(HOT) or self.any_server()
        owned = self.owned_by(owner)
        self.failovers.append(time.monotonic())
        owner.kill()
        self.wait(0, 0.5)
        self.database.kill_primary()
        text = self.replace_primary()
        owner.start()
        return f"{owner.name}, owner of {', '.join(owned) or 'nothing'}; {text}"

    # ---- the run ----

    def schedule(self):
        """Kinds of faults without end: all of them in a random order, then again. A short run has the most important."""
        while True:
            kinds = self.words.kinds or (SHORT[:] if self.words.faults <= len(SHORT) else SHORT + REST)
            kinds = [kind for kind in kinds if kind != "clock" or self.has_clock]
            if not kinds:
                raise Failure("no fault is left: without libmoved_clock.so there is no 'clock'")
            yield from self.chance.sample(kinds, len(kinds))

    def run_faults(self):
        for kind in self.schedule():
            done = sum(self.kinds.values())
            if done >= self.words.faults:
                return
            begin, self.kind = time.monotonic(), kind
            text = getattr(self, kind)()
            self.kinds[kind] += 1
            healed = time.monotonic()
            self.wait_for_service(healed)
            self.say(f"{done + 1}/{self.words.faults} {kind}: {text}; {time.monotonic() - begin:.1f} s, {self.acknowledged()} acknowledged")
            if self.load.trouble:
                return
            self.wait(0.1, 1.0)

    def acknowledged(self):
        return sum(operation.acknowledged is not None for operation in list(self.load.history.operations))

    def end(self):
        """Stops the load and the servers, and compares. Returns the checker's report and what the program printed."""
        self.load.stop()
        self.violations += self.load.trouble
        server = self.fleet.servers[0]
        for name in self.load.bandits:
            if BANDITS[name]["wait"] <= DEADLINES:
                server.wait_for(f"/v1/bandits/{name}/activity", lambda now: now["waiting"] == 0)
        for server in self.fleet.servers:
            status = server.terminate()
            if status:
                self.violations.append(f"stop: {server.name} ended with status {status}; the end of its log:\n{server.said()}")
        self.load.history.save(self.folder / "history.jsonl")
        dump = dump_postgres(self.database)
        report = check(self.load.history, dump)
        printed = check_with_program(self.words.program, self.database.url(), report)
        self.check_takeovers()
        for sentence in self.violations:
            report.violate("run", sentence)
        return report, printed

    # ---- the summary ----

    def time_to_serve(self, bandit, moment):
        """Seconds to the first acknowledged decision of the bandit that was sent after the moment."""
        return (self.load.history.first_ack_after(bandit, moment) or time.monotonic()) - moment

    def takeover_times(self):
        return [self.time_to_serve(bandit, moment) for _, bandit, moment in self.takeovers]

    def check_takeovers(self):
        times = self.takeover_times()
        if not self.words.check_takeovers or len(times) < MANY_TAKEOVERS or statistics.median(times) <= TAKEN_WITHIN:
            return
        self.violations.append(f"takeovers: their median is {statistics.median(times):.2f} s, of {len(times)}; at most {TAKEN_WITHIN:.0f} s "
                               "are promised on a machine that is not overloaded")

    def slow_takeovers(self):
        """Those that took longer than they should, in words. Two faults at once may take longer."""
        found = [(kind, bandit, self.time_to_serve(bandit, moment)) for kind, bandit, moment in self.takeovers]
        return ", ".join(f"{bandit} {seconds:.1f} s ({kind})" for kind, bandit, seconds in found if seconds > TAKEN_WITHIN) or "none"

    def summary(self, report, printed):
        history, counts = self.load.history, report.counts
        takeovers = self.takeover_times()
        failovers = [self.time_to_serve(HOT, moment) for moment in self.failovers]
        in_drains = [row for row in history.failures if row[1] == "front" and any(begin <= row[0] <= end for begin, end in self.drains)]
        kinds = report.violations

        def of(times):
            return f"median {statistics.median(times):.2f} s, longest {max(times):.2f} s, of {len(times)}" if times else "none"

        lines = [
            f"faults: {sum(self.kinds.values())} ({', '.join(f'{kind} {count}' for kind, count in sorted(self.kinds.items()))})",
            f"seed: {self.words.seed}; {time.monotonic() - self.started:.0f} s",
            f"acknowledged: {counts['acknowledged decisions']} decisions, {counts['acknowledged rewards']} rewards, "
            f"{counts['acknowledged activations']} activations; {counts['repeats compared']} repeats compared",
            f"lost: {sum(len(kinds.get(kind, [])) for kind in ('lost decision', 'lost reward', 'lost activation'))}",
            f"joined or decided twice: {len(kinds.get('joined twice', [])) + len(kinds.get('decided twice', []))}",
            f"writes of two owners: {len(kinds.get('owners', []))}, of {counts['writes witnessed']} writes by "
            f"{counts['owners of a bandit']} owners",
            f"time from the loss of an owner to the next decision of its bandit: {of(takeovers)}",
            f"longer than {TAKEN_WITHIN:.0f} s: {self.slow_takeovers()}",
            f"time from the loss of the primary to the next decision: {of(failovers)}",
            f"longest time without service: all bandits {history.longest_gap():.2f} s; "
            + ", ".join(f"{bandit} {history.longest_gap(bandit):.2f} s" for bandit in self.load.bandits),
            f"requests that failed and were sent again: {len(history.failures)}; through haproxy during {len(self.drains)} drains: "
            f"{len(in_drains)}" + "".join(f" ({reason})" for _, _, reason in in_drains),
            f"largest deviation of an event's time: {report.facts.get('deviation', 0.0):.3f} s",
            *printed.strip().splitlines(),
            *report.lines(),
            "no violation" if report.ok() else f"VIOLATED; evidence in {self.folder}",
        ]
        (self.folder / "summary.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program", help="eenet")
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None, help="default: another one each time")
    parser.add_argument("--kinds", type=lambda text: text.split(","), help="only these faults: " + ", ".join(SHORT + REST))
    parser.add_argument("--check-takeovers", action="store_true",
                        help=f"a median above {TAKEN_WITHIN:.0f} s is a violation, if there are {MANY_TAKEOVERS} takeovers or more")
    words = parser.parse_args()
    words.program = str(Path(words.program).resolve())
    if words.seed is None:
        words.seed = random.SystemRandom().randrange(1 << 30)
    need_postgres()
    if not find("haproxy"):
        print("torture: skipped: haproxy is not installed")
        return 77
    folder = Path(tempfile.mkdtemp(prefix="eenet-torture-"))
    folder.chmod(0o755)  # for the user postgres
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    return torture(words, folder)


def torture(words, folder):
    run = Torture(words, folder)
    keep = True
    try:
        run.start()
        run.run_faults()
        report, printed = run.end()
        for line in run.summary(report, printed):
            print(line)
        keep = not report.ok()
        return 1 if keep else 0
    except KeyboardInterrupt:
        keep = False
        print("torture: interrupted")
        return 130
    except Failure as error:
        if run.load:
            run.load.give_up = time.monotonic()
            run.load.history.save(folder / "history.jsonl")
        print(f"torture: {error}\ntorture: evidence in {folder}")
        return 1
    finally:
        run.stop()
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
