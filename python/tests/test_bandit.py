"""eenet.Bandit: what it decides, learns and keeps."""

from __future__ import annotations

import copy
import csv
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import refuses

import eenet

WEIGHTS = np.array([0.5, -0.3, 0.2, 0.0], dtype=np.float32)


def rounds(count: int, arms: int = 5, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, arms, 4)).astype(np.float32)


def play(bandit: eenet.Bandit, count: int = 50, seed: int = 0) -> list[eenet.Decision]:
    decisions = []
    for arms in rounds(count, seed=seed):
        decisions.append(bandit.decide(arms))
        bandit.learn(decisions[-1], float(arms[decisions[-1].arm] @ WEIGHTS))
    return decisions


# ---- as the library ----


@pytest.mark.parametrize(
    "policy",
    ["eenet", "linucb", "lints", "squarecb", "neural-ucb", "neural-ensemble", "neural-fastcb", "kernelucb", "uniform"],
)
def test_it_decides_as_the_program_does(policy: str, program: Path, tmp_path: Path) -> None:
    count, seed = 120, 3
    options = {"probability_draws": 20} if policy == "lints" else {}  # a log needs probabilities
    texts = [f"{policy}.{name}={value}" for name, value in options.items()]
    data = ["-d", "synthetic:cosine", "-T", str(count)]
    subprocess.run([program, "rounds", *data, "-s", str(seed), "-o", tmp_path], check=True, capture_output=True)
    log = tmp_path / "log.csv"
    command = [program, "run", *data, "-p", policy, "-s", str(seed), "--json", "--log", log]
    command += [word for text in texts for word in ("--set", text)]
    run = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    # The program writes the arms first, then the rounds: so no round is contiguous here.
    files = (np.load(tmp_path / f"{name}.npy") for name in ("contexts", "rewards", "expected"))
    contexts, rewards, expected = (np.swapaxes(array, 0, 1) for array in files)
    bandit = eenet.Bandit(policy, dim=contexts.shape[2], seed=seed, **options)
    assert bandit.info.options == run["options"]
    regret = 0.0
    for row, arms, reward, value in zip(csv.DictReader(log.read_text().splitlines()), contexts, rewards, expected):
        decision = bandit.decide(arms)
        assert decision.arm == int(row["action"])
        assert decision.probability == float(row["probability"])
        bandit.learn(decision, reward[decision.arm])
        regret += value.max() - value[decision.arm]
    assert bandit.info.rewards == count
    assert regret == pytest.approx(run["regret"], abs=1e-12)


def test_the_same_seed_and_calls_give_the_same_bytes() -> None:
    one, other, third = (eenet.Bandit("eenet", 4, seed) for seed in (1, 1, 2))
    assert play(one) == play(other)
    assert one.to_bytes() == other.to_bytes()
    play(third)
    assert third.to_bytes() != one.to_bytes()


# ---- deciding ----


def test_a_decision_holds_what_was_decided() -> None:
    bandit = eenet.Bandit("linucb", 4, options="propensity=softmax")
    play(bandit)
    arms = rounds(1, 7)[0]
    before, chances = bandit.score(arms), bandit.probabilities(arms)
    decision = bandit.decide(arms)
    assert decision.id == 51 and 0 <= decision.arm < 7
    assert decision.probability == decision.probabilities[decision.arm]
    assert decision.probabilities.sum() == pytest.approx(1)
    assert np.array_equal(decision.probabilities, chances)
    for part in ("scores", "exploitation", "exploration"):
        array = getattr(decision, part)
        assert array.dtype == np.float32 and array.shape == (7,)
        assert np.array_equal(array, getattr(before, part))
        assert not array.flags.writeable
    assert decision.probabilities.dtype == np.float64
    assert decision.record is None


