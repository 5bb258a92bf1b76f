"""Compares, on 10,000 rounds of Yelp, the program, the same loop in Python, and the loop with MABWiser's LinUCB.

    EENET_DATA=... PYTHONPATH=build/release/python /usr/bin/python3 bench/python/yelp.py [--program build/release/eenet]

All play the same rounds with the same seeds. The Python loops draw each round, decide, learn and sum the regret, as
`eenet run` does. MABWiser must be in EENET_DATA/python-packages; without it, its row is left out.

MABWiser has one regression per arm and one context for all arms. In Yelp the ten arms of a round are new each time, and
each has its own features. So MABWiser gets a single arm whose contexts are the ten feature vectors:
predict_expectations gives the upper bound of each, and the largest is played. Like eenet's `linucb`,
this is one regression for all arms, with the same alpha and lambda; but eenet's also standardises the rewards.

Times are processor seconds, like the program's, so that other programs matter little. They are medians over the seeds
and repetitions.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # measure the processor time of one thread

import eenet  # noqa: E402
from eenet import lab  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
Result = Tuple[float, float]  # seconds, regret


def play(data: lab.Dataset, seed: int, rounds: int, step: Callable[[Any], int]) -> Result:
    regret = 0.0
    start = time.process_time()
    for round_ in islice(data.rounds(seed), rounds):
        regret += round_.regret(step(round_))
    return time.process_time() - start, regret


def python_loop(data: lab.Dataset, policy: str, seed: int, rounds: int) -> Result:
    bandit = data.bandit(policy, seed=seed)

    def step(round_: Any) -> int:
        decision = bandit.decide(round_.arms)
        bandit.learn(decision, round_.rewards.item(decision.arm))
        return decision.arm

    return play(data, seed, rounds, step)


def mabwiser_loop(data: lab.Dataset, seed: int, rounds: int) -> Result:
    from mabwiser.mab import MAB, LearningPolicy

    options = eenet.policy("linucb").options
    policy = LearningPolicy.LinUCB(float(options["alpha"].default), float(options["lambda"].default))
    mab = MAB(["item"], policy, seed=seed)
    fitted = False

    def step(round_: Any) -> int:
        nonlocal fitted
        arm = 0
        if fitted:
            bounds = [each["item"] for each in mab.predict_expectations(round_.arms)]
            arm = max(range(len(bounds)), key=bounds.__getitem__)
        learn = mab.partial_fit if fitted else mab.fit
        learn(["item"], [round_.rewards.item(arm)], round_.arms[arm : arm + 1])
        fitted = True
        return arm

    return play(data, seed, rounds, step)


def program(path: Path, text: str, policy: str, seed: int, rounds: int) -> Result:
    """Seconds as the program reports them: the rounds, without reading the data."""
    command = [str(path), "run", "-d", text, "-p", policy, "-T", str(rounds), "-s", str(seed), "-j", "1", "--json"]
    run = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return run["seconds"], run["regret"]


def contestants(arguments: argparse.Namespace, text: str, data: lab.Dataset) -> Dict[str, Callable[[int], Result]]:
    rounds = arguments.rounds
    found: Dict[str, Callable[[int], Result]] = {}
    for policy in arguments.policies.split(","):
        found[f"{policy}, eenet run"] = lambda seed, p=policy: program(arguments.program, text, p, seed, rounds)
        found[f"{policy}, Python"] = lambda seed, p=policy: python_loop(data, p, seed, rounds)
    if importlib.util.find_spec("mabwiser"):
        found["MABWiser's LinUCB"] = lambda seed: mabwiser_loop(data, seed, rounds)
    else:
        print("MABWiser is not there", file=sys.stderr)
    found["always the first arm, Python"] = lambda seed: play(data, seed, rounds, lambda round_: 0)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Yelp: the program, Python, MABWiser")
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/eenet")
    parser.add_argument("--policies", default="linucb,eenet:fast,eenet")
    parser.add_argument("--rounds", type=int, default=10000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    folder = Path(os.environ.get("EENET_DATA", ""))
    sys.path.append(str(folder / "python-packages" / "mabwiser"))
    text = f"yelp:{folder / 'yelp'}"
    data = lab.open(text)
    found = contestants(arguments, text, data)
    results: Dict[str, List[Result]] = {name: [] for name in found}
    for _ in range(arguments.repeat):  # alternate, so that other load affects all alike
        for seed in range(arguments.seeds):
            for name, run in found.items():
                results[name].append(run(seed))
    print(f"{'':30}{'seconds':>9}{'us a round':>12}{'regret':>9}")
    for name, each in results.items():
        seconds = statistics.median(second for second, _ in each)
        regret = statistics.mean(regret for _, regret in each)
        print(f"{name:30}{seconds:9.3f}{1e6 * seconds / arguments.rounds:12.1f}{regret:9.1f}")


if __name__ == "__main__":
    main()
