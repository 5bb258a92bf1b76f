"""clock.py EENET: the server with clocks that are wrong. 1,050 events, 150 pending decisions and a retention of 30 days; then the
clock is 400 days ahead at the start, or jumps while the server runs. Nothing is settled or removed because of it, unless an
operator says that this time has passed; and once the clock is right, so are the times of events. EENET_MOVED_CLOCK is the
library that moves clocks (moved_clock.c); exits with 77 without it."""
import datetime
import json
import os
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import Server, check, run, same, scratch_folder, wait_for  # noqa: E402

DECISIONS, REWARDED, DAY, WAIT = 450, 300, 86400, 2000
OPEN = DECISIONS - REWARDED
FLAGS = ["--retention-days", 30, "--checkpoint-events", 100, "--checkpoints", 1]


class Clock:
    """Seconds that are added to the wall clock, and to the time since the start of the machine."""

    def __init__(self, path):
        self.path, self.wall, self.boot = path, 0, 0
        path.write_bytes(bytes(16))

    def set(self, wall, boot=None):
        self.wall, self.boot = wall, self.boot if boot is None else boot
        with open(self.path, "r+b", buffering=0) as file:
            for at, value in ((8, self.boot), (0, self.wall)):
                file.seek(at)
                file.write(struct.pack("=q", value))

    def let_pass(self, seconds):
        """In steps that are no jump for a server that reads one clock before a step and the other one after it."""
        for left in range(seconds, 0, -250):
            self.set(self.wall + min(left, 250), self.boot + min(left, 250))


class Shop(Server):
    """A server whose clocks are moved, and its bandit."""

    def decide(self, number):
        self.call("POST", "/v1/bandits/shop/decide", {"id": f"d{number}", "actions": [[1, number % 7], [0, 1]]})

    def reward(self, number):
        same(self.call("POST", "/v1/bandits/shop/reward", {"id": f"d{number}", "value": 1})["outcome"], "joined", "outcome")

    def log_lines(self):
        return [json.loads(line) for line in self.call("GET", "/v1/bandits/shop/log").splitlines()]

    def days_off(self, number):
        """How many days the wall time of a decision is from now, as the export says it."""
        line = next(line for line in self.log_lines() if line["EventId"] == f"d{number}")
        then = datetime.datetime.fromisoformat(line["Timestamp"][:19] + "+00:00").timestamp()
        return (then - time.time()) / DAY

    def assert_waiting(self, count):
        same(self.metric("eenet_decisions_waiting"), count, "decisions that wait")

    def all_settled(self):
        wait_for(lambda: self.metric("eenet_decisions_waiting") == 0, "decisions wait")

    def accept(self, how, status=200):
        got = self.expect("POST", "/v1/clock", {"accept": how}, status)
        check(status != 200 or got.json["in_doubt"] is False, f"accept: {got}")

    def assert_doubt(self, expected):
        got = self.call("GET", "/readyz")
        same(("warning" in got, self.metric("eenet_clock_in_doubt")), (expected, expected), "doubt about the clock")