def test_nothing_of_a_decision_can_be_changed() -> None:
    decision = eenet.Bandit("linucb", 4).decide(rounds(1)[0])
    for name in ("arm", "id", "probability", "probabilities", "scores", "record", "new"):
        refuses(AttributeError, None, setattr, decision, name, 1)
        refuses(AttributeError, None, delattr, decision, name)
    with pytest.raises(ValueError, match="read-only"):
        decision.scores[0] = 1
    with pytest.raises(ValueError):
        decision.scores.flags.writeable = True
    with pytest.raises(TypeError, match="Bandit.decide"):
        eenet.Decision()  # type: ignore[call-arg]
    refuses(TypeError, None, type, "Own", (eenet.Decision,), {})


def test_decisions_are_compared_hashed_and_pickled() -> None:
    arms = rounds(2)
    bandit, twin = eenet.Bandit("lints:paper", 4), eenet.Bandit("lints:paper", 4)
    decision = bandit.decide(arms[0])
    assert np.isnan(decision.probability)
    same, other = twin.decide(arms[0]), bandit.decide(arms[1])
    assert decision == same and hash(decision) == hash(same)
    assert decision != other and decision != 1 and (decision == None) is False  # noqa: E711
    assert len({decision, same, other}) == 2
    near, far = (eenet.Bandit("linucb:paper", 2).decide([[1, 0], [0, length]]) for length in (2, 3))
    assert (near.arm, near.id, near.probability) == (far.arm, far.id, far.probability) and near != far
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        back = pickle.loads(pickle.dumps(decision, protocol))
        assert back == decision and np.array_equal(back.scores, decision.scores)
    assert copy.deepcopy(decision) == decision
    bandit.learn(pickle.loads(pickle.dumps(other)), 1.0)
    with pytest.raises(TypeError):
        decision < other  # type: ignore[operator]


def test_scores_are_compared_and_pickled() -> None:
    bandit, arms = eenet.Bandit("linucb", 4), rounds(2)
    play(bandit)
    scores = bandit.score(arms[0])
    assert scores == bandit.score(arms[0]) != bandit.score(arms[1])
    assert bandit.score(arms[0][:1]) != scores != bandit.score(np.concatenate((arms[0], arms[1])))
    assert pickle.loads(pickle.dumps(scores)) == scores and len(scores) == 5
    refuses(TypeError, "Bandit.score", eenet.Scores, b"123")
    refuses(TypeError, None, hash, scores)


@pytest.mark.parametrize("policy", ["eenet", "linucb", "uniform"])
def test_many_rounds_are_decided_as_one_after_the_other(policy: str) -> None:
    # All on the same knowledge: of `uniform` it is the very same, of the others what one twin would decide first.
    many, arms = eenet.Bandit(policy, 4, 1), rounds(6)
    play(many)
    model = many.to_bytes()
    decisions = many.decide_many(arms)
    assert [decision.id for decision in decisions] == list(range(51, 57))
    for decision, own in zip(decisions, arms):
        assert np.array_equal(decision.scores, eenet.Bandit.from_bytes(model).score(own).scores)
    for others in (list(arms), tuple(arms), arms.tolist(), iter(arms), arms.astype(float), arms[::-1][::-1]):
        assert eenet.Bandit.from_bytes(model).decide_many(others) == decisions
    if policy == "uniform":
        single = eenet.Bandit.from_bytes(model)
        assert [single.decide(own) for own in arms] == decisions


def test_many_rounds_may_differ_in_arms() -> None:
    bandit = eenet.Bandit("linucb", 4)
    decisions = bandit.decide_many([rounds(1, n)[0] for n in (1, 9, 3)])
    assert [len(decision.scores) for decision in decisions] == [1, 9, 3]
    assert bandit.decide_many([]) == []
    refuses(eenet.BadInput, None, bandit.decide_many, [rounds(1)[0], np.zeros((3, 5), np.float32)])
    assert bandit.info.decisions == 3


