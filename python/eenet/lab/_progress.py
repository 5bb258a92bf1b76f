"""Progress of runs."""

from __future__ import annotations

import shutil
import sys
from math import isnan
from typing import Any, Callable, NamedTuple, Optional, TextIO, Union

__all__ = ["Progress", "listener_of"]

_LINES = 10  # lines printed if stderr is not a terminal: one per tenth


class Progress(NamedTuple):
    """The progress of all runs of a call. str() makes a progress line of it."""

    runs: int
    ended: int
    running: int
    rounds: int
    """in all runs"""
    played: int
    """rounds finished"""
    read: int
    """of those finished, rounds stored by an earlier call"""
    seconds: float
    """since the start of the call"""
    shown: str
    """a run in progress, for example 'yelp eenet seed 3: 512/10000', or ''"""
    share: float
    """of the work done, 0 to 1, weighted by the expected time of each run"""
    left: float
    """seconds until all runs finish; NaN if not known yet"""

    def __str__(self) -> str:
        full = int(20 * self.share)
        parts = [f"[{'#' * full:-<20}] {100 * self.share:.1f}%", f"{self.ended}/{self.runs} runs"]
        if not isnan(self.left):
            parts.append(f"{_time(self.left)} left")
        return ", ".join(parts) + (f"; {self.shown}" if self.shown else "")


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Line:
    """A line on stderr that is redrawn; in a notebook or a file, one line after the other."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.terminal = out.isatty()
        self.drawn = False
        self.tenths = 0

    def __call__(self, now: Progress) -> None:
        if self.terminal:
            width = shutil.get_terminal_size().columns
            self.out.write(f"\r{str(now)[: width - 1]}\033[K")
            self.drawn = True
        else:
            tenths = int(_LINES * now.share)
            if tenths <= self.tenths:
                return
            self.tenths = tenths
            self.out.write(f"{now}\n")
        self.out.flush()

    def clear(self) -> None:
        if self.drawn:
            self.out.write("\r\033[K")
            self.out.flush()


def listener_of(progress: Union[bool, Callable[[Progress], Any], None]) -> Optional[Callable[[Progress], Any]]:
    """The function to call. None means True if stderr is a terminal."""
    if callable(progress):
        return progress
    if progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty()
    return Line(sys.stderr) if progress and sys.stderr is not None else None
