"""Compares what clients saw (history.py) with what the store holds (store_dump.py). Independent of the server's code.

Finds: acknowledged decisions and rewards that are lost or changed; rewards that count twice; answers that differ between
repeats; gaps in the log, and times that go back; events that nobody sent; outcomes that are against the rules; requests that
were ordered against the time in which clients sent them; writes of two owners of a bandit; deadlines that passed; and what
`eenet check` and `eenet replay` find."""
import bisect
import json
import re
import subprocess
from collections import Counter

from log_rules import BanditLog
from store_dump import CLAIMED, JOINED, LATE, OUTCOMES, REPEATED, SLOT_MARK, UNKNOWN

MOST_SHOWN = 20  # violations of each kind
# Events have the time of the database. Servers estimate it between two beats, and this machine may be busy.
CLOCK_SLACK = 2.0
DEADLINE_SLACK = 10.0  # seconds after the end of a wait by which a decision is settled, when the fleet is well again


class Report:
    """Violations by kind, and counts."""

    def __init__(self):
        self.violations = {}
        self.counts = Counter()
        self.facts = {}

    def violate(self, kind, sentence):
        self.violations.setdefault(kind, []).append(sentence)

    def ok(self):
        return not self.violations

    def lines(self):
        for kind, sentences in sorted(self.violations.items()):
            yield f"{kind}: {len(sentences)}"
            for sentence in sentences[:MOST_SHOWN]:
                yield f"    {sentence}"


# ---- the log by itself ----

def read_logs(dump, report):
    """The logs of all bandits by name."""
    logs = {number: BanditLog(number, name, report.violate) for number, (name, _) in dump.bandits.items()}
    for event in dump.events:
        if event.bandit not in logs:
            report.violate("tables", f"event {event.number} is of bandit {event.bandit}, which is not in the table bandits")
            continue
        logs[event.bandit].read(event)
    for log in logs.values():
        log.compare(dump)
        if log.settings and json.loads(dump.bandits[log.number][1]) != log.settings[-1]:
            report.violate("settings", f"bandit {log.name}: the settings in force are not those of the last SETTINGS event")
        for decision in log.decisions.values():
            if not decision.settled and decision.time + log.wait + DEADLINE_SLACK * 1e6 < dump.now:
                report.violate("deadline", f"bandit {log.name}: decision {decision.number} is not settled, "
                               f"{(dump.now - decision.time - log.wait) / 1e6:.1f} s after the end of its wait")
    report.counts["events"] = len(dump.events)
    return {log.name: log for log in logs.values()}


# ---- operations ----

def same_answers(operation, report):
    """All answers must be equal; those of a reward but for the mark that it was sent before."""
    texts = {text.strip().replace(',"repeated":true', "") for _, text in operation.answers}
    if operation.kind == "activate":  # the first activates, the others find it active
        return
    if len(texts) > 1:
        report.violate("answers differ", f"{operation.kind} {operation.body[:120]}: {sorted(operation.answers)}")
    report.counts["repeats compared"] += len(operation.answers) - 1


def response_of(name, log, operation):
    """The response that follows from the stored decision; None: it is not stored."""
    def part(decision):
        body = decision.body
        action = body.names[body.action] if body.names else str(body.action)
        return {"action": action, "index": body.action, "probability": body.probabilities[body.action],
                "probabilities": list(body.probabilities)}

    if name not in log.ids:
        return None
    first = log.decisions[log.ids[name]]
    if "slots" not in operation.item:
        return {"id": name, **part(first), "version": first.body.version}
    slots = [log.decisions.get(first.number + i) for i in range(first.slots)]
    if None in slots:
        return None
    return {"id": name, "slots": [{"id": slot.body.slot, **part(slot)} for slot in slots], "version": first.body.version}


