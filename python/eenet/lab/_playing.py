"""Running policies on data sets."""

from __future__ import annotations

import operator
import os
import shutil
import tempfile
import time
import warnings
import weakref
from itertools import islice
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

import numpy

from .._lab_library import lab as _lab, usual_threads
from ._data import Dataset, read_data, read_one
from ._policies import PlayedPolicy, read_policies
from ._progress import Line, Progress, listener_of
from ._results import Results

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Run", "play", "run"]


def run(
    data: Any,
    policies: Any,
    *,
    rounds: Optional[int] = None,
    seeds: Iterable[int] = range(10),
    folder: Union[str, "os.PathLike[str]", None] = None,
    threads: Optional[int] = None,
    delay: Union[int, str] = 0,
    slots: int = 1,
    progress: Union[bool, Callable[[Progress], Any], None] = None,
) -> Results:
    """Runs each policy on each data set, once per seed, and returns the results. Policies with the same seed see the
    same rounds. The numbers equal those of ``eenet run`` and do not depend on the number of threads.

    data: a string such as ``"synthetic:cosine"`` or ``"yelp:DIR"``; a Dataset; a classification problem ``(X, y)``,
        where y may name a column of the DataFrame X; a list of these; or ``{name: (X, y)}``.
    policies: ``"eenet"``, a Policy, a pair ``("neural-ucb", {"nu": 0.1})``, a list of these, or ``{label: policy}``.
    rounds: per run; default: 10,000, or the number of rows if a data set has fewer.
    seeds: one run for each; default: 0 to 9.
    folder: stores the results, as ``eenet run -o`` does. Runs already stored are not repeated, and an interrupted call
        continues from there. Default: none; the results are deleted with the last reference to them.
    threads: runs at a time; default: one per core.
    delay: rewards arrive this many rounds late, or as in ``"geometric:MEAN"`` or ``"clicks:MEAN,TIMEOUT"``.
    slots: how many each round fills, each with a different arm.
    progress: True, False, or a function called ten times a second with a Progress; default: a progress line if stderr
        is a terminal.

    Invalid arguments raise before anything runs. A run that fails does not stop the others: it warns, and is listed in
    ``results.failures``. Ctrl-C stops all runs at their next round; finished runs stay in the folder.

    >>> results = run("synthetic:cosine,dim=4", ["linucb", "uniform"], rounds=100, seeds=range(3), progress=False)
    >>> len(results)
    6
    >>> results.curve(policy="linucb", seed=2).shape
    (100,)
    """
    if folder is None:
        holder = _TemporaryFolder()
        place, cache = holder.name, None
    else:
        holder = None
        place = os.fsdecode(folder)
        os.makedirs(place, exist_ok=True)
        cache = os.path.join(place, "cache")  # the same place as the program's
    plan = _Plan(read_data(data, cache), read_policies(policies), _read_seeds(seeds), rounds, str(delay), slots)
    workers = usual_threads() if threads is None else _whole(threads, "threads", 1024)
    failures = _play(place, plan, workers, listener_of(progress))
    return Results(place, plan.keys, plan.labels, failures, holder)


class _TemporaryFolder:
    """A temporary folder, deleted with this object or at exit."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="eenet-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


class _Plan:
    """The jobs in the program's order, and the keys that identify their lines in the folder."""

    def __init__(
        self,
        sets: List[Dataset],
        chosen: List[PlayedPolicy],
        seeds: List[int],
        rounds: Optional[int],
        delay: str,
        slots: int,
    ) -> None:
        self.jobs: List[Tuple[Dataset, str, str, int, int]] = []
        self.keys: List[Any] = []
        self.labels: Dict[Any, Optional[str]] = {}
        self.delay, self.slots = delay, slots
        for data in sets:
            count = _read_rounds(rounds, data)
            for one in chosen:
                jobs = [(data, one.name, one.options, seed, count) for seed in seeds]
                options, late = _lab.check(jobs[0], delay, slots)
                cell = (data.name, data.fingerprint, one.name, options)
                self._name(cell, one)
                self.jobs += jobs
                self.keys += [(*cell, seed, count, late, slots) for seed in seeds]
            for remark in data.remarks:
                warnings.warn(f"{data.name}: {remark}", stacklevel=3)
            if _lab.repeats(data, count):
                warnings.warn(f"{data.name}: {_lab.repeats(data, count)}", stacklevel=3)

    def _name(self, cell: Any, one: PlayedPolicy) -> None:
        """Stores the policy's label; the same policy twice is an error."""
        if cell in self.labels:
            raise ValueError(f"policies: {one.label or one.name!r} is given twice with the same options")
        self.labels[cell] = one.label


