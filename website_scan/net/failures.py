"""Convert network exceptions to errors for site owners.

Exceptions from sockets and HTTP libraries.
"""

from __future__ import annotations

import contextlib
import http.client
import ssl
from collections.abc import Iterator

import urllib3
from requests.exceptions import RequestException

from website_scan.net.errors import BadResponse, NetError, NotReachable, TimedOut, TlsFailed
from website_scan.net.targets import InvalidUrl


class NoAnswer(Exception):
    """Raised when a connection is closed before any response.

    This happens with kept-alive connections.
    """


@contextlib.contextmanager
def named_errors(host: str) -> Iterator[None]:
    """Convert exceptions to a `NetError` or `NoAnswer`.

    Exceptions of requests, urllib3, ssl and http.client.
    """
    try:
        yield
    except (RequestException, urllib3.exceptions.HTTPError, http.client.HTTPException, OSError) as error:
        raise _named_error(host, list(_causes(error))) from None


def _named_error(host: str, causes: list[BaseException]) -> Exception:
    def has_cause(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    for cause in causes:
        if isinstance(cause, NetError | InvalidUrl):
            return cause
    if has_cause(TimeoutError, urllib3.exceptions.TimeoutError):
        return TimedOut(f"{host} did not answer in time.")
    if has_cause(http.client.RemoteDisconnected, ConnectionError):
        return NoAnswer()
    if has_cause(ssl.SSLError):
        # After a handshake, the record is invalid or a TLS 1.3 server refuses this client.
        return TlsFailed(f"{host} broke off the TLS connection.")
    if has_cause(http.client.HTTPException, urllib3.exceptions.HTTPError):
        return BadResponse(f"What {host} answers is not HTTP that can be understood.")
    return NotReachable(f"{host} can't be reached.")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes.

    Libraries store causes in `__cause__`, `__context__`, `reason` or `args`.
    """
    pending: list[BaseException] = [error]
    seen: set[int] = set()
    while pending:
        cause = pending.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        candidates = [cause.__cause__, cause.__context__, getattr(cause, "reason", None), *cause.args]
        pending.extend(candidate for candidate in candidates if isinstance(candidate, BaseException))
