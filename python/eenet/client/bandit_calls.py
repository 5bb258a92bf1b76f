"""The calls of one bandit, as steps (retrying.py), which blocking.py and awaiting.py run.

Only idempotent requests are retried if they may already have been carried out: a decision gets its id, and a reward its
reward_id, before the first attempt.
"""

# The types of JSON values and generators are unknown.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Union, cast

from .._core import Bandit
from .answers import Decision, Outcome, decision_of, outcome_of
from .batches import Item, in_batches
from .errors import BadRequest, ServerError, Timeout
from .retrying import Items, Pause, Steps
from .server_calls import Endpoint, ask, ask_json, settings_json
from .values import (actions_given, actions_json, features_json, id_text, new_id, number, object_of, path_part, query,
                     time_text, to_json)

if TYPE_CHECKING:
    import datetime

    Moment = Union[str, datetime.datetime, None]

PAGE = 1000  # lines of the log per request

# ---- decisions and rewards ----


def decide(self: Endpoint, actions: Any, context: Any = None, id: Optional[str] = None, *,
           exclude: Union[str, Sequence[str], None] = None, defer: bool = False,
           key: Optional[str] = None) -> Steps[Decision]:
    """Chooses one of the actions, given a context.

    ``actions``: a mapping of ids to features; a list of features (with ids "0", "1", ...) or of actions as in the API;
    a DataFrame with one row per action; or, for a bandit with vectors, an array with one row per action. The
    decision's ``action`` is the key, the element, the label of the row, or its number.
    ``exclude``: ids of actions that must not be chosen. ``defer``: the decision counts only once it is activated.
    ``key``: the person, for guardrails: control group, rollout, caps per person, stickiness.

    ``id`` makes the call idempotent: the same id with the same request returns the same decision. Default: a new
    random id.

    >>> decision = bandit.decide({"red": {"color": "red"}, "blue": {"color": "blue"}}, {"plan": "free"})
    >>> bandit.reward(decision, 1)
    Outcome(outcome='joined', repeated=False)
    """
    body = _decide_body(actions, context, id, exclude, defer, None, key)
    given = actions_given(actions)
    return cast(Decision, decision_of((yield from ask_json(self, "POST", "/decide", body)), given))


def _decide_body(actions: Any, context: Any = None, id: Any = None, exclude: Any = None, defer: bool = False,
                 slots: Any = None, key: Any = None) -> bytes:
    return object_of([
        ("id", id_text(id) if id is not None else new_id()), ("key", id_text(key, "key") if key is not None else None),
        ("context", _context(context)),
        ("actions", actions_json(actions)),
        ("exclude", _names(exclude)), ("defer", True if defer else None), ("slots", slots)])


def _context(context: Any) -> Optional[bytes]:
    return None if context is None else features_json(context, "context")


def _names(names: Any) -> Optional[List[Any]]:
    """A single name becomes a list."""
    return None if names is None else [names] if isinstance(names, str) else list(names)


def decide_slots(self: Endpoint, actions: Any, slots: Any, context: Any = None, id: Optional[str] = None, *,
                 exclude: Union[str, Sequence[str], None] = None, defer: bool = False,
                 key: Optional[str] = None) -> Steps[List[Decision]]:
    """Fills several slots, each with a different action. Returns one decision per slot, in order.

    ``slots``: how many, or their names, or a mapping for each: ``{"id", "features", "exclude", "baseline"}``. All
    decisions have the same id; send each its reward with ``reward(decision, value)``.

    >>> top, side = bandit.decide_slots({"red": {"color": "red"}, "blue": {"color": "blue"}}, ["top", "side"])
    >>> top.slot, side.slot, top.action != side.action
    ('top', 'side', True)
    """
    body = _decide_body(actions, context, id, exclude, defer, _slots(slots), key)
    given = actions_given(actions)
    return cast(List[Decision], decision_of((yield from ask_json(self, "POST", "/decide", body)), given))


def _slots(slots: Any) -> List[Any]:
    if isinstance(slots, bool):
        raise BadRequest("slots: expected a number, a list of names or a list of mappings, got bool")
    if isinstance(slots, int):
        slots = [str(place) for place in range(slots)]
    return [{"id": each} if isinstance(each, str) else each for each in slots]


