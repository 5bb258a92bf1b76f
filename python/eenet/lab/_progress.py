"""How far runs are, for who waits for them."""

from __future__ import annotations

import shutil
import sys
from math import isnan
from typing import Any, Callable, NamedTuple, Optional, TextIO, Union

__all__ = ["Progress", "listener_of"]

_LINES = 10  # where a line cannot be drawn anew: one for each tenth


class Progress(NamedTuple):
    """How far all runs of a call are. As text it is a line to show."""

    runs: int
    ended: int
    running: int
    rounds: int
    """of all runs"""
    played: int
    """of these rounds"""
    read: int
    """of those played: kept in the folder by an earlier call"""
    seconds: float
    """since the call"""
    shown: str
    """one of those that are played, as 'yelp eenet seed 3: 512/10000', or ''"""
    share: float
    """of the work that is done, 0 to 1: in seconds, as far as it is known what each run takes"""
    left: float
    """seconds until all runs have ended; NaN where nothing is known yet"""

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
    """A line on stderr that is drawn anew; where it is no terminal, as in a notebook, one after the other."""

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
    """Whom to tell. None is True where stderr is a terminal."""
    if callable(progress):
        return progress
    if progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty()
    return Line(sys.stderr) if progress and sys.stderr is not None else None
