"""Compares our learner with Coba's in Coba's harness, on its synthetic problems and on a classification data set.

    EENET_DATA=... PYTHONPATH=build/release/python /usr/bin/python3 bench/python/coba_harness.py [--rounds 2000]

Each learner plays each environment in a cb.Experiment with SequentialCB. The table shows the mean reward over all
rounds and environments of a kind, and the processor time of a predict and of a learn in microseconds. Times are
medians, because the first calls of some learners include their setup. Coba must be in EENET_DATA/python-packages.
Learners that need Vowpal Wabbit are left out.

shuttle is a data set with 7 classes and 9 numbers (EENET_DATA/uci/shuttle.tsv.gz): an action is a class, and its reward
is 1 if it is the right one.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Tuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
DATA = Path(os.environ.get("EENET_DATA", ""))
sys.path.append(str(DATA / "python-packages" / "coba"))

import coba as cb  # noqa: E402
import coba.register  # noqa: E402, F401  (an entry point does it if Coba is installed)
from coba.pipes import IterableSource  # noqa: E402

from eenet.coba import EENetLearner  # noqa: E402


class Timed:
    """Times the calls of a learner. Coba plays copies of it, so the times are stored outside."""

    def __init__(self, label: str, learner: Any) -> None:
        self.label, self.learner = label, learner
        TIMES.setdefault(label, ([], []))

    @property
    def params(self) -> Dict[str, Any]:
        return {"family": self.label}

    def predict(self, context: Any, actions: Any) -> Any:
        start = time.process_time_ns()
        chosen = self.learner.predict(context, actions)
        TIMES[self.label][0].append(time.process_time_ns() - start)
        return chosen

    def learn(self, context: Any, action: Any, reward: float, probability: float, **info: Any) -> None:
        start = time.process_time_ns()
        self.learner.learn(context, action, reward, probability, **info)
        TIMES[self.label][1].append(time.process_time_ns() - start)


TIMES: Dict[str, Tuple[List[int], List[int]]] = {}


def environments(rounds: int, seeds: List[int]) -> Dict[str, Any]:
    found = {
        "linear": cb.Environments.from_linear_synthetic(rounds, n_actions=5, seed=seeds),
        "mlp": cb.Environments.from_mlp_synthetic(rounds, n_actions=5, seed=seeds),
        "neighbors": cb.Environments.from_neighbors_synthetic(rounds, n_actions=5, seed=seeds),
    }
    shuttle = DATA / "uci" / "shuttle.tsv.gz"
    if shuttle.exists():
        found["shuttle"] = classes(shuttle).scale("mean", "std").shuffle(seeds).take(rounds)
    return found


def classes(path: Path) -> Any:
    with gzip.open(path, "rt") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    levels = sorted({row[-1] for row in rows})
    pairs = [([float(value) for value in row[:-1]], cb.Categorical(row[-1], levels)) for row in rows]
    return cb.Environments.from_supervised(IterableSource(pairs), label_type="c")


def learners() -> List[Timed]:
    return [
        Timed("eenet: eenet", EENetLearner("eenet")),
        Timed("eenet: eenet:fast", EENetLearner("eenet:fast")),
        Timed("eenet: squarecb", EENetLearner("squarecb")),
        Timed("eenet: linucb, alpha=1", EENetLearner("linucb", alpha=1)),
        Timed("Coba: LinUCB, alpha=1", cb.LinUCBLearner(alpha=1)),
        Timed("Coba: LinTS", cb.LinTSLearner()),
        Timed("Coba: BanditEpsilon", cb.BanditEpsilonLearner()),
        Timed("Coba: BanditUCB", cb.BanditUCBLearner()),
        Timed("Coba: Random", cb.RandomLearner()),
    ]


def run(name: str, environment: Any) -> None:
    TIMES.clear()
    result = cb.Experiment(environment, learners()).run(quiet=True)
    labels = dict(zip(*result.learners[["learner_id", "family"]]))
    rewards: Dict[str, List[float]] = {label: [] for label in labels.values()}
    for learner_id, reward in zip(*result.interactions[["learner_id", "reward"]]):
        rewards[labels[learner_id]].append(reward)
    print(f"\n{name:26}{'reward':>8}{'predict us':>12}{'learn us':>10}")
    for label, each in rewards.items():
        predict, learn = (statistics.median(times) / 1000 for times in TIMES[label])
        print(f"{label:26}{statistics.mean(each):8.3f}{predict:12.1f}{learn:10.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Coba's harness with eenet's learner and Coba's own")
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    for name, environment in environments(arguments.rounds, list(range(1, arguments.seeds + 1))).items():
        if arguments.only in name:
            run(name, environment)


if __name__ == "__main__":
    main()
