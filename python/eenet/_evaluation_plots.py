"""Plots of off-policy evaluations, with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy

from ._optional import need
from ._plotting import COLOURS, name_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Evaluation = Any  # of _evaluations.py, which imports this file

_GREY = "0.45"
_ONE = 12  # the bin of weights from 1 to 2; each bin has twice the weights of the one before, and bin 0 has those of 0
_OVERLAP = ("0", "0.0001", "0.001", "0.01", "0.05", "0.1", "0.2", "0.5", "0.9", "1")  # upper ends


def draw(kind: str, found: Sequence[Evaluation], ax: Optional[Axes], estimator: Optional[str]) -> Axes:
    """See `Evaluations.plot`."""
    kinds: dict[str, Callable[..., None]] = {
        "value": _draw_values, "time": _draw_times, "weights": _draw_weights, "overlap": _draw_overlap
    }
    if kind not in kinds:
        raise ValueError(f"plot: unknown kind '{kind}'; expected {', '.join(kinds)}")
    if not found:
        raise ValueError("plot: there are no evaluations")
    chosen = [_chosen(of, estimator) for of in found]
    if kind == "time" and not all(len(of.marks) for of in found):
        raise ValueError("nothing to plot over time: only evaluations of a log (log, frame) have marks")
    if ax is None:
        ax = need("matplotlib.pyplot", "plot()").subplots(figsize=(6.4, 4.2), layout="constrained")[1]
    kinds[kind](ax, found, chosen)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _chosen(of: Evaluation, estimator: Optional[str]) -> int:
    """The place of the estimator to draw."""
    name = estimator or of.headline_estimator
    return 0 if name is None else int(of.estimates.index(of[name]))


def _colours(count: int) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(count)]


def _each(of: Evaluation) -> str:
    return "reward per slot" if of.slots else "reward per event"


def _title(ax: Axes, of: Evaluation, estimator: str) -> None:
    ax.set_title(f"{estimator}, {100 * of.confidence:.4g}% interval", loc="left", fontsize="medium")


def _draw_values(ax: Axes, found: Sequence[Evaluation], chosen: Sequence[int]) -> None:
    """Values and intervals, the logging policy as a line; untrusted points are hollow."""
    colours = _colours(len(found))
    for place, (of, number) in enumerate(zip(found, chosen)):
        one = of.estimates[number]
        if math.isnan(one.value):
            continue
        ends = [[max(one.value - one.low, 0.0)], [max(one.high - one.value, 0.0)]]
        errors = None if math.isnan(one.low) else numpy.array(ends)
        face = colours[place] if of.trusted else "white"
        ax.errorbar([one.value], [place], xerr=errors, fmt="o", color=colours[place], markerfacecolor=face, capsize=3)
    ax.axvline(found[0].reward, color=_GREY, linestyle="--", label="logging policy")
    ax.legend(frameon=False)
    ax.set_yticks(range(len(found)))
    ax.set_yticklabels([of.label if of.trusted else f"{of.label} (not reliable)" for of in found])
    ax.set_ylim(len(found) - 0.5, -0.5)
    ax.set_xlabel(_each(found[0]))
    ax.grid(axis="x", alpha=0.25, linewidth=0.6)
    _title(ax, found[0], found[0].estimates[chosen[0]].estimator)


def _draw_times(ax: Axes, found: Sequence[Evaluation], chosen: Sequence[int]) -> None:
    """Values and intervals over the log; the logging policy is dashed, untrusted candidates are dotted."""
    x, label = _positions(found[0])
    ends = []
    for of, number, colour in zip(found, chosen, _colours(len(found))):
        values = of.marks.values[:, number]
        ax.plot(x, values, "-" if of.trusted else ":", color=colour, linewidth=1.8, label=of.label)
        ax.fill_between(
            x, of.marks.lows[:, number], of.marks.highs[:, number], color=colour, alpha=0.15, linewidth=0
        )
        known = values[~numpy.isnan(values)]
        if len(known):
            ends.append((_last(ax, x), known[-1], of.label if of.trusted else f"{of.label} (not reliable)", colour))
    ax.plot(x, found[0].marks.logged, color=_GREY, linestyle="--", label="logging policy")
    ends.append((_last(ax, x), found[0].marks.logged[-1], "logging policy", _GREY))
    if label != "events":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        ax.xaxis.set_major_locator(AutoDateLocator())
        ax.xaxis.set_major_formatter(ConciseDateFormatter(ax.xaxis.get_major_locator()))
    ax.set_xlabel(label)
    ax.set_ylabel(_each(found[0]))
    ax.grid(axis="y", alpha=0.25, linewidth=0.6)
    _title(ax, found[0], found[0].estimates[chosen[0]].estimator)
    _show_ends(ax, found, chosen)
    name_lines(ax, ends)


def _last(ax: Axes, x: Any) -> float:
    """The last position, as a number on the axis."""
    return float(ax.convert_xunits(x[-1]))


def _show_ends(ax: Axes, found: Sequence[Evaluation], chosen: Sequence[int]) -> None:
    """Limits y to what the last nine tenths show: the first intervals are as wide as the possible rewards."""
    late = slice(len(found[0].marks) // 10, None)
    parts = [found[0].marks.logged[late]]
    for of, number in zip(found, chosen):
        parts += [of.marks.lows[late, number], of.marks.highs[late, number], of.marks.values[late, number]]
    shown = numpy.concatenate(parts)
    shown = shown[numpy.isfinite(shown)]
    if len(shown) and shown.max() > shown.min():
        room = 0.05 * (shown.max() - shown.min())
        ax.set_ylim(shown.min() - room, shown.max() + room)


def _positions(of: Evaluation) -> tuple[Any, str]:
    """Times if all are known and in order, otherwise events."""
    times = of.marks.times
    if len(times) < 2 or numpy.isnan(times).any() or (numpy.diff(times) < 0).any():
        return of.marks.events, "events"
    return (1e6 * times).astype("datetime64[us]"), "time (UTC)"


def _draw_weights(ax: Axes, found: Sequence[Evaluation], chosen: Sequence[int]) -> None:
    """How often the candidate would have taken the logged action, compared with the logging policy."""
    shares = numpy.array([of.weights for of in found])
    used = numpy.flatnonzero(numpy.nan_to_num(shares[:, 1:]).any(axis=0)) + 1
    first, last = (int(used[0]), int(used[-1])) if len(used) else (_ONE, _ONE)
    first, last = min(first, _ONE), max(last, _ONE)
    names = [f"{_power(i - _ONE)} to {_power(i - _ONE + 1)}" for i in range(first, last + 1)]
    bins = [0, *range(first, last + 1)]
    _draw_shares(ax, found, shares[:, bins], ["0", *names])
    ax.set_xlabel("weight: probability by the candidate / by the logging policy")
    ax.set_ylabel("share of the events, %")


def _power(exponent: int) -> str:
    return str(2**exponent) if exponent >= 0 else f"1/{2**-exponent}"


def _draw_overlap(ax: Axes, found: Sequence[Evaluation], chosen: Sequence[int]) -> None:
    """How probable the candidate's choices are under the logging policy."""
    shares = numpy.array([of.overlap for of in found])
    if numpy.isnan(shares).all():
        raise ValueError("plot: the overlap is unknown")
    used = numpy.flatnonzero(numpy.nan_to_num(shares).any(axis=0))
    bins = [0, *range(max(1, int(used[0]) if len(used) else 1), len(_OVERLAP))]
    _draw_shares(ax, found, shares[:, bins], ["never", *(f"{_OVERLAP[i - 1]} to {_OVERLAP[i]}" for i in bins[1:])])
    ax.set_xlabel("probability of the candidate's choice under the logging policy")
    ax.set_ylabel("share of the choices, %")


def _draw_shares(ax: Axes, found: Sequence[Evaluation], shares: Any, names: Sequence[str]) -> None:
    """Bars, grouped by bin."""
    width = 0.8 / len(found)
    for place, (of, colour) in enumerate(zip(found, _colours(len(found)))):
        x = numpy.arange(len(names)) + (place - (len(found) - 1) / 2) * width
        ax.bar(x, 100 * numpy.nan_to_num(shares[place]), width, color=colour, label=of.label)
    ax.set_xticks(range(len(names)))
    ax.set_xticklabels(names)
    ax.grid(axis="y", alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(frameon=False)