def decide_many(self: Endpoint, rounds: Any, *, contexts: Any = None, ids: Any = None,
                return_errors: bool = False) -> Steps[List[Any]]:
    """Decides many rounds, in as few requests as the server allows.

    ``rounds``: the actions of each round, or mappings of the arguments of ``decide``, ``{"actions": ..., "context":
    ..., "id": ...}``; a mapping with ``slots`` returns a list. If some rounds are refused, the others are decided all
    the same, and SomeRefused is raised with all results in ``answers``. With ``return_errors`` that list is returned
    instead, with an exception in place of each refused round.

    >>> actions = {"red": {"color": "red"}, "blue": {"color": "blue"}}
    >>> len(bandit.decide_many([actions] * 3, contexts=[{"plan": "free"}, {"plan": "pro"}, None]))
    3
    """
    rounds = list(rounds)
    contexts = [None] * len(rounds) if contexts is None else list(contexts)
    ids = [None] * len(rounds) if ids is None else list(ids)
    if len(contexts) != len(rounds) or len(ids) != len(rounds):
        raise BadRequest(f"expected one context and one id per round, got {len(rounds)} rounds, {len(contexts)} "
                         f"contexts and {len(ids)} ids")
    items = [_round_item(*each) for each in zip(rounds, contexts, ids)]
    return (yield from in_batches(self, "/decide/batch", "decisions", items, return_errors))


def _round_item(of: Any, context: Any, id: Any) -> Item:
    body = _round_body(of, context, id)
    given = actions_given(of["actions"] if _is_request(of) else of)
    return Item(body, lambda answer: decision_of(answer, given))


def _is_request(of: Any) -> bool:
    """Whether it holds the arguments of ``decide`` by name, not only actions."""
    return isinstance(of, dict) and "actions" in of


def _round_body(of: Any, context: Any, id: Any) -> bytes:
    if not _is_request(of):
        return _decide_body(of, context, id)
    members = {"context": context, "id": id, **of}
    if members.get("slots") is not None:
        members["slots"] = _slots(members["slots"])
    try:
        return _decide_body(**members)
    except TypeError as error:
        raise BadRequest(f"a round: expected actions, context, id, exclude, defer, slots, key, got {sorted(of)}") from error


def reward(self: Endpoint, decision: Union[str, Decision], value: Optional[float] = None, *,
           slot: Optional[str] = None, reward_id: Optional[str] = None,
           metrics: Optional[Mapping[str, float]] = None) -> Steps[Outcome]:
    """Sends the reward of a decision, or of a decision's id, and ``metrics`` of the bandit, ``{"refund": 1}``. With
    metrics, the value may be missing.

    A reward counts once, however often the client has to retry. To repeat the call yourself safely, give it your own
    ``reward_id``.

    >>> decision = bandit.decide({"red": {"color": "red"}, "blue": {"color": "blue"}})
    >>> bandit.reward(decision.id, 0.5).outcome
    'joined'
    """
    body = _reward_body(decision, value, slot, reward_id, metrics=metrics)
    return outcome_of((yield from ask_json(self, "POST", "/reward", body)))


def _reward_body(id: Any, value: Any = None, slot: Any = None, reward_id: Any = None, *,
                 metrics: Any = None) -> bytes:
    if metrics is not None and not isinstance(metrics, Mapping):
        raise BadRequest(f"metrics: expected a mapping of names to numbers, got {type(metrics).__name__}")
    if value is None and not metrics:
        raise BadRequest("a reward: expected a value or metrics")
    if slot is None and isinstance(id, Decision):
        slot = id.slot
    return object_of([("id", id_text(id)), ("value", None if value is None else number(value)), ("slot", slot),
                      ("metrics", {name: number(each) for name, each in metrics.items()} if metrics else None),
                      ("reward_id", new_id() if reward_id is None else id_text(reward_id, "reward_id"))])


def reward_many(self: Endpoint, rewards: Any, *, return_errors: bool = False) -> Steps[List[Any]]:
    """Sends many rewards: pairs of a decision (or its id) and a value, or mappings as in the API, ``{"id": ...,
    "value": ..., "slot": ..., "reward_id": ..., "metrics": ...}``. Errors are reported as by ``decide_many``.

    >>> decisions = bandit.decide_many([{"red": {"color": "red"}, "blue": {"color": "blue"}}] * 2)
    >>> [outcome.outcome for outcome in bandit.reward_many((decision, 1) for decision in decisions)]
    ['joined', 'joined']
    """
    items = [_reward_item(each) for each in rewards]
    return (yield from in_batches(self, "/reward/batch", "rewards", items, return_errors))


