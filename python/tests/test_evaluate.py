"""eenet.evaluate against formulas and the program. Numbers of others: see tests/unit/evaluate."""

from __future__ import annotations

import datetime
import doctest
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import refuses

import eenet
from eenet import evaluate
from eenet._errors import BadInput, BadOption, Error, NoFile

PLAIN = [one.name for one in evaluate.estimators() if not one.needs_model]
MODELLED = [one.name for one in evaluate.estimators() if one.needs_model]


class Rounds:
    """A log whose numbers are simple to know: (n, k) logged and candidate, rewards of 0 and 1, a fair model."""

    def __init__(self, count: int = 3000, actions: int = 5, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.logged = rng.dirichlet(np.full(actions, 3.0), count) * 0.8 + 0.2 / actions
        self.logged /= self.logged.sum(1, keepdims=True)
        self.actions = (self.logged.cumsum(1) < rng.random((count, 1))).sum(1)
        chance = rng.random((count, actions))
        rows = np.arange(count)
        self.rewards = (rng.random(count) < chance[rows, self.actions]).astype(float)
        self.predictions = np.clip(chance + 0.1 * rng.normal(size=chance.shape), 0, 1)
        scores = np.exp(3 * chance)
        self.candidate = scores / scores.sum(1, keepdims=True)
        self.truth = (self.candidate * chance).sum(1).mean()
        self.weights = self.candidate[rows, self.actions] / self.logged[rows, self.actions]
        self.direct = (self.candidate * self.predictions).sum(1)
        self.residual = self.rewards - self.predictions[rows, self.actions]

    def estimate(self, **more):
        return evaluate.estimate(
            self.rewards, self.logged, self.candidate, actions=self.actions, predictions=self.predictions, **more
        )


@pytest.fixture(scope="module")
def rounds() -> Rounds:
    return Rounds()


# ---- formulas ----


def by_formula(of: Rounds, name: str, lam: float) -> float:
    w, r, d, e = of.weights, of.rewards, of.direct, of.residual
    shrunk = lam * w / (w**2 + lam) if math.isfinite(lam) else w
    return {
        "ips": lambda: (w * r).mean(),
        "clipped": lambda: (np.minimum(w, lam) * r).mean(),
        "snips": lambda: (w * r).sum() / w.sum(),
        "dm": lambda: d.mean(),
        "dr": lambda: (d + w * e).mean(),
        "mrdr": lambda: (d + w * e).mean(),
        "clipped-dr": lambda: (d + np.minimum(w, lam) * e).mean(),
        "sndr": lambda: d.mean() + (w * e).sum() / w.sum(),
        "switch-dr": lambda: (d + np.where(w <= lam, w, 0) * e).mean(),
        "dros": lambda: (d + shrunk * e).mean(),
        "sg-ips": lambda: (w / (1 - lam + lam * w) * r).mean(),
        "sg-dr": lambda: (d + w / (1 - lam + lam * w) * e).mean(),
    }[name]()


@pytest.mark.parametrize("name", ["ips", "clipped", "snips", "sg-ips", *MODELLED])
@pytest.mark.parametrize("tuning", ["slope", "mse"])
def test_values_are_those_of_the_formulas(rounds, name, tuning):
    found = rounds.estimate(estimator=name, tuning=tuning)
    assert found.estimator == name
    assert found.value == pytest.approx(by_formula(rounds, name, found.lambda_), rel=1e-12)
    tuned = {one.name: one.tuned for one in evaluate.estimators()}[name]
    assert math.isnan(found.lambda_) != tuned
    assert found.gain == pytest.approx(found.value - rounds.rewards.mean(), abs=1e-12)


@pytest.mark.parametrize("interval", evaluate.intervals())
def test_every_interval_holds_the_truth(rounds, interval):
    found = rounds.estimate(estimator="ips", interval=interval)
    assert found.low < rounds.truth < found.high
    assert found.low <= found.value <= found.high
    assert found.trusted and found.facts["rounds"] == len(rounds.rewards)


def test_replay_is_the_mean_where_choices_agree():
    rng = np.random.default_rng(3)
    actions, choices = rng.integers(0, 3, 900), rng.integers(0, 3, 900)
    rewards = rng.random(900)
    found = evaluate.estimate(rewards, np.full((900, 3), 1 / 3), np.eye(3)[choices], actions=actions, estimator="replay")
    assert found.value == pytest.approx(rewards[actions == choices].mean(), rel=1e-12)


# ---- shapes ----


def test_one_column_and_all_columns_agree(rounds):
    rows = np.arange(len(rounds.rewards))
    taken, pi = rounds.logged[rows, rounds.actions], rounds.candidate[rows, rounds.actions]
    whole = evaluate.estimate(rounds.rewards, rounds.logged, rounds.candidate, actions=rounds.actions)
    for logged, candidate in [(taken, pi), (rounds.logged, pi), (taken, rounds.candidate)]:
        part = evaluate.estimate(rounds.rewards, logged, candidate, actions=rounds.actions)
        assert (part.value, part.low, part.high) == (whole.value, whole.low, whole.high)
        assert part.trusted


def test_any_kind_of_array_gives_the_same(rounds):
    pandas = pytest.importorskip("pandas")
    usual = rounds.estimate()
    assert rounds.rewards.dtype == np.float64
    other = evaluate.estimate(pandas.Series(rounds.rewards.astype(bool)), pandas.DataFrame(rounds.logged),
                              np.asfortranarray(rounds.candidate)[:, :, None],
                              actions=rounds.actions.astype(np.uint8)[:, None],
                              predictions=np.repeat(rounds.predictions, 2, axis=1)[:, ::2])
    assert repr(other.estimates) == repr(usual.estimates)  # nan among the numbers is no other one
    lists = evaluate.estimate([1, 0], [0.5, 0.5], [0.5, 0.25], estimator="ips")
    assert lists.value == 0.5


def test_arrays_are_not_copied():
    for kind in ["rewards", "logged"]:
        array = np.full((1000, 4), 0.25) if kind == "logged" else np.zeros(1000)
        assert evaluate._numbers(array, kind, array.ndim) is array
    actions = np.zeros(1000, dtype=np.int64)
    assert evaluate._whole(actions) is actions


def test_named_candidates(rounds):
    found = evaluate.compare(rounds.rewards, rounds.logged, "uniform,logged,first,arm:2", actions=rounds.actions)
    assert [one.label for one in found] == ["uniform", "logged", "first", "arm:2"]
    assert found["logged"].value == pytest.approx(rounds.rewards.mean(), rel=1e-12)
    assert "is the logging policy" in found["logged"].headline
    third = evaluate.estimate(
        rounds.rewards, rounds.logged, np.tile(np.eye(5)[2], (3000, 1)), actions=rounds.actions, estimator="ips"
    )
    assert third.value == found["arm:2"]["ips"].value


# ---- what cannot be ----


@pytest.mark.parametrize("change, sentence", [
    ({"rewards": [1.0, math.nan, 0.0]}, r"rewards\[1\]: expected a finite reward, got nan"),
    ({"rewards": [1.0, 0.0]}, "2 rewards|3 rows"),
    ({"rewards": []}, "rewards: expected at least one round"),
    ({"rewards": ["a", "b", "c"]}, "rewards: expected numbers"),
    ({"rewards": np.ones((3, 2))}, r"rewards: expected an array of shape \(n,\), got 2 dimensions"),
    ({"logged": [0.5, 0.0, 0.5]}, r"logged\[1\]: expected the probability of the action taken, above 0"),
    ({"logged": [0.5, 1.5, 0.5]}, r"logged\[1\]: .* at most 1, got 1.5"),
    ({"logged": 0.5}, r"logged: expected an array of shape \(n,\) or \(n, k\), got 0 dimensions"),
    ({"logged": [[0.5], [0.5, 0.5], 3]}, "logged: expected numbers"),
    ({"rewards": [1j, 0, 0]}, "rewards: expected numbers, got an array of complex128"),
    ({"rewards": np.ma.array([1.0, 0.0, 1.0], mask=[0, 0, 1])}, "rewards: expected no masked values"),
    ({"rewards": [None, 1, 0]}, r"rewards\[0\]: expected a finite reward"),
    ({"predictions": [0.5, 0.5, 0.5], "estimator": "dr"}, "predictions: expected an array of 2 dimensions"),
    ({"logged": np.ones((3, 2, 2))}, "got 3 dimensions"),
    ({"logged": np.full((3, 2), 0.5)}, "actions: missing; .* give the action taken"),
    ({"candidate": [0.5, -0.1, 0.5]}, r"candidate\[1\]: expected a probability from 0 to 1, got -0.1"),
    ({"candidate": None}, "candidate: expected probabilities"),
    ({"candidate": np.full((3, 2), 0.4), "actions": [0, 1, 0]}, r"candidate\[0\]: expected probabilities that sum to 1, got 0.8"),
    ({"candidate": np.full((3, 2), 0.5), "actions": [0, 2, 0]}, r"actions\[1\]: expected an action from 0 to 1, got 2"),
    ({"candidate": np.full((3, 2), 0.5), "actions": [0, -1, 0]}, r"actions\[1\]: expected an action from 0 to 1, got -1"),
    ({"candidate": np.full((3, 2), 0.5), "actions": [0, 0.5, 0]}, "actions: expected integers from 0"),
    ({"candidate": np.full((3, 2), 0.5), "actions": [0, 1]}, "actions: got 2 rows for 3 rewards"),
    ({"candidate": "uniform"}, "'uniform' needs the number of actions"),
    ({"candidate": "eenet"}, "'eenet' needs the arms of each round"),
    ({"candidate": "unifrom"}, "did you mean 'uniform'"),
    ({"copies": [1.0, 0.5, 1.0]}, r"copies\[1\]: expected a finite number of at least 1"),
    ({"estimator": "dr"}, "estimator 'dr' needs"),
    ({"estimator": "snisp"}, "estimator: unknown value 'snisp'; did you mean 'snips'"),
    ({"estimator": ["ips", "ips"]}, "'ips' is given twice"),
    ({"estimator": "clipped", "rewards": [1.0], "logged": [0.5], "candidate": [0.5]}, "tuning needs at least 2 rounds"),
    ({"interval": "norml"}, "did you mean 'normal'"),
    ({"alpha": 0}, "alpha: expected a number between 0 and 1"),
    ({"reward_range": (1, 0)}, "reward_range: expected"),
    ({"reward_range": 1}, r"reward_range: expected \(low, high\), such as \(0, 1\), got 1"),
    ({"reward_range": (0, 0.5)}, r"rewards\[0\]: 1 is outside 0 to 0.5; set reward_range=\(LOW, HIGH\)"),
    ({"least_probability": 0.9}, "a probability of 0.5 is below least_probability=0.9"),
    ({"seed": -1}, "seed: expected an integer of at least 0"),
])
def test_a_wrong_input_is_a_sentence(change, sentence):
    given = {"rewards": [1.0, 0.0, 1.0], "logged": [0.5, 0.5, 0.5], "candidate": [0.5, 0.5, 0.5], **change}
    refuses((BadInput, BadOption), sentence, evaluate.estimate, **given)


def test_indexes_and_columns_of_pandas_must_agree(rounds):
    """Rows are matched by position, and columns by the order of the actions."""
    pandas = pytest.importorskip("pandas")
    rewards, actions = pandas.Series(rounds.rewards), pandas.Series(rounds.actions)
    mine = pandas.DataFrame(rounds.candidate)
    shuffled = rewards.sample(frac=1, random_state=1)
    with pytest.raises(BadInput, match="actions: its index differs from that of rewards; rows are matched by position"):
        evaluate.estimate(shuffled, rounds.logged, rounds.candidate, actions=actions)
    with pytest.raises(BadInput, match="candidate 'mine': its index differs from that of rewards"):
        evaluate.compare(shuffled, rounds.logged, {"mine": mine}, actions=rounds.actions)
    with pytest.raises(BadInput, match="candidate 'mine': expected the columns in the order of the actions, 0 to 4, got 4, 3"):
        evaluate.compare(rewards, rounds.logged, {"mine": mine[[4, 3, 2, 1, 0]]}, actions=actions)
    evaluate.compare(shuffled.to_numpy(), rounds.logged, {"mine": mine}, actions=actions)
    evaluate.compare(rewards, rounds.logged, {"mine": mine.set_axis(list("abcde"), axis=1)}, actions=actions)


def test_a_rule_chooses_the_estimator_of_the_headline(rounds):
    found = rounds.estimate(estimator=["dm", "snips", "dr"])
    assert found.headline_estimator == "dr" and "(DR, 95% interval" in found.headline
    assert found.estimator == "dm" and found.value == found["dm"].value  # the first one, as documented
    with pytest.warns(evaluate.Untrusted, match="Only dm was requested"):
        alone = rounds.estimate(estimator="dm")
    assert alone.headline_estimator is None and not alone.trusted
    assert alone.headline == "dm alone cannot show what candidate would have earned; add dr or snips."


def test_the_best_is_by_the_estimator_of_the_headline(rounds):
    worse = np.roll(rounds.candidate, 1, axis=1)
    given = {"worse": worse, "mine": rounds.candidate}
    found = evaluate.compare(rounds.rewards, rounds.logged, given, actions=rounds.actions, predictions=worse,
                             estimators=["dm", "snips"])  # fmt: skip
    by_dm = max(found, key=lambda one: one["dm"].value)
    by_snips = max(found, key=lambda one: one["snips"].value)
    assert by_dm is not by_snips and found.best is by_snips


def test_nothing_in_common_is_reported():
    logged = np.tile([1.0, 0.0], (500, 1))
    with pytest.warns(evaluate.Untrusted, match="Every propensity is 1: this log has no exploration"):
        found = evaluate.estimate(np.ones(500), logged, "arm:1", actions=np.zeros(500, dtype=int))
    assert math.isnan(found.value) and not found.trusted
    assert found.headline == "This log cannot show what arm:1 would have earned."
    with pytest.warns(evaluate.Untrusted, match="arm:1: Only 9 events: too few to compare policies"):
        evaluate.estimate(np.ones(9), np.tile([0.9, 0.1], (9, 1)), "arm:1", actions=np.zeros(9, dtype=int))
    with pytest.warns(evaluate.Untrusted, match="covers only part of what candidate does"):
        evaluate.estimate(np.ones(500), np.full(500, 0.5), np.zeros(500))


@pytest.mark.parametrize("low, high", [(-3, 5), (0, 5), (-3, 1)])
def test_rewards_outside_0_to_1_are_reported(low, high):
    rewards = np.linspace(low, high, 300)
    found = evaluate.estimate(rewards, np.full(300, 0.5), np.full(300, 0.5))
    assert any(f"between {low} and {high}" in one and "reward_range=(LOW, HIGH)" in one for one in found.sentences)
    assert not any("reward_range" in one for one in
                   evaluate.estimate(rewards, np.full(300, 0.5), np.full(300, 0.5), reward_range=(-5, 5)).sentences)


def test_the_extension_refuses_what_it_is_not_given():
    from eenet import _lab

    good = evaluate._settings("ips", "cs", 0.05, None, None, "slope", 0)
    arrays = (np.ones(3), np.ones(3), np.ones(3), None, None, None)
    for call, args in [
        (_lab.array_estimate, ()),
        (_lab.array_estimate, (arrays, 3)),
        (_lab.array_estimate, (arrays, {})),
        (_lab.array_estimate, (arrays[:2], {**good, "name": b"x"})),
        (_lab.array_estimate, ((None,) * 6, {**good, "name": b"x"})),
        (_lab.array_estimate, (arrays, {**good, "name": "text"})),
        (_lab.array_estimate, (arrays, {**good, "name": b"x", "estimators": (b"ips",) * 17})),
        (_lab.array_estimate, (arrays, {**good, "name": b"x", "interval": b"none"})),
        (_lab.array_estimate, ((*arrays[:3], np.ones(3), None, None), {**good, "name": b"x"})),
        (_lab.array_estimate, ((*arrays[:3], np.zeros(6, dtype=np.int64)[::2], None, None), {**good, "name": b"x"})),
        (_lab.log_evaluate, (b"x", (), {})),
        (_lab.log_evaluate, (b"x", ((b"eenet",),), good)),
        (_lab.log_evaluate, (b"x\0y", ((b"eenet", None, 0),), good)),
        (_lab.log_events, (b"x", {})),
    ]:
        refuses((TypeError, ValueError, KeyError), None, call, *args)


# ---- what is given ----


def test_what_is_printed_and_framed(rounds):
    pandas = pytest.importorskip("pandas")
    given = {"mine": rounds.candidate, "any": "uniform"}
    found = evaluate.compare(rounds.rewards, rounds.logged, given, actions=rounds.actions, predictions=rounds.predictions)
    frame = found.frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.candidate) == ["mine", "mine", "any", "any"]
    assert list(frame.estimator) == ["dr", "snips"] * 2
    assert frame.value[0] == found["mine"].value == found["mine"]["dr"].value
    assert found.best is found[0] is found["mine"]
    text = repr(found)
    assert "* mine" in text and "95% interval" in text and "Inconclusive: any would" in text
    assert "<table" in found._repr_html_()
    assert "mine" in repr(found[0])
    again = pickle.loads(pickle.dumps(found))
    assert again["mine"].value == found["mine"].value and repr(again) == text
    with pytest.raises(KeyError, match="no estimate by 'ips'"):
        found[0]["ips"]
    with pytest.raises(KeyError, match="unknown candidate 'other'; expected one of mine, any"):
        found["other"]


