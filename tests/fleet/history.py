"""Load for a server or a fleet, and the history of it: what clients sent, and what they saw.

Each worker sends requests for one bandit: decisions, rewards and activations in the ways that clients have. A request is
sent again, at another server, with the same id and the same bytes, until it is acknowledged. Some are repeated after that,
and some are sent to two servers at the same time. Everything is kept: see checker.py, which compares it with the store.
"""
import contextlib
import heapq
import http.client
import itertools
import json
import random
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import LIMIT, check, pause, wait_for  # noqa: E402  pylint: disable=wrong-import-position

# ---- the bandits: each has the settings for one way to use the server ----

SMALL = {"features": "names=64,hashes=8"}
BANDITS = {
    "shop": {"policy": "eenet", "options": "f1.width=16", "features": "", "wait": 600},
    "quick": {"policy": "linucb", **SMALL, "wait": 2, "default_reward": 0.25},
    "sum": {"policy": "linucb", **SMALL, "wait": 4, "aggregation": "sum", "rewards": [0, 4], "outside": "accept"},
    "deferred": {"policy": "linucb", **SMALL, "wait": 5, "default_reward": None},
    "slots": {"policy": "linucb", **SMALL, "wait": 6},
    "early": {"policy": "thompson", **SMALL, "wait": 600},
    "vectors": {"policy": "linucb", "dim": 4, "wait": 600},
}
DEADLINES = max(settings["wait"] for settings in BANDITS.values() if settings["wait"] < 60)
RETRIED = {408, 429, 502, 503, 504}  # nothing was decided, or nobody knows: send it again


class Operation:
    """A request that takes effect once, however often it is sent. Times are of time.monotonic; walls of time.time."""

    def __init__(self, kind, bandit, item, slot=None):
        self.kind, self.bandit, self.item, self.slot = kind, bandit, item, slot
        self.unnamed = item["id"] is None  # until the server has given it an id
        self.body = json.dumps({key: value for key, value in item.items() if value is not None}, separators=(",", ":"))
        self.attempts = 0
        self.sent = self.sent_wall = None  # of the first attempt
        self.acknowledged = self.acknowledged_wall = None
        self.acknowledged_sent = None  # when the attempt was sent that was acknowledged
        self.answers = []  # (server, text)
        self.refusals = []  # (server, status, text): answers that nobody should get

    def path(self):
        return f"/v1/bandits/{self.bandit}/{self.kind}"

    def is_repeatable(self):
        """Else the same request counts as another decision or reward."""
        return not self.unnamed and (self.kind != "reward" or "reward_id" in self.item)


class History:
    """All operations, and when something failed."""

    def __init__(self):
        self.operations = []
        self.failures = []  # (time.monotonic, server, reason)
        self.settings = []  # (bandit, wait, acknowledged) in the order in which they were sent
        self.acks = {}  # bandit -> [(sent, acknowledged)] of decisions, in the order of the second
        self.lock = threading.Lock()

    def add(self, operation):
        with self.lock:
            self.operations.append(operation)
        return operation

    def save(self, path):
        with open(path, "w", encoding="utf-8") as out:
            out.write(json.dumps({"settings": self.settings, "failures": self.failures}) + "\n")
            for operation in self.operations:
                out.write(json.dumps(vars(operation)) + "\n")

    # ---- what the torture test reports ----

    def add_ack(self, operation):
        if operation.kind == "decide":
            with self.lock:
                self.acks.setdefault(operation.bandit, []).append((operation.acknowledged_sent, operation.acknowledged))

    def first_ack_after(self, bandit, moment):
        """When the first decision of the bandit that was sent after the moment was acknowledged; None: none was yet."""
        first = None
        for sent, acknowledged in reversed(self.acks.get(bandit, ())):
            if acknowledged < moment:
                break
            if sent >= moment:
                first = acknowledged
        return first

    def longest_gap(self, bandit=None):
        """The longest time without an acknowledged decision, of a bandit or of all together."""
        lists = [self.acks.get(bandit, [])] if bandit else self.acks.values()
        times = sorted(acknowledged for acks in lists for _, acknowledged in acks)
        return max((later - earlier for earlier, later in zip(times, times[1:])), default=0.0)


# ---- sending ----

