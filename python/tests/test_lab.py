"""eenet.lab: the numbers of the program, folders that go on, rounds for loops in Python, results as tables."""

import copy
import csv
import doctest
import importlib
import io
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
from itertools import islice

import numpy
import pytest
from conftest import refuses
from server_process import in_threads

import eenet
from eenet import lab
from eenet._plotting import spread
from eenet.lab._progress import Line, Progress

COSINE = "synthetic:cosine,dim=4,arms=5"


@pytest.fixture(scope="module")
def results():
    """Of three policies on two data sets."""
    return lab.run([COSINE, "synthetic:inner,dim=3"],
                   {"ours": "eenet", "wide": ("linucb", {"alpha": 2.0}), "chance": "uniform"}, rounds=120,
                   seeds=range(3), progress=False)


def lines_of(folder):
    """The lines of a folder, without what differs from time to time."""
    lines = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


def curves_of(folder):
    return {path.name: path.read_bytes() for path in (folder / "curves").iterdir()}


def run_program(program, *words):
    return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout


# ---- as the program ----


def same_as_program(program, tmp_path, data, words, **settings):
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    run_program(program, "run", "-d", data, "-T", "150", "-s", "0-2", "-o", theirs, *words)
    lab.run(data, rounds=150, seeds=range(3), folder=ours, threads=2, progress=False, **settings)
    assert lines_of(ours) == lines_of(theirs)
    assert curves_of(ours) == curves_of(theirs)
    before = (theirs / "results.jsonl").read_bytes()
    found = lab.run(data, rounds=150, seeds=range(3), folder=theirs, progress=False, **settings)
    assert (theirs / "results.jsonl").read_bytes() == before  # all was there already
    assert len(found) == len(lines_of(theirs))


def test_the_numbers_are_those_of_the_program(program, tmp_path):
    words = ["-p", "eenet,linucb,neural-ts", "--set", "linucb.alpha=0.3", "--set", "eenet.f1.width=50"]
    policies = [("eenet", {"f1_width": 50}), ("linucb", {"alpha": 0.3}), eenet.policy("neural-ts")]
    same_as_program(program, tmp_path, "synthetic:cosine", words, policies=policies)


def test_the_numbers_on_yelp(program, data_folder, tmp_path):
    if not (data_folder / "yelp").is_dir():
        pytest.skip("EENET_DATA has no yelp")
    same_as_program(program, tmp_path, f"yelp:{data_folder}/yelp", ["-p", "eenet,greedy"], policies=["eenet", "greedy"])


def test_delays_and_slots(program, tmp_path):
    data = "synthetic:clicks,blocks=on,arms=6,rate=0.4"
    words = ["-p", "eenet", "--delay", "clicks:20,60", "--slots", "2"]
    same_as_program(program, tmp_path, data, words, policies="eenet", delay="clicks:20,60", slots=2)


def test_summary_is_that_of_the_report(program, results, tmp_path):
    run_program(program, "run", "-d", COSINE, "-d", "synthetic:inner,dim=3", "-p", "eenet,linucb,uniform", "-T", "120",
                "-s", "0-2", "-o", tmp_path, "--set", "linucb.alpha=2")  # fmt: skip
    subprocess.run([program, "report", tmp_path, "--reference", "linucb"], env={**os.environ, "PATH": ""})
    with open(tmp_path / "summary.csv", newline="") as file:
        theirs = list(csv.DictReader(file))
    ours = results.summary(reference="linucb").to_dict("records")
    names = {"regret_mean": "mean", "regret_sd": "deviation", "regret_low": "low", "regret_high": "high"}
    same = "difference difference_low difference_high p p_holm growth optimal bytes".split()
    assert len(ours) == len(theirs) == 6
    for row, expected in zip(ours, theirs):
        for name in ("dataset", "policy", "options"):
            assert row[name] == expected[name]
        for theirs_name, name in {**names, **{name: name for name in same}}.items():
            text = expected[theirs_name]
            assert row[name] == pytest.approx(float(text or "nan"), rel=1e-9, nan_ok=True), name


