"""The results of an off-policy evaluation: the classes that `eenet.evaluate` returns."""

from __future__ import annotations

import contextlib
import json
import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Optional, Union, overload

import numpy

from ._errors import Error
from ._evaluation_plots import draw
from ._optional import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

# Messages of the program name its flags; in Python these are arguments.
_FLAGS = {
    "--rewards LOW:HIGH": "reward_range=(LOW, HIGH)",
    "--rewards -1:1": "reward_range=(-1, 1)",
    "--least-probability": "least_probability",
    "--from, --until and --judge-from": "start, until and judge_from",
    "--slots first": "slots='first'",
    "--metrics refund=0:1, or --metrics none": "metrics='refund=0:1', or metrics='none'",
    "'eenet log' lists them": "read_log has them",
}


def python_message(sentence: str) -> str:
    """A message of the program, with arguments in place of flags."""
    for flag, argument in _FLAGS.items():
        sentence = sentence.replace(flag, argument)
    return sentence


@contextlib.contextmanager
def python_errors(rewrite: Callable[[str], str] = python_message) -> Iterator[None]:
    """Rewrites errors of the library in this way."""
    try:
        yield
    except Error as error:
        raise type(error)(rewrite(str(error))) from None


def _number(value: Optional[float]) -> float:
    return math.nan if value is None else float(value)


class Estimate(NamedTuple):
    """One estimator's result for a candidate; NaN if unknown.

    value with its interval low to high; gain, the difference to the logging policy
    in the same rounds, with its interval gain_low to gain_high. lambda_ is the
    parameter that the estimator chose; NaN if it has none.
    """

    estimator: str
    value: float
    low: float
    high: float
    gain: float
    gain_low: float
    gain_high: float
    lambda_: float

    @classmethod
    def _read(cls, members: Mapping[str, Any], tuned: frozenset[str]) -> Estimate:
        names = ("value", "low", "high", "gain", "gain_low", "gain_high", "lambda")
        found = cls(members["name"], *(_number(members[name]) for name in names))
        # JSON has no infinity: a chosen lambda without a value is infinite.
        return found._replace(lambda_=math.inf) if math.isnan(found.lambda_) and found.estimator in tuned else found


@dataclass(frozen=True, eq=False)
class Marks:
    """The estimates at several points of the log, for a plot over time.

    values, lows and highs have shape (marks, estimators), in the order of the estimates.
    """

    events: numpy.ndarray[Any, Any]
    times: numpy.ndarray[Any, Any]
    logged: numpy.ndarray[Any, Any]
    values: numpy.ndarray[Any, Any]
    lows: numpy.ndarray[Any, Any]
    highs: numpy.ndarray[Any, Any]

    @classmethod
    def _read(cls, rows: Sequence[Any], estimators: int) -> Marks:
        triples = numpy.array([row[3:] for row in rows], dtype=float).reshape(len(rows), estimators, 3)
        events = numpy.array([row[0] for row in rows], dtype=numpy.int64)
        times, logged = (numpy.array([row[i] for row in rows], dtype=float) for i in (1, 2))
        return cls(events, times, logged, *(triples[:, :, i] for i in range(3)))

    def __len__(self) -> int:
        return len(self.events)


class Slot(NamedTuple):
    """The evaluation of one slot, for a log whose events fill several."""

    id: str
    events: int
    reward: float
    effective: float
    estimates: tuple[Estimate, ...]


class Metric(NamedTuple):
    """The estimates of one metric of the log."""

    name: str
    better: str  #: "larger" or "smaller"
    events: int  #: that have it; the others are left out
    logged: float  #: its mean under the logging policy, and the interval
    logged_low: float
    logged_high: float
    estimates: tuple[Estimate, ...]


class Pareto(NamedTuple):
    """Whether a candidate is on the Pareto front: no other candidate of the call is at least as good in the reward and
    all metrics, and better in one."""

    front: bool
    beaten_by: Optional[str]  #: a candidate of the front that is better; None on the front
    separated: Optional[bool]  #: from it, by intervals that do not overlap


