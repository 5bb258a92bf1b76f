"""The calls of the server itself, as steps (retrying.py). Each is written once; blocking.py and awaiting.py run it."""

# What JSON and generators hold is not known to types.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Dict, List

from .._policies import Policy, options_text
from .errors import ServerError
from .retrying import Steps, answered
from .values import to_json
from .wire import Answer, Request


class Endpoint:
    """Whom a call is made of: the server, or one of its bandits."""

    _retry_for: float
    _path: str  # that its paths begin with


def ask(self: Endpoint, method: str, path: str, body: bytes = b"", **more: Any) -> Steps[Answer]:
    return answered(Request(method, self._path + path, body, **more), self._retry_for)


def ask_json(self: Endpoint, method: str, path: str, body: bytes = b"", **more: Any) -> Steps[Any]:
    return read_json((yield from ask(self, method, path, body, **more)))


def read_json(answer: Answer) -> Any:
    try:
        return json.loads(answer.body)
    except ValueError:
        raise ServerError("what answers there is not eenet serve: the answer is no JSON", http_status=answer.status,
                          maybe_done=True) from None


CREATE = """Creates a bandit, and returns it.

    With ``dim`` it takes vectors of so many numbers, else named features, whose options ``features`` may have, as
    ``{"names": 20000}``. Other settings: ``policy``, ``options``, ``seed``, ``propensity``, ``wait``,
    ``default_reward``, ``aggregation``, ``mode``, ``rewards``, ``confidence``, ``promote``, ``challengers``,
    ``retention_days``. The same again changes nothing; other settings under the same name are a Conflict.
"""


def create(self: Endpoint, name: str, settings: Dict[str, Any]) -> Steps[Dict[str, Any]]:
    return ask_json(self, "POST", "/v1/bandits", to_json({"name": name, **settings_json(settings)}))


def settings_json(settings: Dict[str, Any]) -> Dict[str, Any]:
    """Settings as the server takes them: options may be mappings, a policy one of eenet.policies()."""
    made = dict(settings)
    policy = made.get("policy", "eenet")
    if isinstance(policy, Policy):
        policy = made["policy"] = policy.name
    for name, of in (("features", "features"), ("options", policy)):
        if made.get(name) in (None, False):
            made.pop(name, None)
        elif isinstance(made[name], Mapping):
            made[name] = options_text(of, made[name], {})
        elif made[name] is True:
            made[name] = ""
    if "challengers" in made:
        made["challengers"] = [settings_json(each) for each in made["challengers"]]
    return made


def bandits(self: Endpoint) -> Steps[List[Dict[str, Any]]]:
    """The descriptions of all bandits, archived ones too.

    >>> "shop" in [each["name"] for each in client.bandits()]
    True
    """
    return (yield from ask_json(self, "GET", "/v1/bandits"))["bandits"]


def ready(self: Endpoint) -> Steps[bool]:
    """Whether the server is there and takes requests; asked once.

    >>> client.ready()
    True
    """
    try:
        yield from answered(Request("GET", "/readyz"), 0)
    except ServerError:
        return False
    return True


def metrics(self: Endpoint) -> Steps[str]:
    """The server's numbers in the text format of Prometheus.

    >>> "eenet_decisions_total" in client.metrics()
    True
    """
    return (yield from ask(self, "GET", "/metrics")).body.decode("utf-8")