def test_names_of_other_packages():
    for other, ours in [("ipw", "ips"), ("SNIPW", "snips"), ("dr_os", "dros"), ("switch_dr", "switch-dr"), ("mle", "el")]:
        assert evaluate._estimators(other) == (ours.encode(),)


def test_docstrings():
    found = doctest.testmod(evaluate)
    assert found.attempted > 10 and not found.failed


# ---- the program ----


@pytest.fixture(scope="module")
def shop(program, tmp_path_factory) -> Path:
    """A log of vectors, as the program writes it."""
    path = tmp_path_factory.mktemp("log") / "shop.eelog"
    command = f"run -d synthetic:clicks,arms=5,dim=6,rate=0.1 -p linucb -T 600 -s 0 --log {path}"
    floor = "--set linucb.propensity=floor --set linucb.propensity_epsilon=0.3"
    subprocess.run([program, *command.split(), *floor.split()], check=True, capture_output=True)
    return path


def lines_of(program, *words) -> list:
    done = subprocess.run([program, "evaluate", *map(str, words), "--json"], check=True, capture_output=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def same(ours: dict, theirs: dict) -> None:
    """To the last digit, but for the time that it took and the name of the log."""
    dropped = {"seconds", "log"}
    assert {k: v for k, v in ours.items() if k not in dropped} == {k: v for k, v in theirs.items() if k not in dropped}


def test_arrays_give_what_the_program_gives(program, tmp_path):
    rounds = Rounds(700)
    lines = [
        {"_label_cost": -r, "_label_probability": p[a], "_label_Action": a + 1, "_labelIndex": a,
         "a": list(range(1, 6)), "p": list(p), "c": {"_multi": [{}] * 5}}
        for r, a, p in zip(rounds.rewards, rounds.actions.tolist(), rounds.logged.tolist())
    ]  # fmt: skip
    path, table = tmp_path / "log.dsjson", tmp_path / "pi.csv"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    np.savetxt(table, rounds.candidate, fmt="%.17g", delimiter=",", header="0,1,2,3,4", comments="")
    for interval in evaluate.intervals():
        found = evaluate.estimate(rounds.rewards, rounds.logged, rounds.candidate, actions=rounds.actions,
                                  estimator=PLAIN, interval=interval, name=f"file:{table}")
        (theirs,) = lines_of(program, path, "-p", f"file:{table}", "-e", ",".join(PLAIN), "-i", interval)
        for name in ["marks", "options", "fingerprint", "asked", "features"]:
            theirs.pop(name), found.about.pop(name)
        same(found.about, theirs)


@pytest.mark.parametrize("given, flags", [
    ({}, ""),
    ({"estimators": "snips,ips,el", "interval": "bootstrap", "alpha": 0.2}, "-e snips,ips,el -i bootstrap --confidence 0.8"),
    ({"mode": "split=0.4", "model": "ridge", "seeds": 7}, "-m split=0.4 --model ridge -s 7"),
    ({"mode": "cross=3", "model": "ridge", "estimators": ["dm", "mrdr"]}, "-m cross=3 --model ridge -e dm,mrdr"),
    ({"reward_range": (-1, 2), "least_probability": 0.01}, "--rewards -1:2 --least-probability 0.01"),
])
def test_a_log_gives_what_the_program_gives(program, shop, given, flags):
    found = evaluate.log(shop, ["linucb", ("greedy", {"f1.width": 8}), "uniform", "logged"], threads=2, **given)
    theirs = lines_of(program, shop, "-p", "linucb,greedy,uniform,logged", "--set", "greedy.f1.width=8", *flags.split())
    assert [one.label for one in found] == ["linucb", "greedy", "uniform", "logged"]
    for one, line in zip(found, theirs):
        same(one.about, line)
        assert one.trusted == line["trusted"] and one.value == line["estimators"][0]["value"]
        assert len(one.marks) == len(line["marks"]) and one.marks.events[-1] == one.events
        assert one.marks.values[-1, 0] == pytest.approx(one.value)


def test_a_log_with_slots(program, tmp_path):
    rng = np.random.default_rng(5)
    path = tmp_path / "slots.dsjson"
    with open(path, "w") as file:
        for _ in range(200):
            first, second = (int(i) for i in rng.permutation(3)[:2])
            rest = [i for i in range(3) if i != first]
            rest.sort(key=lambda i: i != second)
            outcomes = [
                {"_a": [first, *rest], "_p": [1 / 3] * 3, "_label_cost": -float(first == 1)},
                {"_a": rest, "_p": [0.5, 0.5], "_label_cost": -float(second == 2)},
            ]
            context = {"_multi": [{"x": {"i": i}} for i in range(3)], "_slots": [{}, {}]}
            file.write(json.dumps({"c": context, "_outcomes": outcomes}) + "\n")
    found = evaluate.log(path, "uniform,arm:1", estimators="ips", slots="own")
    theirs = lines_of(program, path, "-p", "uniform,arm:1", "-e", "ips", "--slots", "own")
    for one, line in zip(found, theirs):
        same(one.about, line)
    assert [slot.events for slot in found[0].slots] == [200, 200]


def test_a_folder_keeps_and_is_read(program, shop, tmp_path):
    found = evaluate.log(shop, "uniform,first", folder=tmp_path / "kept")
    again = evaluate.read(tmp_path / "kept")
    assert [one.estimates for one in again] == [one.estimates for one in found]
    command = [program, "evaluate", shop, "-p", "uniform,first", "-o", tmp_path / "kept", "--json"]
    subprocess.run(command, check=True, capture_output=True)
    assert len(evaluate.read(tmp_path / "kept")) == 2  # the program found them there


def test_a_bandit_in_a_folder_is_known_again(shop, tmp_path):
    folder = tmp_path / ("long" * 30)
    never = eenet.Bandit("linucb", dim=6)
    log = evaluate.read_log(shop)
    arms, arm = log[0].arms, int(log.rewards.argmin())
    never.learn_from(arms, arm % 5, -1.0)
    for _ in range(2):
        found = evaluate.log(shop, {"mine": never}, folder=folder, estimators="ips")
        assert found[0].headline.count("mine") == 1 and "model:" not in " ".join([found[0].headline, *found[0].sentences])
    (again,) = evaluate.read(folder)
    assert again.estimates == found[0].estimates
    assert eenet.Bandit.load(again.candidate[len("model:") :]).to_bytes() == never.to_bytes()
    never.learn_from(arms, arm % 5, 1.0)
    evaluate.log(shop, {"mine": never}, folder=folder, estimators="ips")
    assert len(evaluate.read(folder)) == 2


def test_the_label_is_in_the_sentences_too():
    logged, actions = np.tile([0.99, 0.01, 0.0], (600, 1)), np.zeros(600, dtype=int)
    actions[:6] = 1
    with pytest.warns(evaluate.Untrusted, match="mine: .*mine") as warned:
        found = evaluate.estimate(actions, logged, "arm:2", actions=actions, name="mine")
    assert warned[0].filename == __file__ and not any("arm:2" in one for one in found.sentences)


def test_labels_seeds_and_failures(shop, tmp_path):
    found = evaluate.log(shop, {"narrow": ("greedy", "f1.width=4"), "wide": ("greedy", {"f1.width": 16})}, seeds=[0, 1],
                         estimators="ips")  # fmt: skip
    assert [one.label for one in found] == ["narrow seed 0", "narrow seed 1", "wide seed 0", "wide seed 1"]
    assert "narrow seed 1" in found[1].headline
    with pytest.warns(RuntimeWarning, match="nothing.ee"):
        found = evaluate.log(shop, ["uniform", f"model:{tmp_path}/nothing.ee"])
    assert len(found) == 1 and list(found.failures) == [f"model:{tmp_path}/nothing.ee"]
    refuses(Error, "nothing.ee", evaluate.log, shop, f"model:{tmp_path}/nothing.ee")


@pytest.mark.parametrize("path, given, sentence", [
    (None, {"candidates": "eenett"}, "did you mean 'eenet'"),
    (None, {"candidates": []}, "at least one"),
    (None, {"candidates": ["uniform", "uniform"]}, "given twice"),
    (None, {"candidates": [3]}, "expected a policy, a string"),
    (None, {"mode": "split=2.5"}, "mode: expected"),
    (None, {"mode": "cross=1"}, "mode: expected"),
    (None, {"judge_from": "yesterday"}, "judge_from: expected a time"),
    (None, {"judge_from": [3]}, "judge_from: expected a string"),
    (None, {"reward": "sume"}, "reward: unknown value 'sume'; did you mean 'sum'"),
    (None, {"judge_from": 3.0, "mode": "split"}, "judge_from works only with mode"),
    (None, {"reward_range": (0.5, 2)}, r"set the possible range with reward_range=\(LOW, HIGH\)"),
    (None, {"warm": {"eenet": "x"}}, "'eenet' is not one of the candidates"),
    ("\0", {}, "expected the name of a file"),
    ("/dev/null", {}, "no event|empty|event"),
    ("nowhere.eelog", {}, "nowhere"),
])
def test_a_wrong_question_about_a_log_is_a_sentence(shop, path, given, sentence):
    refuses((BadInput, BadOption, NoFile), sentence, evaluate.log, path or shop, **{"candidates": "uniform", **given})


def test_control_c_ends_a_log(program, tmp_path):
    """A process that evaluates a pipe which never ends gets SIGINT, and says KeyboardInterrupt at once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = f"from eenet import evaluate; print('begun', flush=True); evaluate.log({str(pipe)!r}, 'uniform', estimators='ips')"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = b'{"_label_cost":-1,"_label_probability":0.5,"_label_Action":1,"a":[1,2],"p":[0.5,0.5],"c":{"_multi":[{},{}]}}\n'
    try:
        with open(pipe, "wb", buffering=0) as file:
            file.write(line * 100)
            child.send_signal(signal.SIGINT)
            try:
                while child.poll() is None:
                    file.write(line * 100)
            except BrokenPipeError:
                pass
        errors = child.communicate()[1]
    finally:
        child.kill()
    assert "KeyboardInterrupt" in errors


def test_bandits_and_policies_as_candidates(program, shop, tmp_path):
    bandit = eenet.Bandit("linucb", dim=6, seed=3, propensity="floor", propensity_epsilon=0.1)
    log = evaluate.read_log(shop)
    for one in log:
        bandit.learn_from(one.arms, one.arm, one.reward)
    path = tmp_path / "model.ee"
    bandit.save(path)
    found = evaluate.log(shop, {"mine": bandit, "other": (eenet.policy("linucb"), {"alpha": 0.1})}, seeds=3)
    (saved, other) = lines_of(program, shop, "-p", f"model:{path},linucb", "--set", "linucb.alpha=0.1", "-s", 3)
    assert found["mine"].estimates[0].value == saved["estimators"][0]["value"]
    same(found["other"].about, other)
    assert "mine" in found["mine"].headline
    pi = np.array([bandit.probabilities(one.arms) for one in log])
    again = evaluate.estimate(log.rewards, log.logged, pi, actions=log.actions)
    assert again.value == pytest.approx(found["mine"]["snips"].value, rel=1e-12)
    assert len(evaluate.log(shop, bandit)) == len(evaluate.log(shop, eenet.policy("uniform"))) == 1
    refuses(BadOption, "alpha", evaluate.log, shop, ("linucb", {"alfa": 0.1}))


def test_the_winner_is_saved(shop, tmp_path):
    evaluate.log(shop, "linucb,uniform", estimators="ips", warm=tmp_path / "best.ee")
    evaluate.log(shop, "linucb,greedy", estimators="ips", warm={"greedy": tmp_path / "named.ee"})
    assert eenet.Bandit.load(tmp_path / "best.ee").info.rewards == 600
    assert eenet.Bandit.load(tmp_path / "named.ee").policy == "greedy"
    with pytest.raises(BadInput, match="no policy has a reliable value"):
        evaluate.log(shop, "uniform", estimators="ips", warm=tmp_path / "none.ee")
    refuses(Error, None, evaluate.log, shop, "linucb", estimators="ips", warm=tmp_path / "no folder" / "x.ee")


# ---- a log in memory ----


def test_a_log_of_vectors_in_memory(shop):
    log = evaluate.read_log(shop)
    found = evaluate.log(shop, "uniform", estimators="ips")[0]
    assert len(log) == found.events == 600 and log.dim == 6
    assert log.rewards.mean() == pytest.approx(found.reward)
    assert log.logged.shape == (600, 5)
    np.testing.assert_array_equal(log.logged[np.arange(600), log.actions], log.probabilities)
    again = evaluate.estimate(log.rewards, log.logged, "uniform", actions=log.actions, estimator="ips")
    assert again.estimates == found.estimates
    arms, arm, reward, probability, context = log[-1]
    assert arms.shape == (5, 6) and arms.dtype == np.float32 and context is None
    assert (arm, reward, probability) == (log.actions[-1], log.rewards[-1], log.probabilities[-1])
    assert len(list(log)) == 600
    with pytest.raises(IndexError, match="expected an event from -600 to 599, got 600"):
        log[600]


def test_a_log_of_sparse_vectors_in_memory(program, tmp_path):
    path = tmp_path / "blocks.eelog"
    command = f"run -d synthetic:clicks,arms=4,dim=3,blocks=on -p uniform -T 50 -s 0 --log {path}"
    subprocess.run([program, *command.split()], check=True, capture_output=True)
    log = evaluate.read_log(path)
    assert log.dim == 12 and len(log) == 50
    bandit = eenet.Bandit("linucb", dim=log.dim)
    for one in log:
        dense = one.arms.toarray()
        np.testing.assert_array_equal(dense, eenet.blocks(dense[2, 6:9], 4).toarray())
        assert dense.any()
        bandit.learn_from(one.arms, one.arm, one.reward)
    assert bandit.info.rewards == 50


def test_a_log_of_named_features_in_memory(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "log.dsjson"
    line = {"_label_cost": -0.5, "_label_probability": 0.25, "_labelIndex": 1, "_label_Action": 2, "EventId": "é1",
            "Timestamp": "2021-05-18T13:28:29Z", "a": [2, 1], "p": [0.25, 0.75],
            "c": {"user": {"age": 7}, "_multi": [{"item": {"id": "a"}}, {"item": {"id": "b"}}]}}  # fmt: skip
    more = {**line, "EventId": "2", "a": [2], "p": [1], "_label_probability": 1.0}
    path.write_text(f"{json.dumps(line)}\nno event\n{json.dumps(more)}\n")
    log = evaluate.read_log(path)
    assert len(log) == 2 and log.passed == 1 and log.ids == ["é1", "2"] and log.dim == 0
    first = log[0]
    assert first.arms == line["c"]["_multi"] and first.context == {"user": {"age": 7}}
    assert (first.arm, first.reward, first.probability) == (1, 0.5, 0.25)
    np.testing.assert_array_equal(log.logged[0], [0.75, 0.25])
    frame = log.frame()
    assert frame["user.age"].tolist() == [7, 7] and frame.time[0] == pandas.Timestamp("2021-05-18T13:28:29")
    refuses(BadInput, "line 2", evaluate.read_log, path, strict=True)
    refuses(FileNotFoundError, "nowhere", evaluate.read_log, tmp_path / "nowhere.eelog")
    assert len(evaluate.read_log(path, until="2021-05-18")) == 0
    refuses(BadOption, "did you mean 'sum'", evaluate.read_log, path, reward="sume")
    refuses(TypeError, "default_reward: expected a number, got str", evaluate.read_log, path, default_reward="much")


def test_a_time_without_a_zone_is_utc(shop, tmp_path, monkeypatch):
    line = {"_label_cost": 0, "_label_probability": 1, "_labelIndex": 0, "_label_Action": 1, "EventId": "1", "a": [1],
            "Timestamp": "2021-05-18T13:28:29Z", "p": [1], "c": {"_multi": [{"x": 1}]}}  # fmt: skip
    path = tmp_path / "log.dsjson"
    path.write_text(json.dumps(line) + "\n")
    noon = datetime.datetime(2021, 5, 18, 13, 28)
    east = datetime.timezone(datetime.timedelta(hours=2))
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        for since in (noon, noon.replace(tzinfo=datetime.timezone.utc), noon.replace(hour=15, tzinfo=east), noon.date(),
                      noon.isoformat(), noon.replace(tzinfo=datetime.timezone.utc).timestamp()):  # fmt: skip
            assert len(evaluate.read_log(path, start=since)) == 1, since
            if since != noon.date():
                assert len(evaluate.read_log(path, until=since)) == 0, since
    finally:
        monkeypatch.undo()
        time.tzset()


# ---- metrics ----


def test_pareto_front(tmp_path):
    """The second action earns more and is refunded often; the third earns less than both."""
    rng = np.random.default_rng(4)
    lines = []
    for i in range(600):
        action = int(rng.integers(3))
        reward, refund = (0.5, 0) if action == 0 else (float(action == 1), int(action == 1))
        context = {"_multi": [{"_tag": name} for name in "abc"]}
        lines.append({"EventId": f"e{i}", "_label_cost": -reward, "_label_probability": 1 / 3, "_labelIndex": action,
                      "a": [1, 2, 3], "p": [1 / 3] * 3, "c": context, "_metrics": {"refund": refund}})
    path = tmp_path / "log.dsjson"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    asked = {"safe": "arm:a", "eager": "arm:b", "bad": "arm:c"}
    found = evaluate.log(path, asked, estimators="snips", metrics="-refund", folder=tmp_path / "stored")
    assert [one.label for one in found.front] == ["safe", "eager"]
    assert found["safe"].pareto == evaluate.Pareto(True, None, None)
    assert found["bad"].pareto == evaluate.Pareto(False, "safe", True)
    assert found["eager"].metrics["refund"].estimates[0].value == 1
    stored = evaluate.read(tmp_path / "stored")
    assert [one.pareto for one in stored] == [None] * 3 and not stored.front
    assert evaluate.log(path, "uniform", estimators="ips", metrics="none")[0].pareto is None
