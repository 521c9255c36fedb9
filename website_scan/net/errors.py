"""Errors for refused or failed connections.

If one of them makes a scan fail, its code becomes the scan's `error.code`.
"""

from __future__ import annotations

from typing import ClassVar

from website_scan.errors import Refusal


class NetError(Refusal):
    """Base class for errors of requests that end without a response."""

    status: ClassVar[int] = 400


class Blocked(NetError):
    """Raised when the network guard refuses a connection.

    Because of the address, name or port.
    """

    code = "DOMAIN_BLOCKED"
    status = 403


class NotReachable(NetError):
    """Raised when a host cannot be reached.

    Its name does not resolve, or it accepts no connection.
    """

    code = "URL_NOT_REACHABLE"


class Refused(NotReachable):
    """Raised when a host refuses connections on a port."""


class TimedOut(NetError):
    code = "TIMEOUT"


class TlsFailed(NetError):
    """Raised when a TLS connection could not be negotiated."""

    code = "TLS_FAILED"


class Untrusted(TlsFailed):
    """Raised for a server with an untrusted certificate.

    `reason` is OpenSSL's text.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"The certificate is not trusted: {reason}.")
        self.reason = reason


class BadResponse(NetError):
    """Raised when a response is not valid HTTP."""

    code = "BAD_RESPONSE"


class Http2Only(BadResponse):
    """Raised for a server that speaks only HTTP/2.

    The network guard does not support HTTP/2.
    """

    def __init__(self) -> None:
        super().__init__("The server speaks only HTTP/2. Scans need a server that also speaks HTTP/1.1.")


class TooManyRedirects(NetError):
    code = "TOO_MANY_REDIRECTS"


class BudgetExceeded(NetError):
    """Raised when a scan exceeds its budget of requests or bytes."""

    code = "BUDGET_EXCEEDED"
