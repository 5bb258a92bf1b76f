#!/usr/bin/env python3
"""behaviour.py PROGRAM: guardrails of a real server. Each test states what must be true and counts it: who is treated,
what rules, shares, caps, budgets and stickiness do to decisions, and that a kill -9 forgets nothing. At the end the log
is checked and replayed to the last bit. With EENET_TEST_POSTGRES the store is that database."""
import datetime
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from server import Refused, Server

ACTIONS = [{"id": "card", "features": {"kind": "card", "cost": 0}},
           {"id": "loan", "features": {"kind": "loan", "cost": 3}},
           {"id": "mail", "features": {"kind": "mail", "cost": 1}}]
REFUNDS = [{"metric": "refund", "most_above": 0.1, "then": "fallback"}]


def expect(condition, sentence):
    if not condition:
        raise AssertionError(sentence)


def near(share, expected, count, what):
    """Within five standard deviations."""
    error = 5 * math.sqrt(expected * (1 - expected) / count)
    expect(abs(share - expected) <= error, f"{what}: {share:.4f}, expected {expected:.4f} within {error:.4f}")


def began(described):
    """When the schedule of a described bandit began, in seconds since 1970."""
    since = described["settings"]["guardrails"]["rollout"]["since"]
    return datetime.datetime.fromisoformat(since.replace("Z", "+00:00")).timestamp()


class Workers:
    """Threads that run a function each. join raises the first of their failures."""

    def __init__(self, *functions):
        self.failures = []
        self.threads = [threading.Thread(target=self.run, args=(function,)) for function in functions]
        for thread in self.threads:
            thread.start()

    def run(self, function):
        try:
            function()
        except BaseException as failure:  # of any kind: join raises it
            self.failures.append(failure)

    def are_alive(self):
        return any(thread.is_alive() for thread in self.threads)

    def join(self):
        for thread in self.threads:
            thread.join()
        if self.failures:
            raise self.failures[0]


