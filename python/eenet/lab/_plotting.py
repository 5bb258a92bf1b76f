"""Plots regret over the rounds."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, List, Sequence, Tuple

import numpy

if TYPE_CHECKING:
    from ._results import Cell

# Okabe and Ito's palette, safe for colour-blind readers, without yellow, which is too faint for a line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = ("-", "--", ":", "-.")  # used if there are more lines than colours


def plot(panels: Sequence[Tuple[str, List["Cell"]]], ax: Any, log: bool) -> Any:
    """A panel for each group."""
    pyplot = importlib.import_module("matplotlib.pyplot")
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


def _styles(panels: Sequence[Tuple[str, List["Cell"]]]) -> Any:
    """The same colour for the same label in all panels."""
    labels = list(dict.fromkeys(cell.row["label"] for _, cells in panels for cell in cells))
    return {
        label: (COLOURS[i % len(COLOURS)], _DASHES[i // len(COLOURS) % len(_DASHES)])
        for i, label in enumerate(labels)
    }


def _draw(ax: Any, group: str, cells: List["Cell"], styles: Any, log: bool) -> None:
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


def _over_seeds(cells: List["Cell"]) -> str:
    """What the line and its band show."""
    counts = {cell.row["seeds"] for cell in cells}
    if counts == {1}:
        return ""
    return f" (mean of {counts.pop() if len(counts) == 1 else 'the'} seeds ± deviation)"


def name_lines(ax: Any, ends: List[Tuple[float, float, str, str]]) -> None:
    """Puts each label at the end of its line, and moves labels apart if they would overlap."""
    size, pixel = 9.0, 72.0 / ax.figure.dpi
    heights = [ax.transData.transform((x, y))[1] * pixel for x, y, _, _ in ends]
    order = sorted(range(len(ends)), key=heights.__getitem__)
    places = spread([heights[i] for i in order], 1.25 * size)
    for i, place in zip(order, places):
        x, y, label, colour = ends[i]
        ax.annotate(
            label,
            (x, y),
            xytext=(6, place - heights[i]),
            textcoords="offset points",
            color=colour,
            fontsize=size,
            va="center",
            annotation_clip=False,
        )


def spread(heights: List[float], gap: float) -> List[float]:
    """Moves ascending heights as little as possible so that they are a gap apart; touching ones are centred."""
    groups: List[List[float]] = []  # (sum of heights, count)
    for height in heights:
        groups.append([height, 1])
        while len(groups) > 1:
            low, high = groups[-2], groups[-1]
            if high[0] / high[1] - low[0] / low[1] >= gap * (low[1] + high[1]) / 2:
                break
            groups[-2:] = [[low[0] + high[0], low[1] + high[1]]]
    return [
        total / count + gap * (k - (count - 1) / 2) for total, count in groups for k in range(int(count))
    ]