def _reward_item(of: Any) -> Item:
    try:
        return Item(_reward_body(**of) if isinstance(of, dict) else _reward_body(*of), outcome_of)
    except TypeError as error:
        raise BadRequest(f"a reward: expected a pair of a decision and a value, got {of!r}") from error


def activate(self: Endpoint, decision: Union[str, Decision]) -> Steps[str]:
    """Activates a deferred decision, so that it counts. Returns ``activated``, ``repeated``, ``late`` or ``unknown``.

    >>> decision = bandit.decide({"red": {"color": "red"}, "blue": {"color": "blue"}}, defer=True)
    >>> bandit.activate(decision), bandit.activate(decision)
    ('activated', 'repeated')
    """
    return (yield from ask_json(self, "POST", "/activate", to_json({"id": id_text(decision)})))["outcome"]


# ---- why, and how well ----


def explain(self: Endpoint, actions: Any, context: Any = None, *, exclude: Union[str, Sequence[str], None] = None,
            features: Optional[int] = None) -> Steps[Dict[str, Any]]:
    """What each feature contributes to the score of each action, with the present model; decides nothing.

    ``features``: how many to return per action, largest first.

    >>> found = bandit.explain({"red": {"color": "red"}, "blue": {"color": "blue"}})
    >>> [action["action"] for action in found["actions"]]
    ['red', 'blue']
    """
    body = object_of([("context", _context(context)), ("actions", actions_json(actions)),
                      ("exclude", _names(exclude))])
    return (yield from ask_json(self, "POST", "/explain" + query(features=features), body))


def explain_decision(self: Endpoint, decision: Union[str, Decision], *, slot: Optional[str] = None,
                     features: Optional[int] = None) -> Steps[Dict[str, Any]]:
    """The same as ``explain`` for an earlier decision, with the present model."""
    if slot is None and isinstance(decision, Decision):
        slot = decision.slot
    path = f"/decisions/{path_part(id_text(decision))}/explain"
    return (yield from ask_json(self, "GET", path + query(features=features, slot=slot)))


def importance(self: Endpoint) -> Steps[Dict[str, Any]]:
    """Which features matter most to the model, over the decisions of the last day."""
    return ask_json(self, "GET", "/importance")


def activity(self: Endpoint) -> Steps[Dict[str, Any]]:
    """Recent activity: decisions per second, actions chosen, outcomes of rewards, training, latency."""
    return ask_json(self, "GET", "/activity")


def evaluation(self: Endpoint) -> Steps[Dict[str, Any]]:
    """The live evaluation, a few moments old: what the policy earns, what others would, which challenger is better.

    >>> [policy["kind"] for policy in bandit.evaluation()["policies"]]
    ['online', 'baseline', 'uniform']
    """
    return ask_json(self, "GET", "/evaluation")


def challengers(self: Endpoint) -> Steps[List[Dict[str, Any]]]:
    """The challengers, which learn from the same log."""
    return (yield from ask_json(self, "GET", "/challengers"))["challengers"]


def add_challenger(self: Endpoint, name: str, policy: Any, options: Any = None, *,
                   propensity: Optional[str] = None) -> Steps[Dict[str, Any]]:
    """Adds a challenger, which learns from the same log and is evaluated on it.

    >>> bandit.add_challenger("linear", "linucb", {"alpha": 0.5})["options"]
    'alpha=0.5'
    """
    given = {"name": name, "policy": policy, "options": options, "propensity": propensity}
    body = to_json(settings_json({name: value for name, value in given.items() if value is not None}))
    return (yield from ask_json(self, "POST", "/challengers", body))


def remove_challenger(self: Endpoint, name: str) -> Steps[List[Dict[str, Any]]]:
    """Removes a challenger; returns the others."""
    return (yield from ask_json(self, "DELETE", f"/challengers/{path_part(name)}"))["challengers"]


def promote(self: Endpoint, name: str) -> Steps[int]:
    """Makes a challenger the deciding policy; returns the number of the event. Raises Conflict while the challenger
    has not learned the whole log."""
    answer = yield from ask_json(self, "POST", f"/challengers/{path_part(name)}/promote", repeatable=False)
    return answer["event"]


