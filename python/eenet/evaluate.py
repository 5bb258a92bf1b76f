"""Off-policy evaluation: what another policy would have earned, from logged decisions.

`frame` takes a DataFrame, `estimate` and `compare` take arrays, `log` a file. The
results are those of the program `eenet evaluate` for the same rounds: values with
confidence intervals, the difference to the logging policy, and sentences that say
whether to trust them.

>>> import numpy as np
>>> from eenet import evaluate
>>> rng = np.random.default_rng(0)
>>> logged = np.full((5000, 4), 0.25)                  # the logging policy: uniform over 4
>>> actions = rng.integers(0, 4, 5000)                 # what it chose
>>> rewards = rng.random(5000) < 0.1 * (actions + 1)   # action 3 is the best
>>> found = evaluate.estimate(rewards, logged, "arm:3", actions=actions)
>>> found.trusted, round(found.value, 1)
(True, 0.4)
>>> found.low < 0.4 < found.high
True
>>> print(found.headline)                                        # doctest: +ELLIPSIS
arm:3 would have earned ...% more than the logging policy...

In Open Bandit Pipeline's terms, ``rewards``, ``actions``, ``logged``,
``predictions`` and ``candidate`` are reward, action, pscore,
estimated_rewards_by_reg_model and action_dist.
"""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Optional, Union

import numpy

from ._core import Bandit
from ._errors import BadInput, BadOption
from ._evaluations import Estimate, Evaluation, Evaluations, Marks, Metric, Pareto, Slot, python_message, python_errors
from ._frame_candidates import Probabilities, call_policy, is_probabilities, is_table, read_probabilities
from ._frames import Frame
from ._lab_library import lab as _lab, usual_threads
from ._logged import Log, LoggedRound, Time, log_path, read_log, read_text, read_time, read_choice, reading_settings
from ._policies import options_text

__all__ = ["Estimate", "Estimator", "Evaluation", "Evaluations", "Log", "LoggedRound", "Marks", "Metric", "Pareto",
           "Slot", "Untrusted", "compare", "estimate", "estimators", "frame", "intervals", "log", "read", "read_log"]


class Untrusted(UserWarning):
    """Warns that the numbers of an evaluation cannot be trusted, and why."""


class Estimator(NamedTuple):
    """An estimator: name, summary, whether it needs a reward model, whether it tunes a lambda."""

    name: str
    summary: str
    needs_model: bool
    tuned: bool


_INTERVALS = {
    "cs": "anytime-valid: you may look at any time and stop when you like",
    "normal": "mean and standard deviation, by the central limit theorem",
    "student": "the same, with Student's t",
    "bootstrap": "percentiles of 1000 resamples",
    "clopper-pearson": "exact for rewards of 0 and 1; valid for any number of rounds, wide",
    "hoeffding": "valid for any number of rounds; uses only the possible range, very wide",
    "bernstein": "valid for any number of rounds; uses the observed variance",
    "cressie-read": "empirical likelihood: cautious when weights are large",
}

# Candidates that are not policies: a seed changes nothing.
_FIXED = ("uniform", "first", "arm", "logged", "model", "learning", "file")

# The names in Open Bandit Pipeline and Vowpal Wabbit.
_ALIASES = {"ipw": "ips", "snipw": "snips", "dr-os": "dros", "sg-ipw": "sg-ips", "switch": "switch-dr", "mle": "el"}


def estimators() -> tuple[Estimator, ...]:
    """Every estimator that ``estimator=`` accepts.

    >>> from eenet import evaluate
    >>> [one.name for one in evaluate.estimators() if not one.needs_model]
    ['ips', 'clipped', 'snips', 'sg-ips', 'replay', 'el', 'cressie-read']
    """
    least = Estimator("mrdr", "DR with a reward model fitted for this candidate, to minimise the variance", True, False)
    return (*(Estimator(*row) for row in _lab.estimators()), least)


def intervals() -> dict[str, str]:
    """Every interval that ``interval=`` accepts, with a one-line description."""
    return {name: _INTERVALS[name] for name in _lab.intervals()}


# ---- arrays ----