def _of_first(name: str, meaning: str) -> Any:
    """A property: this field of the first estimate."""
    return property(lambda self: getattr(self.estimates[0], name), doc=meaning)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The evaluation of one candidate: its estimates, and whether to trust them.

    value, low, high, gain, gain_low, gain_high, lambda_ and estimator are those of
    the first estimate; ``evaluation["snips"]`` selects another one. Before you use
    the numbers, check ``trusted`` and read ``sentences``; ``headline`` is the
    summary, by the estimator ``headline_estimator``, which a fixed rule selects
    (None if only dm was requested). ``facts`` holds the diagnostics behind the sentences: the effective
    sample size, the largest weight, the share of choices that the log never makes.
    """

    candidate: str
    label: str
    options: str
    seed: int
    events: int
    rounds: float
    reward: float
    reward_low: float
    reward_high: float
    interval: str
    confidence: float
    estimates: tuple[Estimate, ...]
    trusted: bool
    headline: str
    headline_estimator: Optional[str]
    sentences: tuple[str, ...]
    grave: tuple[str, ...]
    facts: Mapping[str, float]
    marks: Marks
    slots: tuple[Slot, ...]
    metrics: Mapping[str, Metric]  #: by name
    pareto: Optional[Pareto]  #: None without metrics, and for evaluations that were read from a folder
    left_out: Mapping[str, int]  #: decisions that were not randomised, by reason
    weights: numpy.ndarray[Any, Any]
    overlap: numpy.ndarray[Any, Any]
    columns: str  #: of a CSV log: how each is used
    about: Mapping[str, Any]  #: everything that `eenet evaluate --json` prints

    @classmethod
    def _read(
        cls,
        line: Union[bytes, str],
        tuned: frozenset[str],
        label: Optional[str] = None,
        rewrite: Callable[[str], str] = python_message,
        labels: Optional[Mapping[str, str]] = None,
    ) -> Evaluation:
        about = json.loads(line)
        name = about["candidate"]
        label = name if label is None else label
        shown = name.encode()[:100].decode("utf-8", "ignore")  # sentences quote at most this much
        headline = about["headline"].replace(shown, label, 1)
        sentences = [
            (rewrite(one["text"] if one["log"] else one["text"].replace(shown, label, 1)), one["grave"])
            for one in about["sentences"]
        ]
        same = {name: about[name] for name in ("options", "events", "interval", "confidence", "trusted")}
        same.update((name, _number(about[name])) for name in ("rounds", "reward", "reward_low", "reward_high"))
        return cls(
            candidate=name,
            label=label,
            seed=int(about["seed"]),
            **same,
            estimates=tuple(Estimate._read(one, tuned) for one in about["estimators"]),
            headline=headline,
            headline_estimator=about.get("headline_estimator", about["estimators"][0]["name"]),
            sentences=tuple(text for text, _ in sentences),
            grave=tuple(text for text, grave in sentences if grave),
            facts={key: _number(value) for key, value in about["facts"].items()},
            marks=Marks._read(about["marks"], len(about["estimators"])),
            slots=tuple(_read_slot(one, tuned) for one in about.get("slots", ())),
            metrics={one["name"]: _read_metric(one, tuned) for one in about.get("metrics", ())},
            pareto=_read_pareto(about.get("pareto"), labels or {}),
            left_out=about.get("left_out", {}),
            weights=numpy.array(about["weights"], dtype=float),
            overlap=numpy.array(about["overlap"], dtype=float),
            columns=rewrite(about.get("columns", "")),
            about=about,
        )

    def __getitem__(self, estimator: str) -> Estimate:
        for one in self.estimates:
            if one.estimator == estimator:
                return one
        asked = ", ".join(one.estimator for one in self.estimates)
        raise KeyError(f"no estimate by '{estimator}'; expected one of {asked}")

    estimator: ClassVar[str] = _of_first("estimator", "The first estimator.")
    value: ClassVar[float] = _of_first("value", "The candidate's estimated reward per round, by the first estimator.")
    low: ClassVar[float] = _of_first("low", "The lower end of the value's confidence interval.")
    high: ClassVar[float] = _of_first("high", "The upper end of the value's confidence interval.")
    gain: ClassVar[float] = _of_first("gain", "The value minus the logging policy's reward in the same rounds.")
    gain_low: ClassVar[float] = _of_first("gain_low", "The lower end of the gain's confidence interval.")
    gain_high: ClassVar[float] = _of_first("gain_high", "The upper end of the gain's confidence interval.")
    lambda_: ClassVar[float] = _of_first("lambda_", "The lambda that the first estimator chose; NaN if it has none.")

    @property
    def effective(self) -> float:
        """The effective sample size: this many rounds played by the candidate would be as informative."""
        return self.facts["effective"]

    @property
    def conclusion(self) -> str:
        """The headline and, if there are, the problems with it."""
        return "\n".join([self.headline, *_wrapped(one for one in _sentences(self) if one.grave)])

    def __repr__(self) -> str:
        return "\n".join([*_head(self), "", *_table([self], None), "", *_explain(self, True)])

    def _repr_html_(self) -> str:
        return Evaluations([self])._repr_html_()

    def to_frame(self) -> DataFrame:
        """A pandas DataFrame with one row per estimator."""
        return Evaluations([self]).to_frame()

    frame = to_frame  # its name in older versions

    def plot(self, ax: Optional[Axes] = None, estimator: Optional[str] = None, *, kind: str = "time") -> Axes:
        """Draws the value over the log; kind= selects another plot, see `Evaluations.plot`."""
        return Evaluations([self]).plot(ax, estimator, kind=kind)


class Evaluations(Sequence[Evaluation]):
    """The evaluations of several candidates on the same log, in the order given.

    Index by number or name: ``found[0]``, ``found["linucb"]``. ``best`` is the
    trusted candidate with the highest value, and ``conclusion`` says what the log
    shows. Printing shows the table of `eenet evaluate`; ``to_frame()`` is the same as
    a DataFrame, ``plot()`` draws it.
    """

    def __init__(
        self,
        evaluations: Sequence[Evaluation],
        failures: Optional[Mapping[str, str]] = None,
        notes: Sequence[str] = (),
    ) -> None:
        self._all = tuple(evaluations)
        #: What to know about the data, as sentences.
        self.notes: tuple[str, ...] = tuple(notes)
        #: Why candidates failed, by name.
        self.failures: Mapping[str, str] = dict(failures or {})

    @overload
    def __getitem__(self, place: Union[int, str]) -> Evaluation: ...

    @overload
    def __getitem__(self, place: slice) -> Evaluations: ...

    def __getitem__(self, place: Union[int, str, slice]) -> Union[Evaluation, Evaluations]:
        if isinstance(place, slice):
            return Evaluations(self._all[place])
        if not isinstance(place, str):
            return self._all[place]
        for one in self._all:
            if one.label == place:
                return one
        names = ", ".join(one.label for one in self._all)
        raise KeyError(self.failures.get(place, f"unknown candidate '{place}'; expected one of {names}"))

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Evaluation]:
        return iter(self._all)

    @property
    def best(self) -> Optional[Evaluation]:
        """The trusted candidate with the highest value by the headline's estimator; None if none is trusted."""
        values = {one: one[one.headline_estimator].value for one in self._all if one.trusted and one.headline_estimator}
        trusted = [one for one, value in values.items() if not math.isnan(value)]
        return max(trusted, key=lambda one: values[one]) if trusted else None

    @property
    def front(self) -> list[Evaluation]:
        """The candidates on the Pareto front of the reward and all metrics; empty if the log has no metrics."""
        return [one for one in self._all if one.pareto and one.pareto.front]

    @property
    def conclusion(self) -> str:
        """What the log shows: the headline of each candidate with its problems, the best one, and what failed."""
        lines = [one.conclusion for one in self._all]
        if len(self._all) > 1:
            lines.append(_ranking(self._all, self.best))
        lines += [f"{label} failed: {why}" for label, why in self.failures.items()]
        return "\n".join(lines)

    def to_frame(self) -> DataFrame:
        """A pandas DataFrame with one row per candidate and estimator."""
        pandas = need("pandas", "to_frame()")
        rows = [
            {"candidate": of.label, **one._asdict(), "effective": of.effective, "trusted": of.trusted}
            for of in self._all
            for one in of.estimates
        ]
        table: DataFrame = pandas.DataFrame(rows).rename(columns={"lambda_": "lambda"})
        return table

    frame = to_frame  # its name in older versions

    def plot(self, ax: Optional[Axes] = None, estimator: Optional[str] = None, *, kind: str = "value") -> Axes:
        """Draws the evaluations with matplotlib; candidates that cannot be trusted are marked.

        kind: "value" (default), the values with their intervals; "time", the same over the
            log; "weights", how often a candidate would have taken the logged action,
            compared with the logging policy: few large weights mean little data;
            "overlap", how probable a candidate's choices were under the logging policy: the
            log says nothing about choices in the bin "never", nor about what is missing to
            100%.
        ax: matplotlib axes; default: new ones. estimator: default: the headline's.
        """
        return draw(kind, self._all, ax, estimator)

    def __repr__(self) -> str:
        if not self._all:
            return "Evaluations([])"
        lines = _head(self._all[0])
        of_log = [one for of in self._all for one in _sentences(of) if one.log]
        lines += _wrapped(dict.fromkeys([*(_Sentence(note, True, False) for note in self.notes), *of_log]))
        lines += ["", *_table(self._all, self.best if len(self._all) > 1 else None)]
        for of in self._all:
            lines += ["", *_explain(of, False)]
        lines += [f"\n{label} failed: {why}" for label, why in self.failures.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For notebooks: the table, and the sentences below it."""
        if not self._all:
            return "<p>Evaluations([])</p>"
        lines = [self._all[0].columns, _log_line(self._all[0]), *self.notes]
        of_log = dict.fromkeys(one for of in self._all for one in _sentences(of) if one.log)
        below = [_html_line(one.text, one.grave) for one in of_log]
        for of in self._all:
            below.append(_html_line(of.headline, not of.trusted, "b"))
            below += [_html_line(one.text, one.grave) for one in _sentences(of) if not one.log]
        below += [_html_line(f"{label} failed: {why}", True) for label, why in self.failures.items()]
        table = _html_table(_rows(self._all, self.best if len(self._all) > 1 else None))
        return "".join(f"<p>{escape(line)}</p>" for line in lines if line) + table + "".join(below)


# ---- text ----


def _read_slot(members: Mapping[str, Any], tuned: frozenset[str]) -> Slot:
    estimates = tuple(Estimate._read(one, tuned) for one in members["estimators"])
    return Slot(
        members["id"], members["events"], _number(members["reward"]), _number(members["effective"]), estimates
    )


def _read_metric(members: Mapping[str, Any], tuned: frozenset[str]) -> Metric:
    estimates = tuple(Estimate._read(one, tuned) for one in members["estimators"])
    logged, low, high = (_number(members[name]) for name in ("logged", "logged_low", "logged_high"))
    return Metric(members["name"], members["better"], members["events"], logged, low, high, estimates)


def _read_pareto(members: Optional[Mapping[str, Any]], labels: Mapping[str, str]) -> Optional[Pareto]:
    if members is None:
        return None
    better = members.get("beaten_by")
    return Pareto(members["front"], better and labels.get(better, better), members.get("separated"))


class _Sentence(NamedTuple):
    text: str
    log: bool
    grave: bool


def _sentences(of: Evaluation) -> list[_Sentence]:
    return [_Sentence(text, row["log"], row["grave"]) for text, row in zip(of.sentences, of.about["sentences"])]


def _decimals(of: Evaluation) -> int:
    """Decimals for four significant digits of a number as large as the log's mean reward."""
    size = abs(of.reward) or max(abs(of.about["range_low"] or 0), abs(of.about["range_high"] or 0))
    return min(max(3 - math.floor(math.log10(size)), 1), 9) if 0 < size < math.inf else 4


def _log_line(of: Evaluation) -> str:
    digits = _decimals(of)
    each = "per slot" if of.slots else "per event"
    return (
        f"{of.events} events. The logging policy earned {of.reward:.{digits}f} {each} "
        f"({of.reward_low:.{digits}f} to {of.reward_high:.{digits}f})."
    )


def _head(of: Evaluation) -> list[str]:
    """The log: how it was read, and what the logging policy earned."""
    return [*textwrap.wrap(of.columns, 100), _log_line(of)]


def _rows(of_all: Sequence[Evaluation], best: Optional[Evaluation]) -> list[list[str]]:
    """The table, with its header."""
    wide = f"{100 * of_all[0].confidence:.4g}% interval"
    rows = [["  candidate", "estimator", "value", wide, "difference", wide]]
    for of in of_all:
        digits = _decimals(of)

        def show(value: float, sign: str = "", digits: int = digits) -> str:
            return "-" if math.isnan(value) else f"{value:{sign}.{digits}f}"

        name = ("* " if of is best else "  ") + of.label
        for one in of.estimates:
            ends = f"{show(one.low)} to {show(one.high)}"
            gains = f"{show(one.gain_low, '+')} to {show(one.gain_high, '+')}"
            rows.append([name, one.estimator, show(one.value), ends, show(one.gain, "+"), gains])
            name = ""
    return rows


def _table(of_all: Sequence[Evaluation], best: Optional[Evaluation]) -> list[str]:
    rows = _rows(of_all, best)
    widths = [max(len(row[i]) for row in rows) for i in range(6)]
    return [
        "  ".join(cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths)))
        for row in rows
    ]


