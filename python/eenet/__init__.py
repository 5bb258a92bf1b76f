"""eenet: neural contextual bandits.

Each round a bandit chooses one of several arms and learns from the reward of that arm
alone. Rewards may arrive later and in any order.

>>> import eenet
>>> bandit = eenet.Bandit("eenet", features=True, seed=1)
>>> decision = bandit.decide([{"color": "red"}, {"color": "blue"}], context={"plan": "free"})
>>> bandit.learn(decision, 1.0)

To start, read ``help(eenet.Bandit)``; ``eenet.policies()`` lists the policies.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, List

_OLDEST_NUMPY = (1, 19)


def _check_numpy() -> None:
    needed = "eenet needs numpy {}.{} or later".format(*_OLDEST_NUMPY)
    try:
        from numpy import __version__ as found
    except ImportError as error:
        raise ImportError(f"{needed}, which cannot be imported ({error}): pip install numpy", name="numpy") from error
    if tuple(int(part) for part in found.split(".")[:2]) < _OLDEST_NUMPY:
        raise ImportError(f"{needed}, got {found}: pip install --upgrade numpy")


_check_numpy()

from ._blocks import SparseArms, blocks  # noqa: E402
from ._core import Bandit, Decision, Feature, Info, Scores, Snapshot, kernels  # noqa: E402
from ._core import version as __version__  # noqa: E402
from ._errors import (BadInput, BadModel, BadOption, BadRecord, Diverged, Error, ExpiredDecision,  # noqa: E402
                      FileError, NoFile, NoMemory, RewardedDecision, UnknownDecision)
from ._policies import Option, Policy, policies, policy  # noqa: E402

# Imported on first use, so that `import eenet` stays fast: name and module.
_LAZY = {"AsyncClient": "client", "Client": "client", "client": "client", "evaluate": "evaluate", "lab": "lab"}

__all__ = ["AsyncClient", "BadInput", "BadModel", "BadOption", "BadRecord", "Bandit", "Client", "Decision", "Diverged",
           "Error", "ExpiredDecision", "Feature", "FileError", "Info", "NoFile", "NoMemory", "Option", "Policy",
           "RewardedDecision", "Scores", "Snapshot", "SparseArms", "UnknownDecision", "__version__", "blocks", "client",
           "evaluate", "kernels", "lab", "policies", "policy"]


if TYPE_CHECKING:
    from . import client, evaluate, lab
    from .client import AsyncClient, Client
else:

    def __getattr__(name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(f"module 'eenet' has no attribute {name!r}")
        module = importlib.import_module(f"{__name__}.{_LAZY[name]}")
        value = module if name == _LAZY[name] else getattr(module, name)
        globals()[name] = value
        return value


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