def estimate(
    rewards: Any,
    logged: Any,
    candidate: Any,
    *,
    actions: Any = None,
    predictions: Any = None,
    copies: Any = None,
    estimator: Union[str, Sequence[str], None] = None,
    interval: str = "cs",
    alpha: float = 0.05,
    reward_range: Optional[tuple[float, float]] = None,
    least_probability: Optional[float] = None,
    tuning: str = "slope",
    seed: int = 0,
    name: str = "candidate",
) -> Evaluation:
    """Estimates what a candidate would have earned in rounds that another policy decided.

    rewards: (n,) the reward of each round.
    logged: the propensities of the logging policy: (n,) of the action taken, or
        (n, k) of all k actions, which allows more checks.
    candidate: the candidate's probabilities, in either shape; or "uniform",
        "logged", or "arm:3" (always action 3).
    actions: (n,) the action taken, from 0; required with (n, k) arrays.
    predictions: (n, k) a reward model's prediction for each action, made without
        the round's own reward (cross-fitted, or from other rounds). Required by "dr"
        and other estimators with a model.
    copies: (n,) how many rounds each row represents, if rows were sampled (optional).
    estimator: one or several of `estimators()`; default: "dr" with predictions,
        otherwise "snips". For "mrdr", pass the predictions of a model fitted for
        this candidate.
    interval: one of `intervals()`; alpha: 0.05 means a 95% interval.
    reward_range: the possible rewards, (low, high); default: (0, 1) if all rewards
        are inside, otherwise their range. least_probability: the smallest propensity
        of the logging policy; default: the smallest one found. Intervals that are
        valid for any number of rounds depend on both.
    tuning: "slope" or "mse", for estimators that tune a lambda. seed: for
        "bootstrap". name: the candidate's name in sentences.

    float64 arrays in C order are not copied; the GIL is released. If the result
    cannot be trusted, this warns with `Untrusted`.

    >>> from eenet import evaluate
    >>> rewards, logged, candidate = [1, 0, 1, 0] * 25, [0.5, 0.5, 0.8, 0.2] * 25, [0.9, 0.1, 0.9, 0.1] * 25
    >>> found = evaluate.estimate(rewards, logged, candidate, estimator="ips")
    >>> found.value                        # the mean of candidate / logged * reward
    0.73125
    """
    if estimator is None:
        estimator = "snips" if predictions is None else "dr"
    settings = _settings(estimator, interval, alpha, reward_range, least_probability, tuning, seed)
    arrays = _arrays(rewards, logged, actions, predictions, copies, {name: candidate})
    found = _estimate(arrays, candidate, name, settings)
    _warn([found])
    return found


def compare(
    rewards: Any,
    logged: Any,
    candidates: Union[Mapping[str, Any], Sequence[str]],
    *,
    actions: Any = None,
    predictions: Any = None,
    copies: Any = None,
    estimators: Union[str, Sequence[str], None] = None,
    interval: str = "cs",
    alpha: float = 0.05,
    reward_range: Optional[tuple[float, float]] = None,
    least_probability: Optional[float] = None,
    tuning: str = "slope",
    seed: int = 0,
) -> Evaluations:
    """Evaluates several candidates on the same rounds, with several estimators; see `estimate`.

    candidates: probabilities by name, or a list of names such as "uniform".
    estimators: default: "dr" and "snips" with predictions, otherwise "ips" and "snips".

    >>> import numpy as np
    >>> from eenet import evaluate
    >>> logged, actions = np.full((400, 2), 0.5), np.arange(400) % 2
    >>> mostly_1 = np.tile([0.2, 0.8], (400, 1))
    >>> found = evaluate.compare(actions == 1, logged, {"mine": mostly_1, "uniform": "uniform"}, actions=actions)
    >>> found.best.label, found["mine"]["ips"].value
    ('mine', 0.8)
    """
    if estimators is None:
        estimators = ("ips" if predictions is None else "dr", "snips")
    settings = _settings(estimators, interval, alpha, reward_range, least_probability, tuning, seed)
    if isinstance(candidates, str):
        candidates = [one.strip() for one in candidates.split(",")]
    if not isinstance(candidates, Mapping):
        if not all(isinstance(one, str) for one in candidates):
            raise BadInput("candidates: expected arrays by name, such as {'mine': probabilities}")
        candidates = {one: one for one in candidates}
    if not candidates:
        raise BadInput("candidates: expected at least one, got none")
    arrays = _arrays(rewards, logged, actions, predictions, copies, candidates)
    found = Evaluations([_estimate(arrays, one, name, settings) for name, one in candidates.items()])
    _warn(found)
    return found


