"""No call keeps or drops a reference that it should not.

Each public call of the extension is made some rounds, the good way and in error. Afterwards CPython has as many blocks
of memory as before, so no object is left over; and every object that was there before is referred to as often as
before. .ci/run runs it with Debian's python3-dbg too, which stops at an object that is given back once too often.
"""

import array
import copy
import ctypes
import gc
import itertools
import os
import pickle
import sys

import numpy
import pytest

import eenet
from eenet import _core

ROUNDS = 20
DIM = 6


def is_immortal(thing):
    """From Python 3.12 on nobody counts the references to some objects, as None; those before it do."""
    return sys.getrefcount(thing) >= 2**29


class Watch:
    """Counts blocks, and the references to what our modules and the arguments of the calls are made of."""

    def __init__(self, things):
        ours = [vars(module) for name, module in sys.modules.items() if name.split(".")[0] == "eenet"]
        reached = [None, True, False, (), "", b"", *range(-5, 257), *ours, vars(things)]
        watched = {id(each): each for each in reached}
        for _ in range(3):  # the values of a module; the methods of a type; their names and values
            reached = [each for each in gc.get_referents(*reached) if id(each) not in watched]
            watched.update((id(each), each) for each in reached)
        self.watched = [each for each in watched.values() if not is_immortal(each)]
        gc.collect()
        gc.freeze()  # so that later collections look at what is new alone

    def count(self, into, place):
        """Puts both numbers into an array, so that no object of this count is there at the next one."""
        gc.collect()
        sys._clear_type_cache()  # it holds names of attributes that were looked up, whoever made them
        into[place] = sys.getallocatedblocks()
        into[place + 1] = sum(map(sys.getrefcount, self.watched))

    def leaks(self, call):
        """How many blocks and references are left over after rounds of call. Of some tries the last, since caches of
        the interpreter fill up at the first ones."""
        counts = array.array("q", [0, 0, 0, 0])
        for _ in itertools.repeat(None, 10):  # None in both loops, so that the variable is the same at each count
            self.count(counts, 0)
            for _ in itertools.repeat(None, ROUNDS):
                call()
            self.count(counts, 2)
            if counts[:2] == counts[2:]:
                break
        return counts[2] - counts[0], counts[3] - counts[1]


class Things:
    """What the calls are made with. One bandit for all: so much faster, and none of them minds."""

    def __init__(self, folder):
        self.rng = numpy.random.default_rng(1)
        self.bandit = eenet.Bandit("linucb", DIM, 1, options={"pending": 100})
        self.named = eenet.Bandit("linucb", features={"names": 100})
        self.arms = self.rng.random((4, DIM), dtype=numpy.float32)
        self.decision = self.bandit.decide(self.arms)
        self.scores = self.bandit.score(self.arms)
        self.snapshot = self.bandit.snapshot()
        self.path = os.path.join(folder, "model")
        self.bandit.save(self.path)
        self.bytes = self.bandit.to_bytes()
        self.csr = eenet.SparseArms([0, 1, 2], [0, 3], [1.0, 2.0], (2, DIM))
        self.context = {"user": {"age": 31, "plan": "free", "tags": ["a", "b"], "new": True, "none": None}}
        self.actions = [{"item": "a", "price": 9.5}, {"item": "b", "price": numpy.float32(2)}]
        self.named_decision = self.named.decide(self.actions, context=self.context)
        self.named_snapshot = self.named.snapshot()


class Odd:
    """Has what an array has, and fails when asked."""

    @property
    def __array_struct__(self):
        raise RuntimeError("no array")


def fails(kind, call, *words, **named):
    try:
        call(*words, **named)
    except kind:
        return
    raise AssertionError(f"no {kind}")


def limits(arms):
    return {"boosts": [0.5] * len(arms), "groups": [0] + [None] * (len(arms) - 1), "shares": [(0.1, 0.9)]}