def check_decision(operation, log, report):
    """Returns the number of its event."""
    name = operation.item["id"]
    stored = response_of(name, log, operation)
    if operation.acknowledged is None:
        return log.ids.get(name)
    report.counts["acknowledged decisions"] += 1
    if stored is None:
        report.violate("lost decision", f"bandit {log.name}: '{name}' was acknowledged and is not in the log")
        return None
    seen = json.loads(operation.answers[0][1])
    if seen != stored:
        report.violate("changed decision", f"bandit {log.name}: '{name}': the client saw {seen}, the log has {stored}")
    return log.ids[name]


def reward_key(operation):
    name = operation.item["id"]
    return name + SLOT_MARK + operation.slot if operation.slot else name


def check_reward(operation, log, report):
    name, reward = reward_key(operation), operation.item.get("reward_id", "")
    events = [event for event in log.rewards.get(name, []) if event.reward_id == reward]
    if len(events) > (1 if reward else operation.attempts):
        report.violate("joined twice", f"bandit {log.name}: the reward '{reward}' of '{name}' is in the log {len(events)} times; "
                       f"it was sent {operation.attempts} times")
    if any(event.value != operation.item["value"] for event in events):
        report.violate("changed reward", f"bandit {log.name}: '{reward}' of '{name}': {operation.item['value']} was sent, "
                       f"{[event.value for event in events]} stored")
    if operation.acknowledged is None:
        return events[0].number if events and reward else None
    report.counts["acknowledged rewards"] += 1
    if not events:
        report.violate("lost reward", f"bandit {log.name}: the reward '{reward}' of '{name}' was acknowledged and is not in the log")
        return None
    seen = json.loads(operation.answers[0][1])["outcome"]
    report.counts[f"rewards {seen}"] += 1
    if seen not in {OUTCOMES[event.outcome] for event in events}:
        report.violate("changed reward", f"bandit {log.name}: the reward '{reward}' of '{name}' was acknowledged as {seen}; the log "
                       f"has {[OUTCOMES[event.outcome] for event in events]}")
    return events[0].number if reward else None


def check_activation(operation, log, report):
    name = operation.item["id"]
    events = log.activations.get(name, [])
    if operation.acknowledged is None:
        return
    report.counts["acknowledged activations"] += 1
    outcomes = {event.outcome for event in events}
    for _, text in operation.answers:
        seen = json.loads(text)["outcome"]
        wanted = {"activated": JOINED, "late": LATE, "unknown": UNKNOWN, "repeated": JOINED}[seen]
        if wanted not in outcomes:
            report.violate("lost activation", f"bandit {log.name}: the activation of '{name}' was acknowledged as {seen}; the log has "
                           f"{[OUTCOMES[outcome] for outcome in outcomes]}")
    if sum(json.loads(text)["outcome"] == "activated" for _, text in operation.answers) > 1:
        report.violate("joined twice", f"bandit {log.name}: '{name}' was activated twice")


def check_sums(log, operations, report):
    """A sum is what the distinct acknowledged rewards add up to, and at most what all that were sent do."""
    sent = {}
    for operation in operations:
        if operation.kind == "reward":
            sent.setdefault(reward_key(operation), []).append(operation)
    for decision in log.decisions.values():
        rewards = sent.get(decision.id, [])
        joined = [op.item["value"] for op in rewards if op.acknowledged and json.loads(op.answers[0][1])["outcome"] == "joined"]
        maybe = [op.item["value"] for op in rewards if op.acknowledged is None and op.attempts]
        if not sum(joined) <= decision.value <= sum(joined) + sum(maybe):
            report.violate("joined twice" if decision.value > sum(joined) else "lost reward",
                           f"bandit {log.name}: the rewards of '{decision.id}' add up to {decision.value}; acknowledged as joined: "
                           f"{joined}, sent without an answer: {maybe}")


