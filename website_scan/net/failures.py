"""Translation of the exceptions of sockets and HTTP libraries into named errors that a site owner understands."""

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
    """Closing of the connection before the server sent anything, which is usual for kept-alive connections."""


@contextlib.contextmanager
def named_errors(host: str) -> Iterator[None]:
    """Convert exceptions of requests, urllib3, ssl and http.client into named errors, or `NoAnswer`."""
    try:
        yield
    except (RequestException, urllib3.exceptions.HTTPError, http.client.HTTPException, OSError) as error:
        raise _named(host, list(_causes(error))) from None


def _named(host: str, causes: list[BaseException]) -> Exception:
    def any_of(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    for cause in causes:
        if isinstance(cause, NetError | InvalidUrl):
            return cause
    if any_of(TimeoutError, urllib3.exceptions.TimeoutError):
        return TimedOut(f"{host} did not answer in time.")
    if any_of(http.client.RemoteDisconnected, ConnectionError):
        return NoAnswer()
    if any_of(ssl.SSLError):
        # The handshake succeeded, so this is an invalid record, or (TLS 1.3) the server's refusal of this client.
        return TlsFailed(f"{host} broke off the TLS connection.")
    if any_of(http.client.HTTPException, urllib3.exceptions.HTTPError):
        return BadResponse(f"What {host} answers is not HTTP that can be understood.")
    return NotReachable(f"{host} can't be reached.")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and all its causes, which libraries store in `__cause__`, `__context__`, `reason` or `args`."""
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
