"""The results of runs, as tables, curves and plots."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy

from .._errors import NoFile
from .._lab_library import lab as _lab
from .._optional import need
from .._plotting import COLOURS, name_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Results", "read"]


class Cell(NamedTuple):
    """The runs of one policy, with its options, on one data set: one per seed."""

    row: Dict[str, Any]
    against: Dict[str, Any]
    """the comparison with the reference"""
    group: str
    """the data set with its delay and slots, as a title"""
    places: List[int]
    """positions of the runs among all runs of the folder"""
    curve: NDArray[numpy.float64]
    """(points, 3): round, mean and standard deviation of the regret"""


def run_key(row: Mapping[str, Any]) -> Tuple[Any, ...]:
    """What makes two runs the same."""
    return (*cell_key(row), row["seed"], row["rounds"], row["delay"], row["slots"])


def cell_key(row: Mapping[str, Any]) -> Tuple[Any, ...]:
    return row["dataset"], row["fingerprint"], row["policy"], row["options"]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


_RUN_COLUMNS = (
    "dataset label policy seed rounds regret reward optimal seconds bytes delay slots dim arms rows tuning options "
    "fingerprint version"
).split()
_DASHES = ("-", "--", ":", "-.")  # used if there are more lines than colours
_FIRST_COLUMNS = "dataset label seeds mean deviation low high difference difference_low difference_high p_holm".split()


class Results:
    """The results of runs, from `eenet.lab.run` or `eenet.lab.read`.

    Contains the runs that were finished at that time. Tables are pandas DataFrames and `plot` uses matplotlib; both
    are imported on first use. `to_dicts` and `curve` need neither.

    >>> from eenet import lab
    >>> results = lab.run("synthetic:inner", ["linucb", "uniform"], rounds=50, seeds=[0, 1], progress=False)
    >>> results.runs[["policy", "seed", "rounds"]].iloc[0].to_dict()
    {'policy': 'linucb', 'seed': 0, 'rounds': 50}
    >>> sorted(results.summary().label)
    ['linucb', 'uniform']
    """

    folder: str
    """where the results are stored; for runs without a folder, a temporary one"""
    failures: List[str]
    """one message for each run of this call that failed"""

    def __init__(
        self,
        folder: str,
        keys: Optional[Sequence[Any]] = None,
        labels: Optional[Mapping[Any, Optional[str]]] = None,
        failures: Sequence[str] = (),
        holder: Any = None,
    ) -> None:
        self.folder = folder
        self.failures = list(failures)
        self._holder = holder  # the folder lives as long
        self._labels = labels or {}
        self._stored = _lab.Runs(folder)
        self._rows = self._stored.rows()
        self._places = list(range(len(self._rows)))
        if keys is not None:  # in the order of the call, not of the folder
            order = {key: i for i, key in enumerate(keys)}
            self._places = [place for place in self._places if run_key(self._rows[place]) in order]
            self._places.sort(key=lambda place: order[run_key(self._rows[place])])
        self._known: Dict[Optional[str], List[Cell]] = {}
        for cell in self._cells():
            for place in cell.places:
                self._rows[place]["label"] = cell.row["label"]

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        lines = [f"Results of {_count(len(self), 'run')}"]
        for group in self.groups:
            cells = [cell for cell in self._cells() if cell.group == group]
            cells.sort(key=lambda cell: float(cell.row["mean"]))
            width = max(len(cell.row["label"]) for cell in cells)
            lines.append(f"{group}: regret after {_count(cells[0].row['rounds'], 'round')}")
            for cell in cells:
                row = cell.row
                spread = "" if numpy.isnan(row["deviation"]) else f" ± {row['deviation']:.4g}"
                seeds = _count(row["seeds"], "seed")
                lines.append(f"  {row['label']:{width}}  {row['mean']:.5g}{spread} ({seeds})")
        return "\n".join(lines)

    # ---- tables ----

    @property
    def groups(self) -> List[str]:
        """The data sets, with their delay and slots, as titles."""
        return list(dict.fromkeys(cell.group for cell in self._cells()))

    def to_dicts(self) -> List[Dict[str, Any]]:
        """One dict per run: the same as `runs`, without pandas."""
        rows = (self._rows[place] for place in self._places)
        return [{name: row.get(name, row["policy"]) for name in _RUN_COLUMNS} for row in rows]

    @property
    def runs(self) -> Any:
        """A DataFrame with one row per run: data set, label, policy, seed, regret, ... `rows` is 0 if unlimited."""
        return need("pandas", "Results.runs").DataFrame(self.to_dicts(), columns=_RUN_COLUMNS)

    @property
    def curves(self) -> Any:
        """A DataFrame of the mean regret and its standard deviation over the seeds, at up to 500 rounds per policy:
        dataset, label, round, mean, deviation."""
        pandas = need("pandas", "Results.curves")
        parts = [
            pandas.DataFrame(cell.curve, columns=["round", "mean", "deviation"]).assign(
                dataset=cell.group, label=cell.row["label"]
            )
            for cell in self._cells()
        ]
        columns = ["dataset", "label", "round", "mean", "deviation"]
        if not parts:
            return pandas.DataFrame(columns=columns)
        return pandas.concat(parts, ignore_index=True)[columns].astype({"round": int})

    def summary(self, reference: Optional[str] = None) -> Any:
        """A DataFrame with one row per policy and data set, computed as in ``eenet report``.

        mean, deviation and low to high (the 95% confidence interval) describe the regret over the seeds. difference is
        the mean regret minus the reference's on the same seeds. p is from the sign-flip test, and p_holm is corrected
        for all comparisons on the data set. difference_low to difference_high is the 95% confidence interval from the
        same test: it excludes 0 exactly if p is below 0.05, and is -inf to inf for fewer than 6 seeds. Unknown values
        are NaN. reference: a label or policy; default: eenet.
        """
        pandas = need("pandas", "Results.summary")
        table = pandas.DataFrame([{**cell.row, **cell.against} for cell in self._cells(reference)])
        rest = [name for name in table.columns if name not in (*_FIRST_COLUMNS, "options")]
        return table[[*_FIRST_COLUMNS, *rest, "options"]]  # which is long

    # ---- curves ----

    def curve(
        self, dataset: Optional[str] = None, policy: Optional[str] = None, seed: Optional[int] = None
    ) -> NDArray[numpy.float64]:
        """The regret after each round of one run, float64 (rounds,). Give what identifies the run: the data set's name,
        the policy's name or label, the seed."""
        found = [place for place in self._places if self._is(self._rows[place], dataset, policy, seed)]
        if len(found) == 1:
            return self._stored.curve(found[0])
        conditions = {"dataset": dataset, "policy": policy, "seed": seed}
        asked = ", ".join(f"{name}={value!r}" for name, value in conditions.items() if value is not None) or "no condition"
        if found:
            raise ValueError(f"curve: expected one run, but {len(found)} match {asked}; give dataset, policy and seed")
        known = ", ".join(dict.fromkeys(row["label"] for row in self.to_dicts())) or "none"
        raise ValueError(f"curve: no run matches {asked}; expected a policy among {known}")

    def _is(self, row: Mapping[str, Any], dataset: Optional[str], policy: Optional[str], seed: Optional[int]) -> bool:
        return (
            dataset in (None, row["dataset"])
            and policy in (None, row["policy"], row.get("label"))
            and seed in (None, row["seed"])
        )

    def _cells(self, reference: Optional[str] = None) -> List[Cell]:
        if reference not in self._known:
            places, policy = self._with_first(reference)
            cells = [Cell(*parts) for parts in self._stored.summary(places, policy)]
            for cell in cells:
                cell.row["label"] = self._labels.get(cell_key(cell.row)) or cell.row["label"]
            if places != self._places:
                rank = {cell.places[0]: i for i, cell in enumerate(self._cells())}
                cells.sort(key=lambda cell: rank[cell.places[0]])
            self._known[reference] = cells
        return self._known[reference]

    def _with_first(self, reference: Optional[str]) -> Tuple[List[int], Optional[str]]:
        """The positions with those of a label first, and its policy: the first run of a policy is the reference."""
        labelled = [place for place in self._places if reference and self._rows[place].get("label") == reference]
        if not labelled:
            return self._places, reference
        return sorted(self._places, key=lambda place: place not in labelled), self._rows[labelled[0]]["policy"]

    # ---- plots and reports ----

    def plot(self, dataset: Optional[str] = None, ax: Any = None, log: bool = False) -> Any:
        """Plots the mean regret over the rounds, with a band of one standard deviation, using matplotlib.

        One panel per group in `groups`, or only the given dataset, on `ax` if given. log: makes both axes logarithmic;
        regret that grows with the square root of the rounds is then a line of slope 1/2. Returns the axes, or an array
        of them if there are several panels.
        """
        groups = self.groups if dataset is None else [group for group in self.groups if group == dataset]
        if not groups:
            raise ValueError(f"plot: unknown data set {dataset!r}; expected one of {', '.join(self.groups) or 'none'}")
        return _plot([(group, [cell for cell in self._cells() if cell.group == group]) for group in groups], ax, log)

    def report(self, path: Union[str, "os.PathLike[str]", None] = None, reference: Optional[str] = None) -> str:
        """Writes the HTML report of ``eenet report`` for the whole folder, and returns its path. Tables and figures go
        next to the results. path: default: report.html in the folder."""
        if path is None and self._holder is not None:
            raise ValueError("report: expected a path, because the runs have no folder (folder= of run)")
        page = os.path.join(self.folder, "report.html") if path is None else os.fsdecode(path)
        _lab.report(self.folder, reference, page)
        return page


