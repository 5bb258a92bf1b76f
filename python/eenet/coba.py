"""A learner for Coba (8.0): an eenet policy beside Coba's own in a cb.Experiment.

>>> import coba as cb
>>> from eenet.coba import EENetLearner
>>> environment = cb.Environments.from_linear_synthetic(200, n_actions=3, seed=1)
>>> result = cb.Experiment(environment, [EENetLearner("linucb"), cb.RandomLearner()]).run(quiet=True)
>>> len(result.learners), len(result.interactions)
(2, 400)
"""

from __future__ import annotations

from contextlib import suppress
from numbers import Real
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Sequence, Set, Tuple, Union

import numpy

from . import Bandit, ExpiredDecision
from ._adapting import fixed_arms_bandit, products, products_dim, with_probabilities
from ._blocks import BlockLayout

try:
    from coba.exceptions import CobaException
    from coba.primitives import Learner, is_batch
except ImportError as error:
    raise ImportError(f"eenet.coba needs Coba, which could not be imported ({error}): pip install coba") from error

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EENetLearner"]


class EENetLearner(Learner):  # type: ignore[misc]
    """An eenet policy as a Coba learner.

    policy: the name of an eenet policy (eenet.policies() lists them). seed: of all its randomness. features: None, or
    options of named features as for eenet.Bandit (True, "names=20000"). The options of the policy go by name:
    EENetLearner("eenet", w2=0.1).

    How a round becomes arms is seen from the first one, unless features says that they are named ones:

    - numbers and one-hot actions (what Coba makes of a data set's classes): the context in the block of its action;
    - numbers and actions with features: the context, the action and their products;
    - all else (dicts, texts, whole numbers as names of actions): named features.

    Plain numbers are taken as they are: bring them to one scale by Coba's Environments.scale, or let named features do
    so as they come (features=True), which takes somewhat longer.

    The probability of a decision is exact, but for Thompson policies: theirs is estimated from probability_draws=100.
    """

    def __init__(
        self,
        policy: str = "eenet",
        seed: int = 1,
        features: Union[None, bool, str, Mapping[str, Any]] = None,
        **options: Any,
    ) -> None:
        self._policy = policy
        self._seed = seed
        self._features = features
        self._options = options
        self._rounds: Any = None
        self._bandit: Any = None
        self._waiting: Set[int] = set()
        # Coba passes over a learner that fails in an experiment: so what is wrong is told here.
        Bandit(policy, max(1, int(options.get("blocks", 1))), seed, **with_probabilities(policy, options))

    @property
    def params(self) -> Mapping[str, Any]:
        """What Coba shows of a learner."""
        found: Dict[str, Any] = {"family": str(getattr(self._policy, "name", self._policy)), "seed": self._seed}
        if self._features is not None:
            found["features"] = self._features
        return {**found, **self._options}

    @property
    def bandit(self) -> Optional[Bandit]:
        """The eenet.Bandit within; None before the first round."""
        bandit: Optional[Bandit] = self._bandit
        return bandit

    def predict(self, context: Any, actions: Sequence[Any]) -> Tuple[Any, float, Dict[str, Any]]:
        """Choose an action: the action, its probability, and the decision that learn gets back."""
        arms, shared = self._round(context, actions)
        decision = self._bandit.decide(arms, context=shared)
        self._waiting.add(decision.id)
        return actions[decision.arm], decision.probability, {"decision": decision.id}

    def score(self, context: Any, actions: Sequence[Any], action: Any) -> float:
        """The probability with which predict would choose the action."""
        arms, shared = self._round(context, actions)
        return float(self._bandit.probabilities(arms, context=shared)[list(actions).index(action)])

    def learn(
        self, context: Any, action: Any, reward: float, probability: Optional[float], decision: Optional[int] = None
    ) -> None:
        """Learn the reward of a decision of predict, or of one that another policy made."""
        if decision is not None:
            self._waiting.discard(decision)
            self._bandit.learn(decision, reward)
            return
        # Learning from another's decisions: what predict decided meanwhile will have no reward.
        for unrewarded in self._waiting:
            with suppress(ExpiredDecision):
                self._bandit.forget(unrewarded)
        self._waiting.clear()
        arms, shared = self._round(context, [action])
        self._bandit.learn_from(arms, 0, reward, context=shared)

    def _round(self, context: Any, actions: Sequence[Any]) -> Tuple[Any, Any]:
        if is_batch(context) or is_batch(actions):
            raise CobaException("eenet decides round by round; Coba then takes a batch apart.")
        if actions is None or len(actions) == 0:
            raise CobaException("eenet needs the actions of a round; it cannot choose a number from a range.")
        if self._rounds is None:
            self._rounds = self._start(context, actions)
        arms, shared = self._rounds.arms(context, actions)
        return arms, shared

    def _start(self, context: Any, actions: Sequence[Any]) -> Any:
        rounds = _rounds_like(context, actions) if self._features is None else _NamedRounds()
        options = with_probabilities(self._policy, self._options)
        if isinstance(rounds, _NamedRounds):
            features = True if self._features is None else self._features
            self._bandit = Bandit(self._policy, None, self._seed, features=features, **options)
        elif isinstance(rounds, _OneHotRounds):
            self._bandit = fixed_arms_bandit(self._policy, rounds.layout, rounds.width, self._seed, None, **options)
        else:
            self._bandit = Bandit(self._policy, rounds.dim, self._seed, **options)
        return rounds


