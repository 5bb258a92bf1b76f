"""Playing policies on data sets."""

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
    """Plays each policy on each data set, once for each seed, and gives the results. Policies with the same seed meet
    the same rounds. The numbers are those of ``eenet run``, and do not depend on the number of threads.

    data: text as ``"synthetic:cosine"`` or ``"yelp:DIR"``, a Dataset, arrays ``(X, y)`` of a classification problem (a
        DataFrame and the name of its column with the classes, too), a list of these, or ``{name: (X, y)}``.
    policies: ``"eenet"``, a Policy, a pair ``("neural-ucb", {"nu": 0.1})``, a list of these, or ``{label: one}``.
    rounds: of a run; 10,000 unless given, or a data set's rows where it has fewer.
    seeds: a run for each.
    folder: where results are kept, as ``eenet run -o`` keeps them; what it has already is not played again, and an
        interrupted call goes on from there. Without one the results are gone with the last reference to them.
    threads: runs at a time; one for each core unless given.
    delay: rewards come so many rounds late, or as ``"geometric:MEAN"`` or ``"clicks:MEAN,TIMEOUT"`` says.
    slots: that a round fills, each with another arm.
    progress: True, False, or a function that is called ten times a second with a Progress; None: a line on stderr where
        that is a terminal.

    What cannot start is an exception before anything is played. A run that fails on its way does not end the others: it
    is among ``results.failures``, and a warning. Ctrl-C ends all runs at their next round; those that have finished are
    in the folder.

    >>> results = run("synthetic:cosine,dim=4", ["linucb", "uniform"], rounds=100, seeds=range(3), progress=False)
    >>> len(results)
    6
    >>> results.curve(policy="linucb", seed=2).shape
    (100,)
    """
    if folder is None:
        holder = _PassingFolder()
        place, cache = holder.name, None
    else:
        holder = None
        place = os.fsdecode(folder)
        os.makedirs(place, exist_ok=True)
        cache = os.path.join(place, "cache")  # where the program keeps what it prepared
    plan = _Plan(read_data(data, cache), read_policies(policies), _read_seeds(seeds), rounds, str(delay), slots)
    failures = _play(place, plan, _read_threads(threads), listener_of(progress))
    return Results(place, plan.keys, plan.labels, failures, holder)


class _PassingFolder:
    """A folder that is gone with this object, or with the program."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="eenet-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


class _Plan:
    """The jobs, in the order in which the program plays them, and what tells their lines in the folder."""

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
        """Each policy under its label; a policy that is there already, under another or none, is a mistake."""
        if cell in self.labels:
            raise ValueError(f"policies: {one.label or one.name!r} is the same, options and all, as one before it")
        self.labels[cell] = one.label


def _read_seeds(seeds: Iterable[int]) -> List[int]:
    if isinstance(seeds, (str, int)):
        raise TypeError(f"seeds: several are needed, as range(10) or [3], got {seeds!r}")
    found = list(dict.fromkeys(seeds))
    if not found:
        raise ValueError("seeds: at least one is needed")
    return found


def _read_threads(threads: Optional[int]) -> int:
    return usual_threads() if threads is None else _whole(threads, "threads", 1024)


def _read_rounds(rounds: Optional[int], data: Dataset) -> int:
    if rounds is None:
        return _lab.usual_rounds(data)
    return _whole(rounds, "rounds", 10**12)  # a slip is an error and not a run without end


def _whole(value: Any, name: str, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: a whole number is needed, got {value!r}") from None
    if not 1 <= number <= most:
        raise ValueError(f"{name}: 1 to {most} is needed, got {number}")
    return number


def _play(folder: str, plan: _Plan, threads: int, listener: Any) -> List[str]:
    """Plays the jobs; the sentences of those that failed."""
    told = None if listener is None else lambda *now: listener(Progress._make(now))
    try:
        failed = _lab.play(folder, plan.jobs, plan.delay, plan.slots, threads, told)
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
    """What `play` has seen."""

    rounds: int
    """played"""
    regret: float
    """the sum over the rounds: the best expected reward less that of the arm played"""
    reward: float
    """the sum of the rewards"""
    optimal: float
    """the share of the rounds in which no arm had a better expected reward than the one played"""
    seconds: float
    """that it took, drawing the rounds included"""
    curve: NDArray[numpy.float64]
    """float64 (rounds,): the regret after each round"""


def _arm_of(decision: Any, arms: int) -> int:
    try:
        arm = operator.index(getattr(decision, "arm", decision))
    except TypeError:
        raise TypeError(f"play: decide must give an arm, or something with an arm, got {decision!r}") from None
    if not 0 <= arm < arms:
        raise ValueError(f"play: decide gave arm {arm}, and the arms are 0 to {arms - 1}")
    return arm


def play(bandit: Any, data: Any, rounds: Optional[int] = None, seed: int = 0) -> Run:
    """Plays anything that has ``decide(arms)`` and ``learn(decision, reward)`` through the rounds of a data set.

    decide gives the arm, or something with an attribute ``arm``; learn gets back what decide gave. With a bandit of
    ``data.bandit(policy, seed=seed)`` the regret is that of `run` with the same seed, to the last digit.

    >>> class First:
    ...     def decide(self, arms):
    ...         return 0
    ...     def learn(self, decision, reward):
    ...         pass
    >>> play(First(), "synthetic:cosine,noise=0", rounds=100, seed=3).rounds
    100
    """
    world = read_one(data)
    count = _read_rounds(rounds, world)
    if world.length is not None and count > world.length:
        raise ValueError(f"{world.name} has {world.length} rounds, asked for {count}")
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