class Targets:
    """Where requests go: {name: port}; "front" is the load balancer, if there is one."""

    def __init__(self, ports):
        self.ports = ports
        self.direct = [name for name in ports if name != "front"] or list(ports)

    def choose(self, chance):
        if "front" in self.ports and chance.random() < 0.6:
            return "front"
        return chance.choice(self.direct)

    def two(self, chance):
        return chance.sample(self.direct, 2) if len(self.direct) > 1 else self.direct * 2


class Client:
    """Connections of one thread."""

    def __init__(self, targets, timeout):
        self.targets, self.timeout = targets, timeout
        self.connections = {}

    def post(self, target, method, path, body):
        """(status, text). Any failure closes the connection."""
        connection = self.connections.get(target)
        if connection is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.targets.ports[target], timeout=self.timeout)
            self.connections[target] = connection
        try:
            connection.request(method, path, body.encode(), {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read().decode()
        except (OSError, http.client.HTTPException):
            connection.close()
            self.connections.pop(target, None)
            raise

    def close(self):
        for connection in self.connections.values():
            connection.close()
        self.connections.clear()


def items_of(text):
    """The items of a batch's answer, {"decisions":[...]} or {"rewards":[...]}, as the bytes that they have there."""
    decoder = json.JSONDecoder()
    at = text.index("[") + 1
    found = []
    while text[at] != "]":
        if text[at] == ",":
            at += 1
        _, end = decoder.raw_decode(text, at)
        found.append(text[at:end])
        at = end
    return found


class Load:
    """Workers, and probes that find out how long a bandit is without service."""

    def __init__(self, ports, seed=0, rate=100.0, bandits=None, timeout=4.0):
        self.targets = Targets(ports)
        self.seed, self.timeout = seed, timeout
        self.bandits = list(bandits or BANDITS)
        self.history = History()
        self.stopping, self.running = threading.Event(), threading.Event()
        self.running.set()  # else no new operations begin, for a while
        self.give_up = None  # time.monotonic after which nothing is sent again
        self.threads = []
        self.workers = [(name, way) for name in self.bandits for way in ([WAYS[name]] * (3 if name == "shop" else 1))]
        self.pace = (len(self.workers) + 0.5) / rate
        self.names = itertools.count()
        self.trouble = []

    def create_bandits(self):
        client = Client(self.targets, LIMIT)
        for name in self.bandits:
            body = json.dumps({"name": name, **BANDITS[name]})

            def is_created(body=body):
                with contextlib.suppress(OSError, http.client.HTTPException):
                    status, text = client.post(self.targets.direct[0], "POST", "/v1/bandits", body)
                    check(status in RETRIED | {200, 201}, f"{body}: {status} {text}")
                    return status not in RETRIED
                return False

            wait_for(is_created, f"the bandit {name} cannot be created")
        client.close()

    def start(self):
        for index, (bandit, way) in enumerate(self.workers):
            self.spawn(lambda worker=Worker(self, bandit, self.seed * 1000 + index), way=way: worker.run(way))
        for index, bandit in enumerate(self.bandits):
            self.spawn(Worker(self, bandit, self.seed * 1000 + 500 + index, timeout=0.7).probe)

    def guard(self, work):
        """Starts it in a thread; what fails there is in `trouble`."""
        def guarded():
            try:
                work()
            except Exception as error:  # pylint: disable=broad-except # a worker that ends unnoticed would check nothing
                self.trouble.append(f"a worker failed: {type(error).__name__}: {error}")
                raise
        thread = threading.Thread(target=guarded, daemon=True)
        thread.start()
        return thread

    def spawn(self, work):
        self.threads.append(self.guard(work))

    def stop(self, seconds=40):
        """No new operations; those under way are sent until they are acknowledged, for so long."""
        self.give_up = time.monotonic() + seconds
        self.stopping.set()
        for thread in self.threads:
            thread.join(seconds + 30)


class Worker:
    """One thread that sends requests for a bandit, one after the other, and has some planned for later."""

    def __init__(self, load, bandit, seed, timeout=None):
        self.load, self.bandit = load, bandit
        self.chance = random.Random(seed)
        self.seed = seed
        self.client = Client(load.targets, timeout or load.timeout)
        self.plans = []  # (time, order, call)
        self.order = itertools.count()
        self.done = []  # acknowledged operations, some of which are repeated

    def run(self, way):
        next_turn = time.monotonic()
        while not self.load.stopping.is_set() or self.plans:
            self.load.running.wait()
            self.run_plans()
            now = time.monotonic()
            if now >= next_turn and not self.load.stopping.is_set():
                next_turn = max(next_turn + self.chance.expovariate(1 / self.load.pace), now - 1)
                way(self)
                if self.done and self.chance.random() < 0.08:
                    self.repeat(self.chance.choice(self.done[-300:]))
            else:
                turn = next_turn if not self.load.stopping.is_set() else now + 1
                turn = min([turn] + [plan[0] for plan in self.plans[:1]])
                pause(min(max(turn - now, 0.001), 0.05))
        self.client.close()

    def probe(self):
        """A decision every tenth of a second: the first that succeeds shows that the bandit is served again."""
        while not self.load.stopping.wait(0.1):
            self.load.running.wait()
            self.perform(self.decision())
        self.client.close()

    def later(self, seconds, call):
        """Calls it then; at once if the load is stopping."""
        heapq.heappush(self.plans, (time.monotonic() + seconds, next(self.order), call))

    def run_plans(self):
        while self.plans and (self.load.stopping.is_set() or self.plans[0][0] <= time.monotonic()):
            heapq.heappop(self.plans)[2]()

    # ---- one operation ----

    def operation(self, kind, item, slot=None):
        return self.load.history.add(Operation(kind, self.bandit, item, slot))

    def attempt(self, client, operations, target):
        """Sends them, as a batch if there are several. Whether they were acknowledged; None: no use to try again."""
        first = operations[0]
        path, body = first.path(), first.body
        if len(operations) > 1:
            path += "/batch"
            body = '{"%s":[%s]}' % ({"decide": "decisions", "reward": "rewards"}[first.kind], ",".join(op.body for op in operations))
        sent, wall = time.monotonic(), time.time()
        for operation in operations:
            operation.attempts += 1
            if operation.sent is None:
                operation.sent, operation.sent_wall = sent, wall
        try:
            status, text = client.post(target, "POST", path, body)
        except (OSError, http.client.HTTPException) as error:
            self.load.history.failures.append((time.monotonic(), target, type(error).__name__))
            return False
        if status in RETRIED:
            self.load.history.failures.append((time.monotonic(), target, str(status)))
            return False
        texts = items_of(text) if status == 200 and len(operations) > 1 else [text] * len(operations)
        return self.acknowledge(operations, texts, target, status, sent)

    def acknowledge(self, operations, texts, target, status, sent):
        now, wall = time.monotonic(), time.time()
        for operation, text in zip(operations, texts):
            if status != 200 or text.startswith('{"error"'):
                operation.refusals.append((target, status, text))
                continue
            if operation.unnamed:
                operation.item["id"] = json.loads(text)["id"]
            if operation.acknowledged is None:
                operation.acknowledged_sent, operation.acknowledged_wall = sent, wall
                operation.acknowledged = now
                self.load.history.add_ack(operation)
                if operation.attempts < 40:
                    self.done.append(operation)
            operation.answers.append((target, text))
        return True if status == 200 else None

    def perform(self, *operations, client=None, target=None):
        """Sends them until they are acknowledged, each time somewhere else. Whether they were."""
        client = client or self.client
        while self.load.give_up is None or time.monotonic() < self.load.give_up:
            verdict = self.attempt(client, operations, target or self.load.targets.choose(self.chance))
            if verdict or verdict is None:
                return bool(verdict)
            target = None
            pause(self.chance.uniform(0.02, 0.2))
        return False

    def perform_twice(self, one, other=None):
        """At two servers at the same time: one operation, or two that compete."""
        targets = self.load.targets.two(self.chance)
        second = Client(self.load.targets, self.load.timeout)
        thread = self.load.guard(lambda: self.perform(other or one, client=second, target=targets[1]))
        self.perform(one, target=targets[0])
        thread.join()
        second.close()

    def repeat(self, operation):
        """Once more, although it is acknowledged: the answer must be the same. No use if the server is down."""
        if operation.is_repeatable():
            self.attempt(self.client, [operation], self.chance.choice(self.load.targets.direct))

    # ---- what clients send ----

    def name(self):
        return f"{self.bandit}-{self.seed}-{next(self.load.names)}"

    def decision(self, **more):
        if self.bandit == "vectors":
            actions = [[round(self.chance.uniform(-1, 1), 3) for _ in range(4)] for _ in range(3)]
            return self.operation("decide", {"id": self.name() if self.chance.random() < 0.8 else None, "actions": actions})
        actions = [{"id": name, "features": {"size": self.chance.randrange(3)}} for name in ("red", "blue", "green", "gold")]
        if self.bandit == "slots":
            more["slots"] = [{"id": "top"}, {"id": "side", "features": {"small": 1}}, {"id": "end"}]
        if self.bandit == "deferred":
            more["defer"] = True
        item = {"id": self.name(), "context": {"plan": self.chance.choice(["free", "paid"])}, "actions": actions, **more}
        return self.operation("decide", item)

    def reward(self, decision, value=None, number=1, slot=None, with_id=True):
        item = {"id": decision.item["id"], "value": self.chance.choice([0, 0.25, 0.5, 1]) if value is None else value}
        if with_id:
            item["reward_id"] = f"r{number}"
        if slot:
            item["slot"] = slot
        return self.operation("reward", item, slot)

    def shop(self):
        decision = self.decision()
        if not self.perform(decision) or self.chance.random() < 0.3:
            return
        kind = self.chance.random()
        if kind < 0.2:
            self.perform_twice(self.reward(decision))
        elif kind < 0.3:
            self.perform_twice(self.reward(decision, 1, 1), self.reward(decision, 0, 2))
        elif kind < 0.4:
            self.perform_twice(decision)
            self.perform(self.reward(decision))
        else:
            self.later(self.chance.uniform(0, 2), lambda: self.perform(self.reward(decision)))

    def quick(self):
        decision = self.decision()
        acknowledged = self.perform(decision)
        if acknowledged and self.chance.random() < 0.5:
            self.later(self.chance.uniform(0, 3), lambda: self.perform(self.reward(decision)))
        if self.chance.random() < 0.02:
            self.change_wait()

    def change_wait(self):
        """A setting, changed at any server; tried once."""
        wait = self.chance.choice([2, 2.5, 3])
        row = [self.bandit, wait, False]
        self.load.history.settings.append(row)
        target = self.chance.choice(self.load.targets.direct)
        try:
            status, _ = self.client.post(target, "PATCH", f"/v1/bandits/{self.bandit}", json.dumps({"wait": wait}))
            row[2] = status == 200
        except (OSError, http.client.HTTPException):
            pass

    def sum(self):
        decision = self.decision()
        if not self.perform(decision):
            return
        for number in range(self.chance.randrange(4)):
            reward = self.reward(decision, number=number)
            twice = self.chance.random() < 0.3
            self.later(self.chance.uniform(0, 3), lambda sent=reward, call=self.perform_twice if twice else self.perform: call(sent))

    def deferred(self):
        decision = self.decision()
        if not self.perform(decision):
            return
        if self.chance.random() < 0.6:
            activation = self.operation("activate", {"id": decision.item["id"]})
            twice = self.chance.random() < 0.2
            self.later(self.chance.uniform(0, 2), lambda: (self.perform_twice if twice else self.perform)(activation))
        if self.chance.random() < 0.6:
            self.later(self.chance.uniform(0, 3), lambda: self.perform(self.reward(decision)))

    def slots(self):
        decision = self.decision()
        if not self.perform(decision):
            return
        for slot in ("top", "side", None):
            if self.chance.random() < 0.4:
                self.later(self.chance.uniform(0, 3), lambda slot=slot: self.perform(self.reward(decision, slot=slot)))

    def early(self):
        """Rewards, and sometimes two of them, before their decision."""
        decision = self.decision()
        self.perform(self.reward(decision))
        if self.chance.random() < 0.3:
            self.perform(self.reward(decision, number=2))
        self.later(self.chance.uniform(0, 1), lambda: self.perform(decision))

    def vectors(self):
        """Batches, and rewards without a reward_id."""
        decisions = [self.decision() for _ in range(self.chance.randrange(1, 6))]
        if self.perform(*decisions):
            rewards = [self.reward(decision, with_id=False) for decision in decisions if self.chance.random() < 0.7]
            if rewards:
                self.later(self.chance.uniform(0, 1), lambda: self.perform(*rewards))


WAYS = {name: getattr(Worker, name) for name in BANDITS}