class _OneHotRounds:
    """Numbers in the context, actions that are rows of an identity matrix."""

    def __init__(self, width: int, actions: int) -> None:
        self.width = width
        self.layout = BlockLayout(actions, constant=True)

    def arms(self, context: Any, actions: Sequence[Any]) -> Tuple[Any, Any]:
        vector = _vector_of(context, self.width)
        places = tuple(action.index(1) for action in actions)
        if len(actions[0]) != self.layout.total:
            raise CobaException(f"The first round had {self.layout.total} actions, this one has {len(actions[0])}.")
        if places == self.layout.places:
            return self.layout.arms(vector), None
        return BlockLayout(self.layout.total, places, constant=True).arms(vector), None


class _VectorRounds:
    """Numbers in the context and in the actions."""

    def __init__(self, width: int, features: int) -> None:
        self.width, self.features = width, features
        self.dim = products_dim(width, features)

    def arms(self, context: Any, actions: Sequence[Any]) -> Tuple[Any, Any]:
        table = numpy.asarray(actions, numpy.float32).reshape(len(actions), -1)
        if table.shape[1] != self.features:
            raise CobaException(f"The first actions had {self.features} features, these have {table.shape[1]}.")
        return products(_vector_of(context, self.width), table), None


class _NamedRounds:
    """Anything else: Coba's x and a as namespaces."""

    def arms(self, context: Any, actions: Sequence[Any]) -> Tuple[Any, Any]:
        return [_named("a", action, True) for action in actions], _named("x", context, False)


def _rounds_like(context: Any, actions: Sequence[Any]) -> Any:
    if not _is_vector(context):
        return _NamedRounds()
    width = len(_vector(context))
    if all(_is_one_hot(action) for action in actions) and len({len(action) for action in actions}) == 1:
        return _OneHotRounds(width, len(actions[0]))
    numbers = all(isinstance(action, Real) for action in actions)
    if numbers and any(not float(action).is_integer() for action in actions):
        return _VectorRounds(width, 1)
    if not numbers and all(_is_vector(action) for action in actions):
        return _VectorRounds(width, len(actions[0]))
    return _NamedRounds()


def _is_one_hot(action: Any) -> bool:
    return (
        isinstance(action, (list, tuple))
        and len(action) > 1
        and action.count(1) == 1
        and action.count(0) == len(action) - 1
    )


def _is_vector(item: Any) -> bool:
    if isinstance(item, (list, tuple, numpy.ndarray)):
        return all(isinstance(value, Real) for value in item)
    return item is None or isinstance(item, Real)


def _vector(item: Any) -> NDArray[Any]:
    if item is None:
        return numpy.zeros(0, numpy.float32)
    return numpy.asarray(item, numpy.float32).reshape(-1)


def _vector_of(context: Any, width: int) -> NDArray[Any]:
    vector = _vector(context)
    if len(vector) != width:
        raise CobaException(f"The first context had {width} features, this one has {len(vector)}.")
    return vector


def _named(space: str, item: Any, is_action: bool) -> Optional[Dict[str, Any]]:
    """A context or an action as an object of named features. Of an action, a whole number or one-hot is its name."""
    if item is None:
        return None
    if is_action and _is_one_hot(item):
        return {space: str(item.index(1))}
    if is_action and isinstance(item, Real) and float(item).is_integer():
        return {space: str(int(item))}
    if isinstance(item, (str, Real)) or hasattr(item, "keys"):
        return {space: _value(item)}
    return {space: {str(place): _value(value) for place, value in enumerate(item)}}


def _value(value: Any) -> Any:
    """A value within, as named features take it: Coba has lazy rows and classes of its own for all of these."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Real):
        return float(value)
    if hasattr(value, "keys"):
        return {str(key): _value(value[key]) for key in value.keys()}
    return [_value(each) for each in value]
