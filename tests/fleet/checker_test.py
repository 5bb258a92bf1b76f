#!/usr/bin/env python3
"""checker_test.py PROGRAM: what the checker must find, and that it finds nothing else.

A real server with SQLite gives a real history and a real store, in which the checker finds nothing. Then each way to lose,
repeat or change something is done to a copy of them, one at a time, and the checker must name it."""
import inspect
import json
import pickle
import shutil
import sqlite3
import sys
import time
from pathlib import Path

from checker import Report, check, check_with_program
from history import History, Load
from store_dump import (ACTIVATED, CHECKPOINT, DECISION, JOINED, LATE, REPEATED, REWARD, SETTLED, SLOT_MARK, STEP, Event, dump_sqlite)

from harness import Server, wait_for

ENOUGH = 400  # acknowledged operations


def record(program, folder):
    """(history, dump) of load, until decisions of the bandit "sum" are settled."""
    with Server(program, folder / "store") as server:
        load = Load({"one": server.port}, seed=1, rate=100)
        load.create_bandits()
        load.start()
        wait_for(lambda: load.trouble or server.ask("GET", "/v1/bandits/sum/log").bytes, "no decision is settled")
        wait_for(lambda: load.trouble or sum(op.acknowledged is not None for op in list(load.history.operations)) >= ENOUGH,
                 "too little load")
        load.stop()
        server.stop()
    if load.trouble:
        sys.exit(f"checker_test: {load.trouble}")
    return load.history, dump_sqlite(folder / "store", int(time.time() * 1e6))


# ---- finding something to damage ----

class Case:
    """A copy of both, to be damaged."""

    def __init__(self, packed):
        self.history = History()
        self.history.operations, self.history.settings, self.dump = pickle.loads(packed)

    def bandit(self, name):
        return next(number for number, row in self.dump.bandits.items() if row[0] == name)

    def events(self, name, kind):
        return [event for event in self.dump.events if event.bandit == self.bandit(name) and event.kind == kind]

    def operations(self, name, kind):
        return [op for op in self.history.operations if op.bandit == name and op.kind == kind and op.acknowledged]

    def event_of(self, operation):
        """Of a reward with an id."""
        return next(event for event in self.events(operation.bandit, REWARD)
                    if event.id == operation.item["id"] and event.reward_id == operation.item["reward_id"])

    def append(self, name, **fields):
        """An event at the end of a log, as a server would write it."""
        bandit = self.bandit(name)
        last = max((event for event in self.dump.events if event.bandit == bandit), key=lambda event: event.number)
        event = Event(**{**vars(last), "id": "", "decision": 0, "value": 0.0, "outcome": 0, "reward_id": "", "body": b"", **fields,
                         "number": last.number + 1})
        self.dump.events.append(event)
        self.dump.log_ends[bandit] = (1, event.number)
        return event

    def drop(self, event):
        self.dump.events.remove(event)

    def cut(self, name, last):
        """The log ends earlier, and all tables agree: as after a failover to a standby that was behind."""
        bandit = self.bandit(name)
        self.dump.events = [event for event in self.dump.events if event.bandit != bandit or event.number <= last]
        self.dump.log_ends[bandit] = (1, last)
        left = [event for event in self.dump.events if event.bandit == bandit]
        numbers = {event.number for event in left}
        settled = {event.decision: event for event in left if event.kind == SETTLED}
        rows = {}
        for key, row in self.dump.decisions.items():
            if key[0] != bandit:
                rows[key] = row
            elif key[1] in numbers:
                joined = [event.value for event in left if event.kind == REWARD and event.decision == key[1] and event.outcome in (1, 5)]
                rows[key] = (row[0], len(joined), settled[key[1]].number if key[1] in settled else 0, joined[0] if joined else 0.0,
                             row[4], row[5])
        self.dump.decisions = rows
        self.dump.ids = {key: number for key, number in self.dump.ids.items() if key[0] != bandit or number in numbers}
        rewards = {(bandit, event.id, event.reward_id) for event in left if event.kind == REWARD}
        self.dump.reward_ids = {key: row for key, row in self.dump.reward_ids.items() if key[0] != bandit or key in rewards}


# ---- the damage: each function is one case, and returns the kinds of which one must be found ----

def lost_decision_event(case):
    case.drop(case.events("shop", DECISION)[5])
    return {"gap"}


def lost_end_of_the_log(case):
    case.cut("shop", case.events("shop", DECISION)[-10].number - 1)
    return {"lost decision"}


def lost_reward_at_the_end(case):
    last = max(op.acknowledged for op in case.operations("shop", "decide"))
    rewards = [case.event_of(op) for op in case.operations("shop", "reward") if op.acknowledged > last - 2]
    case.cut("shop", max(event.number for event in rewards) - 1)
    return {"lost reward"}


def lost_bandit(case):
    bandit = case.bandit("sum")
    case.dump.events = [event for event in case.dump.events if event.bandit != bandit]
    del case.dump.bandits[bandit]
    return {"lost decision"}


