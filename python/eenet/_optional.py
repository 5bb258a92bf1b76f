"""Packages that only some calls need."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str, call: str) -> Any:
    """The module; if it is missing, the error says which call needs it."""
    package = module.partition(".")[0]
    try:
        importlib.import_module(package)
        return importlib.import_module(module)
    except ImportError as error:
        sentence = f"{call} needs {package}, which is not installed: pip install {package}"
        raise ImportError(sentence, name=package) from error
