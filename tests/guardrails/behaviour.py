#!/usr/bin/env python3
"""behaviour.py PROGRAM: guardrails of a real server. Each test states what must be true and counts it: who is treated,
what rules, shares, caps, budgets and stickiness do to decisions, and that a kill -9 forgets nothing. At the end the log
is checked and replayed to the last bit. With EENET_TEST_POSTGRES the store is that database."""
import datetime
import itertools
import json
import math
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import (LONG, Meanwhile, Refused, Server, at_once, check, new_database, run,  # noqa: E402
                     scratch_folder, wait_for)

ACTIONS = [{"id": "card", "features": {"kind": "card", "cost": 0}},
           {"id": "loan", "features": {"kind": "loan", "cost": 3}},
           {"id": "mail", "features": {"kind": "mail", "cost": 1}}]
PEOPLE = 3000 if LONG else 600
REFUNDS = [{"metric": "refund", "most_above": 0.1, "then": "fallback"}]


def near(found, share, what, count=PEOPLE):
    """So many of them, within five standard deviations."""
    error = 5 * math.sqrt(share * (1 - share) * count)
    check(abs(found - share * count) <= error, f"{what}: {found} of {count}, expected {share * count:.0f} within {error:.0f}")


def began(described):
    """When the schedule of a described bandit began, in seconds since 1970."""
    since = described["settings"]["guardrails"]["rollout"]["since"]
    return datetime.datetime.fromisoformat(since.replace("Z", "+00:00")).timestamp()


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

    def post(self, name, call, /, **body):
        return self.server.call("POST", f"/v1/bandits/{name}/{call}", body)

    def get(self, name, what=""):
        return self.server.call("GET", f"/v1/bandits/{name}{what}")

    def decide(self, name, **request):
        return self.post(name, "decide", **{"actions": ACTIONS, **request})

    def reward_all(self, name, decided, reward):
        """reward: the members of one, by its number and its decision."""
        self.post(name, "reward/batch", rewards=[{"id": each["id"], **reward(i, each)} for i, each in enumerate(decided)])

    def settled(self, name, count):
        """The lines of the log, once that many decisions are settled."""
        found = wait_for(lambda: [lines for lines in [self.get(name, "/log").splitlines()] if len(lines) >= count],
                         f"no {count} decisions of {name} are settled")
        return [json.loads(line) for line in found[0]]

    def many(self, name, requests):
        found = []
        for begin in range(0, len(requests), 500):
            items = [{"actions": ACTIONS, **request} for request in requests[begin:begin + 500]]
            found += self.post(name, "decide/batch", decisions=items)["decisions"]
        for each in found:
            check("error" not in each, str(each))
            check(abs(sum(each["probabilities"]) - 1) < 1e-12, "probabilities do not add up to 1")
        return found

    def patch(self, name, **settings):
        return self.server.call("PATCH", f"/v1/bandits/{name}", settings)

    # ---- groups ----

    def people_stay_in_their_groups(self):
        people = [f"u{i}" for i in range(PEOPLE)]
        name = self.bandit({"control": {"share": 0.1}, "rollout": {"share": 0.25}})
        first = self.many(name, [{"key": key} for key in people])
        groups = [each["group"] for each in first]
        near(groups.count("control"), 0.1, "control")
        near(groups.count("treated"), 0.9 * 0.25, "treated")
        check(all(each["action"] == "card" and each["probability"] == 1 for each in first if each["group"] != "treated"),
               "somebody who is not treated did not get the first action")
        again = [each["group"] for each in self.many(name, [{"key": key} for key in people])]
        check(again == groups, "a person changed the group")
        self.patch(name, guardrails={"control": {"share": 0.1}, "rollout": {"share": 0.5}})
        later = [each["group"] for each in self.many(name, [{"key": key} for key in people])]
        near(later.count("treated"), 0.9 * 0.5, "treated after the rollout grew")
        for before, now in zip(groups, later):
            check(before == now or (before, now) == ("waiting", "treated"), f"{before} became {now}")
        self.server.restart()
        check([each["group"] for each in self.many(name, [{"key": key} for key in people])] == later,
               "a restart changed groups")

    def schedules_begin_with_new_weights_too(self):
        stages = {"control": {"share": 0.5}, "rollout": {"schedule": [{"share": 0, "for": "1d"}, {"share": 1}]}}
        name = self.bandit({"control": {"share": 0.5}}, metrics=[{"name": "refund", "weight": -1}])
        changed = self.patch(name, metrics=[{"name": "refund", "weight": -2}], guardrails=stages)
        rollout = changed["settings"]["guardrails"]["rollout"]
        check("relearned" in changed and "since" in rollout, f"the schedule did not begin: {rollout}")
        again = self.patch(name, metrics=[{"name": "refund", "weight": -3}])["settings"]["guardrails"]["rollout"]
        check(again == rollout, f"new weights changed the schedule from {rollout} to {again}")

    def schedules_advance(self):
        """People treated in one stage stay treated in the next, and a restart does not restart the rollout."""
        people = [{"key": f"u{i}"} for i in range(200)]
        half, treated = {"share": 0.5, "for": "1d"}, set()
        for stages in ([{"share": 0, "for": "1s"}, half, {"share": 1}], [{**half, "for": "1s"}, {"share": 1}]):
            name = self.bandit({"rollout": {"schedule": stages}})

            def has_advanced():
                now = {i for i, each in enumerate(self.many(name, people)) if each["group"] == "treated"}
                check(treated <= now, "a person who was treated is not any more")
                treated.update(now)
                return len(now) == 200 if len(stages) == 2 else now

            wait_for(has_advanced, f"the stage does not end: {stages}")
            has_advanced()  # all in one stage: the last requests may have met its begin
            check(60 < len(treated) < 140 or len(stages) == 2, f"{len(treated)} of 200 people are treated in the second stage")
            self.server.restart()
            has_advanced()
            treated.clear()

    def baselines_are_what_they_say(self):
        name = self.bandit({"control": {"share": 1, "baseline": "uniform"}})
        drawn = self.many(name, [{"key": f"u{i}"} for i in range(PEOPLE)])
        for action in ("card", "loan", "mail"):
            near(sum(each["action"] == action for each in drawn), 1 / 3, action)
        check(all(each["probability"] == 1 / 3 for each in drawn), "a uniform baseline has other probabilities")
        name = self.bandit({"control": {"share": 1, "baseline": {"action": "mail"}}})
        check(self.decide(name)["action"] == "mail", "the fixed action was not taken")
        check(self.decide(name, exclude=["mail"])["action"] == "card", "an excluded baseline was taken")
        name = self.bandit({"control": {"share": 1, "baseline": {"action": "1"}}}, dim=1)
        check(self.decide(name, actions=[[0], [1]])["index"] == 1, "a baseline without a name was not taken")

    def slots_of_a_round_are_in_one_group(self):
        name = self.bandit({"control": {"share": 0.5}}, metrics=[{"name": "refund"}], wait=4)
        slots = [{"id": "top"}, {"id": "low"}]
        outcome, rounds = "late", []
        while outcome == "late":  # until the machine is quick enough
            rounds.append(self.decide(name, slots=slots))
            outcome = self.post(name, "reward", id=rounds[-1]["id"], slot="low", metrics={"refund": 1})["outcome"]
        rounds += [self.decide(name, slots=slots) for _ in range(40 - len(rounds))]
        groups = [{slot["group"] for slot in each["slots"]} for each in rounds]
        check(all(len(each) == 1 for each in groups) and {"treated"} in groups and {"control"} in groups, str(groups))
        refunds = {line["EventId"]: line["_metrics"]["refund"] for line in self.settled(name, len(rounds))}
        check(sum(refunds.values()) == 1, f"the metric of a slot: {outcome} {refunds}")

    def long_segments_can_be_read(self):
        name = self.bandit({"segment": "word"}, wait=0.5)
        self.decide(name, context={"word": 40000 * "\u00e9"})
        check(self.settled(name, 1)[0]["_segment"] == 128 * "\u00e9", "the beginning of a segment")

    # ---- rules ----

    def rules_exclude_and_explain(self):
        name = self.bandit({"rules": [
            {"name": "no loans in Germany", "context": {"user.country": "DE"}, "action": {"kind": "loan"}, "exclude": True},
            {"name": "mails first", "action": {"_id": "mail"}, "boost": 100}]})
        there = self.decide(name, id="there", context={"user": {"country": "DE"}})
        elsewhere = self.decide(name, context={"user": {"country": "FR"}})
        check(there["probabilities"][1] == 0 and elsewhere["probabilities"][1] > 0, "the exclusion")
        check(abs(elsewhere["probabilities"][2] - 0.8) < 1e-12, f"the boost: {elsewhere}")
        why = self.get(name, f"/decisions/{there['id']}/explain")["guardrails"]
        check(why["rules"] == ["no loans in Germany", "mails first"] and why["excluded"] == {"loan": "rule"}, str(why))
        empty = self.bandit({"rules": [{"name": "none", "action": {"kind": ["card", "loan", "mail"]}, "exclude": True}]})
        self.refused(400, empty, "exclude every action")

    # ---- limits ----

    def shares_are_exact(self):
        name = self.bandit({"shares": [{"name": "mails", "action": {"kind": "mail"}, "low": 0.5, "high": 0.6}]})
        drawn = self.many(name, [{} for _ in range(PEOPLE)])
        check(all(0.5 - 1e-12 <= each["probabilities"][2] <= 0.6 + 1e-12 for each in drawn), "a probability is outside")
        mean = sum(each["probabilities"][2] for each in drawn) / PEOPLE
        near(sum(each["action"] == "mail" for each in drawn), mean, "mails")

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
            at_once(*(lambda worker=worker: work(worker) for worker in range(8)))
            self.server.restart()
        check(counts["loan"] == most, f"{counts['loan']} loans; the cap is {most}, and there were enough decisions")
        check(max(mails.values()) == each_most, f"a person got {max(mails.values())} mails")

    def caps_survive_changes_of_guardrails(self):
        def guardrails(number):
            return {"caps": [{"name": "costly", "action": {"kind": ["loan", "mail"]}, "most": 100}],
                    "rules": [{"name": f"rule {number}", "action": {"kind": "none"}, "boost": 1}]}

        name = self.bandit(guardrails(0))
        drawn, changes = [], itertools.count(1)
        with Meanwhile(lambda: self.patch(name, guardrails=guardrails(next(changes)))):
            at_once(*8 * [lambda: [drawn.extend(self.many(name, [{} for _ in range(4)])) for _ in range(10)]])
        count = sum(each["action"] != "card" for each in drawn)
        check(count == 100, f"{count} costly actions; the cap is 100, and there were {next(changes) - 1} changes")

    def a_change_delays_only_its_own_answer(self):
        def guardrails(number):
            return {"caps": [{"name": "loans", "action": {"kind": "loan"}, "most": 1000000 + number, "per": "7d"}]}

        name, other = self.bandit(guardrails(0)), self.bandit({"control": {"share": 0.1}})
        numbers = itertools.count(1)

        def goes_on():
            """Whether another change is made while the new cap counts what the log has, which is more each time."""
            number = next(numbers)
            self.many(name, [{} for _ in range(4000)])
            changing = threading.Thread(target=self.patch, args=(name,), kwargs={"guardrails": guardrails(number)})
            changing.start()
            wait_for(lambda: self.get(name)["settings"]["guardrails"]["caps"] == guardrails(number)["caps"], "the change does not begin", 0)
            self.decide(name)
            self.patch(other, wait=600 + number)
            was_first = changing.is_alive()
            changing.join()
            return was_first

        wait_for(goes_on, "another change waits for guardrails")

    def retries_do_not_count(self):
        name = self.bandit({"caps": [{"name": "costly", "action": {"kind": ["loan", "mail"]}, "most": 10}]})
        first = self.decide(name, id="once")
        for _ in range(30):
            check(self.decide(name, id="once") == first, "a retry got another answer")
        drawn = [each["action"] for each in self.many(name, [{} for _ in range(60)])] + [first["action"]]
        check(len(drawn) - drawn.count("card") == 10, f"{drawn} with a cap of 10 for what is no card")

    def a_retry_gets_what_was_decided_before_the_cap(self):
        name = self.bandit({"caps": [{"name": "all", "action": {"kind": ["card", "loan", "mail"]}, "most": 5}]})
        slots = [{"id": "top"}, {"id": "low"}]
        single, whole = self.decide(name, id="single", key="u"), self.decide(name, id="round", slots=slots)
        for i in range(2):
            self.decide(name, id=f"more {i}")
        for _ in range(2):
            check(self.decide(name, id="single", key="u") == single, "a retry got another answer")
            check(self.decide(name, id="round", slots=slots) == whole, "a retry of a round got another answer")
            self.refused(409, name, id="single", key="other")
            self.refused(400, name, id="new")
            self.refused(400, name, id="new round", slots=slots)
            self.refused(400, name)
        batch = [{"actions": ACTIONS, "id": "single", "key": "u"}, {"actions": ACTIONS, "id": "new"}]
        found = self.server.call("POST", f"/v1/bandits/{name}/decide/batch", {"decisions": batch})["decisions"]
        check(found[0] == single and "the cap 'all'" in found[1]["error"]["message"], str(found))

    def refused(self, status, name, said="", **request):
        try:
            self.decide(name, **request)
        except Refused as refused:
            check(refused.status == status and said in refused.message, str(refused))
            return
        raise AssertionError(f"{request} was decided")

    def a_removed_boost_leaves_no_price(self):
        budgets = [{"name": "money", "cost": "cost", "limit": 1000}]
        name = self.bandit({"budgets": budgets, "rules": [{"name": "no mails", "action": {"kind": "mail"}, "boost": -1000}]})
        before = self.decide(name, exclude=["loan"])
        self.patch(name, guardrails={"budgets": budgets})
        after = self.decide(name, exclude=["loan"])
        check(before["probabilities"][2] < 0.2 and after["probabilities"][2] == 0.5, f"{before} became {after}")

    def boosts_of_earlier_rules_are_no_prices(self):
        budgets = [{"name": "money", "cost": "cost", "limit": 1000}]
        name = self.bandit({"budgets": budgets})

        def boosted(number):
            return {"budgets": budgets, "rules": [{"name": f"rule {number}", "action": {"kind": "mail"}, "boost": -1000}]}

        def price():
            self.decide(name)
            return self.get(name)["limits"]["budgets"][0]["price"]

        with Meanwhile(lambda: self.decide(name), 4):
            for number in range(20):
                self.patch(name, guardrails=boosted(number))
                self.patch(name, guardrails={"budgets": budgets})
        before = price()
        check(before < 1, f"a boost of 1000 became a price of {before}")
        self.server.restart()
        after = price()
        check(abs(after - before) <= 0.5 * before + 1e-6, f"the price was {before}, and is {after} after a restart")

    def budgets_are_never_exceeded(self):
        name = self.bandit({"budgets": [{"name": "money", "cost": "cost", "limit": 100, "per": "7d", "pace": "first"}]})
        drawn = self.many(name, [{} for _ in range(600)])
        costs = {each["id"]: each["features"]["cost"] for each in ACTIONS}
        spent = sum(costs[each["action"]] for each in drawn)
        check(97 < spent <= 100, f"spent {spent} of 100")
        check(drawn[-1]["action"] == "card", "an action was taken that costs more than what is left")
        for cost in ({}, {"cost": "3"}, {"cost": -1}):
            self.refused(400, name, "the budget 'money' needs the cost", actions=[ACTIONS[0], {"id": "loan", "features": cost}])
        self.patch(name, guardrails={"budgets": [{"name": "money", "cost": "cost", "default_cost": 4, "limit": 100, "per": "7d"}]})
        self.refused(400, name, "such as the budget 'money'", actions=[{"id": "loan"}])

    def sticky_actions_stay(self):
        name = self.bandit({"sticky": {"for": "1h"}})
        first = {f"u{i}": self.decide(name, key=f"u{i}") for i in range(100)}
        check(len({each["action"] for each in first.values()}) == 3, "only some actions were drawn")
        self.server.restart()
        for key, before in first.items():
            again = self.decide(name, key=key)
            check(again["action"] == before["action"] and again["repeats"] == before["id"] and again["probability"] == 1,
                   f"{before} became {again}")
        other = self.decide(name, key="u0", exclude=[first["u0"]["action"]])
        check("repeats" not in other, "an excluded action was repeated")
        self.patch(name, mode="apprentice")
        learned = [self.decide(name, key=key) for key in first]
        check(all(each["action"] == "card" and "repeats" not in each for each in learned), "an apprentice repeats")

    def teach(self, name, action):
        """Until the model gives no other action more than the least probability."""
        while max(p for p, each in zip(self.decide(name)["probabilities"], ACTIONS) if each["id"] != action) > 0.1 + 1e-9:
            self.reward_all(name, self.many(name, [{} for _ in range(50)]), lambda _, each: {"value": float(each["action"] == action)})
            self.server.learned(name)

    def repeats_end_when_the_model_changes(self):
        for change in (0.5, 0):
            name = self.bandit({"sticky": {"for": "1h", "change": change}})
            self.teach(name, "mail")
            first, number = {"action": "none"}, 0
            while first["action"] != "mail":
                number += 1
                first = self.decide(name, key=f"u{number}")
            same = self.decide(name, key=f"u{number}")
            check(same.get("repeats") == first["id"] and same["action"] == "mail", f"{first} became {same}")
            self.teach(name, "loan")
            later = self.decide(name, key=f"u{number}")
            check(("repeats" in later) == (change == 0), f"change {change}: {first} became {later}")
            check(later["probability"] == 1 if change == 0 else later["probabilities"][2] < 0.2, str(later))

    # ---- holding ----

    def a_held_bandit_falls_back(self):
        name = self.bandit({}, wait=1000)
        decided = self.many(name, [{} for _ in range(20)])
        self.patch(name, held="fallback", held_because="an exercise")
        held = self.many(name, [{} for _ in range(20)])
        check(all(each["group"] == "fallback" and each["action"] == "card" for each in held), "held decisions")
        self.reward_all(name, decided, lambda *_: {"value": 1})
        self.patch(name, held="no")
        free = self.decide(name)
        check("group" not in free, f"it is still held: {free}")
        reward = self.post(name, "reward", id=free["id"], value=1)
        check(reward["outcome"] == "joined", str(reward))
        learned = self.server.learned(name, 1)["learned"]
        check(learned == 1, f"it learned {learned} decisions; one was not held back")

    def a_held_bandit_promotes_no_challenger(self):
        for held in ("frozen", "fallback"):
            name = self.bandit({}, policy="uniform", propensity="own", promote="auto")
            self.post(name, "challengers", name="better", policy="linucb")
            drawn = self.many(name, [{} for _ in range(410)])
            self.patch(name, held=held, held_because="an exercise")
            at = f"/v1/bandits/{name}/evaluation"
            for begin, end in ((0, 400), (400, 410)):  # the server looks whether somebody has won after each turn
                self.reward_all(name, drawn[begin:end], lambda _, each: {"value": float(each["action"] == "mail")})
                self.server.wait_for(at, lambda now, count=end: now["events"] == count and any(
                    each.get("won") for each in now["policies"]))
            check(self.policy_of(name) == "uniform", f"a challenger was promoted while the bandit was held: {held}")
            self.patch(name, held="no")
            wait_for(lambda: self.policy_of(name) == "linucb", "the challenger is promoted after the release")

    def policy_of(self, name):
        return self.get(name)["settings"]["policy"]

    def alarms(self, name):
        report = self.get(name, "/evaluation")
        return report.get("guardrails", {}).get("alarms", [])  # empty until the log was read after a start

    def violate(self, name):
        """Treated people return everything, until the bandit falls back."""
        for begin in itertools.count(0, 100):
            decided = self.many(name, [{"key": f"u{begin + i}"} for i in range(100)])
            if any(each["group"] == "fallback" for each in decided):
                return
            check(begin < 1000000, "no alarm, although treated people return everything")
            self.reward_all(name, decided, lambda i, each: {
                "value": 1, "metrics": {"refund": float(each["group"] == "treated" or i % 4 == 0)}})

    def a_violated_bound_rolls_back(self):
        name = self.bandit({"control": {"share": 0.5}, "bounds": REFUNDS}, metrics=[{"name": "refund"}], wait=2)
        self.violate(name)
        settings = self.get(name)["settings"]
        check(settings["held"] == "fallback" and "refund" in settings["held_because"], str(settings))
        wait_for(lambda: self.alarms(name), "the report has no alarm")
        check(len(self.alarms(name)) == 1, "an alarm was written twice")
        self.server.restart()
        check(self.decide(name, key="u0")["group"] == "fallback", "a restart released the bandit")
        wait_for(lambda: self.alarms(name), "the report has no alarm after a restart")
        check(len(self.alarms(name)) == 1, "a restart repeated the alarm")
        self.patch(name, held="no")
        check(self.decide(name, key="u0")["group"] in ("treated", "control"), "it was not released")

    def a_scheduled_rollout_is_rolled_back(self):
        everybody = [{"key": f"u{i}"} for i in range(100)]
        guardrails = {"control": {"share": 0.3}, "bounds": REFUNDS,
                      "rollout": {"schedule": [{"share": 0.5, "for": "1s"}, {"share": 1}]}}
        name = self.bandit(guardrails, metrics=[{"name": "refund"}], wait=2)
        begin = began(self.get(name))
        self.violate(name)
        # The last stage has begun, for decisions were settled after their wait, and does not end the fallback.
        for _ in range(2):
            check({each["group"] for each in self.many(name, everybody)} == {"fallback"}, "somebody is not rolled back")
            self.server.restart()
        guardrails["rollout"]["schedule"][0] = {"share": 0, "for": "1d"}
        released = self.patch(name, held="no", guardrails=guardrails)
        check(began(released) > begin, "the new schedule did not begin with the release")
        groups = {each["group"] for each in self.many(name, everybody)}
        check(groups == {"control", "waiting"}, f"after the release with a new schedule: {groups}")

    def changes_do_not_wait_for_a_model(self):
        slow = self.bandit({}, policy="eenet", options="f1.width=64", propensity="floor:0.3", wait=2,
                           metrics=[{"name": "refund", "weight": -1}])
        other, logged, weight, changes = self.bandit({}), 0, -1, 0
        while changes <= 4:  # changes that wait for a model are two at most, however long its training takes
            check(logged < 100000, f"only {changes} changes of another bandit while a model was trained on {logged} decisions")
            for _ in range(max(logged, 3000) // 500):
                self.reward_all(slow, self.many(slow, [{} for _ in range(500)]), lambda _, each: {
                    "value": 1, "metrics": {"refund": float(each["action"] == "loan")}})
            logged += max(logged, 3000)
            self.settled(slow, logged)
            weight -= 1
            self.patch(slow, held="no", guardrails={})
            answer, changes = self.change_while_relearning(slow, other, weight)
        now = self.get(slow)["settings"]
        check("relearned" in answer and now["metrics"][0]["weight"] == weight, f"{answer}")
        check(now["held"] == "frozen" and now["held_because"] == "an exercise", f"the model released the bandit: {now}")
        check("sticky" in now["guardrails"], f"the model undid a change of settings: {now}")

    def change_while_relearning(self, slow, other, weight):
        """Gives a bandit another objective. Returns the response, and the number of changes of another bandit meanwhile."""
        answers, changes = [], 0
        worker = threading.Thread(
            target=lambda: answers.append(self.patch(slow, metrics=[{"name": "refund", "weight": weight}])))
        worker.start()
        while worker.is_alive():
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
        lines = self.settled(name, 40)
        groups = {line["_group"] for line in lines}
        check(groups == {"treated", "control"}, str(groups))
        check(all(line["_treated_share"] == 0.5 and line["_key"].startswith("u") for line in lines), "share and key")
        check({line["_segment"] for line in lines} == {"DE", "FR"}, "segments")
        treated = [line for line in lines if line["_group"] == "treated"]
        check(all(line["_rules"] == ["new"] for line in treated), "rules")
        repeats = [line for line in treated if "_repeats" in line]
        check(len(repeats) == len(treated) - len({line["_key"] for line in treated}), "repeats")


def main():
    with scratch_folder() as folder:
        server = Server(sys.argv[1], folder / "data", store=new_database("guardrails"),
                        environment={"EENET_CHECKPOINT_SECONDS": "1"}).start()
        story = Story(server)
        # What the store keeps, and what follows its log; the rest is the same with any store.
        stored = [story.people_stay_in_their_groups, story.slots_of_a_round_are_in_one_group, story.long_segments_can_be_read,
                  story.caps_are_never_exceeded, story.caps_survive_changes_of_guardrails, story.retries_do_not_count,
                  story.a_retry_gets_what_was_decided_before_the_cap, story.sticky_actions_stay,
                  story.a_held_bandit_falls_back, story.a_violated_bound_rolls_back, story.the_log_says_all]
        others = [story.schedules_begin_with_new_weights_too, story.schedules_advance, story.baselines_are_what_they_say,
                  story.rules_exclude_and_explain, story.shares_are_exact, story.a_change_delays_only_its_own_answer,
                  story.a_removed_boost_leaves_no_price, story.boosts_of_earlier_rules_are_no_prices,
                  story.budgets_are_never_exceeded, story.repeats_end_when_the_model_changes,
                  story.a_held_bandit_promotes_no_challenger, story.a_scheduled_rollout_is_rolled_back,
                  story.changes_do_not_wait_for_a_model]
        for each in stored if server.store and not LONG else stored + others:
            each()
            print("ok", each.__name__.replace("_", " "), flush=True)
        server.stop()
        run(server.program, "check", server.place)
        said = run(server.program, "replay", server.place)
        check("all are identical" in said, said)
        print(said.strip())


if __name__ == "__main__":
    main()
