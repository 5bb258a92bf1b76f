"""What a call from Python costs next to the same call in C.

    PYTHONPATH=build/release/python /usr/bin/python3 bench/python/calls.py [--library build/release/libeenet.a]

Both sides make the same calls on the same rounds, in one process and in turns, block by block; the table has the
medians over the blocks, for one call each. A block decides BLOCK rounds, then learns or forgets them, so that both
sides have the same decisions waiting at any time.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import numpy as np

import eenet

ROOT = Path(__file__).resolve().parents[2]
ARMS, DIM, BLOCK = 10, 20, 64
WARM_UP = 5  # blocks


def load_loops(library: Path, folder: str) -> ctypes.CDLL:
    shared = Path(folder) / "call_loops.so"
    sources = [str(ROOT / "bench/python/call_loops.c"), str(library)]
    flags = ["-std=gnu11", "-O2", "-shared", "-fPIC", f"-I{ROOT / 'include'}"]
    subprocess.run(["cc", *flags, "-o", str(shared), *sources, "-lm", "-lpthread"], check=True)
    loops = ctypes.CDLL(str(shared))
    for name in ("decide", "decide_sparse", "decide_many", "score", "learn", "forget", "decide_named", "decide_snapshot"):
        getattr(loops, f"loops_{name}").restype = ctypes.c_double
    loops.loops_error.restype = ctypes.c_char_p
    return loops


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def sizes(*values: int) -> Tuple[ctypes.c_size_t, ...]:
    return tuple(ctypes.c_size_t(value) for value in values)


class Problem:
    """BLOCK rounds in all the ways that a call takes them, and the pair of bandits that meet them."""

    def __init__(self, loops: ctypes.CDLL) -> None:
        random = np.random.default_rng(1)
        self.loops = loops
        self.rounds = random.standard_normal((BLOCK, ARMS, DIM)).astype(np.float32)
        self.each = list(self.rounds)
        self.rewards = random.random((BLOCK, ARMS))
        self.bandit = eenet.Bandit("uniform", dim=DIM)
        self.decisions: List[Any] = []

    def open(self, policy: str, dim: int = DIM, features: bool = False) -> None:
        text = b"" if features else None
        failed = self.loops.loops_open(policy.encode(), *sizes(0 if features else dim), ctypes.c_uint64(1), text)
        self.check(-1.0 if failed else 0.0)
        self.bandit = eenet.Bandit(policy, None if features else dim, seed=1, features=True if features else None)

    def check(self, taken: float) -> float:
        if taken < 0:
            raise RuntimeError(self.loops.loops_error().decode())
        return taken / BLOCK

    def dense(self, call: str) -> float:
        loop = getattr(self.loops, f"loops_{call}")
        return self.check(loop(pointer(self.rounds), *sizes(BLOCK, ARMS, DIM)))


def timed(work: Callable[[], Any]) -> Tuple[float, Any]:
    start = time.perf_counter_ns()
    result = work()
    return (time.perf_counter_ns() - start) / BLOCK, result


Pairs = Dict[str, List[Tuple[float, float]]]


def settle(problem: Problem, pairs: Pairs, label: str, learns: bool) -> None:
    """Ends a block on both sides: the decisions get their rewards, or are forgotten."""
    bandit, decisions = problem.bandit, problem.decisions
    if learns:
        rewards = [float(row[decision.arm]) for row, decision in zip(problem.rewards, decisions)]
        python = timed(lambda: [bandit.learn(decision, reward) for decision, reward in zip(decisions, rewards)])[0]
        c = problem.check(problem.loops.loops_learn(pointer(problem.rewards), *sizes(BLOCK, ARMS)))
    else:
        python = timed(lambda: [bandit.forget(decision) for decision in decisions])[0]
        c = problem.check(problem.loops.loops_forget(*sizes(BLOCK)))
    pairs.setdefault(label, []).append((c, python))


def dense_calls(problem: Problem, policy: str, blocks: int) -> Pairs:
    pairs: Pairs = {}
    problem.open(policy)
    bandit, each = problem.bandit, problem.each
    for block in range(WARM_UP + blocks):
        c = problem.dense("decide")
        python, problem.decisions = timed(lambda: [bandit.decide(arms) for arms in each])
        pairs.setdefault("decide", []).append((c, python))
        settle(problem, pairs, "learn" if block < WARM_UP else "forget", block < WARM_UP)
        c, python = problem.dense("score"), timed(lambda: [bandit.score(arms) for arms in each])[0]
        pairs.setdefault("score", []).append((c, python))
        c, (python, problem.decisions) = problem.dense("decide_many"), timed(lambda: bandit.decide_many(problem.rounds))
        pairs.setdefault("decide_many, a round", []).append((c, python))
        settle(problem, pairs, "learn", True)
    return {f"{policy}: {label}": values for label, values in pairs.items()}


def converted_calls(problem: Problem, blocks: int) -> Pairs:
    """linucb again, whose arms come as something that has to be converted."""
    pairs: Pairs = {}
    problem.open("linucb")
    kinds = {
        "float64": list(problem.rounds.astype(np.float64)),
        "every other column": list(np.repeat(problem.rounds, 2, axis=2)[:, :, ::2]),
        "int64": list(problem.rounds.astype(np.int64)),
        "lists": [arms.tolist() for arms in problem.rounds],
    }
    bandit = problem.bandit
    for _ in range(WARM_UP + blocks):
        for kind, each in kinds.items():
            c = problem.dense("decide")
            python, problem.decisions = timed(lambda: [bandit.decide(arms) for arms in each])
            pairs.setdefault(f"linucb: decide, {kind}", []).append((c, python))
            settle(problem, {}, "forget", False)
    return pairs


def sparse_calls(problem: Problem, policy: str, blocks: int) -> Pairs:
    from scipy import sparse

    arms, dim, entries = 10, 10000, 50
    each = [sparse.random(arms, dim, entries / dim, "csr", np.float32, random_state=i) for i in range(BLOCK)]
    starts = np.concatenate([matrix.indptr for matrix in each]).astype(np.uintp)
    indices = np.concatenate([matrix.indices for matrix in each]).astype(np.uint32)
    values = np.concatenate([matrix.data for matrix in each])
    offsets = np.cumsum([0] + [matrix.nnz for matrix in each])[:-1].astype(np.uintp)
    pairs: Pairs = {}
    problem.open(policy, dim)
    bandit = problem.bandit
    for _ in range(WARM_UP + blocks):
        addresses = [pointer(array) for array in (starts, indices, values, offsets)]
        c = problem.check(problem.loops.loops_decide_sparse(*addresses, *sizes(BLOCK, arms, dim)))
        python, problem.decisions = timed(lambda: [bandit.decide(matrix) for matrix in each])
        pairs.setdefault(f"{policy}: decide, scipy's csr, {entries} of {dim}", []).append((c, python))
        settle(problem, {}, "forget", False)
    return pairs


def named_calls(problem: Problem, policy: str, blocks: int) -> Pairs:
    contexts = [{"user": {"age": 20 + i % 50, "plan": ("free", "paid")[i % 2]}} for i in range(BLOCK)]
    actions = [[{"item": {"id": f"a{i % 7}_{arm}", "price": 9.5 + arm}} for arm in range(ARMS)] for i in range(BLOCK)]
    texts = (ctypes.c_char_p * BLOCK)(*(json.dumps(context).encode() for context in contexts))
    flat = [json.dumps(action).encode() for row in actions for action in row]
    action_texts = (ctypes.c_char_p * len(flat))(*flat)
    pairs: Pairs = {}
    problem.open(policy, features=True)
    bandit = problem.bandit
    for _ in range(WARM_UP + blocks):
        c = problem.check(problem.loops.loops_decide_named(texts, action_texts, *sizes(BLOCK, ARMS)))
        both = list(zip(actions, contexts))
        python, problem.decisions = timed(lambda: [bandit.decide(arms, context=context) for arms, context in both])
        pairs.setdefault(f"{policy}: decide, named (C: from JSON)", []).append((c, python))
        settle(problem, {}, "forget", False)
    return pairs


def snapshot_calls(problem: Problem, policy: str, blocks: int) -> Pairs:
    pairs: Pairs = {}
    problem.open(policy)
    each = problem.each
    problem.loops.loops_publish()
    snapshot = problem.bandit.snapshot()
    for _ in range(WARM_UP + blocks):
        c = problem.dense("decide_snapshot")
        python, _ = timed(lambda: [snapshot.decide(arms) for arms in each])
        pairs.setdefault(f"{policy}: decide on a snapshot", []).append((c, python))
    return pairs


def show(pairs: Pairs) -> None:
    for label, values in pairs.items():
        kept = values[WARM_UP:] or values
        c, python = (statistics.median(side) for side in zip(*kept))
        more = statistics.median(pair[1] - pair[0] for pair in kept)
        print(f"{label:52} {c / 1000:10.3f} {python / 1000:10.3f} {more / 1000:10.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="calls from Python next to C")
    parser.add_argument("--library", type=Path, default=ROOT / "build/release/libeenet.a")
    parser.add_argument("--blocks", type=int, default=300)
    given = parser.parse_args()
    print(f"eenet {eenet.__version__}, kernels {eenet.kernels()}, numpy {np.__version__}; microseconds a call, medians\n")
    print(f"{f'{ARMS} arms of {DIM} where nothing is said':52} {'in C':>10} {'Python':>10} {'more':>10}")
    with tempfile.TemporaryDirectory() as folder:
        problem = Problem(load_loops(given.library.resolve(), folder))
        for policy in ("uniform", "linucb", "greedy", "eenet:fast", "eenet"):
            show(dense_calls(problem, policy, given.blocks))
        show(converted_calls(problem, given.blocks))
        show(sparse_calls(problem, "uniform", given.blocks))
        show(sparse_calls(problem, "greedy", given.blocks))
        if hasattr(problem.bandit, "snapshot"):
            show(named_calls(problem, "linucb", given.blocks))
            show(snapshot_calls(problem, "linucb", given.blocks))
            show(snapshot_calls(problem, "eenet", given.blocks))
        problem.loops.loops_close()


if __name__ == "__main__":
    main()