def _estimate(arrays: dict[str, Any], candidate: Any, name: str, settings: dict[str, Any]) -> Evaluation:
    label = name
    if isinstance(candidate, str):
        label = candidate if name == "candidate" else name
        name, candidate = candidate, None
    elif candidate is None:
        raise BadInput("candidate: expected probabilities, or a name such as 'uniform', got None")
    else:
        candidate = _probabilities(candidate, "candidate")
    given = (arrays["rewards"], arrays["logged"], candidate, arrays["actions"], arrays["predictions"], arrays["copies"])
    with python_errors():
        line = _lab.array_estimate(given, {**settings, "name": read_text(name, "name")})
    return Evaluation._read(line, _tuned(), label)


def _arrays(
    rewards: Any, logged: Any, actions: Any, predictions: Any, copies: Any, candidates: Mapping[str, Any]
) -> dict[str, Any]:
    given = {"rewards": rewards, "logged": logged, "actions": actions, "predictions": predictions, "copies": copies}
    arrays = {
        "rewards": _numbers(rewards, "rewards"),
        "logged": _probabilities(logged, "logged"),
        "actions": None if actions is None else _whole(actions),
        "predictions": None if predictions is None else _numbers(predictions, "predictions", 2),
        "copies": None if copies is None else _numbers(copies, "copies"),
    }
    _check_indexes({**given, **{f"candidate '{name}'": one for name, one in candidates.items()}})
    return arrays


def _check_indexes(given: Mapping[str, Any]) -> None:
    """Rows are matched by position, so all indexes of pandas must be the same; so are the columns, by action."""
    tables = {what: one for what, one in given.items() if hasattr(one, "iloc")}
    first = next(iter(tables), "")
    for what, one in tables.items():
        if len(one) == len(tables[first]) and not one.index.equals(tables[first].index):
            raise BadInput(
                f"{what}: its index differs from that of {first}; rows are matched by position. If they are in the "
                "same order, drop the indexes with to_numpy()"
            )
        names = [str(name) for name in getattr(one, "columns", ())]
        places = [str(place) for place in range(len(names))]
        if names != places and sorted(names) == sorted(places):
            raise BadInput(
                f"{what}: expected the columns in the order of the actions, 0 to {len(names) - 1}, got "
                f"{', '.join(names[:10])}"
            )