class Story:
    def __init__(self, server):
        self.server = server
        self.names = 0

    def bandit(self, guardrails, **settings):
        self.names += 1
        name = f"story-{self.names}"
        self.server.call("POST", "/v1/bandits", {"name": name, "policy": "linucb", "seed": self.names, "propensity": "floor:0.3",
                                                 "guardrails": guardrails, **settings})
        return name

    def decide(self, name, **request):
        return self.server.call("POST", f"/v1/bandits/{name}/decide", {"actions": ACTIONS, **request})

    def many(self, name, requests):
        found = []
        for begin in range(0, len(requests), 500):
            items = [{"actions": ACTIONS, **request} for request in requests[begin:begin + 500]]
            found += self.server.call("POST", f"/v1/bandits/{name}/decide/batch", {"decisions": items})["decisions"]
        for each in found:
            expect("error" not in each, str(each))
            expect(abs(sum(each["probabilities"]) - 1) < 1e-12, "probabilities do not add up to 1")
        return found

    def patch(self, name, **settings):
        return self.server.call("PATCH", f"/v1/bandits/{name}", settings)

    # ---- groups ----

    def people_stay_in_their_groups(self):
        people = [f"u{i}" for i in range(3000)]
        name = self.bandit({"control": {"share": 0.1}, "rollout": {"share": 0.25}})
        first = self.many(name, [{"key": key} for key in people])
        groups = [each["group"] for each in first]
        near(groups.count("control") / 3000, 0.1, 3000, "control")
        near(groups.count("treated") / 3000, 0.9 * 0.25, 3000, "treated")
        expect(all(each["action"] == "card" and each["probability"] == 1 for each in first if each["group"] != "treated"),
               "somebody who is not treated did not get the first action")
        again = [each["group"] for each in self.many(name, [{"key": key} for key in people])]
        expect(again == groups, "a person changed the group")
        self.patch(name, guardrails={"control": {"share": 0.1}, "rollout": {"share": 0.5}})
        later = [each["group"] for each in self.many(name, [{"key": key} for key in people])]
        near(later.count("treated") / 3000, 0.9 * 0.5, 3000, "treated after the rollout grew")
        for before, now in zip(groups, later):
            expect(before == now or (before, now) == ("waiting", "treated"), f"{before} became {now}")
        self.server.kill()
        self.server.start()
        expect([each["group"] for each in self.many(name, [{"key": key} for key in people])] == later,
               "a restart changed groups")

    def schedules_begin_with_new_weights_too(self):
        stages = {"control": {"share": 0.5}, "rollout": {"schedule": [{"share": 0, "for": "1d"}, {"share": 1}]}}
        name = self.bandit({"control": {"share": 0.5}}, metrics=[{"name": "refund", "weight": -1}])
        changed = self.patch(name, metrics=[{"name": "refund", "weight": -2}], guardrails=stages)
        rollout = changed["settings"]["guardrails"]["rollout"]
        expect("relearned" in changed and "since" in rollout, f"the schedule did not begin: {rollout}")
        again = self.patch(name, metrics=[{"name": "refund", "weight": -3}])["settings"]["guardrails"]["rollout"]
        expect(again == rollout, f"new weights changed the schedule from {rollout} to {again}")

    def schedules_advance(self):
        seconds = 1
        while self.stages_seen(seconds) != {0, 1, 2}:
            seconds *= 3
            expect(seconds < 30, "the server is too slow to be seen in each stage")

    def stages_seen(self, seconds):
        """Follows a schedule whose stages last this many seconds. Returns the stages in which decisions were checked."""
        people = [{"key": f"u{i}"} for i in range(200)]
        stages = [{"share": 0, "for": f"{seconds}s"}, {"share": 0.5, "for": f"{seconds}s"}, {"share": 1}]
        name = self.bandit({"rollout": {"schedule": stages}})
        begin = began(self.server.call("GET", f"/v1/bandits/{name}"))
        seen, treated = set(), set()
        while 2 not in seen:
            before = time.time()
            drawn = self.many(name, people)
            after = time.time()
            now = {i for i, each in enumerate(drawn) if each["group"] == "treated"}
            if after < begin + seconds:
                expect(not now, "somebody is treated in the first stage")
                seen.add(0)
            if begin + seconds + 0.1 <= before and after < begin + 2 * seconds:
                expect(60 < len(now) < 140, f"{len(now)} of 200 people are treated in the second stage")
                seen.add(1)
            if begin + 2 * seconds + 0.1 <= before:
                expect(len(now) == 200, f"{len(now)} of 200 people are treated in the last stage")
                seen.add(2)
            expect(treated <= now, "a person who was treated is not any more")
            treated = now
        self.server.kill()
        self.server.start()
        expect(all(each["group"] == "treated" for each in self.many(name, people)), "a restart began the schedule again")
        return seen

    def baselines_are_what_they_say(self):
        name = self.bandit({"control": {"share": 1, "baseline": "uniform"}})
        drawn = self.many(name, [{"key": f"u{i}"} for i in range(3000)])
        for action in ("card", "loan", "mail"):
            near(sum(each["action"] == action for each in drawn) / 3000, 1 / 3, 3000, action)
        expect(all(each["probability"] == 1 / 3 for each in drawn), "a uniform baseline has other probabilities")
        name = self.bandit({"control": {"share": 1, "baseline": {"action": "mail"}}})
        expect(self.decide(name)["action"] == "mail", "the fixed action was not taken")
        expect(self.decide(name, exclude=["mail"])["action"] == "card", "an excluded baseline was taken")
        name = self.bandit({"control": {"share": 1, "baseline": {"action": "1"}}}, dim=1)
        expect(self.decide(name, actions=[[0], [1]])["index"] == 1, "a baseline without a name was not taken")

    def slots_of_a_round_are_in_one_group(self):
        name = self.bandit({"control": {"share": 0.5}}, metrics=[{"name": "refund"}], wait=4)
        rounds = self.rounds(name, 40)
        groups = [{slot["group"] for slot in each["slots"]} for each in rounds]
        expect(all(len(each) == 1 for each in groups) and {"treated"} in groups and {"control"} in groups, str(groups))
        self.server.call("POST", f"/v1/bandits/{name}/reward", {"id": rounds[0]["id"], "slot": "low", "metrics": {"refund": 1}})
        lines = []
        while len(lines) < 40:
            lines = [json.loads(line) for line in self.server.call("GET", f"/v1/bandits/{name}/log").splitlines()]
        refunds = {line["EventId"]: line["_metrics"]["refund"] for line in lines}
        expect(refunds[rounds[0]["id"]] == 1 and sum(refunds.values()) == 1, "the metric of a slot")

    def rounds(self, name, count):
        slots = [{"id": "top"}, {"id": "low"}]
        return [self.server.call("POST", f"/v1/bandits/{name}/decide", {"actions": ACTIONS, "slots": slots}) for _ in range(count)]

    def long_segments_can_be_read(self):
        name = self.bandit({"segment": "word"}, wait=0.5)
        self.decide(name, context={"word": 40000 * "\u00e9"})
        log = ""
        while not log:
            log = self.server.call("GET", f"/v1/bandits/{name}/log")
        expect(json.loads(log)["_segment"] == 128 * "\u00e9", "the beginning of a segment")

    # ---- rules ----

    def rules_exclude_and_explain(self):
        name = self.bandit({"rules": [
            {"name": "no loans in Germany", "context": {"user.country": "DE"}, "action": {"kind": "loan"}, "exclude": True},
            {"name": "mails first", "action": {"_id": "mail"}, "boost": 100}]})
        there = self.decide(name, id="there", context={"user": {"country": "DE"}})
        elsewhere = self.decide(name, context={"user": {"country": "FR"}})
        expect(there["probabilities"][1] == 0 and elsewhere["probabilities"][1] > 0, "the exclusion")
        expect(abs(elsewhere["probabilities"][2] - 0.8) < 1e-12, f"the boost: {elsewhere}")
        why = self.server.call("GET", f"/v1/bandits/{name}/decisions/{there['id']}/explain")["guardrails"]
        expect(why["rules"] == ["no loans in Germany", "mails first"] and why["excluded"] == {"loan": "rule"}, str(why))
        try:
            self.decide(self.bandit({"rules": [{"name": "none", "action": {"kind": ["card", "loan", "mail"]},
                                                "exclude": True}]}))
            raise AssertionError("a decision was made although every action is excluded")
        except Refused as refused:
            expect(refused.status == 400 and "exclude every action" in refused.message, str(refused))

    # ---- limits ----

    def shares_are_exact(self):
        name = self.bandit({"shares": [{"name": "mails", "action": {"kind": "mail"}, "low": 0.5, "high": 0.6}]})
        drawn = self.many(name, [{} for _ in range(2000)])
        expect(all(0.5 - 1e-12 <= each["probabilities"][2] <= 0.6 + 1e-12 for each in drawn), "a probability is outside")
        mean = sum(each["probabilities"][2] for each in drawn) / 2000
        near(sum(each["action"] == "mail" for each in drawn) / 2000, mean, 2000, "mails")

    def caps_are_never_exceeded(self):
        most, each_most = 60, 2
        name = self.bandit({"caps": [
            {"name": "loans", "action": {"kind": "loan"}, "most": most, "per": "1d"},
            {"name": "mails", "action": {"kind": "mail"}, "most": each_most, "per": "1d", "each": "key"}]})
        counts, mails, lock = {"loan": 0}, {}, threading.Lock()

        def work(worker):
            for i in range(60):
                key = f"u{(worker * 60 + i) % 20}"
                action = self.decide(name, key=key)["action"]
                with lock:
                    counts["loan"] += action == "loan"
                    mails[key] = mails.get(key, 0) + (action == "mail")

        for _ in range(2):
            Workers(*(lambda worker=worker: work(worker) for worker in range(8))).join()
            self.server.kill()
            self.server.start()
        expect(counts["loan"] == most, f"{counts['loan']} loans; the cap is {most}, and there were enough decisions")
        expect(max(mails.values()) == each_most, f"a person got {max(mails.values())} mails")

    def caps_survive_changes_of_guardrails(self):
        def guardrails(number):
            return {"caps": [{"name": "costly", "action": {"kind": ["loan", "mail"]}, "most": 100}],
                    "rules": [{"name": f"rule {number}", "action": {"kind": "none"}, "boost": 1}]}

        name = self.bandit(guardrails(0))
        drawn, lock = [], threading.Lock()

        def work():
            for _ in range(10):
                found = self.many(name, [{} for _ in range(4)])
                with lock:
                    drawn.extend(each["action"] for each in found)

        workers = Workers(*8 * [work])
        changes = 0
        while workers.are_alive():
            changes += 1
            self.patch(name, guardrails=guardrails(changes))
        workers.join()
        count = len(drawn) - drawn.count("card")
        expect(count == 100, f"{count} costly actions; the cap is 100, and there were {changes} changes")

    def a_change_delays_only_its_own_answer(self):
        caps = [{"name": f"cap {i}", "action": {"kind": "loan"}, "most": 1000000 + i, "per": "7d"} for i in range(10)]
        name, other = self.bandit({"caps": caps[:1]}), self.bandit({"control": {"share": 0.1}})
        self.many(name, [{} for _ in range(40000)])

        def goes_on(count):
            """Whether another change is made while the new cap counts what the log has."""
            changing = threading.Thread(target=self.patch, args=(name,), kwargs={"guardrails": {"caps": caps[:count]}})
            changing.start()
            while len(self.server.call("GET", f"/v1/bandits/{name}")["settings"]["guardrails"]["caps"]) < count:
                pass
            self.decide(name)
            self.patch(other, wait=600 + count)
            was_first = changing.is_alive()
            changing.join()
            return was_first

        expect(any(goes_on(count) for count in range(2, 11)), "another change waits for guardrails")

    def retries_do_not_count(self):
        name = self.bandit({"caps": [{"name": "costly", "action": {"kind": ["loan", "mail"]}, "most": 10}]})
        first = self.decide(name, id="once")
        for _ in range(30):
            expect(self.decide(name, id="once") == first, "a retry got another answer")
        drawn = [each["action"] for each in self.many(name, [{} for _ in range(60)])] + [first["action"]]
        expect(len(drawn) - drawn.count("card") == 10, f"{drawn} with a cap of 10 for what is no card")

    def a_retry_gets_what_was_decided_before_the_cap(self):
        name = self.bandit({"caps": [{"name": "all", "action": {"kind": ["card", "loan", "mail"]}, "most": 5}]})
        slots = [{"id": "top"}, {"id": "low"}]
        single, whole = self.decide(name, id="single", key="u"), self.decide(name, id="round", slots=slots)
        for i in range(2):
            self.decide(name, id=f"more {i}")
        for _ in range(2):
            expect(self.decide(name, id="single", key="u") == single, "a retry got another answer")
            expect(self.decide(name, id="round", slots=slots) == whole, "a retry of a round got another answer")
            self.refused(409, name, id="single", key="other")
            self.refused(400, name, id="new")
            self.refused(400, name, id="new round", slots=slots)
            self.refused(400, name)
        batch = [{"actions": ACTIONS, "id": "single", "key": "u"}, {"actions": ACTIONS, "id": "new"}]
        found = self.server.call("POST", f"/v1/bandits/{name}/decide/batch", {"decisions": batch})["decisions"]
        expect(found[0] == single and "the cap 'all'" in found[1]["error"]["message"], str(found))

    def refused(self, status, name, **request):
        try:
            self.decide(name, **request)
        except Refused as refused:
            expect(refused.status == status, str(refused))
            return
        raise AssertionError(f"{request} was decided")

    def a_removed_boost_leaves_no_price(self):
        budgets = [{"name": "money", "cost": "cost", "limit": 1000}]
        name = self.bandit({"budgets": budgets, "rules": [{"name": "no mails", "action": {"kind": "mail"}, "boost": -1000}]})
        before = self.decide(name, exclude=["loan"])
        self.patch(name, guardrails={"budgets": budgets})
        after = self.decide(name, exclude=["loan"])
        expect(before["probabilities"][2] < 0.2 and after["probabilities"][2] == 0.5, f"{before} became {after}")

    def boosts_of_earlier_rules_are_no_prices(self):
        budgets = [{"name": "money", "cost": "cost", "limit": 1000}]
        name, stops = self.bandit({"budgets": budgets}), threading.Event()

        def boosted(number):
            return {"budgets": budgets, "rules": [{"name": f"rule {number}", "action": {"kind": "mail"}, "boost": -1000}]}

        def price():
            self.decide(name)
            return self.server.call("GET", f"/v1/bandits/{name}")["limits"]["budgets"][0]["price"]

        def work():
            while not stops.is_set():
                self.decide(name)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in range(20):
            self.patch(name, guardrails=boosted(number))
            self.patch(name, guardrails={"budgets": budgets})
        stops.set()
        for thread in threads:
            thread.join()
        before = price()
        expect(before < 1, f"a boost of 1000 became a price of {before}")
        self.server.kill()
        self.server.start()
        after = price()
        expect(abs(after - before) <= 0.5 * before + 1e-6, f"the price was {before}, and is {after} after a restart")

    def budgets_are_never_exceeded(self):
        day = None
        while day != time.time() // 86400:  # at midnight UTC a new budget begins
            day = time.time() // 86400
            name = self.bandit({"budgets": [{"name": "money", "cost": "cost", "limit": 100, "per": "1d", "pace": "first"}]})
            drawn = self.many(name, [{} for _ in range(600)])
        costs = {each["id"]: each["features"]["cost"] for each in ACTIONS}
        spent = sum(costs[each["action"]] for each in drawn)
        expect(97 < spent <= 100, f"spent {spent} of 100")
        expect(drawn[-1]["action"] == "card", "an action was taken that costs more than what is left")

    def sticky_actions_stay(self):
        name = self.bandit({"sticky": {"for": "1h"}})
        first = {f"u{i}": self.decide(name, key=f"u{i}") for i in range(100)}
        expect(len({each["action"] for each in first.values()}) == 3, "only some actions were drawn")
        self.server.kill()
        self.server.start()
        for key, before in first.items():
            again = self.decide(name, key=key)
            expect(again["action"] == before["action"] and again["repeats"] == before["id"] and again["probability"] == 1,
                   f"{before} became {again}")
        other = self.decide(name, key="u0", exclude=[first["u0"]["action"]])
        expect("repeats" not in other, "an excluded action was repeated")
        self.patch(name, mode="apprentice")
        learned = [self.decide(name, key=key) for key in first]
        expect(all(each["action"] == "card" and "repeats" not in each for each in learned), "an apprentice repeats")

    def teach(self, name, action):
        """Until the model gives no other action more than the least probability."""
        while max(p for p, each in zip(self.decide(name)["probabilities"], ACTIONS) if each["id"] != action) > 0.1 + 1e-9:
            drawn = self.many(name, [{} for _ in range(50)])
            self.server.call("POST", f"/v1/bandits/{name}/reward/batch", {"rewards": [
                {"id": each["id"], "value": float(each["action"] == action)} for each in drawn]})

    def repeats_end_when_the_model_changes(self):
        for change in (0.5, 0):
            name = self.bandit({"sticky": {"for": "1h", "change": change}})
            self.teach(name, "mail")
            first, number = {"action": "none"}, 0
            while first["action"] != "mail":
                number += 1
                first = self.decide(name, key=f"u{number}")
            same = self.decide(name, key=f"u{number}")
            expect(same.get("repeats") == first["id"] and same["action"] == "mail", f"{first} became {same}")
            self.teach(name, "loan")
            later = self.decide(name, key=f"u{number}")
            expect(("repeats" in later) == (change == 0), f"change {change}: {first} became {later}")
            expect(later["probability"] == 1 if change == 0 else later["probabilities"][2] < 0.2, str(later))

    # ---- holding ----

    def a_held_bandit_falls_back(self):
        name = self.bandit({}, wait=1000)
        decided = self.many(name, [{} for _ in range(20)])
        self.patch(name, held="fallback", held_because="an exercise")
        held = self.many(name, [{} for _ in range(20)])
        expect(all(each["group"] == "fallback" and each["action"] == "card" for each in held), "held decisions")
        for each in decided:
            self.server.call("POST", f"/v1/bandits/{name}/reward", {"id": each["id"], "value": 1})
        self.patch(name, held="no")
        free = self.decide(name)
        expect("group" not in free, f"it is still held: {free}")
        reward = self.server.call("POST", f"/v1/bandits/{name}/reward", {"id": free["id"], "value": 1})
        expect(reward["outcome"] == "joined", str(reward))
        standing = {"learned": 0}
        while not standing["learned"] or standing["behind"]:
            standing = self.server.call("GET", f"/v1/bandits/{name}")
        expect(standing["learned"] == 1, f"it learned {standing['learned']} decisions; one was not held back")

    def a_held_bandit_promotes_nobody(self):
        for held in ("frozen", "fallback"):
            name = self.bandit({}, policy="uniform", propensity="own", promote="auto")
            self.server.call("POST", f"/v1/bandits/{name}/challengers", {"name": "better", "policy": "linucb"})
            drawn = self.many(name, [{} for _ in range(400)])
            self.patch(name, held=held, held_because="an exercise")
            self.server.call("POST", f"/v1/bandits/{name}/reward/batch", {"rewards": [
                {"id": each["id"], "value": float(each["action"] == "mail")} for each in drawn]})
            report = {"policies": []}
            while not any(each.get("won") for each in report["policies"]):
                report = self.server.call("GET", f"/v1/bandits/{name}/evaluation")
            for _ in range(3):  # each decision lets the server look again
                self.decide(name)
                time.sleep(0.3)
            expect(self.policy_of(name) == "uniform", f"a challenger was promoted while the bandit was held: {held}")
            self.patch(name, held="no")
            while self.policy_of(name) != "linucb":
                time.sleep(0.05)

    def policy_of(self, name):
        return self.server.call("GET", f"/v1/bandits/{name}")["settings"]["policy"]

    def alarms(self, name):
        report = self.server.call("GET", f"/v1/bandits/{name}/evaluation")
        return report.get("guardrails", {}).get("alarms", [])  # empty until the log was read after a start

    def violate(self, name):
        """Treated people return everything, until the bandit falls back."""
        people, decided, deadline = 0, [], time.monotonic() + 300
        while not any(each["group"] == "fallback" for each in decided):
            expect(time.monotonic() < deadline, "treated people return everything, and nobody notices")
            decided = self.many(name, [{"key": f"u{people + i}"} for i in range(100)])
            self.server.call("POST", f"/v1/bandits/{name}/reward/batch", {"rewards": [
                {"id": each["id"], "value": 1, "metrics": {"refund": float(each["group"] == "treated" or i % 4 == 0)}}
                for i, each in enumerate(decided)]})
            people += 100

    def a_violated_bound_rolls_back(self):
        name = self.bandit({"control": {"share": 0.5}, "bounds": REFUNDS}, metrics=[{"name": "refund"}], wait=3)
        self.violate(name)
        settings = self.server.call("GET", f"/v1/bandits/{name}")["settings"]
        expect(settings["held"] == "fallback" and "refund" in settings["held_because"], str(settings))
        while len(self.alarms(name)) != 1:  # the report follows the log
            expect(len(self.alarms(name)) <= 1, "an alarm was written twice")
        self.server.kill()
        self.server.start()
        expect(self.decide(name, key="u0")["group"] == "fallback", "a restart released the bandit")
        while not self.alarms(name):
            pass
        expect(len(self.alarms(name)) == 1, "a restart repeated the alarm")
        self.patch(name, held="no")
        expect(self.decide(name, key="u0")["group"] in ("treated", "control"), "it was not released")

    def a_scheduled_rollout_is_rolled_back(self):
        everybody = [{"key": f"u{i}"} for i in range(100)]
        guardrails = {"control": {"share": 0.3}, "bounds": REFUNDS,
                      "rollout": {"schedule": [{"share": 0.5, "for": "1s"}, {"share": 1}]}}
        name = self.bandit(guardrails, metrics=[{"name": "refund"}], wait=3)
        begin = began(self.server.call("GET", f"/v1/bandits/{name}"))
        self.violate(name)
        while time.time() < begin + 1:  # the last stage does not end the fallback
            self.decide(name)
        for _ in range(2):
            expect({each["group"] for each in self.many(name, everybody)} == {"fallback"}, "somebody is not rolled back")
            self.server.kill()
            self.server.start()
        guardrails["rollout"]["schedule"][0] = {"share": 0, "for": "1d"}
        released = self.patch(name, held="no", guardrails=guardrails)
        expect(began(released) > begin, "the new schedule did not begin with the release")
        groups = {each["group"] for each in self.many(name, everybody)}
        expect(groups == {"control", "waiting"}, f"after the release with a new schedule: {groups}")

    def changes_do_not_wait_for_a_model(self):
        slow = self.bandit({}, policy="eenet", options="f1.width=64", propensity="floor:0.3", wait=3,
                           metrics=[{"name": "refund", "weight": -1}])
        other, logged, weight, changes = self.bandit({}), 0, -1, 0
        while changes <= 4:  # changes that wait for a model are two at most, however long its training takes
            expect(logged < 40000, f"only {changes} changes of another bandit while a model was trained on {logged} decisions")
            more = max(logged, 3000)
            self.refund_loans(slow, more)
            logged += more
            while len(self.server.call("GET", f"/v1/bandits/{slow}/log").splitlines()) < logged:
                time.sleep(0.1)  # not all are settled
            weight -= 1
            self.patch(slow, held="no", guardrails={})
            answer, changes = self.change_while_relearning(slow, other, weight)
        now = self.server.call("GET", f"/v1/bandits/{slow}")["settings"]
        expect("relearned" in answer and now["metrics"][0]["weight"] == weight, f"{answer}")
        expect(now["held"] == "frozen" and now["held_because"] == "an exercise", f"the model released the bandit: {now}")
        expect("sticky" in now["guardrails"], f"the model undid a change of settings: {now}")

    def refund_loans(self, name, count):
        for _ in range(count // 500):
            drawn = self.many(name, [{} for _ in range(500)])
            self.server.call("POST", f"/v1/bandits/{name}/reward/batch", {"rewards": [
                {"id": each["id"], "value": 1, "metrics": {"refund": float(each["action"] == "loan")}} for each in drawn]})

    def change_while_relearning(self, slow, other, weight):
        """Gives a bandit another objective. Returns the response, and the number of changes of another bandit meanwhile."""
        answers, changes = [], 0
        worker = Workers(lambda: answers.append(self.patch(slow, metrics=[{"name": "refund", "weight": weight}])))
        while worker.are_alive():
            self.patch(other, held="frozen" if changes % 2 == 0 else "no")
            changes += 1
            if changes == 2:  # also of the bandit itself
                self.patch(slow, held="frozen", held_because="an exercise")
                self.patch(slow, guardrails={"sticky": {"for": "1h"}})
        worker.join()
        return answers[0], changes

    def the_log_says_all(self):
        name = self.bandit({"control": {"share": 0.5}, "segment": "user.country", "sticky": {"for": "1h"},
                            "rules": [{"name": "new", "action": {"kind": "mail"}, "boost": 0.1}]}, wait=0.5)
        for i in range(40):
            self.decide(name, key=f"u{i % 10}", context={"user": {"country": "DE" if i % 2 else "FR"}})
        lines = []
        while len(lines) < 40:  # they are settled after half a second
            lines = [json.loads(line) for line in self.server.call("GET", f"/v1/bandits/{name}/log").splitlines()]
        groups = {line["_group"] for line in lines}
        expect(groups == {"treated", "control"}, str(groups))
        expect(all(line["_treated_share"] == 0.5 and line["_key"].startswith("u") for line in lines), "share and key")
        expect({line["_segment"] for line in lines} == {"DE", "FR"}, "segments")
        treated = [line for line in lines if line["_group"] == "treated"]
        expect(all(line["_rules"] == ["new"] for line in treated), "rules")
        repeats = [line for line in treated if "_repeats" in line]
        expect(len(repeats) == len(treated) - len({line["_key"] for line in treated}), "repeats")


def new_database():
    """A database of its own on the server of EENET_TEST_POSTGRES; None: the store is a folder."""
    where = os.environ.get("EENET_TEST_POSTGRES")
    if not where:
        return None
    name = f"guardrails_{os.getpid()}"
    subprocess.run(["psql", "-q", where, "-c", f"DROP DATABASE IF EXISTS {name}", "-c", f"CREATE DATABASE {name}"], check=True)
    return where.replace("/postgres?", f"/{name}?")


def main():
    program = os.path.abspath(sys.argv[1])
    database = new_database()
    with tempfile.TemporaryDirectory() as name:
        server = Server(program, Path(name), database)
        server.start()
        story = Story(server)
        try:
            for each in (story.people_stay_in_their_groups, story.schedules_begin_with_new_weights_too, story.schedules_advance,
                         story.baselines_are_what_they_say,
                         story.slots_of_a_round_are_in_one_group, story.long_segments_can_be_read,
                         story.rules_exclude_and_explain, story.shares_are_exact, story.caps_are_never_exceeded,
                         story.caps_survive_changes_of_guardrails, story.a_change_delays_only_its_own_answer,
                         story.retries_do_not_count,
                         story.a_retry_gets_what_was_decided_before_the_cap,
                         story.a_removed_boost_leaves_no_price, story.boosts_of_earlier_rules_are_no_prices,
                         story.budgets_are_never_exceeded, story.sticky_actions_stay,
                         story.repeats_end_when_the_model_changes, story.a_held_bandit_falls_back,
                         story.a_held_bandit_promotes_nobody,
                         story.a_violated_bound_rolls_back, story.a_scheduled_rollout_is_rolled_back,
                         story.changes_do_not_wait_for_a_model, story.the_log_says_all):
                each()
                print("ok", each.__name__.replace("_", " "), flush=True)
        finally:
            server.stop()
        place = database or str(Path(name) / "data")
        for command in ("check", "replay"):
            done = subprocess.run([program, command, place], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  check=False)
            expect(done.returncode == 0, f"{command}: {done.stdout}")
        expect("all are identical" in done.stdout, done.stdout)
        print(done.stdout.strip())


if __name__ == "__main__":
    main()
