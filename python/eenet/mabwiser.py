"""A bandit with the face of MABWiser's MAB: arms by name, decisions, rewards, contexts.

MABWiser itself is not needed. Where it is there, its LearningPolicy.LinUCB, LinTS, LinGreedy and Random are taken too.

>>> from eenet.mabwiser import MAB
>>> mab = MAB(["Arm1", "Arm2"], "linucb", seed=1)
>>> mab.fit(["Arm1", "Arm1", "Arm2", "Arm1"], [20, 17, 25, 9])
>>> mab.predict()
'Arm2'
>>> mab.add_arm("Arm3")
>>> mab.partial_fit(["Arm3"], [60])
>>> mab.predict()
'Arm3'

With contexts, one row for each decision:

>>> mab = MAB(["Arm1", "Arm2"], "linucb", seed=1)
>>> mab.fit(["Arm1", "Arm1", "Arm2", "Arm2"], [1, 0, 0, 1], [[0, 1], [1, 0], [0, 1], [1, 0]])
>>> mab.predict([[0, 1], [1, 0]])
['Arm1', 'Arm2']
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Dict, Hashable, List, Mapping, Optional, Sequence, Set, Tuple, Union

import numpy

from . import Decision
from ._adapting import fixed_arms_bandit
from ._blocks import BlockLayout

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MAB"]

Arm = Hashable


class MAB:
    """Arms by name; the context of a round, if any, is the same for all of them.

    arms: a list of names. learning_policy: the name of an eenet policy (eenet.policies() lists them) or a Policy,
    with its options by name (`MAB(arms, "eenet", w2=0.1)`) or as `options`; or a LearningPolicy of MABWiser's, which
    then learns and ranks by the same formula as there. max_arms: for how many arms there is room, those that were
    removed among them; None: for the arms given and half as many again, at least eight more. n_jobs and backend are
    accepted and change nothing.

    Where it differs from MABWiser: eenet's policies see a constant 1 beside the context; fit with contexts makes it
    contextual, whatever the policy; neighborhood policies and warm_start are refused. MABWiser's Simulator takes it as
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
            raise ValueError("neighborhood_policy: eenet has none; its neural policies learn from contexts themselves.")
        if not _is_whole(seed):
            raise TypeError("The seed must be an integer.")
        if not _is_whole(n_jobs) or n_jobs == 0:
            raise ValueError("n_jobs must be an integer that is not zero; it changes nothing here.")
        room = len(arms) + max(8, len(arms) // 2) if max_arms is None else max_arms
        if not _is_whole(room) or room < len(arms):
            raise ValueError(f"max_arms: a whole number from {len(arms)} on is needed, got {max_arms!r}.")
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
        self._make_bandit(1)  # an option that is wrong is told here, not at the first fit
        self._bandit = None

    # ---- learning ----

    def fit(self, decisions: Any, rewards: Any, contexts: Any = None) -> None:
        """Forgets what was learned, and learns these decisions in their order."""
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
        """The arm that the policy decides for; a list of them where there are several contexts."""
        arms = [self.arms[self._decide(round_).arm] for round_ in self._rounds(contexts)]
        return arms if len(arms) > 1 else arms[0]

    def predict_expectations(self, contexts: Any = None) -> Any:
        """What the arms are ranked by, as a dict from arm to number; a list of them where there are several contexts.

        As in MABWiser this is the policy's view of an arm, exploration included: an upper bound for linucb, a draw for
        lints, another one each time. What is expected without exploration is `expected_rewards`.
        """
        return self._by_arm(contexts, lambda round_: self._decide(round_).scores)

    def expected_rewards(self, contexts: Any = None) -> Any:
        """As predict_expectations, without exploration."""
        return self._by_arm(contexts, lambda round_: self._bandit.score(round_).exploitation)

    def probabilities(self, contexts: Any = None) -> Any:
        """The probability with which predict would take each arm, in the same form.

        nan of a Thompson policy, unless its option probability_draws says from how many draws to estimate it.
        """
        return self._by_arm(contexts, lambda round_: self._bandit.probabilities(round_))

    def _by_arm(self, contexts: Any, numbers: Callable[[Any], Any]) -> Any:
        found = [dict(zip(self.arms, numbers(round_).tolist())) for round_ in self._rounds(contexts)]
        return found if len(found) > 1 else found[0]

    def _decide(self, round_: Any) -> Decision:
        # The reward comes by partial_fit, perhaps of another arm or never: so the decision does not wait for it.
        decision: Decision = self._bandit.decide(round_)
        self._bandit.forget(decision)
        return decision

    # ---- arms ----

    def add_arm(self, arm: Arm, binarizer: None = None) -> None:
        """Adds an arm of which nothing is known."""
        if binarizer is not None:
            raise ValueError("binarizer: eenet learns rewards as they are.")
        if arm in self.arms:
            raise ValueError("The arm is already in the list of arms.")
        _check_arm(arm)
        if self._next_place == self.max_arms:
            raise ValueError(
                f"There is room for {self.max_arms} arms, removed ones among them, and all of it is taken. "
                "Make the MAB with a larger max_arms."
            )
        self._places[arm] = self._next_place
        self._next_place += 1
        self.arms.append(arm)
        self._set_layout()

    def remove_arm(self, arm: Arm) -> None:
        """Takes an arm away. Its place is not used again: what was learned of it would be taken for the new arm's."""
        if arm not in self.arms:
            raise ValueError("The arm is not in the list of arms.")
        if len(self.arms) == 1:
            raise ValueError("The last arm cannot be removed.")
        self.arms.remove(arm)
        del self._places[arm]
        self._trained.discard(arm)
        self._set_layout()

    def warm_start(self, arm_to_features: Mapping[Arm, Sequence[float]], distance_quantile: float) -> None:
        """Refused: what one arm has learned cannot be copied to another."""
        raise NotImplementedError(
            "warm_start: eenet cannot copy what was learned of one arm to another. "
            "Give arms features of their own with eenet.Bandit: then a new arm is known by them from the start."
        )

    @property
    def learning_policy(self) -> Any:
        """The learning policy, as it was given."""
        return self._learning_policy

    @property
    def neighborhood_policy(self) -> None:
        """None: there are none here."""
        return None

    @property
    def cold_arms(self) -> List[Arm]:
        """The arms of which no reward was learned yet."""
        return [arm for arm in self.arms if arm not in self._trained]

    @property
    def is_contextual(self) -> bool:
        """Whether it was fitted with contexts; before it is fitted, that it may be."""
        return self._bandit is None or self._features is not None

    @property
    def bandit(self) -> Any:
        """The eenet.Bandit within; None before the first fit."""
        return self._bandit

    # What MABWiser's Simulator looks for, and where.

    @property
    def _imp(self) -> "MAB":
        return self

    @property
    def arm_to_expectation(self) -> Dict[Arm, float]:
        """predict_expectations where there are no contexts; else none."""
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

    # ---- what was handed over ----

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
                raise ValueError(f"decisions: {arm!r} is not in the list of arms.")
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
            raise TypeError("contexts: it was fitted without; fit it again to have them.")
        elif contexts.shape[1] != self._features:
            raise ValueError(f"contexts: {self._features} features were fitted, got {contexts.shape[1]}.")

    def __repr__(self) -> str:
        return f"MAB({self.arms!r}, {self._policy!r}, seed={self.seed})"


_NO_CONTEXT = numpy.ones(1, numpy.float32)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_arms(arms: Any) -> None:
    if not isinstance(arms, list):
        raise TypeError("The arms should be provided in a list.")
    if not arms:
        raise ValueError("arms: at least one is needed.")
    for arm in arms:
        _check_arm(arm)
    if len(set(arms)) != len(arms):
        raise ValueError("The list of arms cannot contain duplicate values.")


def _check_arm(arm: Arm) -> None:
    if arm is None or (isinstance(arm, float) and not math.isfinite(arm)):
        raise ValueError("The arm cannot be None, NaN or Infinity.")


def _as_contexts(contexts: Any, rows: Optional[int]) -> NDArray[Any]:
    """(rounds, features). A pandas Series is one feature of many rounds, or, where rows is 1, one round."""
    values = numpy.asarray(contexts, numpy.float32)
    if values.ndim == 1 and hasattr(contexts, "iloc"):
        values = values.reshape(1, -1) if rows == 1 else values.reshape(-1, 1)
    if values.ndim != 2:
        raise TypeError("The contexts should be given as 2D list, numpy array, pandas series or data frames.")
    if not numpy.isfinite(values).all():
        raise ValueError("Contexts cannot contain None, nan or infinity.")
    return values


def _translate(policy: Any, options: Any, named: Mapping[str, Any]) -> Tuple[Any, Any, bool]:
    """A policy of eenet's with its options; whether it was one of MABWiser's, which sees no constant."""
    kind = type(policy).__name__
    if not type(policy).__module__.startswith("mabwiser"):
        return policy, options, False
    if options is not None or named:
        raise ValueError(f"{kind}: options are for eenet's policies; MABWiser's have their own.")
    if getattr(policy, "scale", False):
        raise ValueError(f"{kind}: scale is not done here; scale the contexts before.")
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
        f"learning_policy: {kind} is not done here; LinUCB, LinTS, LinGreedy, Random and the policies of eenet are."
    )