def sign_flip_p(differences):
    stats = pytest.importorskip("scipy.stats")
    return stats.permutation_test(
        (differences,), numpy.mean, permutation_type="samples", n_resamples=numpy.inf, vectorized=False
    ).pvalue


def last_not_rejected(differences, beyond):
    """The value between the mean and one that the test rejects at which the p-value falls below 0.05, by SciPy."""
    inside = differences.mean()
    for _ in range(35):
        middle = (inside + beyond) / 2
        if sign_flip_p(differences - middle) > 0.05:
            inside = middle
        else:
            beyond = middle
    return inside


@pytest.mark.parametrize("seeds", [3, 6])
def test_differences_are_tested_as_scipy_does(seeds):
    results = lab.run(COSINE, ["greedy", "linucb", "uniform"], rounds=30, seeds=range(seeds), progress=False)
    runs = results.runs.pivot(index="seed", columns="policy", values="regret")
    for row in results.summary(reference="uniform").to_dict("records"):
        if row["policy"] == "uniform":
            continue
        differences = (runs[row["policy"]] - runs["uniform"]).to_numpy()
        assert row["difference"] == pytest.approx(differences.mean())
        assert row["p"] == pytest.approx(sign_flip_p(differences))
        assert (row["difference_low"] > 0 or row["difference_high"] < 0) == (row["p"] < 0.05)
        if seeds < 6:
            assert (row["difference_low"], row["difference_high"]) == (-numpy.inf, numpy.inf)
            continue
        low, high = differences.min() - 1, differences.max() + 1
        assert row["difference_low"] == pytest.approx(last_not_rejected(differences, low), abs=1e-6)
        assert row["difference_high"] == pytest.approx(last_not_rejected(differences, high), abs=1e-6)


# ---- folders ----


def test_an_interrupted_call_goes_on(tmp_path):
    class Enough(Exception):
        pass

    def listen(now):
        if now.ended:
            raise Enough

    slow = ("eenet", {"f1_width": 400})  # so that not all have ended when the first is reported
    settings = dict(rounds=150, seeds=range(6), threads=1)
    refuses(Enough, None, lab.run, COSINE, slow, progress=listen, folder=tmp_path, **settings)
    kept = lab.read(tmp_path)
    assert 1 <= len(kept) < 6
    again = lab.run(COSINE, slow, progress=False, folder=tmp_path, **settings)
    whole = lab.run(COSINE, slow, progress=False, **settings)
    assert again.runs.regret.tolist() == whole.runs.regret.tolist()
    assert numpy.array_equal(again.curve(seed=4), whole.curve(seed=4))


def test_ctrl_c_ends_within_a_round(tmp_path):
    """The runs would take hours, and no Python code runs meanwhile."""

    def interrupt():
        while not (tmp_path / "results.jsonl").exists():
            pass
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    other = threading.Thread(target=interrupt)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        lab.run(COSINE, "eenet", rounds=10**9, seeds=range(2), folder=tmp_path, progress=False)
    other.join()
    assert len(lab.read(tmp_path)) == 0


def test_a_folder_with_other_runs_shows_those_asked_for(tmp_path):
    lab.run(COSINE, ["linucb", "uniform"], rounds=20, seeds=[0, 1], folder=tmp_path, progress=False)
    only = lab.run(COSINE, "uniform", rounds=20, seeds=[1, 2], folder=tmp_path, progress=False)
    assert [(row["policy"], row["seed"]) for row in only.to_dicts()] == [("uniform", 1), ("uniform", 2)]
    assert len(lab.read(tmp_path)) == 5
    refuses(ValueError, "2 match", only.curve, policy="uniform")


def test_without_a_folder_nothing_is_left():
    results = lab.run(COSINE, "uniform", rounds=10, seeds=[0], progress=False)
    folder = results.folder
    assert os.path.isdir(folder)
    del results
    assert not os.path.exists(folder)