def test_a_call_makes_no_more_decisions_than_may_wait() -> None:
    bandit, named = eenet.Bandit("linucb", 4, pending=3), eenet.Bandit("linucb", features=True, pending=3)
    sentence = "decide: 4 decisions in one call, but option pending is 3: raise it, or decide fewer at a time"
    refuses(eenet.BadInput, sentence, bandit.decide_many, rounds(4))
    refuses(eenet.BadInput, sentence, bandit.decide_slots, rounds(1, 9)[0], 4)
    before = named.to_bytes()
    refuses(eenet.BadInput, sentence, named.decide_many, [[{"a": 1}, {"b": 2}]] * 4)
    assert named.to_bytes() == before  # no names were learned either
    assert len(bandit.decide_many(rounds(3))) == 3


@pytest.mark.parametrize("policy", ["eenet", "linucb", "uniform", "ucb1", "thompson", "squarecb"])
def test_excluded_arms_are_as_if_they_were_not_there(policy: str) -> None:
    one, other = eenet.Bandit(policy, 4, 1), eenet.Bandit(policy, 4, 1)
    excluded = np.array([True, False, False, True, False, False])
    left = np.flatnonzero(~excluded)
    for arms in rounds(20, 6):
        # By id: without, ucb1 and thompson know an arm by its position among all arms.
        among = one.decide(dict(enumerate(arms)), excluded=excluded)
        alone = other.decide({number: arms[number] for number in left.tolist()})
        assert among.action == alone.action == among.arm
        assert (among.arm, among.id) == (left[alone.arm], alone.id)
        assert np.array_equal(among.probability, alone.probability, equal_nan=True)
        assert np.array_equal(among.probabilities[left], alone.probabilities, equal_nan=True)
        assert np.array_equal(among.scores[left], alone.scores)
        assert not among.probabilities[excluded].any() and not among.scores[excluded].any()
        one.learn(among, among.arm / 10)
        other.learn(alone, among.arm / 10)
    assert one.to_bytes() == other.to_bytes()
    refuses(eenet.BadInput, "decide: all 6 arms of round 0 are excluded", one.decide, arms, excluded=[True] * 6)
    refuses(eenet.BadInput, r"excluded: expected 6 booleans, one per arm", one.decide, arms, excluded=[True] * 5)
    for ids in (["a"] * 6, [True] * 5 + ["a"], np.array(["a"] * 6, dtype=object)):
        refuses(TypeError, "excluded: expected one bool per arm, got str", one.decide, arms, excluded=ids)
    assert one.decide(arms, excluded=None).id == 21


# ---- learning ----


def test_many_rewards_are_learned_as_one_after_the_other() -> None:
    many, single = eenet.Bandit("eenet", 4, 1), eenet.Bandit("eenet", 4, 1)
    for seed in range(3):
        arms = rounds(10)
        decisions, rewards = many.decide_many(arms), np.linspace(0, 1, 10)
        assert single.decide_many(arms) == decisions
        many.learn_many([*decisions[:5], *(decision.id for decision in decisions[5:])], rewards)
        for decision, reward in zip(decisions, rewards):
            single.learn(decision.id, reward)
        assert many.to_bytes() == single.to_bytes()
    many.learn_many([], [])


def test_a_decision_of_another_bandit_is_refused(tmp_path: Path) -> None:
    one, other = eenet.Bandit("linucb", 4), eenet.Bandit("linucb", 4)
    arms = rounds(3)
    decisions = [one.decide(arms[0]), one.decide_many(arms[:1])[0], one.decide_slots(arms[0], 1)[0]]
    other.decide_many(arms)
    for decision in decisions:
        for call in (lambda: other.learn(decision, 1), lambda: other.learn_many([1, decision], [1, 1]),
                     lambda: other.forget(decision)):
            refuses(eenet.UnknownDecision, "this decision was made by another bandit", call)
    assert other.info.rewards == 0 and other.info.pending == 3
    other.learn(decisions[0].id, 1)  # an id may be anybody's
    one.save(tmp_path / "model")
    for same in (eenet.Bandit.load(tmp_path / "model"), pickle.loads(pickle.dumps(one)), copy.copy(one)):
        for decision in decisions:
            same.learn(decision, 1)
    one.learn(pickle.loads(pickle.dumps(decisions[1])), 1)
    one.learn(decisions[0], 1)
    assert one.info.rewards == 2


