"""The policies of the library and their options."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Tuple, Union

from . import _core
from ._errors import BadOption

__all__ = ["Option", "Policy", "policies", "policy"]


@dataclass(frozen=True)
class Option:
    """An option of a policy.

    >>> option = eenet.policy("linucb").options["alpha"]
    >>> option.default, option.range
    ('1', '0 to 1000000')
    >>> print(option)
    alpha=1: weight of the confidence width, in units of the rewards' spread (0 to 1000000)
    """

    name: str
    range: str
    default: str
    meaning: str
    part: str  #: the part of the policy it belongs to
    needs: str  #: what other options must be set for it to have an effect; "" if it always has one
    acts: bool  #: False: setting it raises BadOption unless `needs` is satisfied
    first: bool  #: one of the options to try first

    def __str__(self) -> str:
        return f"{self.name}={self.default}: {self.meaning} ({self.range})"


@dataclass(frozen=True)
class Policy:
    """A policy, or a preset of one.

    >>> policy = eenet.policy("linucb")
    >>> policy.summary
    'linear model: estimate plus confidence width'
    >>> eenet.Bandit(policy, dim=3).policy
    'linucb'
    """

    name: str
    summary: str
    paper: str  #: the paper that introduced it; "" if there is none
    preset: str  #: for a preset, the options that differ from the policy's; otherwise ""

    @property
    def options(self) -> Dict[str, Option]:
        """Its options by name; those to try first come first.

        >>> list(eenet.policy("linucb").options)[:3]
        ['alpha', 'lambda', 'standardize']
        """
        options = _options(self.name).values()
        return {option.name: option for option in sorted(options, key=lambda option: not option.first)}

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.summary}"]
        lines += [f"  {option}" for option in self.options.values() if option.acts]
        return "\n".join(lines)


def policies() -> Tuple[Policy, ...]:
    """All policies, presets included.

    >>> [policy.name for policy in eenet.policies()][:3]
    ['eenet', 'eenet:fast', 'eenet:paper']
    """
    return tuple(_policies().values())


def policy(name: Union[str, Policy]) -> Policy:
    """The policy with this name; print it to see all its options.

    >>> print(eenet.policy("uniform").name)
    uniform
    >>> eenet.policy("lincub")
    Traceback (most recent call last):
    eenet.BadOption: policy: unknown policy 'lincub'; did you mean 'linucb'?
    """
    if isinstance(name, Policy):
        return name
    found = _policies().get(_check_name(name))
    if found is None:
        _core._option_row(name, 0)  # raises, with the nearest name
        raise BadOption(f"policy: unknown policy {name!r}")
    return found


@functools.lru_cache(maxsize=None)
def _policies() -> Dict[str, Policy]:
    rows = iter(lambda: _core._policy_row(len(found)), None)
    found: Dict[str, Policy] = {}
    for row in rows:
        found[row[0]] = Policy(*row)
    return found


@functools.lru_cache(maxsize=None)
def _options(policy_name: str) -> Dict[str, Option]:
    """In the order of the library; `policy_name` may also be "features"."""
    found: Dict[str, Option] = {}
    for row in iter(lambda: _core._option_row(policy_name, len(found)), None):
        found[row[0]] = Option(*row)
    return found


def settings(
    policy: Union[str, Policy] = "eenet",
    dim: Optional[int] = None,
    seed: int = 0,
    *,
    features: Union[None, bool, str, Mapping[str, Any]] = None,
    options: Union[None, str, Mapping[str, Any]] = None,
    **named: Any,
) -> Tuple[str, Optional[int], int, Optional[str], Optional[str]]:
    """The arguments of Bandit(...), converted for the library: policy, dim, seed, options, features."""
    name = policy.name if isinstance(policy, Policy) else _check_name(policy)
    if dim is None and not _takes_names(features):
        raise TypeError("Bandit() needs dim=N, the number of features per arm, or features=True for named features")
    feature_text = None
    if _takes_names(features):
        feature_text = "" if features is True else _settings_text("features", "features", features)
    return name, dim, seed, options_text(name, options, named) or None, feature_text


settings.__qualname__ = settings.__name__ = "Bandit"  # Python's own messages about arguments begin with it


def options_text(policy_name: str, options: Union[None, str, Mapping[str, Any]], named: Mapping[str, Any]) -> str:
    """Options of a policy in the library's format: ``"f1.width=50 w2=0.1"``."""
    texts = [_settings_text("options", policy_name, options), _settings_text("options", policy_name, named)]
    return " ".join(text for text in texts if text)


def parse_settings(text: str) -> Dict[str, str]:
    """The library's settings, ``"a=1 b=2"``, as a dict."""
    return dict(setting.split("=", 1) for setting in text.split())


def _check_name(policy: Any) -> str:
    if isinstance(policy, str):
        return policy
    raise TypeError(f"policy: expected a name or a Policy, got {type(policy).__name__}")


def _takes_names(features: Any) -> bool:
    return features is not None and features is not False


def _settings_text(what: str, policy_name: str, given: Any) -> str:
    if given is None or isinstance(given, str):
        return given or ""
    if not isinstance(given, Mapping):
        raise TypeError(f"{what}: expected a string or a mapping, got {type(given).__name__}")
    return " ".join(f"{_full_name(policy_name, key)}={_value(what, key, value)}" for key, value in given.items())


def _full_name(policy_name: str, name: str) -> str:
    """The option's full name: f1_width is f1.width; lambda_ is lambda, a keyword of Python."""
    if not isinstance(name, str):
        raise TypeError(f"options: expected a string as the name of an option, got {type(name).__name__}")
    try:
        known = _options(policy_name)
    except BadOption:
        known = {}  # an unknown policy: creating the bandit raises the error
    for wanted in (name, name.rstrip("_")):
        for option in known:
            if wanted in (option, option.replace(".", "_")):
                return option
    _refuse_separators("options", name, name)
    return name


def _value(what: str, name: str, value: Any) -> str:
    if hasattr(value, "tolist"):  # a number of numpy
        value = value.tolist()
    if value is None:
        return "none"
    if isinstance(value, str):
        _refuse_server_syntax(what, name, value)
        return _refuse_separators(what, name, value)
    if isinstance(value, bool):
        return "on" if value else "off"
    if hasattr(value, "__index__"):
        return str(value.__index__())
    if hasattr(value, "__float__"):
        return repr(float(value))
    raise TypeError(f"{what}: {name}: expected a number, a string, True, False or None, got {type(value).__name__}")


_AMOUNTS = {"floor": "propensity_epsilon", "softmax": "propensity_temperature", "igw": "propensity_gamma"}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def _refuse_server_syntax(what: str, name: str, text: str) -> None:
    """The server takes "floor:0.05" and "30m"; here each is written in another way."""
    rule, colon, amount = text.partition(":")
    if name == "propensity" and colon and rule in _AMOUNTS:
        raise BadOption(f"{what}: propensity: expected a rule, got {text!r}; "
                        f"use propensity={rule!r}, {_AMOUNTS[rule]}={amount}")
    if name == "wait" and text[-1:] in _SECONDS and text[:-1].isdigit():
        seconds = int(text[:-1]) * _SECONDS[text[-1]]
        raise BadOption(f"{what}: wait: expected a number, got {text!r}; in seconds, use wait={seconds}")


def _refuse_separators(what: str, name: str, text: str) -> str:
    """A value that contains a separator would be read as another option."""
    if text == "" or any(character.isspace() or character in ",=" for character in text):
        raise BadOption(f"{what}: {name}: expected a value without spaces, commas or =, got {text!r}")
    return text