CALLS = {
    # name: a call, which `t` (Things) is given. The part before the first blank is what it covers.
    "Bandit": lambda t: eenet.Bandit("linucb", 3, seed=2, options="alpha=0.5"),
    "Bandit mapping": lambda t: eenet.Bandit("linucb", 3, options={"alpha": 0.5}),
    "Bandit named": lambda t: eenet.Bandit("linucb", 3, alpha=0.5),
    "Bandit policy": lambda t: eenet.Bandit(eenet.policy("linucb"), 3),
    "Bandit features": lambda t: eenet.Bandit("linucb", features="names=50"),
    "Bandit unknown": lambda t: fails(eenet.BadOption, eenet.Bandit, "linucv", 3),
    "Bandit misspelled": lambda t: fails(eenet.BadOption, eenet.Bandit, "linucb", 3, alfa=1),
    "Bandit value": lambda t: fails(eenet.BadOption, eenet.Bandit, "linucb", 3, alpha="x"),
    "Bandit object": lambda t: fails((TypeError, eenet.Error), eenet.Bandit, "linucb", 3, alpha=object()),
    "Bandit no dim": lambda t: fails((TypeError, eenet.Error), eenet.Bandit, "linucb"),
    "Bandit huge": lambda t: fails((OverflowError, eenet.Error), eenet.Bandit, "linucb", 2**70),
    "Bandit seed": lambda t: fails((OverflowError, TypeError, eenet.Error), eenet.Bandit, "linucb", 3, -1),
    "Bandit repr": lambda t: repr(t.bandit),
    "Bandit pickle": lambda t: pickle.loads(pickle.dumps(t.bandit)),
    "Bandit copy": lambda t: (copy.copy(t.bandit), copy.deepcopy(t.bandit)),
    "Bandit sizeof": lambda t: sys.getsizeof(t.bandit),
    "Bandit attribute": lambda t: fails(AttributeError, setattr, t.bandit, "dim", 3),
    "Bandit.policy": lambda t: t.bandit.policy,
    "Bandit.dim": lambda t: t.bandit.dim,
    "Bandit.seed": lambda t: t.bandit.seed,
    "Bandit.options": lambda t: t.bandit.options,
    "Bandit.features": lambda t: (t.bandit.features, t.named.features),
    "Bandit.info": lambda t: (t.bandit.info, t.named.info, t.bandit.info.options),
    "Bandit.memory": lambda t: t.bandit.memory,
    "Bandit.decide": lambda t: t.bandit.decide(t.arms),
    "Bandit.decide list": lambda t: t.bandit.decide([[1, 2, 3, 4, 5, 6.5]]),
    "Bandit.decide doubles": lambda t: t.bandit.decide(t.arms.astype(float)),
    "Bandit.decide strides": lambda t: t.bandit.decide(t.arms[::-1, ::-1]),
    "Bandit.decide sparse": lambda t: t.bandit.decide(t.csr),
    "Bandit.decide named": lambda t: t.named.decide(t.actions, context=t.context),
    "Bandit.decide ids": lambda t: t.named.decide({"a": {"x": 1}, 7: {"x": 2}}, context=t.context),
    "Bandit.decide ids of vectors": lambda t: t.bandit.decide({"a": t.arms[0], "b": t.arms[1]}),
    "Bandit.decide no ids": lambda t: fails(TypeError, t.named.decide, {"a": {"x": 1}, "b": 3}),
    "Bandit.decide bad ids": lambda t: fails((TypeError, eenet.Error), t.named.decide, {"a": {"x": object()}}),
    "Bandit.decide json": lambda t: t.named.decide('{"user": {"age": 3}, "_multi": [{"a": 1}, {"a": 2}]}'),
    "Bandit.decide odd": lambda t: fails(RuntimeError, t.bandit.decide, Odd()),
    "Bandit.decide none": lambda t: fails((TypeError, eenet.Error), t.bandit.decide, None),
    "Bandit.decide text": lambda t: fails((TypeError, ValueError), t.bandit.decide, [["a"] * DIM]),
    "Bandit.decide ragged": lambda t: fails((TypeError, ValueError), t.bandit.decide, [[1.0], [2.0, 3.0]]),
    "Bandit.decide flat": lambda t: fails(eenet.BadInput, t.bandit.decide, t.arms[0]),
    "Bandit.decide wide": lambda t: fails(eenet.BadInput, t.bandit.decide, numpy.ones((2, DIM + 1))),
    "Bandit.decide nan": lambda t: fails(eenet.BadInput, t.bandit.decide, t.arms * numpy.nan),
    "Bandit.decide bad json": lambda t: fails(eenet.BadInput, t.named.decide, '{"_multi": [}'),
    "Bandit.decide bad value": lambda t: fails((TypeError, eenet.Error), t.named.decide, [{"a": object()}]),
    "Bandit.decide bad action": lambda t: fails((TypeError, eenet.Error), t.named.decide, [{"a": 1}, 3]),
    "Bandit.decide extra": lambda t: fails(TypeError, t.bandit.decide, t.arms, other=3),
    "Bandit.decide excluded": lambda t: t.bandit.decide(t.arms, excluded=t.arms[:, 0] > 9),
    "Bandit.decide excluded bad": lambda t: fails(eenet.BadInput, t.bandit.decide, t.arms, excluded=[True]),
    "Bandit.decide limits": lambda t: t.bandit.decide(t.arms, **limits(t.arms)),
    "Bandit.decide limits named": lambda t: t.named.decide(t.actions, context=t.context, **limits(t.actions)),
    "Bandit.decide boosts bad": lambda t: fails(TypeError, t.bandit.decide, t.arms, boosts=["a"] * len(t.arms)),
    "Bandit.decide shares bad": lambda t: fails(
        eenet.BadInput, t.bandit.decide, t.arms, groups=[0] * len(t.arms), shares=[(0.5, 0.2)]),
    "Bandit.decide groups bad": lambda t: fails(
        eenet.BadInput, t.bandit.decide, t.arms, groups=[1] * len(t.arms), shares=[(0, 1)]),
    "Bandit.decide_many": lambda t: t.bandit.decide_many([t.arms, t.arms[:2]]),
    "Bandit.decide_many array": lambda t: t.bandit.decide_many(numpy.ones((3, 2, DIM), numpy.float32)),
    "Bandit.decide_many bad": lambda t: fails((TypeError, eenet.Error), t.bandit.decide_many, [t.arms, t.arms[0]]),
    "Bandit.decide_slots": lambda t: t.bandit.decide_slots(t.arms, 2),
    "Bandit.decide_slots bad": lambda t: fails(eenet.BadInput, t.bandit.decide_slots, t.arms, 9),
    "Bandit.score": lambda t: (t.bandit.score(t.arms), t.named.score(t.actions, context=t.context)),
    "Bandit.probabilities": lambda t: t.bandit.probabilities(t.arms),
    "Bandit.explain": lambda t: (t.bandit.explain(t.arms, 1), t.named.explain(t.actions, 1, context=t.context)),
    "Bandit.explain bad": lambda t: fails((IndexError, eenet.Error), t.bandit.explain, t.arms, 99),
    "Bandit.learn": lambda t: t.bandit.learn(t.bandit.decide(t.arms), 1.0),
    "Bandit.learn id": lambda t: t.bandit.learn(t.bandit.decide(t.arms).id, numpy.float32(0.5)),
    "Bandit.learn unknown": lambda t: fails(eenet.UnknownDecision, t.bandit.learn, 2**40, 1.0),
    "Bandit.learn type": lambda t: fails((TypeError, eenet.Error), t.bandit.learn, "x", 1.0),
    "Bandit.learn reward": lambda t: fails((TypeError, eenet.Error), t.bandit.learn, t.decision, "much"),
    "Bandit.learn_many": lambda t: t.bandit.learn_many(
        [t.bandit.decide(t.arms), t.bandit.decide(t.arms).id, t.snapshot.decide(t.arms)], [1, 0.5, numpy.float32(0)]),
    "Bandit.learn_many unknown": lambda t: fails(eenet.UnknownDecision, t.bandit.learn_many, [2**40], [1.0]),
    "Bandit.learn_many type": lambda t: fails(TypeError, t.bandit.learn_many, ["x"], [1.0]),
    "Bandit.learn_many bad": lambda t: fails(eenet.BadInput, t.bandit.learn_many, [1, 2], [1.0]),
    "Bandit.learn_from": lambda t: t.bandit.learn_from(t.arms, 1, 0.5),
    "Bandit.learn_from named": lambda t: t.named.learn_from(t.actions, 1, 0.5, context=t.context),
    "Bandit.learn_from bad": lambda t: fails((IndexError, eenet.Error), t.bandit.learn_from, t.arms, -7, 0.5),
    "Bandit.learn_record": lambda t: t.bandit.learn_record(t.snapshot.decide(t.arms).record, 1.0),
    "Bandit.learn_record bad": lambda t: fails(eenet.BadRecord, t.bandit.learn_record, b"x", 1.0),
    "Bandit.take_record": lambda t: t.bandit.take_record(t.snapshot.decide(t.arms).record),
    "Bandit.take_record bad": lambda t: fails(eenet.BadRecord, t.bandit.take_record, b"x"),
    "Bandit.learn_names": lambda t: t.named.learn_names(t.actions, context=t.context),
    "Bandit.forget": lambda t: t.bandit.forget(t.bandit.decide(t.arms)),
    "Bandit.forget bad": lambda t: fails(eenet.UnknownDecision, t.bandit.forget, 2**40),
    "Bandit.set_time": lambda t: t.bandit.set_time(0.0),
    "Bandit.feature": lambda t: t.named.feature(0),
    "Bandit.feature bad": lambda t: fails((IndexError, eenet.Error), t.named.feature, 10**6),
    "Bandit.snapshot": lambda t: t.bandit.snapshot(3),
    "Bandit.save": lambda t: t.bandit.save(t.path),
    "Bandit.save bad": lambda t: fails(eenet.FileError, t.bandit.save, os.path.join(t.path, "no", "folder")),
    "Bandit.load": lambda t: eenet.Bandit.load(t.path, "linucb", DIM),
    "Bandit.load bad": lambda t: fails(eenet.NoFile, eenet.Bandit.load, t.path + ".none"),
    "Bandit.to_bytes": lambda t: t.bandit.to_bytes(),
    "Bandit.from_bytes": lambda t: eenet.Bandit.from_bytes(t.bytes),
    "Bandit.from_bytes bad": lambda t: fails(eenet.BadModel, eenet.Bandit.from_bytes, t.bytes[:-1]),
    "Decision": lambda t: (repr(t.decision), hash(t.decision), t.decision == t.decision, t.decision != 3),
    "Decision pickle": lambda t: pickle.loads(pickle.dumps(t.decision)),
    "Decision.arm": lambda t: t.decision.arm,
    "Decision.action": lambda t: (t.decision.action, t.named.decide({"a": {"x": 1}, "b": {}}).action),
    "Decision.action list": lambda t: t.named.decide(t.actions, context=t.context).action,
    "Decision.action pickle": lambda t: pickle.loads(pickle.dumps(t.named.decide(t.actions))).action,
    "Decision.id": lambda t: t.decision.id,
    "Decision.probability": lambda t: t.decision.probability,
    "Decision.probabilities": lambda t: t.decision.probabilities,
    "Decision.scores": lambda t: t.decision.scores,
    "Decision.exploitation": lambda t: t.decision.exploitation,
    "Decision.exploration": lambda t: t.decision.exploration,
    "Decision.record": lambda t: (t.decision.record, t.snapshot.decide(t.arms).record),
    "Scores": lambda t: (repr(t.scores), len(t.scores)),
    "Scores.scores": lambda t: t.scores.scores,
    "Scores.exploitation": lambda t: t.scores.exploitation,
    "Scores.exploration": lambda t: t.scores.exploration,
    "Snapshot": lambda t: repr(t.snapshot),
    "Snapshot.decide": lambda t: (t.snapshot.decide(t.arms), t.snapshot.decide(t.csr, seed=4)),
    "Snapshot.decide named": lambda t: t.named_snapshot.decide(t.actions, context=t.context),
    "Snapshot.decide bad": lambda t: fails(eenet.BadInput, t.snapshot.decide, numpy.ones((2, DIM + 1))),
    "Snapshot.decide excluded": lambda t: t.snapshot.decide(t.arms, excluded=t.arms[:, 0] > 9),
    "Snapshot.decide limits": lambda t: t.snapshot.decide(t.arms, **limits(t.arms)),
    "Snapshot.decide limits named": lambda t: t.named_snapshot.decide(
        t.actions, context=t.context, **limits(t.actions)),
    "Snapshot.decide limits bad": lambda t: fails(eenet.BadInput, t.snapshot.decide, t.arms, groups=[0]),
    "Snapshot.decide_many": lambda t: t.snapshot.decide_many([t.arms, t.arms[:2]], seed=3),
    "Snapshot.decide_many named": lambda t: t.named_snapshot.decide_many([t.actions], contexts=[t.context]),
    "Snapshot.decide_many bad": lambda t: fails(eenet.BadInput, t.snapshot.decide_many, [numpy.ones((2, DIM + 1))]),
    "Snapshot.decide_slots": lambda t: t.snapshot.decide_slots(t.arms, 2),
    "Snapshot.decide_slots bad": lambda t: fails(eenet.BadInput, t.snapshot.decide_slots, t.arms, 9),
    "Snapshot.probabilities": lambda t: (
        t.snapshot.probabilities(t.arms), t.named_snapshot.probabilities(t.actions, context=t.context)),
    "Snapshot.score": lambda t: t.snapshot.score(t.arms),
    "Snapshot.explain": lambda t: t.snapshot.explain(t.arms, 0),
    "Snapshot.update": lambda t: t.snapshot.update(),
    "kernels": lambda t: eenet.kernels(),
    "policies": lambda t: eenet.policies(),
    "policy": lambda t: (eenet.policy("linucb").options, fails(eenet.BadOption, eenet.policy, "linucv")),
}


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    return Things(tmp_path_factory.mktemp("references"))