def _numbers(given: Any, what: str, dimensions: int = 1) -> numpy.ndarray[Any, Any]:
    """As float64 in C order. (n, 1) counts as (n,), and Open Bandit Pipeline's (n, k, 1) as (n, k)."""
    array = _array(given, what)
    try:
        array = array.astype(numpy.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{what}: expected numbers: {error}") from error
    if array.ndim == dimensions + 1 and array.shape[-1] == 1:
        array = array[..., 0]
    if array.ndim not in (1, dimensions):
        shape = "(n,)" if dimensions == 1 else "(n,) or (n, k)"
        raise BadInput(f"{what}: expected an array of shape {shape}, got {array.ndim} dimensions")
    if not len(array):
        raise BadInput(f"{what}: expected at least one round, got none")
    return numpy.ascontiguousarray(array)


def _array(given: Any, what: str) -> numpy.ndarray[Any, Any]:
    if isinstance(given, numpy.ma.MaskedArray) and given.mask.any():
        raise BadInput(f"{what}: expected no masked values, got some")
    try:
        array = numpy.asarray(given)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{what}: expected numbers: {error}") from error
    if array.dtype.kind not in "biufO":
        raise BadInput(f"{what}: expected numbers, got an array of {array.dtype}")
    return array


def _probabilities(given: Any, what: str) -> numpy.ndarray[Any, Any]:
    """(n,) or (n, k); a single column holds those of the action taken."""
    array = _numbers(given, what, 2)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _whole(given: Any) -> numpy.ndarray[Any, Any]:
    array = _array(given, "actions")
    if array.dtype.kind in "iu" and array.ndim == 1:
        return numpy.ascontiguousarray(array, dtype=numpy.int64)
    numbers = _numbers(array, "actions")
    whole = numbers.astype(numpy.int64) if numpy.isfinite(numbers).all() else numpy.full(len(numbers), -1)
    if (whole != numbers).any():
        raise BadInput("actions: expected integers from 0")
    return whole


# ---- logs ----


def _metric_list(metrics: Union[str, Sequence[str]]) -> bytes:
    return (metrics if isinstance(metrics, str) else ",".join(metrics) or "none").encode()


def log(
    path: Union[str, os.PathLike[str]],
    candidates: Any,
    *,
    estimators: Union[str, Sequence[str], None] = None,
    interval: str = "cs",
    alpha: float = 0.05,
    mode: str = "progressive",
    model: str = "f1",
    tuning: str = "slope",
    reward_range: Optional[tuple[float, float]] = None,
    metrics: Union[str, Sequence[str], None] = None,
    least_probability: Optional[float] = None,
    features: Optional[str] = None,
    seeds: Union[int, Iterable[int]] = 0,
    slots: str = "cascade",
    judge_from: Time = None,
    start: Time = None,
    until: Time = None,
    reward: str = "label",
    default_reward: Optional[float] = None,
    strict: bool = False,
    threads: Optional[int] = None,
    folder: Union[str, os.PathLike[str], None] = None,
    warm: Union[str, os.PathLike[str], Mapping[str, Any], None] = None,
) -> Evaluations:
    """Evaluates candidates on a log file, like the program `eenet evaluate`.

    path: dsjson, CSV, Vowpal Wabbit text or .eelog, compressed or not; or
        "csv:FILE,action=COLUMN,...", "vw:FILE,format=cb".
    candidates: one or several of
        - a policy such as "eenet", which learns from the log; with options:
          ("eenet", {"f1.width": 50}), or an `eenet.Policy`;
        - "uniform", "first", "arm:NAME", "logged", "model:FILE", "learning:FILE",
          "file:FILE";
        - an `eenet.Bandit`, which does not learn further (with a folder, a copy is
          kept in its models/);
      as a list, as a string "eenet,linucb", or as a mapping with your own labels.
    mode: "progressive" (default) scores each event before learning from it;
        "split=0.5" learns from the first part and evaluates on the rest; "cross=5"
        cross-fits in 5 folds.
    model: the reward model, "f1" (default) or "ridge", for estimators that need one.
    metrics: which metrics of the log to estimate, such as "-refund,margin=0:100": a minus says
        that smaller is better, a range gives the possible values; "none": none. Default: all, up to 8.
    folder: keeps finished evaluations; the next call does not repeat them (optional).
    warm: a file to save the best policy in, trained on the whole log; or
        {"linucb": FILE} for a particular one (optional).
    start, until, judge_from: times, such as "2021-05-18" or a datetime; UTC if they
        have no zone. threads: default: one per core.

    The other arguments are described in `estimate`; each has a flag of the program.
    Ctrl-C stops within one event. A candidate that fails is listed in ``failures`` of
    the result; if all fail, the first error is raised.
    """
    drawn = _seeds(seeds)
    settings = _settings(estimators, interval, alpha, reward_range, least_probability, tuning, drawn[0])
    settings.update(_playing(mode, judge_from, model, features, threads))
    settings.update(reading_settings(reward, default_reward, start, until, strict))
    settings["slots"] = read_choice(slots, "slots", ("cascade", "whole", "own", "first"))
    settings["metrics"] = None if metrics is None else _metric_list(metrics)
    settings["folder"] = None if folder is None else os.fsencode(folder)
    with tempfile.TemporaryDirectory() as temporary, python_errors():
        models = temporary if folder is None else os.path.join(os.fsdecode(folder), "models")
        asked = _candidates(_labelled(candidates), drawn, models)
        return _evaluate(log_path(path), asked, settings, warm)


def read(folder: Union[str, os.PathLike[str]]) -> Evaluations:
    """Reads the evaluations that `log` or the program stored in a folder."""
    name = os.path.join(folder, "evaluations.jsonl")
    with open(name, encoding="utf-8") as file:
        lines = [line for line in file if line.endswith("\n") and line.strip()]
    tuned = _tuned()
    return Evaluations([Evaluation._read(line, tuned) for line in lines])


# ---- data frames ----


def frame(
    data: Any,
    candidates: Any,
    *,
    action: Any = "action",
    reward: Any = "reward",
    probability: Any = "probability",
    context: Any = None,
    ignore: Any = None,
    time: Any = None,
    id: Any = None,
    actions: Optional[Iterable[Any]] = None,
    estimators: Union[str, Sequence[str], None] = None,
    interval: str = "cs",
    alpha: float = 0.05,
    mode: str = "progressive",
    model: str = "f1",
    tuning: str = "slope",
    reward_range: Optional[tuple[float, float]] = None,
    least_probability: Optional[float] = None,
    features: Optional[str] = None,
    seeds: Union[int, Iterable[int]] = 0,
    judge_from: Time = None,
    threads: Optional[int] = None,
    warm: Union[str, os.PathLike[str], Mapping[str, Any], None] = None,
) -> Evaluations:
    """Evaluates candidates on logged decisions in a DataFrame, one row per decision, in their order.

    data: a pandas DataFrame, a dict of columns, or another table with columns.
    candidates: one or several of those that `log` takes; and
        - columns of probabilities, as a list: ["p_red", "p_blue"] (PREFIX + action);
          as a dict: {"red": "p_red", "blue": "p_blue"}; or as a DataFrame with one column
          per action. Matched by name, never by position;
        - a function f(contexts, actions), called once: contexts are the context columns
          of all n rows, actions is a list of k. It returns n actions, an (n, k) array of
          probabilities in the order of ``actions``, or a DataFrame with one column per
          action.
      As a list, or as a mapping with your own labels.
    action, reward, probability: the columns of the chosen action (text or numbers, which
        are names too), its reward, and the probability with which it was chosen.
    context: the columns that policies see. Default: every column without a role, except
        keys, times, and columns that follow from the action or the reward; printing the
        result shows which. [] means none. ignore: columns that are not context.
    time, id: columns (optional), as in `log`; default: found by their usual names.
    actions: all actions (optional). Default: those in the rows and in the candidates.

    The other arguments are those of `log`. The numbers are those of `eenet evaluate` on
    the same rows as a CSV file. A bad value raises `BadInput` with its column and row,
    counted from 0. If the result cannot be trusted, this warns with `Untrusted`.

    >>> import numpy as np
    >>> from eenet import evaluate
    >>> rng = np.random.default_rng(0)
    >>> color = rng.choice(["red", "blue"], 1000)
    >>> shown = {"color": color, "p": np.full(1000, 0.5), "sold": rng.random(1000) < np.where(color == "red", 0.2, 0.6)}
    >>> found = evaluate.frame(shown, "arm:blue", action="color", reward="sold", probability="p")
    >>> round(found["arm:blue"].value, 1)
    0.6
    """
    drawn = _seeds(seeds)
    settings = _settings(estimators, interval, alpha, reward_range, least_probability, tuning, drawn[0])
    settings.update(_playing(mode, judge_from, model, features, threads))
    settings.update(reading_settings("label", None, None, None, True), slots=b"first", folder=None, metrics=b"none")
    table = Frame(data, action, reward, probability, context, ignore, time, id, actions)

    def rewrite(message: str) -> str:
        return python_message(table.in_rows(message))

    with tempfile.TemporaryDirectory() as temporary, python_errors(rewrite):
        asked = _frame_candidates(table, candidates, drawn, temporary)
        return _evaluate(table.write(temporary), asked, settings, warm, rewrite, table.notes())


def _frame_candidates(table: Frame, given: Any, seeds: list[int], folder: str) -> list[_Candidate]:
    """Candidates as `log` takes them: probabilities and functions become files."""
    names = list(given.values()) if isinstance(given, Mapping) else given
    if isinstance(names, list) and names and all(isinstance(one, str) and one in table.columns for one in names):
        raise BadInput(f"candidates: expected a label for the columns, such as {{'new': {given}}}")
    pairs = _labelled(given)
    read: dict[int, Probabilities] = {}
    for place, (label, one) in enumerate(pairs):
        if is_probabilities(one):
            read[place] = read_probabilities(table, label or "candidate", one)
    contexts = None
    for place, (label, one) in enumerate(pairs):
        if callable(one):
            if contexts is None:
                contexts = table.part(table.context_columns(table.write(folder)))
            name = str(getattr(one, "__name__", type(one).__name__))
            read[place] = call_policy(table, label or name, one, contexts)
    for place, found in read.items():
        path = os.path.join(folder, f"{place}.csv")
        table.write_probabilities(found.by_action, path)
        pairs[place] = (found.label, f"file:{path}")
    return _candidates(pairs, seeds, folder)


# ---- candidates ----


class _Candidate(NamedTuple):
    label: str
    text: bytes
    options: Optional[bytes]
    seed: int


def _labelled(given: Any) -> list[tuple[Optional[str], Any]]:
    """Each candidate with its label, or None."""
    if isinstance(given, str):
        given = [one.strip() for one in given.split(",")]
    elif isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str) and isinstance(given[1], Mapping):
        given = [given]
    elif isinstance(given, Bandit) or hasattr(given, "name") or callable(given) or is_table(given):
        given = [given]
    elif isinstance(given, Mapping):
        return [(str(label), one) for label, one in given.items()]
    elif not isinstance(given, Iterable):
        raise BadInput(f"candidates: expected a policy, a string such as 'uniform', or several, got {given!r}")
    return [(None, one) for one in given]


