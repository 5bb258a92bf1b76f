"""The most frequent responses as objects; all others are dictionaries as in the API."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union


class Decision(NamedTuple):
    """A decision of the server.

    >>> decision = bandit.decide({"red": {"color": "red"}, "blue": {"color": "blue"}}, id="visit-1")
    >>> decision.id, decision.action in ("red", "blue"), decision.probabilities
    ('visit-1', True, (0.5, 0.5))
    """

    id: str  #: the id to send the reward with
    action: Any  #: the chosen action as given: a mapping's key, a list's element, a data frame's label
    arm: int  #: its position in the request, from 0
    probability: float  #: the probability with which it was chosen
    probabilities: Tuple[float, ...]  #: the probability of each action, in the order of the request
    version: int  #: the version of the model that decided
    slot: Optional[str] = None  #: the slot, if the request had several
    group: Optional[str] = None  #: with a control group or a rollout: treated, control, waiting or fallback
    repeats: Optional[str] = None  #: the id of the decision whose action it repeats, if actions are sticky


class Outcome(NamedTuple):
    """The outcome of a reward: ``joined`` (it counts), ``repeated`` (the decision already had one), ``late``, or
    ``unknown`` (no decision has this id yet; the reward is kept, and counts when the decision arrives)."""

    outcome: str
    repeated: bool = False  #: this reward was sent before; this was its outcome then


def decision_of(answer: Any, given: Sequence[Any]) -> Union[Decision, List[Decision]]:
    """The decision in a response, among the given actions; for a request with slots, a list."""
    slots = answer.get("slots")
    if slots is None:
        return _decision(answer["id"], answer, given, answer["version"], None)
    return [_decision(answer["id"], slot, given, answer["version"], slot["id"]) for slot in slots]


def _decision(id: str, of: Any, given: Sequence[Any], version: int, slot: Optional[str]) -> Decision:
    # JSON does not distinguish 1 from 1.0.
    probabilities, arm = tuple(map(float, of["probabilities"])), of["index"]
    return Decision(id, given[arm], arm, float(of["probability"]), probabilities, version, slot, of.get("group"),
                    of.get("repeats"))


def outcome_of(answer: Any) -> Outcome:
    return Outcome(answer["outcome"], answer.get("repeated", False))
