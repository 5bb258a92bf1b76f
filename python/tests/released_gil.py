"""Whether a call lets other threads of Python run meanwhile."""

import contextlib
import sys
import threading
import time
from typing import Callable, Iterator

ENOUGH = 20  # seconds of processor time that a call may take, all its repetitions together


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
            time.sleep(0)  # releases the GIL

    other = threading.Thread(target=count)
    other.start()
    before = turns[0]
    call()
    after = turns[0]
    done.set()
    other.join()
    return after - before


def others_run_during(call: Callable[[], object]) -> bool:
    """With the GIL held, another thread never runs during the call. With the GIL released, it does as soon as the system
    gives it a processor: the call is repeated until then, and the limit is that of the time which this thread computed."""
    with no_forced_switches():
        begin = time.thread_time()
        while not progress_meanwhile(call):
            if time.thread_time() - begin > ENOUGH:
                return False
    return True