def _candidates(labelled: list[tuple[Optional[str], Any]], seeds: list[int], models: str) -> list[_Candidate]:
    """Each candidate once; a policy once per seed."""
    found: list[_Candidate] = []
    for label, one in labelled:
        text, options, name = _candidate(one, models)
        policy = text.partition(":")[0] not in _FIXED
        for seed in seeds if policy else seeds[:1]:
            shown = str(label or name) + (f" seed {seed}" if policy and len(seeds) > 1 else "")
            found.append(_Candidate(shown, os.fsencode(text), options, seed if policy else 0))
    if not found:
        raise BadInput("candidates: expected at least one, got none")
    labels = [one.label for one in found]
    for label in labels:
        if labels.count(label) > 1:
            raise BadInput(f"candidates: '{label}' is given twice; use a mapping to give each its own name")
    return found


def _candidate(one: Any, models: str) -> tuple[str, Optional[bytes], str]:
    """Its text, options and default name. A bandit is stored in this folder under a hash of its content, so that an
    equal one is recognised."""
    options: Any = None
    if isinstance(one, tuple) and len(one) == 2:
        one, options = one
    if isinstance(one, Bandit):
        data = one.to_bytes()
        os.makedirs(models, exist_ok=True)
        path = os.path.join(models, hashlib.sha256(data).hexdigest()[:16] + ".eenet")
        with open(path, "wb") as file:
            file.write(data)
        return f"model:{path}", None, one.policy
    one = getattr(one, "name", one)
    if not isinstance(one, str) or not one or "\0" in one:
        raise BadInput(f"candidates: expected a policy, a string such as 'uniform', or a bandit, got {one!r}")
    if options is None:
        return one, None, one
    return one, read_text(options_text(one, options, {}), "options"), one


