import sys
from os import PathLike
from typing import Any, Dict, Final, final, List, Mapping, Optional, overload, Sequence, Tuple, Type, TypeVar, Union

import numpy as np
from _typeshed import structseq
from numpy.typing import NDArray

from ._policies import Policy

version: str

# A bandit's arms: an (n, dim) array or what becomes one, something sparse, or named features; or a mapping by id.
_Arms = Any
_Named = Union[str, bytes, Sequence[Mapping[str, Any]], Mapping[Any, Mapping[str, Any]]]
_Context = Any
_Path = Union[str, bytes, "PathLike[str]", "PathLike[bytes]"]
_B = TypeVar("_B", bound="Bandit")

@final
class Info(structseq[Any], Tuple[str, str, int, int, int, int, int, int, int, Optional[str], int]):
    if sys.version_info >= (3, 10):
        __match_args__: Final = (
            "policy",
            "options",
            "dim",
            "seed",
            "decisions",
            "rewards",
            "pending",
            "expired",
            "defaulted",
            "features",
            "limited",
        )
    @property
    def policy(self) -> str: ...
    @property
    def options(self) -> str: ...
    @property
    def dim(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def decisions(self) -> int: ...
    @property
    def rewards(self) -> int: ...
    @property
    def pending(self) -> int: ...
    @property
    def expired(self) -> int: ...
    @property
    def defaulted(self) -> int: ...
    @property
    def features(self) -> Optional[str]: ...
    @property
    def limited(self) -> int: ...

@final
class Feature(structseq[Any], Tuple[str, int, float, float, int]):
    if sys.version_info >= (3, 10):
        __match_args__: Final = ("name", "count", "mean", "deviation", "limited")
    @property
    def name(self) -> str: ...
    @property
    def count(self) -> int: ...  # type: ignore[override]
    @property
    def mean(self) -> float: ...
    @property
    def deviation(self) -> float: ...
    @property
    def limited(self) -> int: ...

@final
class Scores:
    @property
    def scores(self) -> NDArray[np.float32]: ...
    @property
    def exploitation(self) -> NDArray[np.float32]: ...
    @property
    def exploration(self) -> NDArray[np.float32]: ...
    def __len__(self) -> int: ...

@final
class Decision:
    @property
    def arm(self) -> int: ...
    @property
    def action(self) -> Any: ...
    @property
    def id(self) -> int: ...
    @property
    def probability(self) -> float: ...
    @property
    def probabilities(self) -> NDArray[np.float64]: ...
    @property
    def scores(self) -> NDArray[np.float32]: ...
    @property
    def exploitation(self) -> NDArray[np.float32]: ...
    @property
    def exploration(self) -> NDArray[np.float32]: ...
    @property
    def record(self) -> Optional[bytes]: ...
    def __hash__(self) -> int: ...

class Bandit:
    def __new__(
        cls: Type[_B],
        policy: Union[str, Policy] = "eenet",
        dim: Optional[int] = None,
        seed: int = 0,
        *,
        features: Union[None, bool, str, Mapping[str, Any]] = None,
        options: Union[None, str, Mapping[str, Any]] = None,
        **named: Any,
    ) -> _B: ...
    @property
    def policy(self) -> str: ...
    @property
    def dim(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def options(self) -> dict[str, str]: ...
    @property
    def features(self) -> Optional[dict[str, str]]: ...
    @property
    def info(self) -> Info: ...
    @property
    def memory(self) -> int: ...
    def decide(
        self,
        arms: _Arms,
        *,
        context: _Context = None,
        excluded: Any = None,
        boosts: Optional[Sequence[float]] = None,
        groups: Optional[Sequence[Optional[int]]] = None,
        shares: Optional[Sequence[Tuple[float, float]]] = None,
    ) -> Decision: ...
    def decide_many(
        self, rounds: Union[NDArray[Any], Sequence[_Arms]], *, contexts: Optional[Sequence[_Context]] = None
    ) -> List[Decision]: ...
    def decide_slots(
        self,
        arms: Union[_Arms, Sequence[_Arms]],
        slots: Optional[int] = None,
        *,
        contexts: Optional[Sequence[_Context]] = None,
        excluded: Any = None,
    ) -> List[Decision]: ...
    def score(self, arms: _Arms, *, context: _Context = None) -> Scores: ...
    def probabilities(
        self,
        arms: _Arms,
        *,
        context: _Context = None,
        boosts: Optional[Sequence[float]] = None,
        groups: Optional[Sequence[Optional[int]]] = None,
        shares: Optional[Sequence[Tuple[float, float]]] = None,
    ) -> NDArray[np.float64]: ...
    @overload
    def explain(self, arms: _Named, arm: int, *, context: _Context = None) -> Dict[str, float]: ...
    @overload
    def explain(self, arms: _Arms, arm: int, *, context: None = None) -> Any: ...
    def learn(self, decision: Union[Decision, int], reward: float) -> None: ...
    def learn_many(self, decisions: Sequence[Union[Decision, int]], rewards: Sequence[float]) -> None: ...
    def learn_from(
        self,
        arms: _Arms,
        arm: int,
        reward: float,
        *,
        context: _Context = None,
    ) -> None: ...
    def learn_record(self, record: Union[bytes, Decision], reward: float) -> None: ...
    def take_record(self, record: Union[bytes, Decision]) -> int: ...
    def learn_names(self, arms: _Arms, *, context: _Context = None) -> None: ...
    def forget(self, decision: Union[Decision, int]) -> None: ...
    def set_time(self, now: float) -> None: ...
    def feature(self, place: int) -> Feature: ...
    def snapshot(self, seed: int = 0) -> Snapshot: ...
    def save(self, path: _Path) -> None: ...
    @classmethod
    def load(
        cls: Type[_B], path: _Path, policy: Union[None, str, Policy] = None, dim: Optional[int] = None
    ) -> _B: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(
        cls: Type[_B], data: bytes, policy: Union[None, str, Policy] = None, dim: Optional[int] = None
    ) -> _B: ...

@final
class Snapshot:
    def decide(
        self,
        arms: _Arms,
        *,
        context: _Context = None,
        seed: Optional[int] = None,
        excluded: Any = None,
        boosts: Optional[Sequence[float]] = None,
        groups: Optional[Sequence[Optional[int]]] = None,
        shares: Optional[Sequence[Tuple[float, float]]] = None,
    ) -> Decision: ...
    def decide_many(
        self,
        rounds: Union[NDArray[Any], Sequence[_Arms]],
        *,
        contexts: Optional[Sequence[_Context]] = None,
        seed: Optional[int] = None,
    ) -> List[Decision]: ...
    def decide_slots(
        self,
        arms: Union[_Arms, Sequence[_Arms]],
        slots: Optional[int] = None,
        *,
        contexts: Optional[Sequence[_Context]] = None,
        excluded: Any = None,
        seed: Optional[int] = None,
    ) -> List[Decision]: ...
    def probabilities(
        self,
        arms: _Arms,
        *,
        context: _Context = None,
        seed: Optional[int] = None,
        boosts: Optional[Sequence[float]] = None,
        groups: Optional[Sequence[Optional[int]]] = None,
        shares: Optional[Sequence[Tuple[float, float]]] = None,
    ) -> NDArray[np.float64]: ...
    def score(self, arms: _Arms, *, context: _Context = None, seed: Optional[int] = None) -> Scores: ...
    @overload
    def explain(self, arms: _Named, arm: int, *, context: _Context = None) -> Dict[str, float]: ...
    @overload
    def explain(self, arms: _Arms, arm: int, *, context: None = None) -> Any: ...
    def update(self) -> None: ...

def kernels() -> str: ...
def _policy_row(index: int) -> Optional[Tuple[str, str, str, str]]: ...
def _option_row(policy: str, index: int) -> Optional[Tuple[str, str, str, str, str, str, bool, bool]]: ...
def _vectors_json(array: Any) -> bytes: ...
