"""evaluate.frame: logged decisions in a DataFrame."""

import json
import subprocess
import sys
import warnings
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from conftest import refuses

import eenet
from eenet import evaluate
from eenet._errors import BadInput

pandas = pytest.importorskip("pandas")

N = 600
ROLES = {"action": "offer", "reward": "sold", "probability": "p"}
ESTIMATES = "ips,snips,dr"


def shown(seed=1, n=N):
    """Visitors on the free plan buy red, others blue; the logging policy prefers red."""
    rng = np.random.default_rng(seed)
    plan = rng.choice(["free", "pro"], n)
    red = np.where(plan == "free", 0.5, 0.7)
    offer = np.where(rng.random(n) < red, "red", "blue")
    sold = rng.random(n) < np.where((plan == "free") == (offer == "red"), 0.6, 0.2)
    return pandas.DataFrame({
        "at": pandas.date_range("2024-01-01", periods=n, freq="min"),
        "visitor": [f"u{i}" for i in range(n)],
        "plan": plan,
        "age": rng.integers(18, 80, n),
        "offer": offer,
        "p": np.where(offer == "red", red, 1 - red),
        "sold": sold.astype(int),
    })  # fmt: skip


@pytest.fixture(scope="module")
def table():
    return shown()


def numbers(found):
    """Everything that an estimator says."""
    return [one.estimates for one in found]


def run(data, candidates="uniform", **given):
    return evaluate.frame(data, candidates, **{**ROLES, "estimators": ESTIMATES, "model": "ridge", **given})


def by_plan(contexts, actions):
    return np.where(contexts["plan"] == "free", "red", "blue")


# ---- the numbers ----


@pytest.mark.parametrize("given, option", [
    ({"model": "f1"}, ""),
    ({"context": ["age"]}, ",context=age"),
    ({"context": []}, ",context=none"),
    ({"ignore": "plan"}, ",ignore=plan"),
    ({"time": "at", "id": "visitor"}, ",time=at,id=visitor"),
    ({"mode": "split=0.4", "seeds": 3, "interval": "normal", "alpha": 0.1}, ""),
])  # fmt: skip
def test_the_numbers_of_the_program(program, tmp_path, table, given, option):
    found = run(table, "eenet,linucb,uniform,arm:red", **given)
    table.to_csv(tmp_path / "shown.csv", index=False)
    flags = ["-m", "split=0.4", "-s", "3", "-i", "normal", "--confidence", "0.9"] if "mode" in given else []
    log = f"csv:{tmp_path / 'shown.csv'},action=offer,reward=sold,probability=p{option}"
    done = subprocess.run(
        [str(program), "evaluate", log, "-p", "eenet,linucb,uniform,arm:red", "-e", ESTIMATES,
         "--model", given.get("model", "ridge"), "--json", *flags],
        capture_output=True, check=True)  # fmt: skip
    theirs = [json.loads(line) for line in done.stdout.splitlines()]
    for ours, other in zip(found, theirs):
        for name in ("estimators", "reward", "facts", "weights", "overlap", "sentences", "headline"):
            assert ours.about[name] == other[name], name
    if not option:
        assert found[0].about["columns"] == theirs[0]["columns"]
    assert len(found) == len(theirs) == 4


def test_columns_in_any_order(table):
    assert numbers(run(table, "linucb", context=["plan", "age"])) == numbers(
        run(table[table.columns[::-1]], "linucb", context=["plan", "age"]))  # fmt: skip
    assert numbers(run(table)) == numbers(run(dict(zip(table, map(list, table.to_numpy().T)))))


def test_renamed_actions(table):
    """In the same order, so that a network starts with the same weights."""
    for names in ({"blue": "Ärmel, 1", "red": "Ärmel, 2"}, {"blue": 1001, "red": 1002}, {"blue": 2, "red": 10}):
        renamed = table.assign(offer=table["offer"].map(names))
        assert numbers(run(renamed, "eenet,uniform")) == numbers(run(table, "eenet,uniform"))
    swapped = table.assign(offer=table["offer"].map({"blue": "z", "red": "a"}))
    for ours, other in zip(run(swapped, "uniform")[0].estimates[:2], run(table, "uniform")[0].estimates[:2]):
        assert ours.value == pytest.approx(other.value, rel=1e-12)