def reward_logged_twice(case):
    event = next(event for event in case.events("sum", REWARD) if event.outcome == JOINED)
    fields = {key: value for key, value in vars(event).items() if key not in ("number", "time")}
    case.append("sum", **fields)
    return {"joined twice"}


def reward_of_nobody_in_a_sum(case):
    event = next(event for event in case.events("sum", REWARD) if event.outcome == JOINED and event.value)
    fields = {key: value for key, value in vars(event).items() if key not in ("number", "time", "reward_id")}
    case.append("sum", **fields, reward_id="another")
    return {"not sent"}


def settled_twice(case):
    event = case.events("shop", SETTLED)[3]
    case.append("shop", kind=SETTLED, decision=event.decision, value=event.value, outcome=event.outcome)
    return {"joined twice"}


def both_of_two_rewards_count(case):
    event = next(event for event in case.events("shop", REWARD) if event.outcome == REPEATED)
    event.outcome = JOINED
    return {"joined twice"}


def decided_twice(case):
    event = case.events("quick", DECISION)[2]
    case.append("quick", kind=DECISION, id=event.id, body=event.body)
    return {"decided twice"}


def another_answer_to_a_repeat(case):
    operation = next(op for op in case.operations("shop", "decide") if len(op.answers) > 1)
    answer = json.loads(operation.answers[-1][1])
    answer["version"] += 1
    operation.answers[-1] = (operation.answers[-1][0], json.dumps(answer, separators=(",", ":")))
    return {"answers differ"}


def a_space_in_a_repeat(case):
    operation = next(op for op in case.operations("shop", "decide") if len(op.answers) > 1)
    operation.answers[-1] = (operation.answers[-1][0], operation.answers[-1][1].replace(":", ": ", 1))
    return {"answers differ"}


def another_outcome_to_a_repeat(case):
    operation = next(op for op in case.operations("sum", "reward") if len(op.answers) > 1)
    operation.answers[-1] = (operation.answers[-1][0], '{"outcome":"late"}')
    return {"answers differ"}


def another_action_in_the_log(case):
    event = case.events("shop", DECISION)[4]
    body = bytearray(event.body)
    body[35] = (body[35] + 1) % body[34]  # the action, of so many
    event.body = bytes(body)
    return {"changed decision"}


def another_probability_in_a_slot(case):
    operation = case.operations("slots", "decide")[2]
    answer = json.loads(operation.answers[0][1])
    answer["slots"][1]["probability"] = 0.123
    operation.answers = [("one", json.dumps(answer))]
    return {"changed decision"}


def another_version(case):
    operation = case.operations("early", "decide")[1]
    answer = json.loads(operation.answers[0][1])
    answer["version"] += 1
    operation.answers = [("one", json.dumps(answer))]
    return {"changed decision"}


def another_value(case):
    case.event_of(case.operations("shop", "reward")[0]).value += 0.125
    return {"changed reward"}


def another_outcome(case):
    operation = next(op for op in case.operations("shop", "reward") if '"joined"' in op.answers[0][1])
    operation.answers = [("one", '{"outcome":"repeated"}')]
    return {"changed reward"}


def late_that_was_in_time(case):
    next(event for event in case.events("sum", REWARD) if event.outcome == JOINED).outcome = LATE
    return {"rules"}


def another_sum(case):
    event = next(event for event in case.events("sum", SETTLED) if event.outcome == 6)
    event.value += 1
    return {"rules"}


def default_for_a_rewarded_decision(case):
    event = next(event for event in case.events("sum", SETTLED) if event.outcome == 6)
    event.outcome, event.value = 7, 0.0
    return {"rules"}


def early_reward_not_claimed(case):
    event = next(event for event in case.events("early", REWARD) if event.outcome == 5)
    event.kind = CHECKPOINT
    return {"rules"}


def lost_activation(case):
    event = next(event for event in case.events("deferred", ACTIVATED) if event.outcome == JOINED)
    event.kind, event.id, event.outcome = CHECKPOINT, "", 0
    return {"lost activation"}


def stale_model(case):
    """As of an owner that continues with a model from before it lost the bandit."""
    steps = case.events("quick", STEP)
    steps[-1].body = steps[0].body
    return {"steps"}


def unknown_version(case):
    first, *_, event = case.events("vectors", DECISION)
    event.body = event.body[:18] + first.number.to_bytes(8, "little") + event.body[26:]
    return {"steps"}


def time_goes_back(case):
    case.events("shop", DECISION)[7].time -= 5_000_000
    return {"time"}


def clock_of_a_server(case):
    bandit = case.bandit("shop")
    for event in case.dump.events:
        event.time += 300_000_000 * (event.bandit == bandit)
    case.dump.decisions = {key: (row[0] + 300_000_000 * (key[0] == bandit), *row[1:]) for key, row in case.dump.decisions.items()}
    return {"clock"}


def nobody_sent_it(case):
    name = case.events("shop", DECISION)[9].id
    case.history.operations = [op for op in case.history.operations if op.item["id"] != name]
    return {"not sent"}


