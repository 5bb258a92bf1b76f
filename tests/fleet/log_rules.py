"""The rules of joining once more, in Python, from their description (docs/http-api.md, src/serve/store/joining.h): reads the
log of a bandit event by event, and says what each event should have been. It shares no code with the server."""
import json
import struct
from collections import deque
from dataclasses import dataclass, field

from store_dump import (ACTIVATED, CLAIMED, DECISION, DEFAULT, INACTIVE, JOINED, LATE, NOTHING, OUTCOMES, REPEATED, REWARD,
                        REWARDED, SETTINGS, SETTLED, SLOT_MARK, STEP, UNKNOWN, BodyError, read_body)

KINDS = {DECISION: "decision", REWARD: "reward", SETTLED: "settled", ACTIVATED: "activated", SETTINGS: "settings"}


@dataclass
class Decision:  # pylint: disable=too-many-instance-attributes
    """What the log says of a decision so far."""
    number: int
    time: int
    id: str
    body: object
    inactive: bool
    slots: int = 0
    rewards: int = 0
    value: float = 0.0
    settled: int = 0
    settlements: int = 0
    joined: list = field(default_factory=list)  # values of the rewards that count


class BanditLog:  # pylint: disable=too-many-instance-attributes
    """State of one bandit, and the violations found. violate(kind, sentence) is called for each."""

    def __init__(self, number, name, violate):
        self.number, self.name, self.report = number, name, violate
        self.decisions = {}
        self.ids = {}  # of decisions and of rounds
        self.reward_ids = {}
        self.unclaimed = {}  # id -> [(number, kind, value)]
        self.rewards = {}  # id -> [events of rewards that clients sent]
        self.activations = {}  # id -> [events]
        self.expected = deque()  # (kind, id, decision, value, outcome) that must follow at once
        self.round = []  # slots of the round that is being read
        self.wait, self.default, self.aggregation = 600_000_000, 0.0, "first"
        self.settings = []
        self.last, self.time = 0, 0
        self.learned = 0  # the last event that a version of the model has learned from
        self.versions = {0}

    def violate(self, kind, event, sentence):
        self.report(kind, f"bandit {self.name}, event {event.number}: {sentence}")

    def read(self, event):
        if event.number != self.last + 1:
            self.violate("gap", event, f"follows event {self.last}")
        if event.time < self.time:
            self.violate("time", event, f"its time is {self.time - event.time} us before that of the event before it")
        self.last, self.time = event.number, max(self.time, event.time)
        if self.expected:
            self.check_expected(event)
            return
        if self.round and event.kind != DECISION:
            self.violate("rules", event, f"the round '{self.round[0].id}' is not complete")
            self.round = []
        {DECISION: self.read_decision, REWARD: self.read_reward, SETTLED: self.read_settlement, ACTIVATED: self.read_activation,
         SETTINGS: self.read_settings, STEP: self.read_step}.get(event.kind, lambda other: None)(event)

    # ---- events that follow from others ----

    def check_expected(self, event):
        kind, name, decision, value, outcome = self.expected.popleft()
        same = (event.kind == kind and event.decision == decision and event.outcome == outcome and event.time == self.time
                and (kind == SETTLED or event.id == name) and (kind == ACTIVATED or event.value == value))
        if not same:
            self.violate("rules", event, f"is {KINDS.get(event.kind, event.kind)} of decision {event.decision}, "
                         f"{OUTCOMES[event.outcome]} {event.value}; expected {KINDS[kind]} of decision {decision}, "
                         f"{OUTCOMES[outcome]} {value}")
            self.expected.clear()
        if event.kind == SETTLED:
            self.count_settlement(event)

    def expect(self, kind, name, decision, value, outcome):
        self.expected.append((kind, name, decision.number if decision else 0, value, outcome))

    def join(self, decision, value):
        """A reward counts; with `first` it settles an active decision at once."""
        decision.joined.append(value)
        decision.rewards += 1
        decision.value = self.worth(decision, value)
        if self.aggregation == "first" and not decision.inactive:
            self.expect(SETTLED, "", decision, decision.value, REWARDED)

    def worth(self, decision, value):
        if self.aggregation == "sum":
            return decision.value + value
        if self.aggregation == "max":
            return value if decision.rewards == 1 else max(decision.value, value)
        return value if self.aggregation == "last" or decision.rewards == 1 else decision.value

    def outcome_of(self, decision, now, settled):
        """Of a reward that comes now. settled: also by an event that is expected but not read yet."""
        if now > decision.time + self.wait:
            return LATE
        if decision.rewards and (settled or self.aggregation == "first"):
            return REPEATED
        return LATE if settled else JOINED

    # ---- decisions ----

    def read_decision(self, event):
        try:
            body = read_body(event.body)
        except BodyError as error:
            self.violate("body", event, str(error))
            return
        decision = Decision(event.number, event.time, event.id, body, body.deferred)
        if body.version not in self.versions:
            self.violate("steps", event, f"the version {body.version} of the model that decided is not in the log before it")
        if event.id in self.ids:
            self.violate("decided twice", event, f"the id '{event.id}' is that of event {self.ids[event.id]} too")
        self.ids[event.id] = event.number
        self.decisions[event.number] = decision
        if not body.slot_count:
            self.claim(event.id, event.time)
            return
        if body.slot_index != len(self.round):
            self.violate("rules", event, f"slot {body.slot_index} of a round follows {len(self.round)} others")
        self.round.append(decision)
        if body.slot_index + 1 == body.slot_count:
            self.end_round(event)

    def end_round(self, event):
        slots, self.round = self.round, []
        name = event.id.split(SLOT_MARK)[0]
        if name in self.ids:
            self.violate("decided twice", event, f"the round '{name}' is that of event {self.ids[name]} too")
        slots[0].slots = len(slots)
        self.ids[name] = slots[0].number
        for slot in slots:
            self.claim(slot.id, event.time)
        self.claim(name, event.time)

    def claim(self, name, now):
        """What came before its decision counts now, as a second event each."""
        decision = self.decisions[self.ids[name]]
        for _, kind, value in self.unclaimed.pop(name, []):
            if kind == ACTIVATED:
                self.activate(name, decision, now, CLAIMED)
                continue
            outcome = self.outcome_of(decision, now, bool(decision.rewards and self.aggregation == "first" and not decision.inactive))
            self.expect(REWARD, name, decision, value, CLAIMED if outcome == JOINED else outcome)
            if outcome == JOINED:
                self.join(decision, value)

    # ---- rewards and activations ----

    def read_reward(self, event):
        decision = self.decisions.get(self.ids.get(event.id))
        outcome = self.outcome_of(decision, event.time, decision.settled) if decision else UNKNOWN
        self.rewards.setdefault(event.id, []).append(event)
        if event.outcome != outcome or event.decision != (decision.number if decision else 0):
            self.violate("rules", event, f"a reward of '{event.id}' is {OUTCOMES[event.outcome]} to decision {event.decision}; "
                         f"expected {OUTCOMES[outcome]} to {decision.number if decision else 0}")
        if event.reward_id:
            if (event.id, event.reward_id) in self.reward_ids:
                self.violate("joined twice", event, f"the reward '{event.reward_id}' of '{event.id}' was logged before")
            self.reward_ids[event.id, event.reward_id] = event.value, event.outcome
        if decision and event.outcome == JOINED:
            if decision.settled:
                self.violate("joined twice", event, f"decision {decision.number} was settled by event {decision.settled} before")
            self.join(decision, event.value)
        elif not decision:
            self.unclaimed.setdefault(event.id, []).append((event.number, REWARD, event.value))

    def activate(self, name, first, now, outcome):
        """Expects the events of an activation: of the decision, or of all slots of the round."""
        count = first.slots if first.slots and SLOT_MARK not in name else 1
        for number in range(first.number, first.number + count):
            decision = self.decisions.get(number)
            if decision is None or not decision.inactive:
                continue
            if now > first.time + self.wait or decision.settled:
                self.expect(ACTIVATED, name, decision, 0.0, LATE)
                continue
            decision.inactive = False
            self.expect(ACTIVATED, name, decision, 0.0, outcome)
            if decision.rewards and self.aggregation == "first":
                self.expect(SETTLED, "", decision, decision.value, REWARDED)

    def read_activation(self, event):
        self.activations.setdefault(event.id, []).append(event)
        decision = self.decisions.get(self.ids.get(event.id))
        if not decision:
            if event.outcome != UNKNOWN:
                self.violate("rules", event, f"no decision has the id '{event.id}', and the outcome is {OUTCOMES[event.outcome]}")
            self.unclaimed.setdefault(event.id, []).append((event.number, ACTIVATED, 0.0))
            return
        self.activate(event.id, decision, event.time, JOINED)
        if self.expected:
            self.check_expected(event)
        else:
            self.violate("rules", event, f"activates '{event.id}', which is active already")

    # ---- settlements ----

    def count_settlement(self, event):
        decision = self.decisions.get(event.decision)
        if decision is None:
            self.violate("rules", event, f"settles event {event.decision}, which is not a decision")
            return
        decision.settlements += 1
        if decision.settled:
            self.violate("joined twice", event, f"decision {decision.number} was settled by event {decision.settled} before")
        decision.settled = decision.settled or event.number

    def read_settlement(self, event):
        """At the end of the wait."""
        decision = self.decisions.get(event.decision)
        if decision and not decision.settled:
            if event.time <= decision.time + self.wait:
                self.violate("rules", event, f"settles decision {decision.number} {decision.time + self.wait - event.time} us too early")
            if decision.inactive:
                outcome, value = INACTIVE, event.value
            elif decision.rewards:
                outcome, value = REWARDED, decision.value
            elif self.default is None:
                outcome, value = NOTHING, event.value
            else:
                outcome, value = DEFAULT, self.default
            if (event.outcome, event.value) != (outcome, value):
                self.violate("rules", event, f"settles decision {decision.number} as {OUTCOMES[event.outcome]} {event.value}; "
                             f"expected {OUTCOMES[outcome]} {value}")
        self.count_settlement(event)

    def read_settings(self, event):
        settings = json.loads(event.body)
        self.settings.append(settings)
        self.wait = round(settings["wait"] * 1_000_000)
        self.default, self.aggregation = settings["default_reward"], settings["aggregation"]

    def read_step(self, event):
        """The model of a new owner continues where that of the old one was, or before it, but never publishes less."""
        upto = struct.unpack("<QQ", event.body)[0] if len(event.body) == 16 else -1
        if not self.learned <= upto < event.number:
            self.violate("steps", event, f"a version of the model has learned up to event {upto}; the one before it, up to {self.learned}")
        self.learned = max(self.learned, upto)
        self.versions.add(event.number)

    # ---- the other tables, which follow from the log ----

    def compare(self, dump):
        def differ(what, mine, theirs):
            for key in sorted(set(mine) | set(theirs), key=str):
                if mine.get(key) != theirs.get(key):
                    self.report("tables", f"bandit {self.name}: {what} {key}: the log gives {mine.get(key)}, "
                                f"the table has {theirs.get(key)}")

        differ("decision", {d.number: (d.time, d.rewards, d.settled, d.value, int(d.inactive), d.slots) for d in self.decisions.values()},
               {number: row for (bandit, number), row in dump.decisions.items() if bandit == self.number})
        differ("id", self.ids, {name: number for (bandit, name), number in dump.ids.items() if bandit == self.number})
        differ("reward id", self.reward_ids,
               {(name, reward): row for (bandit, name, reward), row in dump.reward_ids.items() if bandit == self.number})
        differ("unclaimed", {(name, row[0]): True for name, rows in self.unclaimed.items() for row in rows},
               {(name, number): True for bandit, name, number in dump.unclaimed if bandit == self.number})
        end = dump.log_ends.get(self.number)
        if end != (1, self.last):
            self.report("gap", f"bandit {self.name}: the log has events 1 to {self.last}, log_ends says {end}")