def check_order(numbered, log, report):
    """numbered: (number, operation). What was acknowledged before another was sent comes before it in the log."""
    earliest = float("inf")  # acknowledgement among those with a larger number
    culprit = None
    for number, operation in sorted(numbered, key=lambda row: row[0], reverse=True):
        if earliest < operation.sent:
            report.violate("order", f"bandit {log.name}: event {number} ({operation.kind} '{operation.item['id']}') comes before "
                           f"{culprit}, which was acknowledged {operation.sent - earliest:.3f} s before it was sent")
        if operation.acknowledged is not None and operation.acknowledged < earliest:
            earliest, culprit = operation.acknowledged, f"event {number} ({operation.kind} '{operation.item['id']}')"


def check_times(numbered, times, clock, log, report):
    """The time of an event lies between sending and acknowledgement, whatever the clock of the server says."""
    changes = [row[0] for row in clock]
    worst = 0.0
    for number, operation in numbered:
        if operation.acknowledged is None:
            continue
        place = bisect.bisect_right(changes, times[number]) - 1
        wall = (times[number] - (clock[place][1] if place >= 0 else 0)) / 1e6
        off = max(operation.sent_wall - wall, wall - operation.acknowledged_wall, 0.0)
        worst = max(worst, off)
        if off > CLOCK_SLACK:
            report.violate("clock", f"bandit {log.name}: event {number} ({operation.kind} '{operation.item['id']}') is {off:.1f} s outside "
                           "the time in which the request was sent and answered")
    report.facts["deviation"] = max(worst, report.facts.get("deviation", 0.0))


def check_unsent(log, operations, report):
    """Nothing is in the log that no client has sent."""
    decisions = {op.item["id"] for op in operations if op.kind == "decide" and op.attempts}
    rewards = {(reward_key(op), op.item.get("reward_id", "")) for op in operations if op.kind == "reward" and op.attempts}
    activations = {op.item["id"] for op in operations if op.kind == "activate" and op.attempts}
    # Of each attempt without an id that got no response there may be a decision.
    nameless = sum(op.attempts - (op.acknowledged is not None) for op in operations if op.kind == "decide" and op.unnamed)
    for decision in log.decisions.values():
        if decision.id.split(SLOT_MARK)[0] in decisions:
            continue
        nameless -= 1
        if nameless < 0:
            report.violate("not sent", f"bandit {log.name}: nobody sent the decision '{decision.id}'")
    for name, events in log.rewards.items():
        for event in events:
            if (name, event.reward_id) not in rewards:
                report.violate("not sent", f"bandit {log.name}: nobody sent the reward '{event.reward_id}' of '{name}'")
    for name in log.activations:
        if name not in activations:
            report.violate("not sent", f"bandit {log.name}: nobody sent the activation of '{name}'")


def check_known(operations, report):
    """A reward that was sent after its decision was acknowledged finds it, at any server."""
    decided = {op.item["id"]: op for op in operations if op.kind == "decide" and op.acknowledged is not None}
    for operation in operations:
        decision = decided.get(operation.item["id"])
        if operation.kind == "decide" or operation.acknowledged is None or decision is None or operation.sent < decision.acknowledged:
            continue
        if any('"unknown"' in text for _, text in operation.answers):
            report.violate("order", f"bandit {operation.bandit}: a {operation.kind} of '{operation.item['id']}' is unknown, although the "
                           "decision had been acknowledged")


def check_settings(history, logs, report):
    """The last acknowledged change is in force, unless a later one got no answer."""
    for bandit, log in logs.items():
        rows = [(wait, acknowledged) for name, wait, acknowledged in history.settings if name == bandit]
        last = max((i for i, row in enumerate(rows) if row[1]), default=None)
        if last is None:
            continue
        allowed = {wait for wait, _ in rows[last:]}
        if log.wait / 1e6 not in allowed:
            report.violate("settings", f"bandit {bandit}: its wait is {log.wait / 1e6} s; acknowledged was {rows[last][0]} s")


# ---- owners: what the database's trigger wrote down (witness.sql) ----

WRITER = re.compile(r"eenet writer (\d+)")  # the name of the session that writes for the server with this number