def _read_seeds(seeds: Iterable[int]) -> List[int]:
    if isinstance(seeds, (str, int)):
        raise TypeError(f"seeds: expected a sequence such as range(10) or [3], got {seeds!r}")
    found = list(dict.fromkeys(seeds))
    if not found:
        raise ValueError("seeds: expected at least one, got none")
    return found


def _read_rounds(rounds: Optional[int], data: Dataset) -> int:
    if rounds is None:
        return _lab.usual_rounds(data)
    return _whole(rounds, "rounds", 10**12)  # so that a typing error does not run forever


def _whole(value: Any, name: str, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {value!r}") from None
    if not 1 <= number <= most:
        raise ValueError(f"{name}: expected 1 to {most}, got {number}")
    return number


def _play(folder: str, plan: _Plan, threads: int, listener: Any) -> List[str]:
    """Runs the jobs; returns the messages of those that failed."""
    report = None if listener is None else lambda *now: listener(Progress._make(now))
    try:
        failed = _lab.play(folder, plan.jobs, plan.delay, plan.slots, threads, report)
    finally:
        if isinstance(listener, Line):
            listener.clear()
    failures = []
    for place, sentence in failed:
        data, policy, options, seed, _ = plan.jobs[place]
        failures.append(f"{data.name}, {policy}{options and ' ' + options}, seed {seed}: {sentence}")
        warnings.warn(failures[-1], RuntimeWarning, stacklevel=3)
    return failures


class Run(NamedTuple):
    """The result of `play`."""

    rounds: int
    """rounds played"""
    regret: float
    """the sum over the rounds of the best expected reward minus the chosen arm's"""
    reward: float
    """the sum of the rewards"""
    optimal: float
    """the share of rounds in which the chosen arm had the best expected reward"""
    seconds: float
    """run time, including generating the rounds"""
    curve: NDArray[numpy.float64]
    """float64 (rounds,): the regret after each round"""


def _arm_of(decision: Any, arms: int) -> int:
    try:
        arm = operator.index(getattr(decision, "arm", decision))
    except TypeError:
        raise TypeError(f"play: expected decide to return an arm or an object with one, got {decision!r}") from None
    if not 0 <= arm < arms:
        raise ValueError(f"play: expected an arm from 0 to {arms - 1}, got {arm} from decide")
    return arm


def play(bandit: Any, data: Any, rounds: Optional[int] = None, seed: int = 0) -> Run:
    """Runs any object with ``decide(arms)`` and ``learn(decision, reward)`` through the rounds of a data set.

    decide returns the arm, or an object with an attribute ``arm``; learn receives what decide returned. With
    ``data.bandit(policy, seed=seed)`` the regret equals that of `run` with the same seed, to the last digit.

    >>> class First:
    ...     def decide(self, arms):
    ...         return 0
    ...     def learn(self, decision, reward):
    ...         pass
    >>> play(First(), "synthetic:cosine,noise=0", rounds=100, seed=3).rounds
    100
    """
    if not (callable(getattr(bandit, "decide", None)) and callable(getattr(bandit, "learn", None))):
        raise TypeError(f"play: expected an object with decide and learn, got {type(bandit).__name__}")
    world = read_one(data)
    count = _read_rounds(rounds, world)
    if world.length is not None and count > world.length:
        raise ValueError(f"rounds: {world.name} has only {world.length}, got {count}")
    curve: List[float] = []
    regret = reward = 0.0
    optimal = 0
    start = time.perf_counter()
    for now in islice(world.rounds(seed), count):
        decision = bandit.decide(now.arms)
        arm = _arm_of(decision, world.arms)
        gained = now.rewards.item(arm)
        bandit.learn(decision, gained)
        loss = now.regret(arm)
        regret += loss
        reward += gained
        optimal += loss == 0.0
        curve.append(regret)
    return Run(count, regret, reward, optimal / count, time.perf_counter() - start, numpy.array(curve))