def test_many_rewards_stop_at_the_first_failure() -> None:
    bandit = eenet.Bandit("linucb", 4)
    decisions = bandit.decide_many(rounds(4))
    with pytest.raises(eenet.UnknownDecision, match="there is no decision 9") as failed:
        bandit.learn_many([decisions[2], 1, 9, decisions[3]], [1, 0, 1, 1])
    assert failed.value.learned == 2 and bandit.info.rewards == 2 and bandit.info.pending == 2
    refuses(eenet.BadInput, None, bandit.learn_many, [2], [1, 2])
    for ids, rewards in (([2, "x"], [1, 2]), ([2, 4], [1, "much"]), (3, [1]), ([2], 1)):
        refuses(TypeError, None, bandit.learn_many, ids, rewards)
    assert bandit.info.rewards == 2


def test_learn_from_is_learning_what_another_decided() -> None:
    own, other = eenet.Bandit("linucb", 4), eenet.Bandit("linucb", 4)
    for arms in rounds(40):
        decision = own.decide(arms)
        reward = float(arms[decision.arm] @ WEIGHTS)
        own.learn(decision, reward)
        other.learn_from(arms, decision.arm, reward)
    probe = rounds(1, 8, seed=9)[0]
    assert own.score(probe) == other.score(probe)
    assert other.info.decisions == 0 and other.info.rewards == 40
    other.learn_from(probe, 0, 1)
    other.learn_from(probe, 0, 1)
    other.learn_from(probe, arm=0, reward=1)


# ---- keeping ----


def test_a_loaded_bandit_goes_on_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    bandit = eenet.Bandit("eenet", 4, 5)
    play(bandit)
    waiting = bandit.decide(rounds(1)[0])
    path = tmp_path / "mödel.eenet"
    bandit.save(path)
    loaded = [eenet.Bandit.load(path), eenet.Bandit.load(str(path), policy="eenet", dim=4),
              eenet.Bandit.load(str(path).encode(), eenet.policy("eenet")), eenet.Bandit.from_bytes(path.read_bytes()),
              eenet.Bandit.from_bytes(bytearray(path.read_bytes()), "eenet", 4),
              eenet.Bandit.from_bytes(memoryview(path.read_bytes()), dim=4)]
    bandit.learn(waiting, 0.5)
    after = play(bandit, seed=2)
    for other in loaded:
        other.learn(waiting, 0.5)
        assert play(other, seed=2) == after
        assert other.to_bytes() == bandit.to_bytes()


def test_a_bandit_that_the_program_trained_decides_as_the_program_does(program: Path, tmp_path: Path) -> None:
    words = "run -d synthetic:cosine,dim=4,arms=5 -p eenet,uniform -T 80 -s 2 --save model".split()
    subprocess.run([program, *words], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    bandit = eenet.Bandit.load(tmp_path / "model", policy="eenet", dim=4)
    lines, decisions = [], []
    for arms in rounds(20):
        decisions.append(bandit.decide(arms))
        lines.append({"actions": arms.tolist()})
        bandit.learn(decisions[-1], 0.5)
        lines.append({"id": decisions[-1].id, "reward": 0.5})
    asked = "".join(json.dumps(line) + "\n" for line in lines)
    command = [program, "decide", "model"]
    done = subprocess.run(command, cwd=tmp_path, check=True, input=asked, text=True, stdout=subprocess.PIPE)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["id"], line["arm"]) for line in answers[::2]] == [(made.id, made.arm) for made in decisions]
    assert decisions[0].id == 81 and all(line["learned"] for line in answers[1::2])
    assert (tmp_path / "model").read_bytes() == bandit.to_bytes()


class Counting(eenet.Bandit):
    """A subclass with attributes of its own."""

    calls: list[int]