def _evaluate(
    log: bytes,
    asked: list[_Candidate],
    settings: dict[str, Any],
    warm: Any,
    rewrite: Callable[[str], str] = python_message,
    notes: Sequence[str] = (),
) -> Evaluations:
    settings.update(_warm(warm, asked))
    given = tuple((one.text, one.options, one.seed) for one in asked)
    lines, failures, _ = _lab.log_evaluate(log, given, settings)
    tuned = _tuned()
    labels = {one.text.decode(errors="replace"): one.label for one in asked}
    done = [
        Evaluation._read(line, tuned, one.label, rewrite, labels) for one, line in zip(asked, lines) if line is not None
    ]
    failed = {one.label: rewrite(why) for one, why in zip(asked, failures) if why is not None}
    for label, why in failed.items():
        warnings.warn(f"{label}: {why}", RuntimeWarning, stacklevel=3)
    found = Evaluations(done, failed, notes)
    _warn(found, 4)
    return found


# ---- settings ----


def _seeds(given: Union[int, Iterable[int]]) -> list[int]:
    return [_count(seed, "seeds") for seed in (given if isinstance(given, Iterable) else [given])] or [0]


def _settings(
    estimator: Union[str, Sequence[str], None],
    interval: str,
    alpha: float,
    reward_range: Optional[tuple[float, float]],
    least_probability: Optional[float],
    tuning: str,
    seed: int,
) -> dict[str, Any]:
    if not 0 < alpha < 1:
        raise BadOption(f"alpha: expected a number between 0 and 1, got {alpha!r}")
    if least_probability is not None and not 0 < least_probability < 1:
        raise BadOption(f"least_probability: expected a number between 0 and 1, got {least_probability!r}")
    low, high = (math.nan, math.nan) if reward_range is None else _reward_range(reward_range)
    return {
        "estimators": None if estimator is None else _estimators(estimator),
        "interval": read_choice(interval, "interval", tuple(_lab.intervals())),
        "alpha": 1.0 - (1.0 - alpha),  # rounds as in the program, which takes the confidence
        "reward_low": low,
        "reward_high": high,
        "least_probability": least_probability,
        "tuning": read_choice(tuning, "tuning", ("slope", "mse")),
        "seed": _count(seed, "seed"),
    }


