"""Shared by both clients: their settings, and the signatures of their calls for help() and editors."""

from __future__ import annotations

import inspect
import os
import re
import socket
import ssl
from typing import Any, Callable, Optional, Union

from .retrying import Failure
from .wire import NotHTTP, Target


class Settings:
    """The server's address and the settings of requests."""

    def __init__(self, url: str, key: Optional[str], timeout: float, retry_for: float,
                 ca_file: Union[str, os.PathLike[str], None]) -> None:
        if not timeout > 0 or not retry_for >= 0:
            raise ValueError(f"expected timeout above 0 and retry_for of at least 0, got {timeout} and {retry_for}")
        self.target = Target(url, key)
        self.timeout = timeout
        self.tls: Optional[ssl.SSLContext] = None
        if self.target.secure:
            self.tls = ssl.create_default_context(cafile=os.fspath(ca_file) if ca_file is not None else None)
        elif ca_file is not None:
            raise ValueError("ca_file works only with an https url")

    def failure(self, error: Exception, maybe_done: bool, was_kept: bool = False) -> Failure:
        """The failure, with a message."""
        if isinstance(error, (socket.timeout, TimeoutError)):
            return Failure(f"{self.target} did not respond within {self.timeout:g} s", maybe_done, timed_out=True)
        reason = getattr(error, "verify_message", "") or getattr(error, "strerror", "") or str(error)
        if isinstance(error, ConnectionRefusedError):
            reason += "; is eenet serve running there?"
        return Failure(f"{self.target}: {reason}", maybe_done, was_kept=was_kept, is_final=_is_final(error, maybe_done))


def _is_final(error: Exception, connected: bool) -> bool:
    """Whether a retry is pointless: an unknown host, an untrusted certificate, another protocol."""
    if isinstance(error, socket.gaierror):
        return error.errno == socket.EAI_NONAME
    if isinstance(error, ssl.SSLError):
        return not connected and not isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError))
    return isinstance(error, NotHTTP)


def result_signature(plan: Callable[..., Any], within: str = "") -> inspect.Signature:
    """The signature of a call for its caller: Steps[Decision] becomes Decision."""
    signature = inspect.signature(plan)
    result = re.sub(r"^Steps\[(.*)\]$", r"\1", str(signature.return_annotation))
    first, *others = signature.parameters.values()
    return signature.replace(parameters=[first.replace(annotation=first.empty), *others],
                             return_annotation=f"{within}[{result}]" if within else result)
