"""What the server answers most, as objects; all the rest are dictionaries as the API has them."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union


class Decision(NamedTuple):
    """What the server decided.

    >>> decision = bandit.decide({"red": {"color": "red"}, "blue": {"color": "blue"}}, id="visit-1")
    >>> decision.id, decision.action in ("red", "blue"), decision.probabilities
    ('visit-1', True, (0.5, 0.5))
    """

    id: str  #: of the decision: what its reward is sent with
    action: Any  #: what was chosen, as it was given: a mapping's key, a list's element, a data frame's label
    arm: int  #: its place in the request, from 0
    probability: float  #: with which it was chosen
    probabilities: Tuple[float, ...]  #: of every action, in the order of the request
    version: int  #: of the model that decided
    slot: Optional[str] = None  #: of several slots, which


class Outcome(NamedTuple):
    """What became of a reward: ``joined`` (it counts), ``repeated`` (another one counted), ``late``, or ``unknown``
    (no decision has this id; it is kept, and counts when the decision comes)."""

    outcome: str
    repeated: bool = False  #: this very reward had come before, and this is what became of it then


def decision_of(answer: Any, given: Sequence[Any]) -> Union[Decision, List[Decision]]:
    """The decision of an answer, among the actions as they were given; of a round of slots, one for each."""
    slots = answer.get("slots")
    if slots is None:
        return _decision(answer["id"], answer, given, answer["version"], None)
    return [_decision(answer["id"], slot, given, answer["version"], slot["id"]) for slot in slots]


def _decision(id: str, of: Any, given: Sequence[Any], version: int, slot: Optional[str]) -> Decision:
    # JSON does not tell 1 from 1.0.
    probabilities, arm = tuple(map(float, of["probabilities"])), of["index"]
    return Decision(id, given[arm], arm, float(of["probability"]), probabilities, version, slot)


def outcome_of(answer: Any) -> Outcome:
    return Outcome(answer["outcome"], answer.get("repeated", False))