@pytest.mark.parametrize("kind", [eenet.Bandit, Counting])
def test_it_is_pickled_and_copied_with_all_that_it_knows(kind: type) -> None:
    bandit = kind("eenet", 4, 5)
    play(bandit)
    if kind is Counting:
        bandit.calls = [1]
    copies = [copy.copy(bandit), copy.deepcopy(bandit)]
    copies += [pickle.loads(pickle.dumps(bandit, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    before = bandit.to_bytes()
    for other in copies:
        assert type(other) is kind and other.to_bytes() == before
        play(other)
        assert bandit.to_bytes() == before
    if kind is Counting:
        assert copies[0].calls is bandit.calls
        assert copies[1].calls == [1] and copies[1].calls is not bandit.calls
        assert isinstance(kind.from_bytes(before), Counting)


def test_it_tells_what_it_is() -> None:
    bandit = eenet.Bandit("linucb", dim=4, seed=2**64 - 1, alpha=0.5)
    assert (bandit.policy, bandit.dim, bandit.seed, bandit.features) == ("linucb", 4, 2**64 - 1, None)
    assert bandit.options["alpha"] == "0.5" and bandit.options["pending"] == "1024"
    assert repr(bandit) == f"<Bandit linucb, dim 4, seed {2**64 - 1}: 0 decisions, 0 rewards>"
    assert repr(Counting("uniform", 1)).startswith("<Counting uniform, dim 1")
    again = eenet.Bandit(bandit.policy, bandit.dim, bandit.seed, options=bandit.info.options)
    assert again.to_bytes() == bandit.to_bytes()
    assert eenet.Bandit(bandit.policy, 4, bandit.seed, options=bandit.options).to_bytes() == bandit.to_bytes()
    assert bandit.memory > 1000 and sys.getsizeof(bandit) > bandit.memory
    info = bandit.info
    assert info.policy == "linucb" and info.features is None and info[:1] == ("linucb",)
    assert pickle.loads(pickle.dumps(info)) == info
    for name in ("policy", "dim", "seed", "options", "features", "info", "memory", "decide", "new"):
        refuses((AttributeError, TypeError), None, setattr, bandit, name, 1)
        refuses((AttributeError, TypeError), None, delattr, bandit, name)


def test_named_features_have_names() -> None:
    bandit = eenet.Bandit("linucb", features={"names": 50})
    assert bandit.features is not None and bandit.features["names"] == "50"
    assert bandit.feature(0).count == 0
    bandit.decide([{"price": 2}, {"price": 4}], context={"age": 31})
    names = {bandit.feature(place).name: bandit.feature(place) for place in range(10)}
    assert names["price"].count == 2 and names["price"].mean == 3
    assert pickle.loads(pickle.dumps(names["age"])) == names["age"]
    assert names["age"].limited == 0
    for age in [30, 40, 50, 60, 30, 40, 50, 60, 1e12]:
        bandit.learn_names([{"price": 2}], context={"age": age})
    assert bandit.feature(1).name == "age" and bandit.feature(1).limited == 1 and bandit.feature(1).deviation < 50
    refuses(eenet.BadInput, None, bandit.feature, bandit.dim)


def test_many_named_rounds() -> None:
    contexts = [{"user": {"age": age}} for age in (20, 30, 40)]
    items = [[{"id": name} for name in names] for names in ("ab", "abc", "c")]
    many, single = (eenet.Bandit("uniform", features=True) for _ in range(2))
    decisions = many.decide_many(items, contexts=contexts)
    assert decisions == [single.decide(arms, context=context) for arms, context in zip(items, contexts)]
    assert many.to_bytes() == single.to_bytes()
    with pytest.raises(eenet.BadInput, match="contexts: expected one per round, got 1 contexts for 3 rounds"):
        many.decide_many(items, contexts=contexts[:1])
    assert len(many.decide_many(items, contexts=[None, {}, {"user": {}}])) == 3


def test_what_waits_too_long_is_counted() -> None:
    for options, counts in (({}, (1, 0)), ({"default_reward": 0}, (0, 1))):
        bandit = eenet.Bandit("linucb", 4, wait=10, **options)
        bandit.decide(rounds(1)[0])
        bandit.set_time(11)
        assert (bandit.info.expired, bandit.info.defaulted) == counts