def against_the_order(case):
    decisions = sorted(case.operations("shop", "decide"), key=lambda op: op.sent)
    early, late = decisions[2], decisions[-2]
    late.acknowledged = early.sent - 1
    return {"order"}


def unknown_although_decided(case):
    operation = next(op for op in case.operations("shop", "reward"))
    case.event_of(operation).outcome = 4
    operation.answers = [("one", '{"outcome":"unknown"}')]
    return {"order"}


def deadline_passed(case):
    case.dump.now += 3_600_000_000
    return {"deadline"}


def row_of_a_decision(case):
    key = next(iter(case.dump.decisions))
    row = case.dump.decisions[key]
    case.dump.decisions[key] = (*row[:1], row[1] + 1, *row[2:])
    return {"tables"}


def row_of_an_id(case):
    del case.dump.ids[next(key for key in case.dump.ids if SLOT_MARK in key[1])]
    return {"tables"}


def row_of_a_reward_id(case):
    del case.dump.reward_ids[next(iter(case.dump.reward_ids))]
    return {"tables"}


def row_of_an_unclaimed_reward(case):
    case.dump.unclaimed.add((case.bandit("early"), "nothing", 5))
    return {"tables"}


def end_of_a_log(case):
    bandit = case.bandit("vectors")
    case.dump.log_ends[bandit] = (1, case.dump.log_ends[bandit][1] + 1)
    return {"gap"}


def lost_settings(case):
    case.history.settings.append(("quick", 77, True))
    return {"settings"}


def refused_request(case):
    case.operations("shop", "decide")[0].refusals.append(("one", 500, '{"error":{}}'))
    return {"refused"}


# ---- what the trigger saw ----

def write(number, **fields):
    return {"number": number, "bandit": 1, "owner": 1, "token": 1, "old_owner": 1, "old_token": 1, "old_last": number, "last": number + 1,
            "application": "eenet writer 1", **fields}


def a_handover(case):
    """Nothing is wrong here."""
    moved = {"owner": 2, "token": 2, "application": "eenet writer 2"}
    case.dump.writes = [write(1), write(2), write(3, **{**moved, "last": 3}),
                        write(4, **moved, old_owner=2, old_token=2, old_last=3, last=4)]
    return set()


def late_write_of_an_old_owner(case):
    a_handover(case)
    case.dump.writes.append(write(5, owner=1, token=1, old_owner=2, old_token=2, old_last=4, last=5))
    return {"owners"}


def two_writers_with_one_token(case):
    a_handover(case)
    case.dump.writes[1]["application"] = "eenet writer 3"
    return {"owners"}


def writer_that_does_not_own(case):
    a_handover(case)
    for row in case.dump.writes[2:]:
        row["application"] = "eenet writer 3"
    return {"owners"}


def writer_that_is_no_server(case):
    a_handover(case)
    for row in case.dump.writes[2:]:
        row["application"] = "psql"
    return {"owners"}


def new_owner_without_a_new_token(case):
    a_handover(case)
    for row in case.dump.writes[2:]:
        row["token"] = 1
    case.dump.writes[3]["old_token"] = 1
    return {"owners"}


def writes_that_overlap(case):
    a_handover(case)
    case.dump.writes[3]["old_last"] = 2
    return {"owners"}


CASES = [one for one in list(globals().values()) if inspect.isfunction(one) and list(inspect.signature(one).parameters) == ["case"]]


def damaged_store(program, folder):
    """A value that changed on the disk: `eenet check` finds it."""
    shutil.copytree(folder / "store", folder / "damaged")
    connection = sqlite3.connect(folder / "damaged" / "eenet.db")
    with connection:
        connection.execute("UPDATE events SET value = value + 1 WHERE place = (SELECT min(place) FROM events WHERE kind = 2)")
    connection.close()
    report = Report()
    check_with_program(program, str(folder / "damaged"), report)
    return set(report.violations)


def main(program):
    folder = Path.cwd() / "checker_test"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    history, dump = record(program, folder)
    report = check(history, dump)
    check_with_program(program, str(folder / "store"), report)
    failed = []
    if not report.ok():
        failed.append("nothing was damaged, and the checker found:\n" + "\n".join(report.lines()))
    packed = pickle.dumps((history.operations, history.settings, dump))
    for damage in CASES:
        case = Case(packed)
        try:
            expected = damage(case)
        except (StopIteration, IndexError):
            failed.append(f"{damage.__name__}: the load has nothing that can be damaged in this way")
            continue
        found = set(check(case.history, case.dump).violations)
        if not expected <= found or (not expected and found):
            failed.append(f"{damage.__name__}: expected {expected or 'nothing'}, found {found or 'nothing'}")
    found = damaged_store(program, folder)
    if not {"check", "replay"} <= found:
        failed.append(f"damaged_store: expected check and replay, found {found or 'nothing'}")
    for sentence in failed:
        print(sentence)
    print(f"{report.counts['acknowledged decisions']} decisions and {report.counts['acknowledged rewards']} rewards recorded; "
          f"{len(CASES) + 1 - len(failed)} of {len(CASES) + 1} kinds of damage found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