def main():
    library = os.environ.get("EENET_MOVED_CLOCK")
    if not library:
        print("the clocks of a sanitized program cannot be moved")
        sys.exit(77)
    with scratch_folder() as folder:
        clock = Clock(folder / "clock")

        def shop(name):
            return Shop(sys.argv[1], folder / name, *FLAGS, environment={"LD_PRELOAD": library, "MOVED_CLOCK": str(clock.path)})

        def copy(name):
            run(sys.argv[1], "backup", data.folder, folder / name)
            return shop(name)

        def assert_refused(server, words, *flags):
            server.launch(*flags)
            same(server.process.wait(), 1, "exit status")
            check(words in server.said(), f"expected '{words}': {server.said()}")

        data = shop("data").start()
        data.call("POST", "/v1/bandits", {"name": "shop", "dim": 2, "policy": "linucb", "wait": WAIT, "default_reward": 0}, 201)
        for number in range(DECISIONS):
            data.decide(number)
        for number in range(REWARDED):
            data.reward(number)
        data.assert_waiting(OPEN)
        before = data.log_lines()
        same(len(before), REWARDED, "lines of the log")
        data.stop()

        # A wrong clock is refused.
        clock.set(400 * DAY)
        assert_refused(data, "400 days after the last event")
        assert_refused(data, f"settles {OPEN} decisions, removes ")
        clock.set(-7200)
        assert_refused(data, "before the last event")
        assert_refused(data, "before the last event", "--accept-clock", "elapsed")
        clock.set(0)
        data.start()
        same(data.log_lines(), before, "the log after it was refused")
        data.assert_waiting(OPEN)
        data.stop()

        # The clock was wrong before: nothing is settled before its time, and nothing is removed.
        server = copy("corrected")
        clock.set(400 * DAY)
        server.start("--accept-clock", "corrected")
        server.reward(DECISIONS - 1)  # its wait goes on
        server.decide(DECISIONS)
        server.assert_waiting(OPEN)
        clock.let_pass(WAIT + 400)
        server.all_settled()
        check(399 < server.days_off(DECISIONS) < 401, f"{server.days_off(DECISIONS)} days")
        same(len(server.log_lines()), DECISIONS + 1, "lines of the log")
        server.stop()
        clock.set(clock.wall - 400 * DAY)  # it was wrong now, and not before
        assert_refused(server, "before the last event")
        server.start("--accept-clock", "corrected")
        server.decide(DECISIONS + 1)
        clock.let_pass(WAIT + 400)
        server.all_settled()
        check(-1 < server.days_off(DECISIONS + 1) < 1, f"{server.days_off(DECISIONS + 1)} days")
        same(len(server.log_lines()), DECISIONS + 2, "lines of the log")
        server.stop()
        run(server.program, "replay", server.folder)

        for jump in (400 * DAY, -3600):
            clock.set(0, 0)
            holds_after_a_jump(copy(f"jump{jump:+}"), clock, jump)

        # The server was off for 400 days: all that waits is settled, and retention goes to work.
        server = copy("elapsed")
        clock.set(400 * DAY, 0)
        server.start("--accept-clock", "elapsed")
        server.all_settled()
        same(server.metric("eenet_decisions_defaulted_total"), OPEN, "decisions that were settled with the default")
        wait_for(lambda: len(server.log_lines()) < REWARDED, "nothing is removed")
        server.stop()
        server.start()  # accepted once
        server.stop()


def holds_after_a_jump(server, clock, jump):
    server.start()
    clock.set(clock.wall + 2)  # as NTP does it
    server.decide(DECISIONS)
    server.assert_doubt(False)
    clock.set(clock.wall + jump)
    server.assert_doubt(True)
    check(server.call("GET", "/v1/clock")["in_doubt"] is True, "doubt")
    server.decide(DECISIONS + 1)
    server.reward(DECISIONS + 1)
    server.reward(DECISIONS - 1)
    clock.let_pass(WAIT + 400)  # less than the hour after which it is accepted
    server.decide(DECISIONS + 2)
    same(server.metric("eenet_decisions_defaulted_total"), 0, "decisions that were settled")
    server.assert_waiting(OPEN + 1)
    server.stop()
    server.start()  # restarting is no way around it
    server.assert_doubt(True)
    server.decide(DECISIONS + 3)
    same(server.metric("eenet_decisions_defaulted_total"), 0, "decisions that were settled")
    server.accept("yes", 400)
    server.accept("corrected")
    server.assert_doubt(False)
    server.accept("corrected", 409)
    clock.let_pass(WAIT + 400)
    server.all_settled()
    clock.set(clock.wall - jump)  # the clock is right again, without an operator: after an hour the server trusts it
    server.assert_doubt(True)
    clock.let_pass(3300)
    server.assert_doubt(True)
    clock.let_pass(400)
    server.assert_doubt(False)
    server.decide(DECISIONS + 4)
    clock.let_pass(WAIT + 400)
    server.all_settled()
    check(-1 < server.days_off(DECISIONS + 4) < 1, f"{server.days_off(DECISIONS + 4)} days")
    same(len(server.log_lines()), DECISIONS + 5, "lines of the log")
    server.stop()


if __name__ == "__main__":
    main()
