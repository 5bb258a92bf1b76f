"""The policies argument of `run`."""

from __future__ import annotations

from typing import Any, List, Mapping, NamedTuple, Optional, Tuple, Union

from .._policies import options_text

__all__ = ["PlayedPolicy", "policy_text", "read_policies"]


class PlayedPolicy(NamedTuple):
    """A policy with its options in the library's format."""

    label: Optional[str]
    name: str
    options: str


def policy_text(policy: Any, options: Union[str, Mapping[str, Any], None], named: Mapping[str, Any]) -> Tuple[str, str]:
    """The name, and the options as one string."""
    name = getattr(policy, "name", policy)
    if not isinstance(name, str):
        raise TypeError(f"policy: expected a name such as 'eenet', or a Policy, got {type(policy).__name__}")
    return name, options_text(name, options, named)


def read_policies(policies: Any) -> List[PlayedPolicy]:
    """One policy or several, in any form that `run` accepts."""
    if isinstance(policies, Mapping):
        found = [_read_one(policy, str(label)) for label, policy in policies.items()]
    elif isinstance(policies, (list, tuple)) and not _is_pair(policies):
        found = [_read_one(policy, None) for policy in policies]
    else:
        found = [_read_one(policies, None)]
    if not found:
        raise ValueError("policies: expected at least one, got none")
    return found


def _is_pair(policy: Any) -> bool:
    """Whether it is a policy with options, not two policies."""
    if not isinstance(policy, tuple) or len(policy) != 2:
        return False
    return isinstance(policy[1], Mapping) or (isinstance(policy[1], str) and "=" in policy[1])


def _read_one(policy: Any, label: Optional[str]) -> PlayedPolicy:
    of, options = policy if _is_pair(policy) else (policy, None)
    return PlayedPolicy(label, *policy_text(of, options, {}))
