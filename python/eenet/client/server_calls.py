"""The calls of the server, as steps (retrying.py), which blocking.py and awaiting.py run."""

# The types of JSON values and generators are unknown.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Dict, List

from .._policies import Policy, options_text
from .errors import ServerError
from .retrying import Steps, answered
from .values import path_part, to_json
from .wire import Answer, Request


class Endpoint:
    """The target of a call: the server, or one of its bandits."""

    _transport: Any
    _retry_for: float
    _path: str = ""  # the prefix of its paths


class ServerEndpoint(Endpoint):
    """What Client and AsyncClient share."""

    def __init__(self, url: str, transport: Any, retry_for: float) -> None:
        self.url = url
        self._transport = transport
        self._retry_for = retry_for

    def __repr__(self) -> str:
        return f"<eenet.{type(self).__name__} {self.url!r}>"

    def close(self) -> None:
        """Closes idle connections. A later call opens a new one."""
        self._transport.close()


class BanditEndpoint(Endpoint):
    """What BanditClient and AsyncBanditClient share."""

    def __init__(self, client: Endpoint, name: str) -> None:
        self.name = name
        self._transport = client._transport
        self._retry_for = client._retry_for
        self._path = "/v1/bandits/" + path_part(name)

    def __repr__(self) -> str:
        return f"<eenet.client.{type(self).__name__} {self.name!r}>"


def ask(self: Endpoint, method: str, path: str, body: bytes = b"", **more: Any) -> Steps[Answer]:
    return answered(Request(method, self._path + path, body, **more), self._retry_for)


def ask_json(self: Endpoint, method: str, path: str, body: bytes = b"", **more: Any) -> Steps[Any]:
    return read_json((yield from ask(self, method, path, body, **more)))


def read_json(answer: Answer) -> Any:
    try:
        return json.loads(answer.body)
    except ValueError:
        raise ServerError("expected eenet serve at this url, got a response that is not JSON",
                          http_status=answer.status, maybe_done=True) from None


CREATE = """Creates a bandit on the server, and returns it.

    With ``dim`` its actions are vectors of that many numbers, otherwise they have named features; ``features`` holds
    their options, for example ``{"names": 20000}``. Other settings: ``policy``, ``options``, ``seed``,
    ``propensity``, ``wait``, ``default_reward``, ``aggregation``, ``mode``, ``rewards``, ``confidence``, ``promote``,
    ``challengers``, ``retention_days``. Repeating the call changes nothing; the same name with other settings raises
    Conflict.
"""


def create(self: Endpoint, name: str, settings: Dict[str, Any]) -> Steps[Dict[str, Any]]:
    return ask_json(self, "POST", "/v1/bandits", to_json({"name": name, **settings_json(settings)}))


def settings_json(settings: Dict[str, Any]) -> Dict[str, Any]:
    """Settings in the form the server expects: options may be mappings, a policy one of eenet.policies()."""
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
    """The descriptions of all bandits, including archived ones.

    >>> "shop" in [each["name"] for each in client.bandits()]
    True
    """
    return (yield from ask_json(self, "GET", "/v1/bandits"))["bandits"]


def ready(self: Endpoint) -> Steps[bool]:
    """Whether the server accepts requests; does not retry.

    >>> client.ready()
    True
    """
    try:
        yield from answered(Request("GET", "/readyz"), 0)
    except ServerError:
        return False
    return True


def fleet(self: Endpoint) -> Steps[Dict[str, Any]]:
    """The servers that share a database, and which of them owns each bandit.

    Raises NotFound if the server is alone:

    >>> client.fleet()
    Traceback (most recent call last):
    eenet.client.NotFound: this server is alone: it stores its data in a folder. See docs/fleet.md
    """
    return ask_json(self, "GET", "/v1/fleet")


def metrics(self: Endpoint) -> Steps[str]:
    """The server's metrics in Prometheus text format.

    >>> "eenet_decisions_total" in client.metrics()
    True
    """
    return (yield from ask(self, "GET", "/metrics")).body.decode("utf-8")
