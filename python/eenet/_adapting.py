"""Shared by the adapters to other packages: a bandit over a fixed list of arms, and vectors with interactions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Dict, Mapping, Union

import numpy

from ._blocks import BlockLayout
from ._core import Bandit
from ._policies import policy as find_policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

Options = Union[None, str, Mapping[str, Any]]


def fixed_arms_bandit(
    policy: Any, layout: BlockLayout, features: int, seed: int, options: Options, **named: Any
) -> Bandit:
    """A bandit for contexts with this number of features, in the blocks of a layout."""
    chosen = options_dict(options)
    if layout.total > 1 and "blocks" not in named and acts(policy, "blocks"):
        chosen.setdefault("blocks", layout.total)
    return Bandit(policy, layout.dim(features), seed, options=chosen, **named)


def options_dict(options: Options) -> Dict[str, Any]:
    """Options by name, from a mapping or from a string such as "f1.width=50, w2=0.1"."""
    if options is None:
        return {}
    if isinstance(options, str):
        parts = [part.partition("=") for part in re.split(r"[,\s]+", options) if part]
        return {name: value for name, _, value in parts}
    return dict(options)


def acts(policy: Any, option: str) -> bool:
    """Whether a policy has this option and it would have an effect."""
    found = find_policy(policy).options.get(option)
    return found is not None and found.acts


def with_probabilities(policy: Any, options: Options) -> Dict[str, Any]:
    """The options; for a Thompson policy also the draws from which it estimates its probabilities."""
    chosen = options_dict(options)
    if acts(policy, "probability_draws"):
        chosen.setdefault("probability_draws", 100)
    return chosen


def products(context: NDArray[Any], actions: NDArray[Any]) -> NDArray[Any]:
    """Arms from a context (features) and actions (arms, features): a constant 1, the context, the action, and all
    products of a context feature and an action feature."""
    arms, width = actions.shape
    features = len(context)
    out = numpy.empty((arms, products_dim(features, width)), numpy.float32)
    first = 1 + features
    out[:, 0] = 1
    out[:, 1:first] = context
    out[:, first : first + width] = actions
    out[:, first + width :] = (actions[:, :, None] * context).reshape(arms, -1)
    return out


def products_dim(features: int, width: int) -> int:
    """The number of features of an arm made by `products`."""
    return (1 + features) * (1 + width)