def test_runs_that_fail_do_not_end_the_others():
    """Training with steps that large diverges, which is seen on the way."""
    policies = {"bad": ("greedy", {"f1_optimizer": "sgd", "f1_rate": 1.0}), "good": "uniform"}
    with pytest.warns(RuntimeWarning, match="seed [01]: learn: training diverged") as seen:
        results = lab.run("synthetic:inner,noise=1000", policies, rounds=200, seeds=[0, 1], progress=False)
    assert [row["label"] for row in results.to_dicts()] == ["good", "good"]
    assert results.failures == [str(warning.message) for warning in seen]


# ---- tables of arrays ----


def flowers(pandas):
    """Numbers, texts with separators in them, codes, flags and missing values."""
    draw = numpy.random.default_rng(3)
    kind = draw.integers(0, 3, 90)
    frame = pandas.DataFrame(draw.normal(kind[:, None], 1.0, (90, 2)), columns=["a b", "c::d"])
    frame["kind"] = numpy.array(["set, osa", "v::e", 'v"i'])[kind]
    frame["size"] = numpy.where(frame["a b"] > 0.5, "big", "small")
    frame["flag"] = frame["c::d"] > 1
    frame["code"] = pandas.Categorical(draw.integers(0, 4, 90))
    frame.loc[3, "a b"] = numpy.nan
    frame.loc[7, "size"] = None
    return frame


def test_a_frame_is_what_its_file_is(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = flowers(pandas)
    frame.to_csv(tmp_path / "t.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    ours = lab.run((frame, "kind"), ["eenet", "linucb"], seeds=[0, 1], progress=False)
    theirs = lab.run(
        f"table:{tmp_path}/t.csv,label=kind,categorical=code", ["eenet", "linucb"], seeds=[0, 1], progress=False
    )
    assert ours.runs.rounds.tolist() == [90] * 4
    for policy in ("eenet", "linucb"):
        for seed in (0, 1):
            assert numpy.array_equal(ours.curve(policy=policy, seed=seed), theirs.curve(policy=policy, seed=seed))


def test_columns_with_blanks_and_commas_in_their_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age, in years": [1, 2, 3, 4], "Best Offer": [1, 2, 1, 2],
                              'a "b"': [3, 1, 4, 1], "c": [2, 1, 2, 1]})
    for ignore in ("age, in years", "Best Offer", 'a "b"', "best offer", "2+4"):
        made = lab.table(frame, [0, 1, 0, 1], constant=False, ignore=ignore)
        assert made.dim == 2 * (2 if "+" in ignore else 3)
    assert lab.table(frame, [0, 1, 0, 1], constant=False, categorical="Best Offer+c").dim == 2 * (2 + 4)
    classes = pandas.array([0, 1, None, 1], dtype="Int64")
    refuses(ValueError, "y: the class of row 2 is missing", lab.table, frame, classes)


def test_what_is_missing_in_a_data_frame():
    pandas = pytest.importorskip("pandas")
    y = [0, 1, 0, 1]
    plain = lab.table(pandas.DataFrame({"a": [1.0, None, 3.0, 5.0]}), y)
    assert plain.dim == 2 * 3
    for gone in ("N/A", None, pandas.NA, "-", "", pandas.NaT, numpy.nan):
        made = lab.table(pandas.DataFrame({"a": pandas.Series(["1", gone, "3", "5"], dtype=object)}), y)
        for left, right in zip(islice(made.rounds(1), 8), plain.rounds(1)):
            assert numpy.array_equal(left.arms.toarray(), right.arms.toarray())
    made = lab.table(pandas.DataFrame({"a": ["1", "unknown", "3", "5"]}), y, missing="unknown")
    assert made.dim == 2 * 3
    times = lab.table(pandas.DataFrame({"a": pandas.to_datetime(["2020-01-01", "2020-01-02", None, "2020-01-01"])}), y)
    assert times.dim == 2 * 4 and "column 'a' has dates, such as '2020-01-01" in times.remarks[0]