@pytest.fixture(scope="module")
def watch(things):
    for call in CALLS.values():  # what is made at the first call stays
        try:
            call(things)
        except Exception:
            pass  # its own test says so
    yield Watch(things)
    gc.unfreeze()


@pytest.mark.parametrize("name", CALLS)
def test_call_keeps_no_reference(watch, things, name):
    call = CALLS[name]
    assert watch.leaks(lambda: call(things)) == (0, 0), "blocks and references left over"


def test_every_public_name_is_called():
    def public(kind):
        return {f"{kind.__name__}.{name}" for name in vars(kind) if not name.startswith("_")}

    wanted = set()
    for kind in (eenet.Bandit, eenet.Decision, eenet.Scores, eenet.Snapshot):
        wanted |= public(kind) | {kind.__name__}
    wanted |= {name for name in vars(_core) if not name.startswith("_") and not isinstance(getattr(_core, name), type)}
    assert wanted - {name.split(" ")[0] for name in CALLS} == {"version"}


def lose(thing):
    """What an extension does that forgets to give a reference back."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


@pytest.mark.parametrize("mistake, blocks, references", [
    (lambda t: None, 0, 0),
    (lambda t: lose(object()), ROUNDS, 0),
    (lambda t: lose(None), 0, 0 if is_immortal(None) else ROUNDS),
    (lambda t: lose(eenet.Bandit), 0, ROUNDS),
    (lambda t: lose(t.arms), 0, ROUNDS),
], ids=["none", "an object", "None", "a type", "an argument"])
def test_mistakes_are_seen(watch, things, mistake, blocks, references):
    if os.environ.get("PYTHONMALLOC") == "malloc":
        blocks = 0  # CPython counts those of its own allocator
    assert watch.leaks(lambda: mistake(things)) == (blocks, references)
