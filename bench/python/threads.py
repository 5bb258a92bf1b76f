"""Measures how many decisions per second Python threads make on one snapshot.

    PYTHONPATH=build/release/python /usr/bin/python3 bench/python/threads.py [--windows 150]

Each window is a few decisions in each thread. The table shows the best window, which is closest to an idle machine. The
small models show the cost of the interpreter, which threads cannot share because of the GIL.
"""

from __future__ import annotations

import argparse
import os
import threading
import time

import numpy as np

import eenet

# A label, the bandit, the shape of a round's arms, and the decisions of each thread in a window.
PROBLEMS = [
    ("eenet, 50 arms of 400, f1.width 200", eenet.Bandit("eenet", dim=400, f1_width=200), (50, 400), 8),
    ("eenet, 10 arms of 20", eenet.Bandit("eenet", dim=20), (10, 20), 1000),
    ("linucb, 10 arms of 20", eenet.Bandit("linucb", dim=20), (10, 20), 2000),
]


def decisions_a_second(snapshot: eenet.Snapshot, arms: np.ndarray, threads: int, each: int) -> float:
    def decide() -> None:
        for _ in range(each):
            snapshot.decide(arms)

    workers = [threading.Thread(target=decide) for _ in range(threads)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return threads * each / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--windows", type=int, default=150)
    windows = parser.parse_args().windows
    counts = sorted({1, 2, os.cpu_count() or 1})
    print("decisions a second".ljust(40), *(f"{count} thread{'s'[: count - 1]}".rjust(11) for count in counts))
    for label, bandit, shape, each in PROBLEMS:
        snapshot = bandit.snapshot()
        arms = np.random.default_rng(0).random(shape, dtype=np.float32)
        best = dict.fromkeys(counts, 0.0)
        for _ in range(windows):
            for count in counts:
                best[count] = max(best[count], decisions_a_second(snapshot, arms, count, each))
        print(label.ljust(40), *(f"{rate:11,.0f}" for rate in best.values()))


if __name__ == "__main__":
    main()