def test_arrays_are_what_their_file_is(tmp_path):
    draw = numpy.random.default_rng(4)
    X, y = draw.normal(size=(60, 3)).astype(numpy.float32), draw.integers(10, 13, 60)
    numpy.savetxt(tmp_path / "t.csv", numpy.column_stack([X.astype(float), y]), delimiter=",", fmt="%.17g")
    ours = lab.table(X, y, normalize="standard", constant=False)
    theirs = lab.open(f"table:{tmp_path}/t.csv,normalize=standard,constant=off")
    assert (ours.dim, ours.arms, ours.rows) == (theirs.dim, theirs.arms, theirs.rows) == (9, 3, 60)
    for left, right in zip(islice(ours.rounds(2), 100), theirs.rounds(2)):
        assert numpy.array_equal(left.arms.toarray(), right.arms.toarray())
        assert numpy.array_equal(left.rewards, right.rewards)


def test_sparse_rows_are_what_their_file_is(tmp_path):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    X = scipy_sparse.random(40, 30, density=0.2, random_state=1, format="csc")
    y = ["news" if i % 3 else "sport, and more" for i in range(40)]
    rows = X.tocsr()
    with open(tmp_path / "t.svm", "w") as file:
        for i, label in enumerate(y):
            file.write(" ".join([label[:5], *(f"{k + 1}:{float(rows[i, k])!r}" for k in sorted(rows[i].indices))]) + "\n")
    ours, theirs = lab.table(X, y), lab.open(f"table:{tmp_path}/t.svm")
    for left, right in zip(islice(ours.rounds(0), 40), theirs.rounds(0)):
        assert numpy.array_equal(left.arms.toarray(), right.arms.toarray())


@pytest.mark.parametrize("X, y, sentence", [
    ([[1.0], [2.0]], [1], "y: expected one class for each of the 2 rows of X, got 1"),
    ([1.0, 2.0], [1, 2], "X: expected an array of 2 dimensions"),
    ([[1.0], [2.0]], [[1], [2]], "y: expected an array of 1 dimension"),
    ([["a"], ["b"]], [1, 2], "X: expected numbers"),
    ([[1.0], [numpy.inf]], [1, 2], "X: expected numbers in the range of float32"),
    ([[1.0], [2.0]], [1, 1], "^arrays: expected at least two classes, got the same label"),
    ([[1.0], [2.0]], [1, None], "y: the class of row 1 is missing"),
    ([[1.0], [2.0]], [1, numpy.nan], "y: the class of row 1 is missing"),
    ([[1.0], [2.0]], ["a", "b\0c"], "without null characters"),
    ([[1.0], [2.0]], ["a", "?"], "^arrays, line 2, column 'target': the label is missing"),
    ([[1.0], [2.0]], "kind", "requires X to be a DataFrame"),
    (numpy.zeros((0, 2)), [], "expected rows after the column names, got none"),
    (numpy.ma.array([[1.0], [2.0]], mask=[[True], [False]]), [1, 2], "expected no masked values"),
])
def test_tables_that_are_none(X, y, sentence):
    refuses((ValueError, TypeError), sentence, lab.table, X, y)


# ---- data sets and rounds ----


def test_a_round_may_be_kept():
    data = lab.open(COSINE)
    kept = list(islice(data.rounds(7), 30))
    again = list(islice(data.rounds(7), 30))
    assert not numpy.array_equal(kept[0].arms, kept[29].arms)
    for left, right in zip(kept, again):
        assert numpy.array_equal(left.arms, right.arms) and numpy.array_equal(left.rewards, right.rewards)
        assert left.arms.dtype == numpy.float32 and left.arms.shape == (5, 4)
        assert left.expected.dtype == numpy.float64
    del data
    with pytest.raises(ValueError):
        kept[0].arms[0, 0] = 1.0
    assert kept[0].regret(int(kept[0].expected.argmax())) == 0.0