def check_owners(dump, report):
    """Each write that moved the end of a log came from the server that owned the bandit."""
    ends, writers = {}, {}
    tokens = {}
    for row in dump.writes:
        bandit, token = row["bandit"], row["token"]
        where = f"write {row['number']} of bandit {bandit}"
        before = ends.get(bandit)
        if before and (row["old_last"], row["old_token"], row["old_owner"]) != before:
            report.violate("owners", f"{where} does not follow the one before it: {row}, before: {before}")
        ends[bandit] = row["last"], token, row["owner"]
        if token < tokens.get(bandit, 0):
            report.violate("owners", f"{where} has the token {token} after {tokens[bandit]}")
        if row["owner"] != row["old_owner"] and row["owner"] and token <= row["old_token"]:
            report.violate("owners", f"{where}: a new owner has the token of the old one, {token}")
        tokens[bandit] = token
        if row["last"] == row["old_last"]:
            continue
        report.counts["writes witnessed"] += 1
        writer = writers.setdefault((bandit, token), row["application"])
        if writer != row["application"]:
            report.violate("owners", f"{where}: {row['application']} wrote with the token {token}, as {writer} did")
        known = WRITER.fullmatch(row["application"])
        if not known:
            report.violate("owners", f"{where}: the session '{row['application']}' wrote, which is no server's writer")
        elif int(known[1]) != row["owner"]:
            report.violate("owners", f"{where}: server {known[1]} wrote, and server {row['owner']} is the owner")
    report.counts["owners of a bandit"] = len(writers)


# ---- everything ----

def check(history, dump):
    """Compares a history with a dump. Returns a Report."""
    report = Report()
    logs = read_logs(dump, report)
    times = {name: {} for name in logs}
    for event in dump.events:
        if event.bandit in dump.bandits:
            times[dump.bandits[event.bandit][0]][event.number] = event.time
    by_bandit = {}
    for operation in history.operations:
        by_bandit.setdefault(operation.bandit, []).append(operation)
        same_answers(operation, report)
        for target, status, text in operation.refusals:
            report.violate("refused", f"{operation.kind} {operation.body[:120]} at {target}: {status} {text.strip()[:200]}")
    for bandit, operations in by_bandit.items():
        if bandit not in logs:
            report.violate("lost decision", f"the bandit {bandit} is not in the store")
            continue
        log, numbered = logs[bandit], []
        for operation in operations:
            if operation.kind == "activate":
                check_activation(operation, log, report)
                continue
            number = (check_decision if operation.kind == "decide" else check_reward)(operation, log, report)
            if number and operation.sent is not None:
                numbered.append((number, operation))
        check_order(numbered, log, report)
        check_times(numbered, times[bandit], dump.clock, log, report)
        check_unsent(log, operations, report)
        check_known(operations, report)
        if log.aggregation == "sum":
            check_sums(log, operations, report)
    check_settings(history, logs, report)
    check_owners(dump, report)
    for log in logs.values():
        report.counts["decisions settled"] += sum(decision.settlements for decision in log.decisions.values())
        report.counts["rewards claimed"] += sum(event.outcome == CLAIMED for event in dump.events if event.bandit == log.number)
        report.counts["rewards that did not count"] += sum(event.outcome == REPEATED for event in dump.events if event.bandit == log.number)
    report.counts["operations without an answer"] = sum(op.acknowledged is None and op.attempts > 0 for op in history.operations)
    return report


def check_with_program(program, where, report, *more):
    """`eenet check` and `eenet replay` on the store. more: words for the second. Returns what they print."""
    printed = ""
    for command, *words in (("check", where), ("replay", where, *more)):
        done = subprocess.run([program, command, *words], capture_output=True, text=True, check=False)
        printed += done.stdout + done.stderr
        if done.returncode:
            said = (done.stdout + done.stderr).strip()[-1500:]
            report.violate(command, f"'eenet {command}' failed with status {done.returncode}: {said}")
    return printed
