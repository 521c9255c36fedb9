"""From what sockets, TLS and HTTP libraries raise to the named errors that a site owner understands."""

from __future__ import annotations

import contextlib
import http.client
import ssl
from collections.abc import Iterator

import urllib3
from requests.exceptions import RequestException

from scans.net.errors import BadResponse, NetError, NotReachable, TimedOut, TlsFailed
from scans.targets import InvalidUrl, Target


class Stale(Exception):
    """A kept connection was closed by the server just when it was used again."""


def connect_error(host: str, port: int, error: OSError | None) -> NetError:
    if isinstance(error, TimeoutError):
        return TimedOut(f"{host} did not accept a connection on port {port} in time.")
    if isinstance(error, ConnectionRefusedError):
        return NotReachable(f"{host} refuses connections on port {port}.")
    return NotReachable(f"{host} can't be reached on port {port}.")


@contextlib.contextmanager
def named_errors(target: Target) -> Iterator[None]:
    """Turn what requests, urllib3, ssl and http.client raise into named errors."""
    try:
        yield
    except (RequestException, urllib3.exceptions.HTTPError, http.client.HTTPException, OSError) as error:
        raise _named(target, error) from None


def _named(target: Target, error: BaseException) -> Exception:
    causes = list(_causes(error))

    def first(*kinds: type[BaseException]) -> BaseException | None:
        return next((cause for cause in causes if isinstance(cause, kinds)), None)

    for cause in causes:
        if isinstance(cause, NetError | InvalidUrl):
            return cause
    if (untrusted := first(ssl.SSLCertVerificationError)) is not None:
        assert isinstance(untrusted, ssl.SSLCertVerificationError)
        return TlsFailed(f"The certificate is not trusted: {untrusted.verify_message}.")
    if first(TimeoutError, urllib3.exceptions.TimeoutError):
        return TimedOut("The site did not answer in time.")
    if first(ssl.SSLEOFError, ssl.SSLZeroReturnError) and not first(http.client.RemoteDisconnected):
        return TlsFailed(f"{target.host} ended the TLS handshake.")
    if first(ssl.SSLError):
        return TlsFailed(f"No TLS connection could be agreed on with {target.host}.")
    if first(http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
        return Stale()
    if first(http.client.HTTPException, urllib3.exceptions.HTTPError, ValueError):
        return BadResponse(f"What {target.host} answers is not HTTP that can be understood.")
    return NotReachable(f"{target.host} can't be reached.")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and everything behind it: libraries wrap in `__cause__`, `__context__`, `reason` and `args`."""
    pending: list[BaseException] = [error]
    seen: set[int] = set()
    while pending:
        each = pending.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        candidates = [each.__cause__, each.__context__, getattr(each, "reason", None), *each.args]
        pending.extend(candidate for candidate in candidates if isinstance(candidate, BaseException))