def test_rounds_end_where_the_data_set_does(program, tmp_path):
    run_program(program, "rounds", "-d", "synthetic:cosine,dim=3", "-T", "12", "-s", "4", "-o", tmp_path / "r")
    data = lab.open(f"rounds:{tmp_path}/r")
    assert data.length == 12 and len(list(data.rounds())) == 12
    for left, right in zip(data.rounds(), lab.open("synthetic:cosine,dim=3").rounds(4)):
        assert numpy.array_equal(left.arms, right.arms) and numpy.array_equal(left.expected, right.expected)
    rounds = data.rounds()
    assert len(list(rounds)) == 12 and list(rounds) == []
    refuses(ValueError, "has only 12, got 13", lab.play, data.bandit("uniform"), data, rounds=13)


def test_a_data_set_is_copied_and_pickled_by_its_text():
    data = lab.open(COSINE)
    assert copy.copy(data) is data and copy.deepcopy(data) is data
    assert repr(pickle.loads(pickle.dumps(data))) == repr(data)
    refuses(TypeError, "pickle the arrays", pickle.dumps, lab.table([[1.0], [2.0]], ["a", "b"]))


def test_threads_share_a_data_set():
    data = lab.open(COSINE)

    def deal(number):
        return [float(round.rewards.sum()) for round in islice(data.rounds(3), 200)]

    assert in_threads(4, deal) == [deal(0)] * 4


@pytest.mark.parametrize("policy", ["eenet", "linucb", "neural-ts", "squarecb"])
@pytest.mark.parametrize("data", [COSINE, "synthetic:clicks,blocks=on,arms=4,rate=0.3"])
def test_play_is_run(policy, data):
    world = lab.open(data)
    run = lab.play(world.bandit(policy, seed=5), world, rounds=100, seed=5)
    results = lab.run(world, policy, rounds=100, seeds=[5], progress=False)
    assert numpy.array_equal(run.curve, results.curve())
    row = results.to_dicts()[0]
    assert (run.regret, run.reward, run.optimal) == (row["regret"], row["reward"], row["optimal"])


def test_play_takes_anything_that_decides():
    class Seer:
        """Plays the best arm of the very same rounds."""

        def __init__(self, rounds):
            self.rounds, self.learned = rounds, []

        def decide(self, arms):
            return int(next(self.rounds).expected.argmax())

        def learn(self, decision, reward):
            self.learned.append((decision, reward))

    data = lab.open(COSINE)
    seer = Seer(data.rounds(1))
    run = lab.play(seer, data, rounds=40, seed=1)
    assert run.regret == 0.0 and run.optimal == 1.0 and len(seer.learned) == 40
    assert run.reward == pytest.approx(sum(reward for _, reward in seer.learned))


@pytest.mark.parametrize("decision, sentence", [(None, "expected decide to return an arm"), (-1, "got -1 from decide"), (5, "expected an arm from 0 to 4")])
def test_play_refuses_what_is_no_arm(decision, sentence):
    class Odd:
        def decide(self, arms):
            return decision

        def learn(self, decision, reward):
            pass

    refuses((TypeError, ValueError), sentence, lab.play, Odd(), COSINE, rounds=3)
    refuses(TypeError, "play: expected an object with decide and learn, got str", lab.play, "eenet", COSINE, rounds=3)


def test_the_options_of_a_bandit_for_a_data_set():
    data = lab.open("synthetic:clicks,blocks=on,arms=4")
    assert data.bandit("eenet").options["blocks"] == "4"
    assert data.bandit("eenet", blocks=1, f1_width=30).options["f1.width"] == "30"


# ---- what is refused ----


