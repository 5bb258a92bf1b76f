"""The exceptions of eenet: one for each status of the C library.

Each derives from `Error` and from the closest built-in exception. ``str(error)`` says
what is wrong and what was expected; ``error.status`` is the name in C, for example
``"EE_BAD_INPUT"``.
"""

from __future__ import annotations

__all__ = ["BadInput", "BadModel", "BadOption", "BadRecord", "Diverged", "Error", "ExpiredDecision", "FileError",
           "NoFile", "NoMemory", "RewardedDecision", "UnknownDecision"]


class Error(Exception):
    """Base class of all exceptions of eenet."""

    status: str = ""


class BadInput(Error, ValueError):
    """An invalid argument: no arms, the wrong dimension, a number outside [-1e9, 1e9]."""

    status = "EE_BAD_INPUT"


class BadOption(Error, ValueError):
    """An unknown policy or option, a value out of range, or an option without effect."""

    status = "EE_BAD_OPTION"


class NoMemory(Error, MemoryError):
    """Out of memory."""

    status = "EE_NO_MEMORY"


class UnknownDecision(Error, LookupError):
    """This bandit has made no decision with this id."""

    status = "EE_UNKNOWN_DECISION"


class ExpiredDecision(Error, LookupError):
    """The decision is no longer pending: it expired or was forgotten. Raise the option pending or wait."""

    status = "EE_EXPIRED_DECISION"


class RewardedDecision(Error, LookupError):
    """The decision already has its reward."""

    status = "EE_REWARDED_DECISION"


class FileError(Error, OSError):
    """The system could not read or write the file."""

    status = "EE_FILE_ERROR"


class BadModel(Error, ValueError):
    """The model is truncated, damaged, or has another version, policy or dimension."""

    status = "EE_BAD_MODEL"


class Diverged(Error, ArithmeticError):
    """Training diverged and was undone, or a score is not finite."""

    status = "EE_DIVERGED"


class NoFile(FileError, FileNotFoundError):
    """The file does not exist."""

    status = "EE_NO_FILE"


class BadRecord(Error, ValueError):
    """The record of a decision is truncated, damaged, or from another model."""

    status = "EE_BAD_RECORD"


# So that tracebacks say eenet.BadInput.
for _name in __all__:
    globals()[_name].__module__ = "eenet"