def evaluate(self: Endpoint, candidates: Optional[Sequence[Any]] = None, *, name: Optional[str] = None,
             since: Moment = None, until: Moment = None, estimators: Union[str, Sequence[str], None] = None,
             confidence: Optional[float] = None, wait: Optional[float] = None) -> Steps[Dict[str, Any]]:
    """Starts an off-policy evaluation of candidates on a part of the log, in the background of the server.

    A candidate is a policy's name or a mapping ``{"name", "policy", "options", "propensity"}``. ``wait``: seconds to
    wait for the results; without it, get them later with ``evaluation_results(id)``.

    >>> outcome = bandit.reward(bandit.decide({"red": {"color": "red"}, "blue": {"color": "blue"}}), 1)
    >>> done = bandit.evaluate(["logged", "first"], wait=600)
    >>> [result["name"] for result in done["results"]]
    ['logged', 'first']
    """
    body = object_of([
        ("name", name), ("from", time_text(since, "since")), ("until", time_text(until, "until")),
        ("candidates", None if candidates is None else [_candidate(each) for each in candidates]),
        ("estimators", _names(estimators)), ("confidence", confidence)])
    asked = yield from ask_json(self, "POST", "/evaluations", body, repeatable=False)
    return asked if wait is None else (yield from evaluation_results(self, asked["id"], wait=wait))


def _candidate(of: Any) -> Dict[str, Any]:
    return settings_json(of if isinstance(of, dict) else {"policy": of})


def evaluations(self: Endpoint) -> Steps[List[Dict[str, Any]]]:
    """All evaluations, without their results."""
    return (yield from ask_json(self, "GET", "/evaluations"))["evaluations"]


def evaluation_results(self: Endpoint, id: str, *, wait: float = 0) -> Steps[Dict[str, Any]]:
    """An evaluation; it has ``results`` once its ``state`` is ``done``. ``wait``: seconds to wait for that, after which
    Timeout is raised. A failed evaluation raises ServerError."""
    until, pause = time.monotonic() + wait, 0.02
    while True:
        found = yield from ask_json(self, "GET", f"/evaluations/{path_part(id)}")
        if found["state"] == "failed":
            raise ServerError(f"evaluation {id} failed: {found.get('trouble', '')}")
        if found["state"] == "done" or wait <= 0:
            return found
        if time.monotonic() > until:
            raise Timeout(f"evaluation {id} is {found['state']} after {wait:g} s and continues; get it with "
                          f"evaluation_results({id!r})")
        yield Pause(pause)
        pause = min(pause * 1.5, 1.0)


def delete_evaluation(self: Endpoint, id: str) -> Steps[None]:
    """Deletes an evaluation, or cancels it."""
    yield from ask_json(self, "DELETE", f"/evaluations/{path_part(id)}")


# ---- the log ----


def log(self: Endpoint, *, since: Moment = None, until: Moment = None, after: Optional[int] = None,
        limit: Optional[int] = None) -> Steps[Dict[str, Any]]:
    """Iterates over the log as dictionaries, in the order of the decisions, up to the first pending decision.

    ``since``, ``until``: times of decisions. ``after``: the ``_cursor`` of an event, to continue after it.

    >>> for _ in range(2):
    ...     decision = bandit.decide({"red": {"color": "red"}, "blue": {"color": "blue"}})
    ...     outcome = bandit.reward(decision, 1)
    >>> [-event["_label_cost"] for event in bandit.log(limit=2)]
    [1, 1]
    """
    return _pages(self, since, until, after, limit, json.loads)


def _pages(self: Endpoint, since: Moment, until: Moment, after: Optional[int], limit: Optional[int],
           read: Callable[[bytes], Any]) -> Steps[Any]:
    """The log page by page; each line comes once, even if a request has to be retried."""
    since, until = time_text(since, "since"), time_text(until, "until")
    while limit is None or limit > 0:
        count = PAGE if limit is None else min(PAGE, limit)
        answer = yield from ask(self, "GET", "/log" + query(after=after, from_=since, until=until, limit=count))
        lines = answer.body.splitlines(keepends=True)
        yield Items([read(line) for line in lines])
        if len(lines) < count:
            return
        after = json.loads(lines[-1])["_cursor"]
        limit = None if limit is None else limit - count


