"""Shared by the plots of regret and of evaluations: colours, and labels at the ends of lines."""

from __future__ import annotations

from typing import Any, List, Tuple

# Okabe and Ito's palette, safe for colour-blind readers, without yellow, which is too faint for a line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


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
