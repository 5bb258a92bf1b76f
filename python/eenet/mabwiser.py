"""The interface of MABWiser's MAB with eenet's policies: arms by name, decisions, rewards, contexts.

MABWiser is not required. If it is installed, its LearningPolicy.LinUCB, LinTS, LinGreedy and Random work too.

>>> from eenet.mabwiser import MAB
>>> mab = MAB(["Arm1", "Arm2"], "linucb", seed=1)
>>> mab.fit(["Arm1", "Arm1", "Arm2", "Arm1"], [20, 17, 25, 9])
>>> mab.predict()
'Arm2'
>>> mab.add_arm("Arm3")
>>> mab.partial_fit(["Arm3"], [60])
>>> mab.predict()
'Arm3'

With contexts, one row per decision:

>>> mab = MAB(["Arm1", "Arm2"], "linucb", seed=1)
>>> mab.fit(["Arm1", "Arm1", "Arm2", "Arm2"], [1, 0, 0, 1], [[0, 1], [1, 0], [0, 1], [1, 0]])
>>> mab.predict([[0, 1], [1, 0]])
['Arm1', 'Arm2']
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Dict, Hashable, List, Mapping, Optional, Sequence, Set, Tuple, Union

import numpy

from ._adapting import fixed_arms_bandit
from ._blocks import BlockLayout
from ._core import Decision

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MAB"]

Arm = Hashable


class MAB:
    """A bandit over named arms; all arms of a round share its context, if any.

    arms: a list of names.
    learning_policy: the name of an eenet policy (see eenet.policies()) or a Policy, with its options by name
        (`MAB(arms, "eenet", w2=0.1)`) or as `options`; or one of MABWiser's, which uses the same formula as there.
    max_arms: the most arms ever, including removed ones; default: the given arms and half as many again, at least
        eight more.
    n_jobs, backend: accepted, but without effect.

    Differences from MABWiser: eenet's policies see a constant 1 next to the context; fit with contexts makes any policy
    contextual; neighborhood policies and warm_start are not supported. For MABWiser's Simulator, use
    ``class Simulated(eenet.mabwiser.MAB, mabwiser.mab.MAB): pass``.
    """

    def __init__(
        self,
        arms: List[Arm],
        learning_policy: Any = "eenet",
        neighborhood_policy: None = None,
        seed: int = 123456,
        n_jobs: int = 1,
        backend: Optional[str] = None,
        *,
        max_arms: Optional[int] = None,
        options: Union[None, str, Mapping[str, Any]] = None,
        **named: Any,
    ) -> None:
        _check_arms(arms)
        if neighborhood_policy is not None:
            raise ValueError("neighborhood_policy is not supported; use a neural policy such as 'eenet' instead.")
        if not _is_whole(seed):
            raise TypeError("The seed must be an integer.")
        if not _is_whole(n_jobs) or n_jobs == 0:
            raise ValueError(f"n_jobs: expected an integer other than 0, got {n_jobs!r}; it has no effect in eenet.")
        room = len(arms) + max(8, len(arms) // 2) if max_arms is None else max_arms
        if not _is_whole(room) or room < len(arms):
            raise ValueError(f"max_arms: expected an integer of at least {len(arms)}, got {max_arms!r}.")
        self.arms = arms.copy()
        self._learning_policy = learning_policy
        self.seed = seed
        self.n_jobs = n_jobs
        self.backend = backend
        self.max_arms = room
        self._policy, self._options, self._as_mabwiser = _translate(learning_policy, options, named)
        self._named = named
        self._places: Dict[Arm, int] = {arm: place for place, arm in enumerate(arms)}
        self._next_place = len(arms)
        self._trained: Set[Arm] = set()
        self._bandit: Any = None
        self._features: Optional[int] = None
        self._make_bandit(1)  # so that a wrong option raises here, not at the first fit
        self._bandit = None

    # ---- learning ----

    def fit(self, decisions: Any, rewards: Any, contexts: Any = None) -> None:
        """Starts from scratch, and learns these decisions in order."""
        decisions, rewards, contexts = self._check(decisions, rewards, contexts)
        self._features = None if contexts is None else contexts.shape[1]
        self._make_bandit(1 if contexts is None else contexts.shape[1])
        self._trained = set()
        self._learn(decisions, rewards, contexts)

    def partial_fit(self, decisions: Any, rewards: Any, contexts: Any = None) -> None:
        """Learns more decisions."""
        if self._bandit is None:
            self.fit(decisions, rewards, contexts)
            return
        decisions, rewards, contexts = self._check(decisions, rewards, contexts)
        self._check_contexts(contexts)
        self._learn(decisions, rewards, contexts)

    def _learn(self, decisions: List[Arm], rewards: NDArray[Any], contexts: Optional[NDArray[Any]]) -> None:
        at = {arm: position for position, arm in enumerate(self.arms)}
        for row, arm in enumerate(decisions):
            self._bandit.learn_from(self._round(contexts, row), at[arm], float(rewards[row]))
            self._trained.add(arm)

    # ---- deciding ----

    def predict(self, contexts: Any = None) -> Any:
        """The arm that the policy chooses; a list if there are several contexts."""
        arms = [self.arms[self._decide(round_).arm] for round_ in self._rounds(contexts)]
        return arms if len(arms) > 1 else arms[0]

    def predict_expectations(self, contexts: Any = None) -> Any:
        """The score that ranks each arm, as a dict from arm to number; a list of dicts if there are several contexts.

        As in MABWiser it includes exploration: an upper bound for linucb, a new random draw each time for lints. For
        the expected rewards without exploration, use `expected_rewards`.
        """
        return self._by_arm(contexts, lambda round_: self._decide(round_).scores)

    def expected_rewards(self, contexts: Any = None) -> Any:
        """The expected reward of each arm, without exploration, in the form of predict_expectations."""
        return self._by_arm(contexts, lambda round_: self._bandit.score(round_).exploitation)

    def probabilities(self, contexts: Any = None) -> Any:
        """The probability with which predict would choose each arm, in the form of predict_expectations.

        NaN for a Thompson policy, unless its option probability_draws is set.
        """
        return self._by_arm(contexts, lambda round_: self._bandit.probabilities(round_))

    def _by_arm(self, contexts: Any, numbers: Callable[[Any], Any]) -> Any:
        found = [dict(zip(self.arms, numbers(round_).tolist())) for round_ in self._rounds(contexts)]
        return found if len(found) > 1 else found[0]

    def _decide(self, round_: Any) -> Decision:
        # Rewards arrive through partial_fit, if at all, so the decision need not stay pending.
        decision: Decision = self._bandit.decide(round_)
        self._bandit.forget(decision)
        return decision

    # ---- arms ----

    def add_arm(self, arm: Arm, binarizer: None = None) -> None:
        """Adds an arm without any knowledge about it."""
        if binarizer is not None:
            raise ValueError("binarizer is not supported; eenet learns rewards of any scale.")
        if arm in self.arms:
            raise ValueError("The arm is already in the list of arms.")
        _check_arm(arm)
        if self._next_place == self.max_arms:
            raise ValueError(
                f"add_arm: all {self.max_arms} arms of max_arms are used, including removed ones; "
                "create the MAB with a larger max_arms."
            )
        self._places[arm] = self._next_place
        self._next_place += 1
        self.arms.append(arm)
        self._set_layout()

    def remove_arm(self, arm: Arm) -> None:
        """Removes an arm. Its block is not reused: a new arm would inherit what was learned about the old one."""
        if arm not in self.arms:
            raise ValueError("The arm is not in the list of arms.")
        if len(self.arms) == 1:
            raise ValueError("The last arm cannot be removed.")
        self.arms.remove(arm)
        del self._places[arm]
        self._trained.discard(arm)
        self._set_layout()

    def warm_start(self, arm_to_features: Mapping[Arm, Sequence[float]], distance_quantile: float) -> None:
        """Not supported: knowledge about one arm cannot be copied to another."""
        raise NotImplementedError(
            "warm_start is not supported: knowledge about one arm cannot be copied to another. "
            "Give each arm its own features with eenet.Bandit: then a new arm starts from similar ones."
        )

    @property
    def learning_policy(self) -> Any:
        """The learning policy, as given."""
        return self._learning_policy

    @property
    def neighborhood_policy(self) -> None:
        """Always None."""
        return None

    @property
    def cold_arms(self) -> List[Arm]:
        """The arms without any reward so far."""
        return [arm for arm in self.arms if arm not in self._trained]

    @property
    def is_contextual(self) -> bool:
        """Whether it was fitted with contexts; True before the first fit."""
        return self._bandit is None or self._features is not None

    @property
    def bandit(self) -> Any:
        """The underlying eenet.Bandit; None before the first fit."""
        return self._bandit

    # Attributes that MABWiser's Simulator reads.

    @property
    def _imp(self) -> "MAB":
        return self

    @property
    def arm_to_expectation(self) -> Dict[Arm, float]:
        """predict_expectations() without contexts; empty if contextual."""
        return {} if self.is_contextual else dict(self.predict_expectations())

    # ---- rounds ----

    def _make_bandit(self, features: int) -> None:
        self._set_layout()
        self._bandit = fixed_arms_bandit(self._policy, self._layout, features, self.seed, self._options, **self._named)

    def _set_layout(self) -> None:
        self._layout = BlockLayout(self.max_arms, [self._places[arm] for arm in self.arms], not self._as_mabwiser)

    def _rounds(self, contexts: Any) -> List[Any]:
        if self._bandit is None:
            raise Exception("Call fit before prediction")
        if contexts is None:
            if self.is_contextual:
                raise ValueError("Prediction with context policy requires context data.")
            return [self._round(None, 0)]
        rows = _as_contexts(contexts, 1 if self._features not in (None, 1) else None)
        if not self.is_contextual:
            return [self._round(None, row) for row in range(len(rows))]
        self._check_contexts(rows)
        return [self._round(rows, row) for row in range(len(rows))]

    def _round(self, contexts: Optional[NDArray[Any]], row: int) -> Any:
        return self._layout.arms(_NO_CONTEXT if contexts is None else contexts[row])

    # ---- arguments ----

    def _check(self, decisions: Any, rewards: Any, contexts: Any) -> Tuple[List[Arm], NDArray[Any], Any]:
        decisions = decisions.tolist() if hasattr(decisions, "tolist") else list(decisions)
        rewards = numpy.asarray(rewards, float)
        if rewards.shape != (len(decisions),):
            raise ValueError("Decisions and rewards should be same length.")
        if not numpy.isfinite(rewards).all():
            raise TypeError("Rewards cannot contain None, nan or infinity.")
        known = set(self.arms)
        for arm in decisions:
            if arm not in known:
                raise ValueError(f"decisions: {arm!r} is not one of the arms.")
        if contexts is not None:
            contexts = _as_contexts(contexts, len(decisions))
            if len(contexts) != len(decisions):
                raise ValueError(
                    "Decisions and contexts should be same length: "
                    f"len(decision) = {len(decisions)} vs. len(contexts) = {len(contexts)}"
                )
        return decisions, rewards, contexts

    def _check_contexts(self, contexts: Optional[NDArray[Any]]) -> None:
        if contexts is None:
            if self._features is not None:
                raise TypeError("Fitting contextual policy or parametric learning policy requires contexts data.")
        elif self._features is None:
            raise TypeError("contexts: expected none, because it was fitted without; call fit with contexts first.")
        elif contexts.shape[1] != self._features:
            raise ValueError(f"contexts: expected {self._features} features, as in fit, got {contexts.shape[1]}.")

    def __repr__(self) -> str:
        return f"MAB({self.arms!r}, {self._policy!r}, seed={self.seed})"


_NO_CONTEXT = numpy.ones(1, numpy.float32)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_arms(arms: Any) -> None:
    if not isinstance(arms, list):
        raise TypeError("The arms should be provided in a list.")
    if not arms:
        raise ValueError("arms: expected at least one, got none.")
    for arm in arms:
        _check_arm(arm)
    if len(set(arms)) != len(arms):
        raise ValueError("The list of arms cannot contain duplicate values.")


def _check_arm(arm: Arm) -> None:
    if arm is None or (isinstance(arm, float) and not math.isfinite(arm)):
        raise ValueError("The arm cannot be None, NaN or Infinity.")


def _as_contexts(contexts: Any, rows: Optional[int]) -> NDArray[Any]:
    """(rounds, features). A pandas Series is one feature of many rounds, or, if rows is 1, one round."""
    values = numpy.asarray(contexts, numpy.float32)
    if values.ndim == 1 and hasattr(contexts, "iloc"):
        values = values.reshape(1, -1) if rows == 1 else values.reshape(-1, 1)
    if values.ndim != 2:
        raise TypeError("The contexts should be given as 2D list, numpy array, pandas series or data frames.")
    if not numpy.isfinite(values).all():
        raise ValueError("Contexts cannot contain None, nan or infinity.")
    return values


def _translate(policy: Any, options: Any, named: Mapping[str, Any]) -> Tuple[Any, Any, bool]:
    """An eenet policy with its options, and whether it was one of MABWiser's, which see no constant."""
    kind = type(policy).__name__
    if not type(policy).__module__.startswith("mabwiser"):
        return policy, options, False
    if options is not None or named:
        raise ValueError(f"{kind}: options work only with eenet's policies; set MABWiser's in the policy itself.")
    if getattr(policy, "scale", False):
        raise ValueError(f"{kind}: scale is not supported; scale the contexts first.")
    if kind == "LinUCB":
        return "linucb:paper", {"alpha": policy.alpha, "lambda": policy.l2_lambda}, True
    if kind == "LinTS":
        return "lints:paper", {"nu": policy.alpha, "lambda": policy.l2_lambda}, True
    if kind == "LinGreedy":
        floor = {"propensity": "floor", "propensity_epsilon": policy.epsilon} if policy.epsilon else {}
        return "linucb:paper", {"alpha": 0, "lambda": policy.l2_lambda, **floor}, True
    if kind == "Random":
        return "uniform", {}, True
    raise ValueError(
        f"learning_policy: {kind} is not supported; expected LinUCB, LinTS, LinGreedy, Random or a policy of eenet."
    )
