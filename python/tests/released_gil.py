"""Whether a call lets other threads of Python run meanwhile."""

import contextlib
import select
import sys
import threading
from typing import Callable, Iterator

from server_process import wait_for


@contextlib.contextmanager
def no_forced_switches() -> Iterator[None]:
    """A thread of Python then runs until it releases the GIL in a call."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def progress_meanwhile(call: Callable[[], object]) -> int:
    """How often another thread gets to run Python while this one is within one call."""
    turns, done = [0], threading.Event()

    def count() -> None:
        while not done.is_set():
            turns[0] += 1
            select.select([], [], [], 0)  # releases the GIL

    other = threading.Thread(target=count)
    other.start()
    before = turns[0]
    call()
    after = turns[0]
    done.set()
    other.join()
    return after - before


def await_others_during(call: Callable[[], object], what: str) -> None:
    """With the GIL held, another thread never runs during the call. With the GIL released, it does as soon as the system
    gives it a processor: the call is repeated until then."""
    with no_forced_switches():
        wait_for(lambda: progress_meanwhile(call), f"no other thread runs during {what}")
