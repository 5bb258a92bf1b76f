#!/usr/bin/env python3
"""stuck_seeds.py [COUNT [POLICIES]]: counts the seeds that settle on a worse arm (docs/experiments.md). Four one-hot arms
pay 1 with fixed probabilities, otherwise 0. A seed is stuck if the best arm gets fewer than half of the last 100 decisions.
Needs numpy; $EENET is the program (default: eenet). Default: 40 eenet,thompson: seeds 0 to 39."""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

PROBLEMS = (2000, [0.9, 0.6, 0.5, 0.4]), (5000, [0.55, 0.5, 0.45, 0.4])
LAST = 100


def write_rounds(folder: Path, rounds: int, pays: np.ndarray, seed: int):
    folder.mkdir()
    np.save(folder / "contexts.npy", np.repeat(np.eye(len(pays), dtype=np.float32)[:, None], rounds, axis=1))
    np.save(folder / "expected.npy", np.repeat(pays[:, None], rounds, axis=1))
    np.save(folder / "rewards.npy", np.random.default_rng(seed).random((len(pays), rounds)) < pays[:, None])


def play(rounds: int, pays: np.ndarray, policy: str, seed: int):
    """The regret, and whether the seed is stuck."""
    with tempfile.TemporaryDirectory() as made:
        data, results = Path(made) / "rounds", Path(made) / "results"
        write_rounds(data, rounds, pays, seed)
        subprocess.run([os.environ.get("EENET", "eenet"), "run", "-d", f"rounds:{data}", "-p", policy, "-T", str(rounds),
                        "-s", str(seed), "-j", "1", "-q", "-o", results], check=True, stdout=subprocess.DEVNULL)
        run = json.loads((results / "results.jsonl").read_text())
        added = np.diff(np.load(results / "curves" / run["curve"])[run["row"]][-LAST - 1:])
        return run["regret"], np.sum(added < 1e-9) < LAST / 2  # the best arm adds no regret


def main(count: int, policies: str):
    for rounds, pays in PROBLEMS:
        for policy in policies.split(","):
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                runs = list(pool.map(lambda seed: play(rounds, np.array(pays), policy, seed), range(count)))
            print(f"{pays}, {rounds} rounds, {policy}: {sum(stuck for _, stuck in runs)} of {count} seeds stuck, "
                  f"mean regret {np.mean([regret for regret, _ in runs]):.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40, sys.argv[2] if len(sys.argv) > 2 else "eenet,thompson")