@pytest.mark.parametrize("words, kind, sentence", [
    (dict(data="synthetic:cosin"), eenet.BadOption, "did you mean 'cosine'"),
    (dict(data="synthetik"), eenet.BadOption, "did you mean 'synthetic'"),
    (dict(data="yelp:no/such"), eenet.FileError, "no/such"),
    (dict(data=3), TypeError, "data: expected a string such as"),
    (dict(data=[]), ValueError, "at least one data set"),
    (dict(data=[COSINE, COSINE]), ValueError, "is given twice"),
    (dict(data="syn\0"), ValueError, "null"),
    (dict(policies="eenett"), eenet.BadOption, "did you mean 'eenet'"),
    (dict(policies=("eenet", {"f1_widht": 3})), eenet.BadOption, "did you mean 'f1.width'"),
    (dict(policies=("eenet", "f1.width=0")), eenet.BadOption, "f1.width"),
    (dict(policies=[]), ValueError, "at least one"),
    (dict(policies=[3]), TypeError, "expected a name such as 'eenet', or a Policy"),
    (dict(policies=["eenet", "eenet"]), ValueError, "is given twice with the same options"),
    (dict(policies={"a": "eenet", "b": "eenet"}), ValueError, "is given twice with the same options"),
    (dict(rounds=0), ValueError, "rounds: expected 1 to"),
    (dict(rounds=10**13), ValueError, "rounds: expected 1 to"),
    (dict(rounds="many"), TypeError, "rounds: expected an integer"),
    (dict(seeds=3), TypeError, "seeds: expected a sequence"),
    (dict(seeds=[]), ValueError, "seeds: expected at least one"),
    (dict(seeds=[-1]), ValueError, "seed: expected an integer"),
    (dict(seeds=[2**64]), ValueError, "seed: expected an integer"),
    (dict(threads=0), ValueError, "threads: expected 1 to"),
    (dict(delay="soon"), eenet.BadOption, "delay: expected a number of rounds"),
    (dict(slots=17), eenet.BadInput, "slots: expected 1 to 16"),
    (dict(slots=6), eenet.BadInput, "slots, got 6"),
])
def test_what_cannot_start_is_refused(words, kind, sentence, tmp_path):
    settings = {"data": COSINE, "policies": "eenet", "folder": tmp_path / "runs", "rounds": 10, **words}
    refuses(kind, sentence, lab.run, progress=lambda now: pytest.fail("something was played"), **settings)
    assert not (tmp_path / "runs" / "results.jsonl").exists()


def test_objects_that_are_none():
    rounds = lab.open(COSINE).deal(0)
    refuses(TypeError, "call data.rounds", type(rounds))
    refuses(TypeError, None, lab.Dataset)
    refuses(TypeError, None, object.__new__, lab.Dataset)
    from eenet._lab_library import lab as extension

    class Pretender:
        __class__ = lab.Dataset

    refuses(TypeError, "expected a data set", extension.usual_rounds, Pretender())
    refuses(TypeError, None, extension.play, "x", [("no", "job")], "0", 1, 1, None)
    refuses(TypeError, "expected a job", extension.play, "x", ["no job"], "0", 1, 1, None)
    refuses(eenet.NoFile, "no/such/folder contains no results", lab.read, "no/such/folder")


# ---- results ----


def test_tables(results):
    runs = results.runs
    assert len(runs) == len(results) == 18
    assert list(runs.label.unique()) == ["ours", "wide", "chance"]
    assert (runs.rounds == 120).all() and (runs.regret > 0).all()
    for row in results.to_dicts():
        curve = results.curve(row["dataset"], row["label"], row["seed"])
        assert curve.shape == (120,) and curve[-1] == row["regret"]
    curves = results.curves
    first = curves[(curves.dataset == COSINE) & (curves.label == "ours")]
    every = numpy.array([results.curve(COSINE, "ours", seed) for seed in range(3)])
    at = first["round"].to_numpy() - 1
    assert numpy.allclose(first["mean"], every.mean(axis=0)[at]) and at[-1] == 119
    assert numpy.allclose(first["deviation"], every.std(axis=0, ddof=1)[at])
    refuses(ValueError, "expected a policy among ours, wide, chance", results.curve, policy="eenets")
    text = repr(results)
    assert text.startswith("Results of 18 runs\n") and f"{COSINE}: regret after 120 rounds" in text
    assert "(3 seeds)" in text and "±" in text


