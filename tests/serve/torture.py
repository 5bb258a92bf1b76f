"""torture.py EENET [KILLS [plain|leaky [SEED]]]: the server is killed with SIGKILL at random moments under load, KILLS times, and
started again (tests/fleet/history.py). Meanwhile models are replaced, settings change, and a bandit sleeps and wakes. After each
start all that was acknowledged since the one before is asked again. In the end nothing that was acknowledged may be lost or
changed, nothing may count twice (tests/fleet/checker.py), and a replay must find every decision, probability and model of the log.

leaky: on a disk that forgets at the end of the process what was not synced: see leaky_disk.c; EENET_LEAKY_DISK is the library. With
EENET_TEST_POSTGRES the store is a database there."""
import os
import random
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(TESTS), str(TESTS / "fleet")]

import checker  # noqa: E402
from harness import LIMIT, Server, new_database, pause, reserve_port, same, wait_for  # noqa: E402
from harness.postgres import Psql  # noqa: E402
from history import BANDITS, DEADLINES, Load, Worker  # noqa: E402
from store_dump import dump_postgres, dump_sqlite  # noqa: E402

OPTIONS = ["--publish-interval", 0.02, "--checkpoint-events", 2000, "--sleep-seconds", 0.1, "--trainers", 1, "--most-behind", 200]
MOST_BETWEEN = 150  # decisions from one kill to the next
BANDITS["shop"]["options"] = "f1.width=16,units=16,pending=64"  # keeps few decisions in memory


class Torture:
    def __init__(self, program, disk, seed):
        self.chance, self.disk = random.Random(seed), Path(disk).resolve()
        self.disk.mkdir()
        self.server = Server(program, self.disk / "data", *OPTIONS, store=new_database("torture"), port=reserve_port())
        self.server.log = Path("server.log")
        if disk == "leaky":
            self.server.environment = {"LD_PRELOAD": os.environ["EENET_LEAKY_DISK"], "LEAKY_DISK": str(self.disk)}
        self.load = Load({"one": self.server.port}, seed, rate=400, timeout=LIMIT)
        self.operator = Worker(self.load, "sleepy", seed)
        self.asked, self.open = 0, []  # operations that were asked again, up to here; of those before, without a response yet

    def start_load(self):
        self.server.start()
        self.server.call("POST", "/v1/bandits", {"name": "sleepy", "policy": "linucb", "features": "names=64", "wait": 3600}, 201)
        self.load.create_bandits()
        self.load.start()

    def wait_for_decisions(self, count):
        def decisions():
            same(self.load.trouble, [], "what failed in the load")
            return sum(map(len, self.load.history.acks.values()))

        enough = decisions() + count
        wait_for(lambda: decisions() >= enough, "no decisions", 0.002)

    def kill_often(self, kills):
        for _ in range(kills):
            for meddle in self.chance.sample([self.reset, self.upload, self.change_mode, self.conflict, self.wake], 2):
                meddle()
            self.wait_for_decisions(self.chance.randrange(MOST_BETWEEN))
            self.server.kill()
            if self.server.environment:
                self.server.environment["LEAKY_DISK_LUCK"] = self.chance.choice(["0", "0.3"])
            if self.chance.random() < 0.1:
                self.server.launch()
                pause(self.chance.uniform(0, 0.05))
                self.server.kill()
            self.server.start()
            self.load.running.clear()
            self.ask_again()
            self.load.running.set()

    def ask_again(self):
        operations = self.load.history.operations
        fresh, self.asked = self.open + operations[self.asked:], len(operations)
        self.open = [one for one in fresh if one.acknowledged is None]
        for one in fresh:
            if one.acknowledged is not None and one.is_repeatable():
                self.operator.perform(one)

    # ---- what an operator or a careless client may do at any time ----

    def model(self):
        return f"/v1/bandits/{self.chance.choice(self.load.bandits)}/model"

    def reset(self):
        self.server.call("DELETE", self.model())

    def upload(self):
        path = self.model()
        self.server.call("PUT", path, self.server.call("GET", path))

    def change_mode(self):
        self.server.call("PATCH", "/v1/bandits/vectors", {"mode": self.chance.choice(["online", "apprentice", "logging"])})

    def conflict(self):
        """Another request with an id that was used."""
        used = [one for one in self.load.history.operations[-200:] if one.kind == "decide" and one.acknowledged is not None]
        for one in used[:1]:
            self.server.call("POST", one.path(), {**one.item, "actions": one.item["actions"][:-1]}, 409)

    def wake(self):
        self.operator.perform(self.operator.decision())

    # ---- the end ----

    def judge(self, kills):
        """Whether the store has what it should have, and can be replayed."""
        self.wait_for_decisions(100)
        self.load.stop()
        same(self.load.trouble, [], "what failed in the load")
        # The store is not read meanwhile: on the disk that forgets other processes do not see all of it.
        for name in self.load.bandits:
            if BANDITS[name]["wait"] <= DEADLINES:
                self.server.wait_for(f"/v1/bandits/{name}/activity", lambda now: now["waiting"] == 0)
        self.server.stop()
        where = self.server.store
        dump = dump_postgres(Psql(where)) if where else dump_sqlite(self.server.folder, int(time.time() * 1e6))
        report = checker.check(self.load.history, dump)
        replayed = checker.check_with_program(self.server.program, self.server.place, report, "--from-beginning")
        counts, faults = report.counts, sum(map(len, report.violations.values()))
        print(f"{self.disk.name}, {kills} kills: {counts['acknowledged decisions']} decisions and {counts['acknowledged rewards']} "
              f"rewards acknowledged, {counts['repeats compared']} repeated with the same answer; {counts['events']} events in the log, "
              f"{counts['decisions settled']} decisions settled; {faults} faults", *report.lines(), replayed, sep="\n")
        return faults == 0


def main():
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.SystemRandom().randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    disks = sys.argv[3:4] or ["plain", "leaky"]
    if "leaky" in disks and (not os.environ.get("EENET_LEAKY_DISK") or new_database("torture")):
        print("the disk that forgets is not tried: EENET_LEAKY_DISK is not set, or the store is a database")
        disks.remove("leaky")
    good = True
    for disk in disks:
        torture = Torture(sys.argv[1], disk, seed)
        try:
            torture.start_load()
            torture.kill_often(kills)
            good = torture.judge(kills) and good
        finally:
            torture.load.give_up = time.monotonic()
            torture.load.stopping.set()
            torture.load.running.set()
            torture.server.kill()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