def read(folder: Union[str, "os.PathLike[str]"]) -> Results:
    """Reads all finished runs that `run` or ``eenet run -o`` stored in a folder."""
    place = os.fsdecode(folder)
    if not os.path.exists(os.path.join(place, "results.jsonl")):
        raise NoFile(f"{place} contains no results: results.jsonl is missing")
    return Results(place)


# ---- plots ----


def _plot(panels: Sequence[Tuple[str, Sequence[Cell]]], ax: Any, log: bool) -> Any:
    """A panel for each group."""
    pyplot = need("matplotlib.pyplot", "Results.plot")
    if ax is not None:
        if len(panels) > 1:
            raise ValueError(f"plot: {len(panels)} data sets do not fit on one ax; choose one with dataset=")
        axes = numpy.array([ax])
    else:
        width = 6.4 if len(panels) == 1 else 5.2
        _, grid = pyplot.subplots(
            1, len(panels), figsize=(width * len(panels), 4.2), squeeze=False, layout="constrained"
        )
        axes = grid[0]
    styles = _styles(panels)
    for each, (group, cells) in zip(axes, panels):
        _draw(each, group, cells, styles, log)
    return axes[0] if len(axes) == 1 else axes


def _styles(panels: Sequence[Tuple[str, Sequence[Cell]]]) -> Any:
    """The same colour for the same label in all panels."""
    labels = list(dict.fromkeys(cell.row["label"] for _, cells in panels for cell in cells))
    return {
        label: (COLOURS[i % len(COLOURS)], _DASHES[i // len(COLOURS) % len(_DASHES)])
        for i, label in enumerate(labels)
    }


def _draw(ax: Any, group: str, cells: Sequence[Cell], styles: Any, log: bool) -> None:
    ends = []
    for cell in cells:
        if not len(cell.curve):
            continue
        rounds, mean, deviation = cell.curve.T
        colour, dash = styles[cell.row["label"]]
        ax.plot(rounds, mean, dash, color=colour, linewidth=1.8, label=cell.row["label"])
        if not numpy.isnan(deviation).any():
            ax.fill_between(rounds, mean - deviation, mean + deviation, color=colour, alpha=0.15, linewidth=0)
        ends.append((rounds[-1], mean[-1], cell.row["label"], colour))
    ax.set_title(group, loc="left", fontsize="medium")
    ax.set_xlabel("round")
    ax.set_ylabel(f"regret, in rewards{_over_seeds(cells)}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.25, linewidth=0.6)
    if log:
        ax.set_xscale("log")
        ax.set_yscale("log")
    else:
        ax.set_xlim(left=0)
        ax.set_ylim(bottom=0)
    name_lines(ax, ends)


def _over_seeds(cells: Sequence[Cell]) -> str:
    """What the line and its band show."""
    counts = {cell.row["seeds"] for cell in cells}
    if counts == {1}:
        return ""
    return f" (mean of {counts.pop() if len(counts) == 1 else 'the'} seeds ± deviation)"