def test_summary(results):
    table = results.summary()
    of = table[table.dataset == COSINE].set_index("label")
    assert of.reference["ours"] and numpy.isnan(of.p["ours"])
    runs = results.runs[results.runs.dataset == COSINE]
    regrets = {name: runs[runs.label == name].regret for name in of.index}
    for name, regret in regrets.items():
        assert of["mean"][name] == pytest.approx(regret.mean())
        assert of.deviation[name] == pytest.approx(regret.std())
        assert of.low[name] < regret.mean() < of.high[name]
        if name != "ours":
            assert of.difference[name] == pytest.approx((regret.to_numpy() - regrets["ours"].to_numpy()).mean())
            assert of.p_holm[name] >= of.p[name]
    assert results.summary(reference="uniform").set_index(["dataset", "label"]).reference[(COSINE, "chance")]
    refuses(eenet.BadInput, "lints", results.summary, reference="lints")


def test_results_need_no_pandas(results, monkeypatch):
    for module in ("pandas", "matplotlib"):
        monkeypatch.setitem(sys.modules, module, None)
    assert len(results.to_dicts()) == 18 and results.curve(COSINE, "ours", 0).size == 120
    assert repr(results)
    with pytest.raises(ImportError, match="Results.runs needs pandas"):
        results.runs
    refuses(ImportError, "Results.plot needs matplotlib", results.plot)


def test_several_data_sets_in_one_call():
    X, y = [[0.0], [1.0], [2.0], [4.0]], ["a", "b", "b", "a"]
    named = lab.run({"small": (X, y)}, "uniform", seeds=[0], progress=False)
    both = lab.run(("synthetic:inner", lab.open(COSINE)), "uniform", rounds=4, seeds=[0], progress=False)
    assert named.groups == ["table:small"] and both.groups == ["synthetic:inner", COSINE]


def test_what_is_likely_a_mistake_is_reported(tmp_path):
    (tmp_path / "texts.csv").write_text("color,kind\n" + "red,a\nblue,b\nred,b\n" * 5)
    data = lab.open(f"table:{tmp_path}/texts.csv")
    (remark,) = data.remarks
    assert remark == "the first row (color, kind) was read as values; if it holds the column names, add header=yes"
    with pytest.warns(UserWarning) as warned:
        lab.run(data, "uniform", rounds=3, seeds=[0], progress=False)
    assert [str(one.message) for one in warned] == [f"table:texts: {remark}"] and warned[0].filename == __file__
    assert lab.open(f"table:{tmp_path}/texts.csv,header=yes").remarks == []
    (remark,) = lab.table([[i % 7, i % 3] for i in range(40)], [i / 8 for i in range(40)]).remarks
    assert remark.endswith("has 40 different values in 40 rows; each becomes a class, though it looks like a quantity")
    (tmp_path / "odd.csv").write_bytes(b"m\xfc,m\xfc,kind\n1,2,a\n2,3,b\n")
    assert "m\\xfc" in lab.open(f"table:{tmp_path}/odd.csv").remarks[0]


def test_runs_come_in_the_order_of_the_call_and_any_label_is_the_reference(tmp_path):
    pytest.importorskip("pandas")
    wide, narrow = ("linucb", {"alpha": 1.0}), ("linucb", {"alpha": 0.1})
    asked = {"rounds": 40, "seeds": [1, 0], "folder": tmp_path, "progress": False}
    lab.run(COSINE, narrow, **asked)
    results = lab.run(["synthetic:inner", COSINE], {"wide": wide, "narrow": narrow, "chance": "uniform"}, **asked)
    assert [(row["label"], row["seed"]) for row in results.to_dicts()[:4]] == [
        ("wide", 1), ("wide", 0), ("narrow", 1), ("narrow", 0)]  # fmt: skip
    by = {name: results.summary(name).set_index(["dataset", "label"]) for name in ("narrow", "wide", "linucb")}
    assert by["narrow"].index.tolist() == by["wide"].index.tolist() == [
        (data, label) for data in ("synthetic:inner", COSINE) for label in ("wide", "narrow", "chance")]  # fmt: skip
    for name in ("narrow", "wide"):
        assert set(by[name].index[by[name].reference].get_level_values("label")) == {name}
        mean = by[name]["mean"]
        assert by[name].difference[(COSINE, "chance")] == pytest.approx(mean[(COSINE, "chance")] - mean[(COSINE, name)])
    assert by["linucb"].reference.equals(by["wide"].reference)
    refuses(ValueError, "no runs of the reference 'nobody'", results.summary, "nobody")