def test_numbers_are_names(table):
    """Ids 1001 and 1002 are two actions, not a thousand; so are 1001.0 and 1002.0."""
    ids = table["offer"].map({"red": 1001, "blue": 1002})
    usual = numbers(run(table.assign(offer=ids)))
    assert run(table.assign(offer=ids))[0].value == pytest.approx(run(table)[0].value, rel=1e-12)
    for kind in (float, "Int64", "category", object, str):
        assert numbers(run(table.assign(offer=ids.astype(kind)))) == usual
    (signed,) = run(table.assign(offer=-ids.astype(float)), {"new": {-1001: 0.9, "-1002": 0.1}})
    assert signed.trusted and "(2 names)" in signed.columns
    assert "arm:1001" in [one.label for one in run(table.assign(offer=ids), "arm:1001")]


@pytest.mark.parametrize("change", [
    lambda t: {"sold": t["sold"].astype(bool)},
    lambda t: {"sold": t["sold"].astype("boolean")},
    lambda t: {"sold": t["sold"].astype("Int64"), "p": t["p"].astype("Float64")},
    lambda t: {"plan": t["plan"].astype("category")},
    lambda t: {"plan": t["plan"].astype("string"), "age": t["age"].astype("Int8")},
    lambda t: {"at": t["at"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")},
    lambda t: {"at": t["at"].dt.strftime("%Y-%m-%dT%H:%M:%SZ")},
    lambda t: {"at": [one.replace(tzinfo=timezone(timedelta(hours=-5))) + timedelta(hours=-5) for one in t["at"].dt.to_pydatetime()]},
    lambda t: {"at": t["at"].astype("int64") // 10**9},
])  # fmt: skip
def test_kinds_of_columns(table, change):
    usual, found = run(table, "linucb", time="at")[0], run(table.assign(**change(table)), "linucb", time="at")[0]
    assert found.estimates == usual.estimates
    np.testing.assert_array_equal(found.marks.times, usual.marks.times)
    assert found.marks.times[-1] == datetime(2024, 1, 1, 9, 59, tzinfo=timezone.utc).timestamp()


def test_missing_context(table):
    """A missing value is a feature that is not there, whatever says so."""
    young = table["age"] < 30
    found = [numbers(run(table.assign(age=age), "linucb")) for age in (
        table["age"].astype(float).mask(young), table["age"].astype("Int64").mask(young),
        table["age"].astype(object).mask(young, None), np.ma.masked_array(table["age"], young).tolist(),
    )]  # fmt: skip
    assert found[0] != numbers(run(table, "linucb"))
    assert all(one == found[1] for one in found[2:])


def test_other_tables(table):
    usual = numbers(run(table))
    assert numbers(run({name: table[name].tolist() for name in table})) == usual
    assert numbers(run({name: np.asarray(table[name]) for name in table})) == usual
    assert numbers(run(table.astype({"offer": "U4", "plan": "U4", "visitor": "U5"}).to_records(index=False))) == usual
    numbered = table.set_axis(range(7), axis=1)
    assert numbers(evaluate.frame(numbered, "uniform", action=4, probability=5, reward=6, estimators="ips,snips")) == [
        one[:2] for one in usual]  # fmt: skip


def test_odd_names_of_columns(table):
    odd = {"offer": 'the "offer", a+b=c', "sold": "none", "p": " p ", "plan": "plan,\nnew"}
    found = evaluate.frame(table.rename(columns=odd), "uniform", action=odd["offer"], reward="none", probability=" p ")
    assert found[0].value == evaluate.frame(table, "uniform", **ROLES)[0].value
    assert f"action={odd['offer']} (2 names)" in found[0].columns and "reward=none" in found[0].columns
    assert numbers(run(table.assign(OFFER="x", P=1), "uniform", ignore=["OFFER", "P"])) == numbers(run(table))


# ---- context ----


def test_columns_without_a_role_are_context(table):
    found = run(table, "linucb")
    assert "context: plan, age; left out:" in found[0].columns and "visitor (" in found[0].columns
    assert found[0].value > run(table, "linucb", context=[])[0].value + 0.1
    assert "context: plan, age;" in " ".join(repr(found).split())


def test_a_function_sees_the_context_and_nothing_else(table):
    seen = []

    def policy(contexts, actions):
        seen.append((type(contexts), list(contexts), len(contexts), actions))
        return by_plan(contexts, actions)

    run(table, policy)
    run(table.assign(offer=table["offer"].map({"red": 7, "blue": 8})), {"x": lambda contexts, actions: seen.append(actions) or [7] * N})
    run(table, policy, context="plan")
    assert seen == [(pandas.DataFrame, ["plan", "age"], N, ["blue", "red"]), [7, 8],
                    (pandas.DataFrame, ["plan"], N, ["blue", "red"])]  # fmt: skip
    columns = {name: table[name].tolist() for name in table}
    run(columns, {"x": lambda contexts, actions: seen.append(contexts) or ["red"] * N}, context=["age"])
    assert seen[-1] == {"age": columns["age"]}


# ---- candidates ----


def test_ways_to_give_probabilities(table):
    red = np.where(table["plan"] == "free", 0.9, 0.2)
    wide = table.assign(p_red=red, p_blue=1 - red)
    ways = {
        "columns": ["p_red", "p_blue"],
        "reversed": ["p_blue", "p_red"],
        "dict": {"blue": "p_blue", "red": "p_red"},
        "arrays": {"blue": 1 - red, "red": red.tolist()},
        "frame": pandas.DataFrame({"red": red, "blue": 1 - red}),
        "function": lambda contexts, actions: np.column_stack([1 - red, red]),
        "lists": lambda contexts, actions: [[1 - one, one] for one in red],
        "named": lambda contexts, actions: pandas.DataFrame({"red": red, "blue": 1 - red}),
        "by action": lambda contexts, actions: {"red": red, "blue": 1 - red},
    }
    found = run(wide, ways)
    assert [one.label for one in found] == list(ways)
    assert len(set(numbers(found))) == 1
    of = found["columns"]
    weights = np.where(table["offer"] == "red", red, 1 - red) / table["p"]
    assert of["ips"].value == pytest.approx((weights * table["sold"]).mean(), rel=1e-12)
    assert of["snips"].value == pytest.approx((weights * table["sold"]).sum() / weights.sum(), rel=1e-12)
    assert of.headline.startswith("columns would have earned")


def test_columns_of_candidates_are_no_context(table):
    wide = table.assign(p_red=0.3, p_blue=0.7, other=0.1)
    assert "context: plan, age, other;" in run(wide, {"new": ["p_red", "p_blue"]})[0].columns
    kept = run(wide, {"new": ["p_red", "p_blue"]}, context=["p_red"])
    assert "context: p_red" in kept[0].columns


def test_choices(table):
    taken = run(table, [by_plan, "uniform"])
    assert [one.label for one in taken] == ["by_plan", "uniform"]
    right = (table["plan"] == "free") == (table["offer"] == "red")
    assert taken["by_plan"]["ips"].value == pytest.approx((right / table["p"] * table["sold"]).mean(), rel=1e-12)
    (series,) = run(table, {"x": lambda contexts, actions: contexts["plan"].map({"free": "red", "pro": "blue"})})
    assert series.estimates == taken["by_plan"].estimates


def test_candidates_of_logs(table):
    """Policies, options, presets and bandits are as in evaluate.log."""
    bandit = eenet.Bandit("linucb", features=True)
    found = run(table, {"tuned": ("linucb", {"alpha": 0.5}), "saved": bandit, "policy": eenet.policy("linucb"), "rule": by_plan})
    assert [one.label for one in found] == ["tuned", "saved", "policy", "rule"]
    assert found["policy"].estimates == run(table, "linucb")[0].estimates
    seeds = run(table, {"net": "eenet", "rule": by_plan}, seeds=[1, 2])
    assert [one.label for one in seeds] == ["net seed 1", "net seed 2", "rule"]


def test_actions_that_only_a_candidate_has(table):
    """They count, are named, and what the log cannot show is not claimed."""
    with pytest.warns(evaluate.Untrusted):
        found = run(table.assign(p_red=0.5, p_green=0.3, p_blue=0.2), {"new": ["p_red", "p_green", "p_blue"], "uniform": "uniform"})
    assert found.notes == ("Only candidate 'new' has action 'green': the log never takes it, so it cannot say what it would earn.",)
    assert found.notes[0] in " ".join(repr(found).split()) and "(3 names)" in found[0].columns
    assert not found["new"].trusted and found["uniform"].facts["mean_weight"] == pytest.approx(2 / 3, abs=0.05)
    with pytest.warns(evaluate.Untrusted):
        chosen = run(table, {"x": lambda contexts, actions: np.where(contexts["plan"] == "free", "red", "bleu")})
    assert "Only candidate 'x' has action 'bleu'" in chosen.notes[0] and not chosen[0].trusted
    with pytest.warns(evaluate.Untrusted):
        listed = run(table, "uniform", actions=["red", "blue", "green", "black"])
    assert "Only actions= has actions 'green', 'black'" in listed.notes[0]


# ---- errors ----


def changed(table, column, row, value):
    values = table[column].astype(object)
    values.iat[row] = value
    return table.assign(**{column: values})


@pytest.mark.parametrize("column, value, message", [
    ("sold", None, "column 'sold', row 7: expected a number, got a missing value"),
    ("sold", "yes", "column 'sold', row 7: expected a number, got 'yes'"),
    ("sold", "0.5", r"column 'sold', row 7: expected a number, got '0.5' \(text; convert the column with astype\(float\)\)"),
    ("sold", float("inf"), "column 'sold', row 7: expected a reward from -1e9 to 1e9, got inf"),
    ("p", None, "column 'p', row 7: expected a probability above 0 and at most 1, got a missing value"),
    ("p", 0, "column 'p', row 7: expected a probability above 0 and at most 1, got 0"),
    ("p", -0.1, "column 'p', row 7: expected a probability above 0 and at most 1, got -0.1"),
    ("p", 50, "row 7: expected a probability above 0 and at most 1, got 50; are these percentages"),
    ("offer", None, "column 'offer', row 7: expected the name of an action, got a missing value"),
    ("offer", " ", "column 'offer', row 7: expected the name of an action, got a missing value"),
    ("offer", datetime(2024, 1, 1), "column 'offer', row 7: expected the name of an action, got datetime"),
    ("age", float("inf"), "column 'age', row 7: expected a number, text or a time, got inf"),
    ("plan", "a\0b", "column 'plan', row 7: expected text without NUL bytes"),
    ("plan", {"x": 1}, "column 'plan', row 7: expected a number, text or a time, got {'x': 1}"),
    ("at", None, "column 'at', row 7: expected a time, got a missing value"),
    ("at", "1/2/2024", "column 'at', row 7: expected a datetime, seconds since 1970, or text such as .*, got '1/2/2024'"),
    ("visitor", "u3", "row 7: duplicate event id u3"),
])  # fmt: skip
def test_bad_values(table, column, value, message):
    refuses(BadInput, message, run, changed(table, column, 7, value), time="at", id="visitor")


@pytest.mark.parametrize("data, given, message", [
    (lambda t: t, {"action": "ofer"}, "action: there is no column 'ofer'; did you mean 'offer'?"),
    (lambda t: t, {"reward": "zzz"}, "reward: there is no column 'zzz'; the columns are at, visitor, plan"),
    (lambda t: t, {"probability": None}, "probability: expected the name of a column, got None"),
    (lambda t: t, {"reward": "p"}, "probability: column 'p' is already the reward"),
    (lambda t: t, {"context": ["plan", "plan"]}, "context: column 'plan' is given twice"),
    (lambda t: t, {"context": "sold"}, "context: column 'sold' is the reward, which is not known before the decision"),
    (lambda t: t, {"ignore": "sold"}, "ignore: column 'sold' is used by another argument"),
    (lambda t: t, {"actions": ["red"]}, "column 'offer', row .*: action 'blue' is not one of actions=: red"),
    (lambda t: t, {"actions": "red"}, "actions: expected a list of names, got 'red'"),
    (lambda t: t[:0], {}, "data: expected at least one row, got none"),
    (lambda t: [1, 2], {}, "data: expected a DataFrame or a dict of columns, got list"),
    (lambda t: pandas.concat([t, t[["age"]]], axis=1), {}, "data: two columns are named 'age'"),
    (lambda t: {**{name: list(t[name]) for name in t}, "age": [1]}, {}, "column 'age': expected 600 rows, as in .* got 1"),
    (lambda t: {**{name: list(t[name]) for name in t}, "age": 1}, {}, "column 'age': expected a list or an array, got int"),
    (lambda t: {**{name: t[name].to_numpy() for name in t}, "age": np.ones((N, 2))}, {}, r"one value per row, got .* \(600, 2\)"),
    (lambda t: t.assign(p=100 * t["p"]), {}, r"got .* \(600 rows in total\); are these percentages\? Divide them by 100"),
    (lambda t: t.assign(age=np.inf), {}, "column 'age', row 0: expected a finite number, got inf"),
])  # fmt: skip
def test_bad_tables(table, data, given, message):
    refuses(BadInput, message, run, data(table), **given)


@pytest.mark.parametrize("candidates, message", [
    (None, "candidates: expected a policy, a string such as 'uniform', or several, got None"),
    ([], "candidates: expected at least one, got none"),
    (["x", "y"], r"candidates: expected a label for the columns, such as {'new': \['x', 'y'\]}"),
    ({"red": "x", "blue": "y"}, "candidates: expected a label for the columns, such as {'new': {'red': 'x', 'blue': 'y'}}"),
    ({"new": ["x", "y"]}, "candidate 'new': the columns x, y do not end with the names of the actions .*blue, red"),
    ({"new": ["x", "why"]}, "candidate 'new': there is no column 'why'"),
    ({"new": []}, "candidate 'new': expected columns of probabilities, got none"),
    ({"new": {"red": "x", "blue": "x"}}, "candidate 'new', row 0: expected probabilities that sum to 1, got 0.5"),
    ({"new": {"red": 25, "blue": 75}}, "candidate 'new', column '25', row 0: expected a probability from 0 to 1, got 25"),
    ({"new": {"red": [0.5], "blue": 0.5}}, "candidate 'new', column 'given': expected 600 rows, as in the data, got 1"),
    ({"new": {"red": "gap", "blue": 0.5}}, "candidate 'new', column 'gap', row 5: expected a probability, got a missing value"),
    ({"new": {1: 0.5, "1": 0.5}}, "candidate 'new': action '1' is given twice"),
    ({"new": np.full((N, 2), 0.5)}, "candidate 'new': an array has no names of actions"),
    ({"new": pandas.DataFrame({"red": np.ones(N)}, index=range(1, N + 1))}, "candidate 'new': its index differs"),
    ({"new": {"red": pandas.Series(np.ones(N), range(N, 0, -1))}}, "candidate 'new', action 'red': its index differs"),
    ({"new": lambda contexts, actions: contexts["plan"].sort_values()}, "candidate 'new': its index differs"),
    ({"new": lambda contexts, actions: "red"}, r"candidate 'new': expected 600 actions, .* \(600, 2\), .*; got str"),
    ({"new": lambda contexts, actions: np.ones((3, 2))}, r"expected 600 actions, .*; got \(3, 2\)"),
    ({"new": lambda contexts, actions: np.full(N, 0.5)}, "candidate 'new': expected actions such as blue, red; got 0.5"),
    ({"new": lambda contexts, actions: [None] * N}, "candidate 'new', column 'result', row 0: expected the name of an action"),
    ({"new": lambda contexts, actions: np.full((N, 2), 0.6)}, "candidate 'new', row 0: expected probabilities that sum to 1, got 1.2"),
    ({"a": lambda contexts, actions: 1 / 0}, "division by zero"),
    ("linubc", "unknown candidate 'linubc'; did you mean 'linucb'?"),
])  # fmt: skip
def test_bad_candidates(table, candidates, message):
    gap = np.where(np.arange(N) == 5, np.nan, 0.5)
    with pytest.raises((BadInput, eenet.BadOption, ZeroDivisionError), match=message):
        run(table.assign(x=0.25, y=0.75, gap=gap), candidates)


def test_rows_of_the_data_in_messages(table):
    """Sentences about the log name rows, also if text has line breaks."""
    for data in (table, table.assign(plan="a\nb\nc").rename(columns={"age": "age\n"})):
        late = changed(changed(data, "visitor", 7, "u3"), "at", 7, datetime(2023, 1, 1))
        assert any("(first: row 7)" in one for one in run(late, time="at")[0].sentences)
        refuses(BadInput, "^row 7: duplicate event id u3$", run, late, id="visitor")


# ---- the result ----


def test_the_result(table):
    found = run(table, {"rule": by_plan, "uniform": "uniform"})
    assert found.conclusion == "\n".join([
        found["rule"].headline, found["uniform"].headline, "rule has the highest value."])  # fmt: skip
    assert "rule would have earned" in found.conclusion
    assert list(found.to_frame()["candidate"]) == ["rule"] * 3 + ["uniform"] * 3
    assert found.frame().equals(found.to_frame()) and len(found["rule"].to_frame()) == 3
    text, page = " ".join(repr(found).split()), found._repr_html_()
    for line in ("600 events. The logging policy earned", "* rule ", found["uniform"].headline):
        assert line in text
    assert page.count("<tr>") == 7 and "<td>* rule</td>" in page and "context: plan, age" in page
    assert "<b>rule would have earned" in found[0]._repr_html_()


def test_the_conclusion_says_what_may_be_as_good_and_what_failed(table, tmp_path):
    close = run(table, {"one": {"red": 0.5, "blue": 0.5}, "other": {"red": 0.52, "blue": 0.48}})
    best = close.best.label
    assert f"{best} has the highest value, but {'other' if best == 'one' else 'one'} may be as good" in close.conclusion
    with pytest.warns(RuntimeWarning, match="missing"):
        partly = run(table, {"missing": f"model:{tmp_path / 'none.eenet'}", "uniform": "uniform"})
    assert "missing failed: " in partly.conclusion and "missing failed: " in repr(partly)
    assert "missing failed: " in partly._repr_html_()
    with pytest.warns(evaluate.Untrusted):
        bad = run(table, {"new": {"red": 0.2, "green": 0.8}})
    assert "  ! The log covers only part of what new does" in bad.conclusion


def test_html_is_escaped(table):
    page = run(table.rename(columns={"age": "<b>age"}), {"<i>": by_plan})._repr_html_()
    assert "&lt;i&gt;" in page and "<i>" not in page and "&lt;b&gt;age" in page


@pytest.mark.parametrize("kind", ["value", "time", "weights", "overlap"])
def test_plots(table, tmp_path, kind):
    pytest.importorskip("matplotlib")
    found = run(table, {"rule": by_plan, "uniform": "uniform"}, time="at")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = found.plot(estimator="dr", kind=kind)
        ax.figure.savefig(tmp_path / "plot.png")
    if kind == "value":
        assert [label.get_text() for label in ax.get_yticklabels()] == ["rule", "uniform"]
    elif kind == "time":
        assert ax.get_xlabel() == "time (UTC)"
        assert {text.get_text() for text in ax.texts} == {"rule", "uniform", "logging policy"}
        np.testing.assert_array_equal(ax.get_lines()[0].get_ydata(), found["rule"].marks.values[:, 2])
    else:
        heights = [[bar.get_height() for bar in bars] for bars in ax.containers]
        names = [label.get_text() for label in ax.get_xticklabels()]
        weights = ((table["plan"] == "free") == (table["offer"] == "red")) / table["p"]
        if kind == "weights":
            assert names == ["0", "1/2 to 1", "1 to 2", "2 to 4"]
            expected = [100 * (weights == 0).mean(), 0, 0, 100 * (weights >= 2).mean()]
        else:  # the rule's choices: estimated from the weights, because the log has no other probabilities
            assert names == ["never", "0.2 to 0.5", "0.5 to 0.9", "0.9 to 1"]
            expected = [0, 100 * weights.mean(), 0, 0]
        assert heights[0] == pytest.approx(expected)


def test_plots_that_cannot_be(table):
    pytest.importorskip("matplotlib")
    found = run(table)
    with pytest.raises(ValueError, match="unknown kind 'histogram'; expected value, time, weights, overlap"):
        found.plot(kind="histogram")
    refuses(ValueError, "there are no evaluations", evaluate.Evaluations([]).plot)
    refuses(ValueError, "only evaluations of a log", evaluate.estimate([1, 0], [0.5, 0.5], [0.5, 0.25]).plot)


def test_without_pandas(table):
    """A dict of columns needs no pandas; a DataFrame of results says what it needs."""
    code = """
import sys
sys.modules["pandas"] = sys.modules["matplotlib"] = None
from eenet import evaluate
data = {"action": ["a", "b"] * 50, "reward": [1, 0] * 50, "probability": [0.5] * 100}
found = evaluate.frame(data, {"x": {"a": 0.9, "b": 0.1}, "f": lambda contexts, actions: ["a"] * 100}, estimators="ips")
print(round(found["x"].value, 6), found["f"].value, "<table>" in found._repr_html_())
for call in (found.to_frame, found.plot):
    try:
        call()
    except ImportError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == (
        "0.9 1.0 True\n"
        "to_frame() needs pandas, which is not installed: pip install pandas\n"
        "plot() needs matplotlib, which is not installed: pip install matplotlib\n"
    )
