"""Errors of refused or failed connections. Their codes are also the `error.code` of scans that fail with them."""

from __future__ import annotations

from typing import ClassVar

from website_scan.errors import Refusal


class NetError(Refusal):
    """Base of all errors that leave a request without a response."""

    status: ClassVar[int] = 400


class Blocked(NetError):
    """The address, name or port may not be contacted."""

    code = "DOMAIN_BLOCKED"
    status = 403


class NotReachable(NetError):
    """The name does not resolve, or nothing accepts a connection."""

    code = "URL_NOT_REACHABLE"


class Refused(NotReachable):
    """The host exists, but does not accept connections on the port."""


class TimedOut(NetError):
    code = "TIMEOUT"


class TlsFailed(NetError):
    """No TLS connection could be negotiated."""

    code = "TLS_FAILED"


class Untrusted(TlsFailed):
    """The server's certificate is not trusted. `reason` is OpenSSL's text."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The certificate is not trusted: {reason}.")
        self.reason = reason


class BadResponse(NetError):
    """The response is not valid HTTP."""

    code = "BAD_RESPONSE"


class TooManyRedirects(NetError):
    code = "TOO_MANY_REDIRECTS"


class BudgetExceeded(NetError):
    """The scan has used up its requests or bytes."""

    code = "BUDGET_EXCEEDED"