def test_plot(results, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    axes = results.plot()
    assert [ax.get_title("left") for ax in axes] == results.groups
    ax = axes[0]
    assert "round" in ax.get_xlabel() and "regret" in ax.get_ylabel()
    assert [line.get_label() for line in ax.get_lines()] == ["ours", "wide", "chance"]
    table = results.summary().set_index(["dataset", "label"])
    for line in ax.get_lines():
        assert line.get_ydata()[-1] == pytest.approx(table["mean"][(COSINE, line.get_label())])
    assert {text.get_text() for text in ax.texts} == {"ours", "wide", "chance"}
    own = pyplot.subplots()[1]
    assert results.plot(COSINE, ax=own, log=True) is own and own.get_yscale() == "log"
    own.figure.savefig(tmp_path / "picture.png")
    refuses(ValueError, "do not fit on one ax", results.plot, ax=own)
    refuses(ValueError, "unknown data set 'x'", results.plot, "x")
    pyplot.close("all")


def test_labels_do_not_overlap():
    assert spread([10.0, 50.0], 12) == [10.0, 50.0]
    assert spread([10.0, 10.0], 12) == [4.0, 16.0]
    moved = spread([0.0, 1.0, 2.0, 3.0, 20.0, 21.0], 10)
    assert all(high - low >= 10 - 1e-9 for low, high in zip(moved, moved[1:]))
    assert sum(moved) == pytest.approx(47.0)


def test_report(tmp_path):
    results = lab.run(COSINE, ["linucb", "uniform"], rounds=20, seeds=[0, 1], folder=tmp_path, progress=False)
    page = results.report()
    assert page == str(tmp_path / "report.html")
    assert "linucb" in (tmp_path / "report.html").read_text() and (tmp_path / "summary.csv").exists()
    refuses(ValueError, "expected a path", lab.run(COSINE, "uniform", rounds=5, seeds=[0], progress=False).report)


# ---- progress ----


def test_progress_is_reported():
    reports = []
    lab.run(COSINE, "eenet", rounds=300, seeds=range(3), threads=1, progress=reports.append)
    assert reports and all(isinstance(now, Progress) and now.runs == 3 and now.rounds == 900 for now in reports)
    assert [now.played for now in reports] == sorted(now.played for now in reports)
    assert all(0.0 <= now.share <= 1.0 and not now.left < 0.0 for now in reports)


def test_progress_as_text():
    now = Progress(10, 3, 2, 1000, 250, 50, 2.0, "yelp eenet seed 3: 5/100", 0.124, 68.2)
    assert str(now) == "[##------------------] 12.4%, 3/10 runs, 1:08 left; yelp eenet seed 3: 5/100"
    assert str(now._replace(left=math.nan, shown="")) == "[##------------------] 12.4%, 3/10 runs"
    plain = io.StringIO()
    line = Line(plain)
    for share in (0.0, 0.04, 0.12, 0.13, 1.0):
        line(now._replace(share=share))
    line.clear()
    assert len(plain.getvalue().splitlines()) == 2 and "\r" not in plain.getvalue()
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    line = Line(terminal)
    line(now)
    line.clear()
    assert terminal.getvalue().startswith("\r[##") and terminal.getvalue().endswith("\r\033[K")


# ---- examples ----


def test_kinds_of_data_sets():
    kinds = {kind.name: kind for kind in lab.datasets()}
    assert {"synthetic", "table", "yelp", "rounds"} <= set(kinds)
    assert [option.default for option in kinds["table"].options if option.name == "normalize"] == ["unit"]


@pytest.mark.parametrize("name", ["eenet.lab", "eenet.lab._data", "eenet.lab._playing", "eenet.lab._results"])
def test_examples(name):
    module = importlib.import_module(name)
    outcome = doctest.testmod(module)
    assert outcome.attempted and not outcome.failed
