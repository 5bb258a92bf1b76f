"""A learner for Coba 8.0: runs an eenet policy next to Coba's own in a cb.Experiment.

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

from ._adapting import fixed_arms_bandit, products, products_dim, with_probabilities
from ._blocks import BlockLayout
from ._core import Bandit
from ._errors import ExpiredDecision

try:
    from coba.exceptions import CobaException
    from coba.primitives import Learner, is_batch
except ImportError as error:
    raise ImportError(
        f"eenet.coba needs Coba, which cannot be imported ({error}): pip install coba", name=error.name
    ) from error

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EENetLearner"]


class EENetLearner(Learner):  # type: ignore[misc]
    """An eenet policy as a Coba learner.

    policy: the name of an eenet policy (see eenet.policies()). seed: the seed of all randomness. features: True or
    options such as "names=20000" for named features (default: decided from the first round). Give the policy's options
    by name: EENetLearner("eenet", w2=0.1).

    Unless features is set, the first round determines how rounds become arms:

    - numeric context, one-hot actions (Coba's form of a data set's classes): the context in the block of its action;
    - numeric context, actions with numeric features: the context, the action and their products;
    - otherwise (dicts, strings, integers as names of actions): named features.

    Numbers are not scaled: use Coba's Environments.scale, or features=True, which scales them as they arrive and is
    somewhat slower.

    Probabilities are exact, except for Thompson policies, which estimate them with probability_draws=100.
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
        # Checked here, because Coba skips a learner that fails during an experiment.
        Bandit(policy, max(1, int(options.get("blocks", 1))), seed, **with_probabilities(policy, options))

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters that Coba shows for a learner."""
        found: Dict[str, Any] = {"family": str(getattr(self._policy, "name", self._policy)), "seed": self._seed}
        if self._features is not None:
            found["features"] = self._features
        return {**found, **self._options}

    @property
    def bandit(self) -> Optional[Bandit]:
        """The underlying eenet.Bandit; None before the first round."""
        bandit: Optional[Bandit] = self._bandit
        return bandit

    def predict(self, context: Any, actions: Sequence[Any]) -> Tuple[Any, float, Dict[str, Any]]:
        """Choose an action; returns the action, its probability, and the decision id for learn."""
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
        """Learn the reward of a decision made by predict, or by another policy."""
        if decision is not None:
            self._waiting.discard(decision)
            self._bandit.learn(decision, reward)
            return
        # Off-policy learning: decisions of predict will get no reward.
        for unrewarded in self._waiting:
            with suppress(ExpiredDecision):
                self._bandit.forget(unrewarded)
        self._waiting.clear()
        arms, shared = self._round(context, [action])
        self._bandit.learn_from(arms, 0, reward, context=shared)

    def _round(self, context: Any, actions: Sequence[Any]) -> Tuple[Any, Any]:
        if is_batch(context) or is_batch(actions):
            raise CobaException("eenet does not decide batches; Coba falls back to single rounds.")
        if actions is None or len(actions) == 0:
            raise CobaException("eenet expects a list of actions, got none; continuous actions are not supported.")
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
    """Numeric contexts, one-hot actions."""

    def __init__(self, width: int, actions: int) -> None:
        self.width = width
        self.layout = BlockLayout(actions, constant=True)

    def arms(self, context: Any, actions: Sequence[Any]) -> Tuple[Any, Any]:
        vector = _vector_of(context, self.width)
        places = tuple(action.index(1) for action in actions)
        if len(actions[0]) != self.layout.total:
            raise CobaException(f"actions: expected {self.layout.total}, as in the first round, got {len(actions[0])}")
        if places == self.layout.places:
            return self.layout.arms(vector), None
        return BlockLayout(self.layout.total, places, constant=True).arms(vector), None


class _VectorRounds:
    """Numeric contexts and actions."""

    def __init__(self, width: int, features: int) -> None:
        self.width, self.features = width, features
        self.dim = products_dim(width, features)

    def arms(self, context: Any, actions: Sequence[Any]) -> Tuple[Any, Any]:
        table = numpy.asarray(actions, numpy.float32).reshape(len(actions), -1)
        if table.shape[1] != self.features:
            sentence = f"actions: expected {self.features} features, as in the first round, got {table.shape[1]}"
            raise CobaException(sentence)
        return products(_vector_of(context, self.width), table), None


class _NamedRounds:
    """Named features: Coba's x and a as namespaces."""

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
        raise CobaException(f"context: expected {width} features, as in the first round, got {len(vector)}")
    return vector


def _named(space: str, item: Any, is_action: bool) -> Optional[Dict[str, Any]]:
    """A context or an action as named features. An integer or one-hot action becomes its name."""
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
    """Converts Coba's lazy rows and own classes to plain values of named features."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Real):
        return float(value)
    if hasattr(value, "keys"):
        return {str(key): _value(value[key]) for key in value.keys()}
    return [_value(each) for each in value]
