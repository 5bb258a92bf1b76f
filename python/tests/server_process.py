"""A server for one test (tests/harness), and a reader of its store on the disk."""

import contextlib
import functools
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from harness import LONG, Meanwhile, Server, at_once, pause, reserve_port, wait_for

__all__ = ["LONG", "Meanwhile", "ServerProcess", "in_threads", "pause", "wait_for"]


def in_threads(count, work):
    """Runs work(0), work(1), ... at the same time; their results. Raises what one of them raises."""
    return at_once(*(functools.partial(work, number) for number in range(count)))


class ServerProcess(Server):
    """``with ServerProcess(program, folder) as server: ... server.url``. Clients find it again after a restart."""

    def __init__(self, program, folder, *flags):
        super().__init__(program, folder / "data", *flags, port=reserve_port())

    def events(self, bandit, kind):
        """Of the store, straight from the disk: ``[{"id", "value", "outcome", "reward_id", ...}]``."""
        with contextlib.closing(sqlite3.connect(f"file:{self.folder / 'eenet.db'}?mode=ro", uri=True)) as store:
            store.row_factory = sqlite3.Row
            rows = store.execute("SELECT * FROM log WHERE bandit = ? AND kind = ? ORDER BY number", (bandit, kind))
            return [dict(row) for row in rows]
