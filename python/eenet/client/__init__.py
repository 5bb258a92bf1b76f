"""Clients for ``eenet serve``: ``eenet.Client``, and ``eenet.AsyncClient`` for asyncio.

Both have the same calls. The requests, responses and retries are implemented once, without I/O (``server_calls``,
``bandit_calls``, ``retrying``, ``wire``); the two clients transfer the bytes.
"""

from .answers import Decision, Outcome
from .awaiting import AsyncBanditClient, AsyncClient
from .blocking import BanditClient, Client
from .errors import (BadRequest, Conflict, Gone, NotFound, Refused, ServerError, SomeRefused, Timeout, TooLarge,
                     Unavailable)

__all__ = ["AsyncBanditClient", "AsyncClient", "BadRequest", "BanditClient", "Client", "Conflict", "Decision", "Gone",
           "NotFound", "Outcome", "Refused", "ServerError", "SomeRefused", "Timeout", "TooLarge", "Unavailable"]

for _kind in (BadRequest, Conflict, Gone, NotFound, Refused, ServerError, SomeRefused, Timeout, TooLarge, Unavailable):
    _kind.__module__ = __name__  # the import path, so that tracebacks show it
