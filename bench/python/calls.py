"""Compares the cost of calls from Python with the same calls in C.

    PYTHONPATH=build/release/python /usr/bin/python3 bench/python/calls.py [--library build/release/libeenet.a]

Both sides make the same calls on the same rounds in one process, and alternate block by block. The table shows medians
over the blocks: the time of a call in C, in Python, and the difference. A block decides BLOCK rounds, then learns or
forgets them, so that both sides always have the same pending decisions.
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
    for name in ("decide", "decide_forget", "decide_sparse", "decide_many", "decide_named", "decide_snapshot"):
        getattr(loops, f"loops_{name}").restype = ctypes.c_double
    for name in ("score", "learn", "forget"):
        getattr(loops, f"loops_{name}").restype = ctypes.c_double
    loops.loops_error.restype = ctypes.c_char_p
    return loops


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def sizes(*values: int) -> Tuple[ctypes.c_size_t, ...]:
    return tuple(ctypes.c_size_t(value) for value in values)


Pairs = Dict[str, List[Tuple[float, float]]]
Side = Callable[[], float]


class Problem:
    """BLOCK rounds, the two bandits that play them, and the times of their calls."""

    def __init__(self, loops: ctypes.CDLL, policy: str, dim: int = DIM, features: bool = False) -> None:
        random = np.random.default_rng(1)
        self.loops = loops
        self.rounds = random.standard_normal((BLOCK, ARMS, DIM)).astype(np.float32)
        self.each = list(self.rounds)
        self.rewards = random.random((BLOCK, ARMS))
        self.pairs: Pairs = {}
        self.turn = 0
        text = b"" if features else None
        failed = loops.loops_open(policy.encode(), *sizes(0 if features else dim), ctypes.c_uint64(1), text)
        self.check(-1.0 if failed else 0.0)
        self.bandit = eenet.Bandit(policy, None if features else dim, seed=1, features=True if features else None)
        self.decisions: List[eenet.Decision] = []

    def check(self, taken: float) -> float:
        if taken < 0:
            raise RuntimeError(self.loops.loops_error().decode())
        return taken / BLOCK

    def measure(self, label: str, c: Side, python: Side) -> None:
        """Times both sides of a block. The second finds a colder cache, so the order alternates."""
        self.turn += 1
        first, second = (c, python) if self.turn % 2 else (python, c)
        taken = first(), second()
        self.pairs.setdefault(label, []).append(taken if self.turn % 2 else taken[::-1])

    def dense(self, call: str) -> Side:
        loop = getattr(self.loops, f"loops_{call}")
        return lambda: self.check(loop(pointer(self.rounds), *sizes(BLOCK, ARMS, DIM)))

    def deciding(self, work: Callable[[], List[eenet.Decision]]) -> Side:
        """The Python side; keeps the decisions."""

        def side() -> float:
            taken, self.decisions = timed(work)
            return taken

        return side

    def learn(self, label: str) -> None:
        bandit, decisions = self.bandit, self.decisions
        rewards = [float(row[decision.arm]) for row, decision in zip(self.rewards, decisions)]
        both = list(zip(decisions, rewards))
        c = lambda: self.check(self.loops.loops_learn(pointer(self.rewards), *sizes(BLOCK, ARMS)))  # noqa: E731
        self.measure(label, c, lambda: timed(lambda: [bandit.learn(one, reward) for one, reward in both])[0])

    def forget(self, label: str) -> None:
        bandit, decisions = self.bandit, self.decisions
        c = lambda: self.check(self.loops.loops_forget(*sizes(BLOCK)))  # noqa: E731
        self.measure(label, c, lambda: timed(lambda: [bandit.forget(decision) for decision in decisions])[0])


def timed(work: Callable[[], Any]) -> Tuple[float, Any]:
    start = time.perf_counter_ns()
    result = work()
    return (time.perf_counter_ns() - start) / BLOCK, result


def dense_calls(loops: ctypes.CDLL, policy: str, blocks: int) -> Pairs:
    problem = Problem(loops, policy)
    bandit, each, rounds = problem.bandit, problem.each, problem.rounds
    decide = problem.deciding(lambda: [bandit.decide(arms) for arms in each])
    decide_many = problem.deciding(lambda: bandit.decide_many(rounds))
    for _ in range(WARM_UP + blocks):
        problem.measure(f"{policy}: decide", problem.dense("decide"), decide)
        problem.forget(f"{policy}: forget")
        at_once = lambda: timed(lambda: [bandit.forget(bandit.decide(arms)) for arms in each])[0]  # noqa: E731
        problem.measure(f"{policy}: decide and forget, none waits", problem.dense("decide_forget"), at_once)
        score = lambda: timed(lambda: [bandit.score(arms) for arms in each])[0]  # noqa: E731
        problem.measure(f"{policy}: score", problem.dense("score"), score)
        problem.measure(f"{policy}: decide_many, a round", problem.dense("decide_many"), decide_many)
        problem.learn(f"{policy}: learn")
    return problem.pairs


def converted_calls(loops: ctypes.CDLL, blocks: int) -> Pairs:
    """Arms in forms that must be converted."""
    problem = Problem(loops, "linucb")
    bandit, rounds = problem.bandit, problem.rounds
    kinds: Dict[str, List[Any]] = {
        "float64": list(rounds.astype(np.float64)),
        "every other column": list(np.repeat(rounds, 2, axis=2)[:, :, ::2]),
        "int64": list(rounds.astype(np.int64)),
        "lists": [arms.tolist() for arms in rounds],
    }
    for _ in range(WARM_UP + blocks):
        for kind, each in kinds.items():
            decide = problem.deciding(lambda: [bandit.decide(arms) for arms in each])
            problem.measure(f"linucb: decide, {kind}", problem.dense("decide"), decide)
            problem.forget("")
    return problem.pairs


def sparse_calls(loops: ctypes.CDLL, policy: str, blocks: int) -> Pairs:
    from scipy import sparse

    arms, dim, entries = 10, 10000, 50
    each = [sparse.random(arms, dim, entries / dim, "csr", np.float32, random_state=i) for i in range(BLOCK)]
    starts = np.concatenate([matrix.indptr for matrix in each]).astype(np.uintp)
    indices = np.concatenate([matrix.indices for matrix in each]).astype(np.uint32)
    values = np.concatenate([matrix.data for matrix in each])
    offsets = np.cumsum([0] + [matrix.nnz for matrix in each])[:-1].astype(np.uintp)
    addresses = [pointer(array) for array in (starts, indices, values, offsets)]
    problem = Problem(loops, policy, dim)
    bandit = problem.bandit
    decide = problem.deciding(lambda: [bandit.decide(matrix) for matrix in each])
    c = lambda: problem.check(loops.loops_decide_sparse(*addresses, *sizes(BLOCK, arms, dim)))  # noqa: E731
    for _ in range(WARM_UP + blocks):
        problem.measure(f"{policy}: decide, scipy's csr, {entries} of {dim}", c, decide)
        problem.forget("")
    return problem.pairs


def named_calls(loops: ctypes.CDLL, policy: str, blocks: int) -> Pairs:
    contexts = [{"user": {"age": 20 + i % 50, "plan": ("free", "paid")[i % 2]}} for i in range(BLOCK)]
    actions = [[{"item": {"id": f"a{i % 7}_{arm}", "price": 9.5 + arm}} for arm in range(ARMS)] for i in range(BLOCK)]
    texts = (ctypes.c_char_p * BLOCK)(*(json.dumps(context).encode() for context in contexts))
    flat = [json.dumps(action).encode() for row in actions for action in row]
    action_texts = (ctypes.c_char_p * len(flat))(*flat)
    both = list(zip(actions, contexts))
    problem = Problem(loops, policy, features=True)
    bandit = problem.bandit
    decide = problem.deciding(lambda: [bandit.decide(arms, context=context) for arms, context in both])
    c = lambda: problem.check(loops.loops_decide_named(texts, action_texts, *sizes(BLOCK, ARMS)))  # noqa: E731
    for _ in range(WARM_UP + blocks):
        problem.measure(f"{policy}: decide, named; in C from JSON", c, decide)
        problem.forget("")
    return problem.pairs


def snapshot_calls(loops: ctypes.CDLL, policy: str, blocks: int) -> Pairs:
    problem = Problem(loops, policy)
    each = problem.each
    problem.check(loops.loops_publish())
    snapshot = problem.bandit.snapshot()
    decide = lambda: timed(lambda: [snapshot.decide(arms) for arms in each])[0]  # noqa: E731
    for _ in range(WARM_UP + blocks):
        problem.measure(f"{policy}: decide on a snapshot", problem.dense("decide_snapshot"), decide)
    return problem.pairs


def show(pairs: Pairs) -> None:
    for label, values in pairs.items():
        if not label:
            continue  # only needed to complete a block
        kept = values[WARM_UP:]
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
        loops = load_loops(given.library.resolve(), folder)
        for policy in ("uniform", "linucb", "greedy", "eenet:fast", "eenet"):
            show(dense_calls(loops, policy, given.blocks))
        show(converted_calls(loops, given.blocks))
        for policy in ("uniform", "greedy"):
            show(sparse_calls(loops, policy, given.blocks))
        show(named_calls(loops, "uniform", given.blocks))
        for policy in ("linucb", "eenet"):
            show(snapshot_calls(loops, policy, given.blocks))
        loops.loops_close()


if __name__ == "__main__":
    main()