def _wrapped(sentences: Iterable[_Sentence]) -> list[str]:
    """Serious ones get an exclamation mark, as in the program."""
    return [
        textwrap.fill(one.text, 100, initial_indent="  ! " if one.grave else "  - ", subsequent_indent="    ")
        for one in sentences
    ]


def _explain(of: Evaluation, log_too: bool) -> list[str]:
    return [textwrap.fill(of.headline, 100), *_wrapped(one for one in _sentences(of) if log_too or not one.log)]


def _ranking(of_all: Sequence[Evaluation], best: Optional[Evaluation]) -> str:
    """Which candidate is best, and which may be as good."""
    if best is None:
        return "No candidate has a reliable value."
    name = best.headline_estimator or best.estimator
    low = best[name].gain_low
    near = [one.label for one in of_all if one is not best and one.trusted and one[name].gain_high >= low]
    doubt = f", but {', '.join(near)} may be as good: the intervals overlap" if near else ""
    return f"{best.label} has the highest value{doubt}."


def _html_table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = ("".join(f"<{{0}}>{escape(cell.strip())}</{{0}}>" for cell in row) for row in rows)
    lines = "".join(f"<tr>{row.replace('{0}', 'td')}</tr>" for row in body)
    return f"<table><thead><tr>{head.replace('{0}', 'th')}</tr></thead><tbody>{lines}</tbody></table>"


def _html_line(text: str, grave: bool, tag: str = "span") -> str:
    return f"<p>{'⚠ ' if grave else ''}<{tag}>{escape(text)}</{tag}></p>"