def save_log(self: Endpoint, path: Union[str, os.PathLike[str]], *, since: Moment = None, until: Moment = None,
             after: Optional[int] = None) -> Steps[int]:
    """Saves the log to a file for ``eenet evaluate`` and ``eenet log``, and returns the number of lines. The file
    appears once it is complete."""
    path = os.fsdecode(path)
    part = f"{path}.{new_id()}.part"
    steps, response, count = _pages(self, since, until, after, None, bytes), None, 0
    try:
        with open(part, "xb") as file:
            while True:
                try:
                    step = steps.send(response)
                except StopIteration:
                    break
                if isinstance(step, Items):
                    file.writelines(step.items)
                    response, count = None, count + len(step.items)
                else:
                    response = yield step
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)
    return count


# ---- the model and the bandit ----


def model_bytes(self: Endpoint, version: Optional[int] = None) -> Steps[bytes]:
    """The model as bytes: the latest, or a stored version."""
    return (yield from ask(self, "GET", "/model" + query(version=version))).body


def model(self: Endpoint, version: Optional[int] = None) -> Steps[Bandit]:
    """The model as a local ``eenet.Bandit``: the latest, or a stored version."""
    data = yield from model_bytes(self, version)
    return Bandit.from_bytes(data)


def versions(self: Endpoint) -> Steps[Dict[str, Any]]:
    """``current``: the version that decides; ``versions``: those that ``model`` can fetch."""
    return ask_json(self, "GET", "/model/versions")


def upload(self: Endpoint, model: Union[Bandit, bytes, str, os.PathLike[str]]) -> Steps[int]:
    """Replaces the bandit's model: a Bandit, its bytes, or the path of a file, with the same policy and dimension.
    Returns the number of the event; versions above it include the new model."""
    if isinstance(model, (str, os.PathLike)):
        with open(model, "rb") as file:
            data = file.read()
    else:
        data = bytes(model) if isinstance(model, (bytes, bytearray, memoryview)) else model.to_bytes()
    answer = yield from ask_json(self, "PUT", "/model", data, content_type="application/octet-stream",
                                 repeatable=False)
    return answer["event"]


def reset(self: Endpoint) -> Steps[int]:
    """Resets the model to an untrained one; returns the number of the event. The log stays."""
    return (yield from ask_json(self, "DELETE", "/model", repeatable=False))["event"]


def describe(self: Endpoint) -> Steps[Dict[str, Any]]:
    """The settings of the bandit and the state of its model.

    >>> bandit.describe()["settings"]["propensity"]
    'floor:0.05'
    """
    return ask_json(self, "GET", "")


def change(self: Endpoint, /, **settings: Any) -> Steps[Dict[str, Any]]:
    """Changes settings: wait, default_reward, aggregation, mode, rewards, outside, confidence, promote, challengers,
    metrics, guardrails, held, held_because, retention_days. Returns the new description.

    >>> bandit.change(wait="2h")["settings"]["wait"]
    7200
    """
    return (yield from ask_json(self, "PATCH", "", to_json(settings_json(settings))))


def archive(self: Endpoint) -> Steps[Dict[str, Any]]:
    """Takes the bandit out of service. Nothing is deleted; calls raise Gone until ``restore``."""
    return ask_json(self, "DELETE", "")


def purge(self: Endpoint) -> Steps[None]:
    """Removes the bandit and all its data for good. It cannot be restored; its name can be used again."""
    name = self._path.rsplit("/", 1)[1]
    yield from ask(self, "DELETE", f"?purge=true&confirm={name}")


def erase(self: Endpoint, ids: Optional[Iterable[str]] = None, *, path: Optional[str] = None,
          value: Optional[str] = None, person: Optional[str] = None) -> Steps[Dict[str, Any]]:
    """Erases decisions from the log for good: those with these ids, those whose context has ``value`` at ``path``, such
    as "user.id", and those that were requested with ``person`` as their ``key``. Returns how many decisions and events were erased. The model keeps what it learned."""
    body: Dict[str, Any] = {}
    if ids is not None:
        body["ids"] = list(ids)
    if path is not None or value is not None:
        body["key"] = {"path": path, "value": value}
    if person is not None:
        body["person"] = person
    return (yield from ask_json(self, "POST", "/erase", to_json(body)))


def restore(self: Endpoint) -> Steps[Dict[str, Any]]:
    """Brings an archived bandit back."""
    return ask_json(self, "POST", "/restore")
