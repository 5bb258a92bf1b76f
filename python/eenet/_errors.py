"""What eenet raises: every status of the library is an exception of its own.

Each derives from `Error`, and from the exception of Python that means the same.
``str(error)`` is a sentence that says what to do; ``error.status`` is the name in
C, as ``"EE_BAD_INPUT"``.
"""

from __future__ import annotations

__all__ = [
    "BadInput",
    "BadModel",
    "BadOption",
    "BadRecord",
    "Diverged",
    "Error",
    "ExpiredDecision",
    "FileError",
    "NoFile",
    "NoMemory",
    "RewardedDecision",
    "UnknownDecision",
]


class Error(Exception):
    """What all exceptions of eenet are."""

    status: str = ""


class BadInput(Error, ValueError):
    """An argument: no arms, a wrong dimension, a number that is not -1e9 to 1e9."""

    status = "EE_BAD_INPUT"


class BadOption(Error, ValueError):
    """An unknown policy or option, a value out of range, an option that cannot act."""

    status = "EE_BAD_OPTION"


class NoMemory(Error, MemoryError):
    """An allocation failed."""

    status = "EE_NO_MEMORY"


class UnknownDecision(Error, LookupError):
    """No decision of this bandit has this id."""

    status = "EE_UNKNOWN_DECISION"


class ExpiredDecision(Error, LookupError):
    """The decision is no longer kept: made too long ago, or forgotten."""

    status = "EE_EXPIRED_DECISION"


class RewardedDecision(Error, LookupError):
    """The decision has its reward already."""

    status = "EE_REWARDED_DECISION"


class FileError(Error, OSError):
    """The system could not read or write the file."""

    status = "EE_FILE_ERROR"


class BadModel(Error, ValueError):
    """The model is cut, damaged, of another version or of another policy."""

    status = "EE_BAD_MODEL"


class Diverged(Error, ArithmeticError):
    """Training diverged and was taken back, or a score is not finite."""

    status = "EE_DIVERGED"


class NoFile(FileError, FileNotFoundError):
    """There is no file of that name in its folder."""

    status = "EE_NO_FILE"


class BadRecord(Error, ValueError):
    """The record of a decision is cut, damaged, or of another model."""

    status = "EE_BAD_RECORD"


# They are eenet's, and tracebacks say so.
for _name in __all__:
    globals()[_name].__module__ = "eenet"
