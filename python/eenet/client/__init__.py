"""Clients of ``eenet serve``: ``eenet.Client``, and ``eenet.AsyncClient`` for asyncio.

Both have the same calls. What a call asks, how its answer is read and when it is sent again is written once, without
I/O (``server_calls``, ``bandit_calls``, ``retrying``, ``wire``); the two clients move the bytes.
"""

from .answers import Decision, Outcome
from .awaiting import AsyncBanditClient, AsyncClient
from .blocking import BanditClient, Client
from .errors import (BadRequest, Conflict, Gone, NotFound, Refused, ServerError, SomeRefused, Timeout, TooLarge,
                     Unavailable)

__all__ = ["AsyncBanditClient", "AsyncClient", "BadRequest", "BanditClient", "Client", "Conflict", "Decision", "Gone",
           "NotFound", "Outcome", "Refused", "ServerError", "SomeRefused", "Timeout", "TooLarge", "Unavailable"]

for _kind in (BadRequest, Conflict, Gone, NotFound, Refused, ServerError, SomeRefused, Timeout, TooLarge, Unavailable):
    _kind.__module__ = __name__  # where one imports them from, and so what tracebacks say