def _reward_range(given: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = map(float, given)
        if math.isfinite(low) and math.isfinite(high) and low < high:
            return low, high
    except (TypeError, ValueError):
        pass
    raise BadOption(f"reward_range: expected (low, high), such as (0, 1), got {given!r}")


def _estimators(given: Union[str, Sequence[str]]) -> tuple[bytes, ...]:
    names = [one.name for one in estimators()]
    asked = given.split(",") if isinstance(given, str) else list(given)
    found = []
    for one in asked:
        plain = str(one).strip().lower().replace("_", "-")
        found.append(read_choice(_ALIASES.get(plain, plain), "estimator", tuple(names)))
    for name in found:
        if found.count(name) > 1:
            raise BadOption(f"estimator: '{name.decode()}' is given twice")
    return tuple(found)


def _playing(
    mode: str, judge_from: Time, model: str, features: Optional[str], threads: Optional[int]
) -> dict[str, Any]:
    settings = _mode(mode, judge_from)
    settings["model"] = read_choice(model, "model", ("f1", "ridge"))
    settings["features"] = None if features is None else read_text(features, "features")
    settings["threads"] = usual_threads() if threads is None else _count(threads, "threads")
    return settings


def _mode(mode: str, judge_from: Time) -> dict[str, Any]:
    word, _, number = str(mode).partition("=")
    settings: dict[str, Any] = {"mode": read_choice(word, "mode", ("progressive", "split", "cross"))}
    settings.update(split=None, folds=None, judge_from=read_time(judge_from, "judge_from"))
    if judge_from is not None and word != "progressive":
        raise BadOption("judge_from works only with mode='progressive'")
    try:
        if word == "split" and number:
            share = settings["split"] = float(number)
            right = 0 < share < 1 or (1 <= share < 1e15 and share.is_integer())
        elif word == "cross" and number:
            settings["folds"] = int(number)
            right = 2 <= settings["folds"] <= 100
        else:
            right = not number
    except ValueError:
        right = False
    if not right:
        raise BadOption(f"mode: expected progressive, split[=SHARE or EVENTS] or cross[=FOLDS, 2 to 100], got '{mode}'")
    return settings


def _warm(given: Any, asked: list[_Candidate]) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        return {"warm": None if given is None else os.fsencode(given), "warm_place": None}
    if len(given) != 1:
        raise BadInput("warm: expected one candidate and its file, such as {'linucb': FILE}")
    ((label, file),) = given.items()
    labels = [one.label for one in asked]
    if label not in labels:
        raise BadInput(f"warm: '{label}' is not one of the candidates")
    return {"warm": os.fsencode(file), "warm_place": labels.index(label)}


def _count(given: Any, what: str) -> int:
    if isinstance(given, bool) or not isinstance(given, (int, numpy.integer)) or not 0 <= int(given) < 2**64:
        raise BadInput(f"{what}: expected an integer of at least 0, got {given!r}")
    return int(given)


def _tuned() -> frozenset[str]:
    return frozenset(one.name for one in estimators() if one.tuned)


def _warn(found: Iterable[Evaluation], stacklevel: int = 3) -> None:
    for one in found:
        if not one.trusted:
            warnings.warn(f"{one.label}: {one.grave[0]}", Untrusted, stacklevel=stacklevel)
        elif math.isnan(one.value):
            warnings.warn(one.headline, Untrusted, stacklevel=stacklevel)
