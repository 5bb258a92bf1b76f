"""An eenet policy as an online policy of Open Bandit Pipeline (obp.policy.BaseContextualPolicy).

>>> import numpy
>>> from eenet.obp import EENetPolicy
>>> policy = EENetPolicy(dim=2, n_actions=3, random_state=1, policy="linucb")
>>> context = numpy.array([[0.5, 2.0]])
>>> for _ in range(20):
...     action = policy.select_action(context)[0]
...     policy.update_params(action=action, reward=float(action == 2), context=context)
>>> int(policy.select_action(context)[0])
2
>>> policy.compute_batch_action_dist(context)[0, :, 0]
array([0., 0., 1.])
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, FrozenSet, List, Mapping, Optional, Tuple, Union

import numpy

from ._adapting import fixed_arms_bandit, products, products_dim, with_probabilities
from ._blocks import BlockLayout
from ._core import Bandit

try:
    from obp.policy import BaseContextualPolicy
except ImportError as error:
    raise ImportError(
        f"eenet.obp needs Open Bandit Pipeline, which cannot be imported ({error}): pip install obp", name=error.name
    ) from error

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EENetPolicy"]


@dataclass
class EENetPolicy(BaseContextualPolicy):  # type: ignore[misc]
    """An eenet policy for Open Bandit Pipeline.

    dim, n_actions, len_list, batch_size, random_state: as in every policy of Open Bandit Pipeline. A list of len_list
    actions is filled position by position, without repetition. With batch_size, rewards are learned in batches.

    policy: the name of an eenet policy. options: its options, as a mapping or a string such as "w2=0.1, f1.width=50".
    action_context: features of the actions, (n_actions, features) (optional). With it, an arm is the context, the
    action and their products, so that similar actions learn from each other. Without it, each action learns alone.
    """

    policy: str = "eenet"
    options: Union[None, str, Mapping[str, Any]] = None
    action_context: Optional[NDArray[Any]] = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Initialize class."""
        super().__post_init__()
        self.policy_name = str(getattr(self.policy, "name", self.policy))
        if self.action_context is not None:
            self.action_context = numpy.asarray(self.action_context, numpy.float32)
            if self.action_context.ndim != 2 or len(self.action_context) != self.n_actions:
                raise ValueError(
                    f"action_context: expected shape ({self.n_actions}, features), got {self.action_context.shape}"
                )
        self._start()

    def initialize(self) -> None:
        """Initialize policy parameters."""
        super().initialize()
        self._start()

    def _start(self) -> None:
        self._layout = BlockLayout(self.n_actions, constant=True)
        self._batch: List[Tuple[NDArray[Any], int, float]] = []
        seed = int(self.random_.randint(2**31 - 1)) if self.random_state is None else int(self.random_state)
        options = with_probabilities(self.policy, self.options)
        if self.action_context is None:
            self.bandit = fixed_arms_bandit(self.policy, self._layout, self.dim, seed, options)
        else:
            dim = products_dim(self.dim, self.action_context.shape[1])
            self.bandit = Bandit(self.policy, dim, seed, options=options)

    def select_action(self, context: NDArray[Any]) -> NDArray[Any]:
        """Select a list of actions for a context, (1, dim): (len_list,)."""
        arms = self._arms(self._one_context(context))
        if self.len_list == 1:
            decisions = [self.bandit.decide(arms)]
        else:
            decisions = self.bandit.decide_slots(arms, self.len_list)
        # Rewards arrive through update_params, if at all, so the decisions need not stay pending.
        for decision in decisions:
            self.bandit.forget(decision)
        return numpy.array([decision.arm for decision in decisions])

    def update_params(self, action: int, reward: float, context: NDArray[Any]) -> None:
        """Learn the reward of an action in a context, (1, dim)."""
        row = self._one_context(context)
        if not 0 <= action < self.n_actions:
            raise ValueError(f"action: expected 0 to {self.n_actions - 1}, got {action}")
        self.n_trial += 1
        self.action_counts[action] += 1
        self._batch.append((row, int(action), float(numpy.asarray(reward).reshape(()))))
        if self.n_trial % self.batch_size == 0:
            for each_row, each_action, each_reward in self._batch:
                self.bandit.learn_from(self._arms(each_row), each_action, each_reward)
            self._batch.clear()

    def compute_batch_action_dist(self, context: NDArray[Any]) -> NDArray[Any]:
        """The probability of each action at each position: (n_rounds, n_actions, len_list), for (n_rounds, dim).

        These are the probabilities of the present policy, for off-policy evaluation. They are exact, except for
        Thompson policies, which estimate them with the option probability_draws. From the second position on, the call
        enumerates all sets of earlier actions, which is slow if many actions have a positive probability.
        """
        rows = numpy.asarray(context, numpy.float32)
        if rows.ndim != 2 or rows.shape[1] != self.dim:
            raise ValueError(f"context: expected shape (rounds, {self.dim}), got {rows.shape}")
        out = numpy.zeros((len(rows), self.n_actions, self.len_list))
        for row, into in zip(rows, out):
            self._place_probabilities(row, into)
        return out

    def _place_probabilities(self, row: NDArray[Any], into: NDArray[Any]) -> None:
        sets: Dict[FrozenSet[int], float] = {frozenset(): 1.0}  # earlier actions and their probability
        for place in range(self.len_list):
            after: Dict[FrozenSet[int], float] = defaultdict(float)
            for taken, weight in sets.items():
                left = [action for action in range(self.n_actions) if action not in taken]
                for action, probability in zip(left, self.bandit.probabilities(self._arms(row, left))):
                    if probability > 0:
                        into[action, place] += weight * probability
                        after[taken | {action}] += weight * probability
            sets = after

    def _arms(self, row: NDArray[Any], actions: Optional[List[int]] = None) -> Any:
        if self.action_context is not None:
            return products(row, self.action_context if actions is None else self.action_context[actions])
        if actions is None or len(actions) == self.n_actions:
            return self._layout.arms(row)
        return BlockLayout(self.n_actions, actions, constant=True).arms(row)

    def _one_context(self, context: NDArray[Any]) -> NDArray[Any]:
        # A copy: a batch keeps it, and the caller may reuse its array.
        row = numpy.array(context, numpy.float32, ndmin=1)
        if row.size != self.dim or row.shape[-1] != self.dim:  # the simulator passes (1, 1, dim)
            raise ValueError(f"context: expected shape (1, {self.dim}), got {row.shape}")
        return row.reshape(-1)
