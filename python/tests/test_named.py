"""Rounds of named features: what Python gives must be what its JSON says."""

import array
import collections
import collections.abc
import datetime
import decimal
import fractions
import json
import math
import random
import struct
import subprocess
import sys

import numpy as np
import pytest
from conftest import refuses

import eenet

FEATURES = {"names": 400, "hashes": 50}


def make(**settings):
    """The preset explores from the first round on: what it decides depends on the features of all arms."""
    return eenet.Bandit("linucb:paper", seed=1, features=FEATURES, **settings)


def as_text(arms, context=None):
    """The same round as Vowpal Wabbit writes it, by the json module."""
    return json.dumps({**(context or {}), "_multi": list(arms)})


def bytes_after(arms, context=None):
    """All that a bandit is after it met a round once: names, means, and what it decided."""
    bandit = make()
    bandit.learn(bandit.decide(arms, context=context), 0.5)
    return bandit.to_bytes()


class RandomObjects:
    """Objects as people have them, and as they do not."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self):
        letters = 'aZ9 .=*"\\/\n\t\x01\x7féß日😀\u2028'
        return "".join(self.random.choices(letters, k=self.random.randrange(0, 12)))

    def key(self):
        return self.random.choice(["age", "plan", "x.y", "", "é", "_hidden", "日本"]) + self.text()

    def double(self):
        while True:
            number = struct.unpack("d", struct.pack("Q", self.random.getrandbits(64)))[0]
            if abs(number) <= 1e100:
                return number

    def number(self):
        pick = self.random.randrange(6)
        if pick == 0:
            return self.random.randrange(-1000, 1000)
        if pick == 1:
            return self.random.getrandbits(self.random.randrange(1, 300)) * self.random.choice([1, -1])
        if pick == 2:
            return round(self.random.uniform(-100, 100), self.random.randrange(0, 6))
        if pick == 3:
            return self.random.gauss(0, 1) * 10.0 ** self.random.randrange(-20, 20)
        return self.double() if pick == 4 else self.random.random()

    def value(self, depth):
        pick = self.random.randrange(8 if depth else 5)
        if pick == 0:
            return self.random.choice([True, False, None])
        if pick < 3:
            return self.number()
        if pick < 5:
            return self.text()
        if pick == 5:
            return [self.element(depth - 1) for _ in range(self.random.randrange(0, 5))]
        return self.object(depth - 1)

    def element(self, depth):
        """Of a list: no list, which the library refuses within one."""
        value = self.value(depth)
        return value if not isinstance(value, list) else self.number()

    def object(self, depth):
        return {self.key(): self.value(depth) for _ in range(self.random.randrange(0, 6))}


@pytest.mark.parametrize("seed", range(8))
def test_random_objects_mean_what_their_json_means(seed):
    objects = RandomObjects(seed)
    one, other = make(), make()
    for _ in range(60):
        context = objects.object(3)
        arms = [objects.object(3) for _ in range(objects.random.randrange(1, 5))]
        text = as_text(arms, context)
        decision = one.decide(arms, context=context)
        assert decision == other.decide(text)
        reward = objects.random.random()
        one.learn(decision, reward)
        other.learn(decision.id, reward)
        assert one.score(arms, context=context).scores.tobytes() == other.score(text).scores.tobytes()
        assert one.explain(arms, 0, context=context) == other.explain(text, 0)
    assert one.to_bytes() == other.to_bytes()
    assert [one.feature(place) for place in range(one.dim)] == [other.feature(place) for place in range(one.dim)]


def test_numbers_are_read_back_to_the_bit():
    """The mean of a number that came once is that number."""
    objects = RandomObjects(7)
    numbers = [0.0, -0.0, 0.1, 5e-324, 1e-10, 1e-11, 9.5, 1e17, 2.0**53, 2.0**53 + 2, 2.0**63, 2.0**64, 1e100, -1e100]
    numbers += [math.nextafter(n, d) for n in list(numbers) for d in (-1e99, 1e99)]
    numbers += [2.0**k for k in range(-200, 200)] + [10.0**k for k in range(-100, 100)]
    numbers += [objects.double() for _ in range(2000)] + [objects.random.random() for _ in range(2000)]
    numbers += [objects.random.random() * 10.0**k for k in range(-30, 30) for _ in range(20)]
    bandit = eenet.Bandit("uniform", features={"names": 3 * len(numbers), "hashes": 0, "products": "none"})
    named = {f"n{i}": number for i, number in enumerate(numbers)}
    bandit.learn_names([{}], context=named)
    for place, number in enumerate(numbers, 1):
        feature = bandit.feature(place)
        assert feature.name == f"n{place - 1}"
        assert struct.pack("d", feature.mean) == struct.pack("d", number) or number == feature.mean == 0, number


PLAIN = {"f": 1.5, "i": 4, "t": True, "s": "x", "v": [0.5, 1.0], "w": ["u", "v"], "n": {"k": 2}}


class Celsius(float):
    pass


class Colour(str):
    pass


class Lazy(collections.abc.Mapping):
    def __init__(self, values):
        self.values_ = values

    def __getitem__(self, key):
        return self.values_[key]

    def __iter__(self):
        return iter(self.values_)

    def __len__(self):
        return len(self.values_)


@pytest.mark.parametrize("other", [
    {"f": np.float32(1.5), "i": np.int64(4), "t": np.bool_(True), "s": np.str_("x")},
    {"f": np.float64(1.5), "i": np.uint8(4), "t": np.array(True), "s": np.array("x")},
    {"v": np.array([0.5, 1]), "w": np.array(["u", "v"])},
    {"v": np.array([0.5, 1], dtype="f2"), "w": np.array(["u", "v"], dtype=object)},
    {"f": np.longdouble(1.5), "i": np.array(4), "v": (0.5, 1), "w": ("u", "v")},
    {"f": Celsius(1.5), "s": Colour("x"), "n": collections.OrderedDict(k=2), "v": np.array([0.5, 0.0, 1.0])[::2]},
    {"n": Lazy({"k": 2}), "f": decimal.Decimal("1.5"), "i": fractions.Fraction(4)},
    {"n": collections.Counter(k=2), "v": array.array("d", [0.5, 1])},
])
def test_other_types_mean_the_same(other):
    arms = [{"a": 1}, {"b": 2}]
    assert bytes_after(arms, {**PLAIN, **other}) == bytes_after(arms, PLAIN)
    assert bytes_after(tuple(Lazy(arm) for arm in arms), Lazy(PLAIN)) == bytes_after(arms, PLAIN)


def test_an_ordered_dict_is_read_in_its_own_order():
    ordered = collections.OrderedDict(a=1, b="x", c=3)
    ordered.move_to_end("a")
    assert bytes_after([ordered]) == bytes_after([{"b": "x", "c": 3, "a": 1}])


def test_whole_numbers_as_keys():
    assert bytes_after([{1: 2.5, np.int64(7): "x"}]) == bytes_after([{"1": 2.5, "7": "x"}])


@pytest.mark.parametrize("form", [
    lambda arms, context: (as_text(arms, context), None),
    lambda arms, context: (as_text(arms, context).encode(), None),
    lambda arms, context: ({**context, "_multi": arms}, None),
    lambda arms, context: ([json.dumps(arm) for arm in arms], json.dumps(context)),
    lambda arms, context: ([json.dumps(arm).encode() for arm in arms], context),
    lambda arms, context: (iter(arms), context),
    lambda arms, context: (as_text(arms), context),
])
def test_forms_of_a_round(form):
    arms, context = [{"id": "é", "price": 2.5}, {"id": "b", "price": 7}], {"user": {"age": 31}}
    changed, shared = form(arms, context)
    assert bytes_after(changed, shared) == bytes_after(arms, context)


# ---- pandas ----


def test_a_data_frame_is_its_rows():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "i": [1, 2, 3],
            "f": [1.5, math.nan, -2],
            "o": ["a", None, "b"],
            "c": pandas.Categorical(["u", "v", None]),
            "b": [True, False, True],
            "I": pandas.array([1, None, 3], dtype="Int64"),
            "B": pandas.array([True, None, False], dtype="boolean"),
            "S": pandas.array(["x", None, "z"], dtype="string"),
            "f4": np.array([0.1, 0.2, 0.3], dtype="f4"),
            7: [1, 2, 3],
            "d": [{"k": 1}, None, {"k": "x"}],
        },
        index=[5, 3, 3],
    )
    tenth, fifth, third = (float(number) for number in frame["f4"])
    rows = [
        {"i": 1, "f": 1.5, "o": "a", "c": "u", "b": True, "I": 1, "B": True, "S": "x", "f4": tenth, "7": 1, "d": {"k": 1}},
        {"i": 2, "c": "v", "b": False, "f4": fifth, "7": 2},
        {"i": 3, "f": -2.0, "o": "b", "b": True, "I": 3, "B": False, "S": "z", "f4": third, "7": 3, "d": {"k": "x"}},
    ]
    context = pandas.Series({"age": 31.0, "gone": math.nan, "plan": "free", "none": None})
    assert bytes_after(frame, context) == bytes_after(rows, {"age": 31.0, "plan": "free"})
    assert bytes_after([row for _, row in frame.iterrows()]) == bytes_after(frame)
    assert bytes_after(frame.iloc[:2]) == bytes_after(rows[:2])


def test_columns_of_the_same_name_are_both_read():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([["u", "v"]], columns=["a", "a"])
    assert bytes_after(frame) == bytes_after(['{"a": "u", "a": "v"}'])


def test_times_are_refused_by_the_name_of_their_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1, 2], "when": pandas.to_datetime([None, "2020-01-01"])})
    with pytest.raises(TypeError, match=r"arms\[1\]: when: expected a number or string, such as the hour .* got Timestamp"):
        make().decide(frame)
    assert bytes_after(frame.iloc[:1]) == bytes_after([{"x": 1}])  # NaT is missing


def ways_to_give(value):
    """The same value in a dict, in what nests in it, in a data frame, and in a row of one."""
    pandas = pytest.importorskip("pandas")
    cell = pandas.Series([value], dtype=object)
    yield [{"x": value, "y": 1}], None
    yield [{"y": 1}], {"x": value}
    yield [{"y": 1, "n": {"x": value}}], None
    yield pandas.DataFrame({"x": cell, "y": [1]}), None
    yield [pandas.Series({"x": value, "y": 1}, dtype=object)], None


def test_what_is_missing_is_no_feature_wherever_it_is():
    pandas = pytest.importorskip("pandas")
    for value in (None, math.nan, np.float32("nan"), pandas.NA, pandas.NaT, np.datetime64("NaT"), np.ma.masked,
                  np.datetime64("NaT", "ns"), np.timedelta64("NaT", "s"), decimal.Decimal("nan")):
        for arms, context in ways_to_give(value):
            assert bytes_after(arms, context) == bytes_after([{"y": 1}]), (value, arms, context)
        if value is not np.ma.masked:
            assert bytes_after([{"v": [1, value, 3]}]) == bytes_after(['{"v": [1, null, 3]}']), value


def test_times_are_refused_wherever_they_are():
    pandas = pytest.importorskip("pandas")
    sentence = r"(arms\[0\]|context): (n\.)?x(\[0\])?: expected a number or string, such as the hour"
    for value in (pandas.Timestamp("2020-01-01"), pandas.Timedelta("1d"), pandas.Period("2020-01"),
                  datetime.datetime(2020, 1, 1), datetime.date(2020, 1, 1), datetime.time(3), datetime.timedelta(3),
                  np.datetime64("2020-01-01"), np.datetime64("2020-01-01", "ns"), np.timedelta64(3, "ns"),
                  np.array(["2020-01-01"], "M8[ns]")):
        for arms, context in ways_to_give(value):
            refuses(TypeError, sentence, make().decide, arms, context=context)


# ---- who learns names ----


def test_decide_and_learn_from_learn_names_and_the_others_do_not():
    arms, context = [{"id": "a", "price": 1}, {"id": "b", "price": 2}], {"user": {"age": 31}}
    bandit = make()
    empty = bandit.to_bytes()
    bandit.score(arms, context=context)
    bandit.probabilities(arms, context=context)
    bandit.explain(arms, 1, context=context)
    assert bandit.to_bytes() == empty
    assert bandit.feature(1).name == ""
    bandit.learn_names(arms, context=context)
    assert [bandit.feature(place).name for place in range(4)] == ["constant", "user.age", "id=a", "price"]
    names = [make() for _ in range(5)]
    names[0].decide(arms, context=context)
    names[1].learn_from(arms, 0, 1.0, context=context)
    names[2].decide_slots(arms, 2, contexts=[context, context])
    names[3].decide_slots([arms])
    names[4].decide_many([arms], contexts=[context])
    for learned in names:
        assert "id=a" in [learned.feature(place).name for place in range(10)]


def test_a_log_teaches_what_it_teaches_the_program(program, tmp_path):
    """The program learns from a log as the json module writes it; a bandit here from the objects."""
    chance = random.Random(3)
    own = eenet.Bandit("linucb", features="names=500")
    with open(tmp_path / "log.json", "w") as log:
        for number in range(200):
            context = {"user": {"age": chance.randrange(18, 70), "né": chance.choice("日é")}, "h": chance.random()}
            arms = [{"id": name, "price": round(50 * chance.random(), 2), "v": [chance.random()]} for name in "abc"]
            arm, reward = chance.randrange(3), round(chance.random(), 3)
            event = {"_label_cost": -reward, "_label_probability": 1 / 3, "_label_Action": arm + 1, "_labelIndex": arm}
            event.update(EventId=str(number), a=[arm + 1] + [a for a in (1, 2, 3) if a != arm + 1], p=[1 / 3] * 3)
            event.update(Timestamp="2021-05-18T13:28:29.0000000Z", c={**context, "_multi": arms})
            log.write(json.dumps(event) + "\n")
            own.learn_from(arms, arm, reward, context=context)
    command = [program, "evaluate", "log.json", "-p", "linucb", "-e", "ips", "--features", "names=500"]
    subprocess.run([*command, "--warm", "linucb=warm.model"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert eenet.Bandit.load(tmp_path / "warm.model").to_bytes() == own.to_bytes()


# ---- what is refused, and how ----


@pytest.mark.parametrize("context, error, sentence", [
    ({"v": [1, math.inf]}, eenet.BadInput, r"context: v\[1\] is infinite"),
    ({"v": np.array([1, -math.inf])}, eenet.BadInput, r"context: v\[1\] is infinite"),
    ({"x": np.float32(math.inf)}, eenet.BadInput, "context: x is infinite"),
    ({"big": 10**400}, eenet.BadInput, "context: big is too large"),
    ({"big": 1e200}, eenet.BadInput, r"big is 1e\+200; expected -1e100 to 1e100"),
    ({"s": "\ud800"}, eenet.BadInput, "context: s contains an unpaired surrogate"),
    ({"\udfff": 1}, eenet.BadInput, "context contains an unpaired surrogate"),
    ({"a": {"k" * 600: 1}}, eenet.BadInput, "longer than 512 bytes"),
    ({"a": [[1]]}, eenet.BadInput, "an array within an array"),
    ({"a": np.eye(2)}, eenet.BadInput, "an array within an array"),
    ({"a": object()}, TypeError, "context: a: expected a number, a string, .* got object"),
    ({"a": {"b": {1, 2}}}, TypeError, "context: a.b: expected .* got set"),
    ({"a": b"bytes"}, TypeError, "context: a: expected .* got bytes"),
    ({"a": 1j}, TypeError, "context: a: expected .* got complex"),
    ({"a": dict}, TypeError, "context: a: expected .* got type"),
    ({"a": np.datetime64("2020-01-01")}, TypeError, "context: a: expected .* the hour or weekday of a time, got datetime"),
    ({(1, 2): 3}, TypeError, r"context: expected a string or an integer as the name of a feature, got \(1, 2\)"),
    ({"a": {None: 3}}, TypeError, "context: a: expected a string or an integer as the name of a feature, got None"),
    ({True: 3}, TypeError, "got True"),
    (5, TypeError, "context: expected a mapping of named features, got int"),
    ([1, 2], TypeError, "context: expected a mapping .* got list"),
    ("{", eenet.BadInput, "context: invalid JSON at byte 2"),
    ("[]", eenet.BadInput, "context: expected a JSON object"),
    ("\ud800", eenet.BadInput, "context contains an unpaired surrogate"),
    (b"\xff", eenet.BadInput, "context: invalid JSON at byte 1"),
    ("rainy", eenet.BadInput, "context: invalid JSON at byte 1: .*; a string is parsed as JSON"),
    ("", eenet.BadInput, "context: invalid JSON at byte 1: .*; a string is parsed as JSON"),
])
def test_a_sentence_names_what_is_wrong(context, error, sentence):
    bandit = make()
    before = bandit.to_bytes()
    refuses(error, sentence, bandit.decide, [{"a": 1}], context=context)
    assert bandit.to_bytes() == before


@pytest.mark.parametrize("arms, error, sentence", [
    ([{"a": 1}, {"b": math.inf}], eenet.BadInput, r"arms\[1\]: b is infinite"),
    ([{"a": 1}, {"b": [[1]]}], eenet.BadInput, r"arms\[1\]: features: b is an array within an array"),
    ([{"a": 1}, 5], TypeError, r"arms\[1\]: expected a mapping of named features, got int"),
    ([{"a": 1}, None], TypeError, r"arms\[1\]: expected .* got NoneType"),
    (["music", "sport"], eenet.BadInput, r"arms\[0\]: action: invalid JSON at byte 1: .*; for arms without features pass a dict"),
    ([{"a": 1}, '{"a": }'], eenet.BadInput, r"arms\[1\]: action: invalid JSON at byte 7: expected a value$"),
    (b"", eenet.BadInput, "invalid JSON at byte 1: .*; a string is parsed as JSON"),
    ({"a": 1}, TypeError, "expected features for each id"),
    ("{}", eenet.BadInput, "at least one arm"),
    ([], eenet.BadInput, "at least one arm"),
    ((), eenet.BadInput, "at least one arm"),
    ({"_multi": []}, eenet.BadInput, "at least one arm"),
    ({"_multi": 3}, eenet.BadInput, "_multi must be an array"),
    ('{"_multi": [{}]} x', eenet.BadInput, "byte"),
])
def test_a_sentence_names_the_arm(arms, error, sentence):
    refuses(error, sentence, make().decide, arms)


def test_vectors_and_names_do_not_mix():
    refuses(eenet.BadInput, "expects vectors", eenet.Bandit("linucb", dim=2).decide, [[1, 2]], context={"a": 1})
    sentence, vectors = "only named features take a context", np.zeros((3, 2, 450), dtype="f4")
    refuses(eenet.BadInput, sentence, make().decide, vectors[0], context={"a": 1})
    refuses(eenet.BadInput, sentence, make().decide, eenet.blocks(np.ones(225), 2), context={"a": 1})
    refuses(eenet.BadInput, sentence, make().decide_many, vectors, contexts=[{"a": 1}] * 3)
    assert make().decide(np.eye(2, 450, dtype="f4")).arm in (0, 1)  # a bandit with names takes vectors too
    refuses(eenet.BadInput, r"expected named features, .*; got vectors of dimension 3", make().decide, [[1, 2, 3]])


def test_the_first_arms_of_a_process_are_an_array():
    code = "import eenet, numpy; eenet.Bandit('linucb', features=True).decide(numpy.eye(2), context={'a': 1})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "only named features take a context" in done.stderr


def test_a_cell_of_a_frame_may_empty_its_column():
    class Cell:
        def __init__(self, column):
            self.column = column

        def tolist(self):
            self.column.clear()
            return 1.0

    class Column:
        def tolist(self):
            cells = []
            cells += [Cell(cells), Cell(cells)]
            return cells

    class Frame:
        iloc = columns = None

        def __len__(self):
            return 2

        def items(self):
            return [("a", Column()), ("b", Column())]

    assert bytes_after(Frame()) == bytes_after([{"a": 1.0, "b": 1.0}] * 2)


@pytest.mark.parametrize("play", [
    lambda bandit: bandit.learn_from([{"a": 1}, {"a": 2}], 2, 1.0),
    lambda bandit: bandit.learn_from([{"a": 1}, {"a": 2}], 1, math.nan),
    lambda bandit: bandit.decide_many([[{"a": 1}, {"a": 2}], []]),
    lambda bandit: bandit.decide_slots([[{"a": 1}, {"a": 2}], [{"a": 1}]]),
])
def test_what_is_refused_teaches_no_names(play):
    bandit = make()
    before = bandit.to_bytes()
    refuses(eenet.BadInput, None, play, bandit)
    assert bandit.to_bytes() == before


def test_what_nests_in_itself_is_refused():
    inner = {}
    inner["self"] = inner
    row = []
    row.append({"row": row})
    for value in (inner, {"row": row}):
        refuses(eenet.BadInput, "is nested too deeply, or contains itself", make().decide, [value])


def test_what_nests_too_deep_is_refused_where_json_is():
    def nest(levels):
        nested = {"x": 1}
        for _ in range(levels - 1):
            nested = {"n": nested}
        return nested

    for levels in (1, 2, 63, 64):
        assert bytes_after([{}], nest(levels)) == bytes_after([{}], json.dumps(nest(levels)))
    for levels in (65, 66, 100, 5000):
        refuses(eenet.BadInput, "is nested too deeply", bytes_after, [{}], nest(levels))
    refuses(eenet.BadInput, "nested too deep", bytes_after, [{}], json.dumps(nest(65)))


def test_a_small_nest_that_is_huge_when_written_is_refused():
    nest = {"a" * 200: "b" * 200}
    for _ in range(40):
        nest = {"a": nest, "b": nest}
    refuses(eenet.BadInput, "limited to 256 MB", make().decide, [nest])


class Hostile:
    """Runs code while it is being read."""

    def __init__(self, action):
        self.action = action

    def __float__(self):
        self.action()
        return 1.0


def test_a_dict_that_changes_while_it_is_read():
    for change in (lambda d: d.clear(), lambda d: d.update({str(i): i for i in range(1000)}), lambda d: d.pop("z")):
        values = {"a": 1}
        values.update(h=Hostile(lambda: change(values)), z=object)
        refuses(eenet.BadInput, "changed while it was being read", make().decide, [{"n": values}])


def test_a_list_that_changes_while_it_is_read():
    row = [1.0]
    row += [Hostile(row.clear), "gone"]
    bandit = make()
    bandit.decide([{"v": row}])
    assert row == []
    arms = [{"a": Hostile(lambda: arms.clear())}, {"b": 2}]
    assert len(bandit.decide(arms).probabilities) == 2  # the arms are taken when the call begins


def test_values_that_raise_raise():
    def stop():
        raise KeyError("mine")

    class Broken(Lazy):
        def items(self):
            return [("a", 1), "b"]

    class Attributes:
        def __getattr__(self, name):
            raise RuntimeError("no attributes")

    bandit = make()
    before = bandit.to_bytes()
    refuses(KeyError, "mine", bandit.decide, [{"a": Hostile(stop)}])
    refuses(TypeError, "pairs", bandit.decide, [{"a": Broken({})}])
    refuses(RuntimeError, "no attributes", bandit.decide, [{"a": Attributes()}])
    assert bandit.to_bytes() == before


def test_reading_a_round_within_the_reading_of_another():
    inner, outer = make(), make()
    chosen = []
    arms = [{"a": Hostile(lambda: chosen.append(inner.decide([{"b": 2}, {"c": 3}])))}]
    outer.decide(arms, context={"u": 1})
    assert len(chosen) == 1 and inner.feature(1).name == "b"
    assert [outer.feature(place).name for place in (1, 2)] == ["u", "a"]


def test_a_key_that_runs_code():
    class Key:
        def __init__(self, action):
            self.action = action

        def __index__(self):
            self.action()
            return 7

    values = {}
    values[Key(values.clear)] = 1
    refuses(eenet.BadInput, "changed while it was being read", make().decide, [values])
    assert bytes_after([{Key(lambda: None): 2.5}]) == bytes_after([{"7": 2.5}])
