"""Errors of refused or failed connections. Their codes are also the `error.code` of scans that fail because of them."""

from __future__ import annotations

from typing import ClassVar

from website_scan.errors import Refusal


class NetError(Refusal):
    """Base of all errors of requests that end without a response."""

    status: ClassVar[int] = 400


class Blocked(NetError):
    """Refusal by the network guard: the address, name or port may not be contacted."""

    code = "DOMAIN_BLOCKED"
    status = 403


class NotReachable(NetError):
    """Unresolvable name, or host that accepts no connection."""

    code = "URL_NOT_REACHABLE"


class Refused(NotReachable):
    """Refusal by an existing host of connections on the port."""


class TimedOut(NetError):
    code = "TIMEOUT"


class TlsFailed(NetError):
    """Failure to negotiate a TLS connection."""

    code = "TLS_FAILED"


class Untrusted(TlsFailed):
    """Untrusted certificate of a server. `reason` is OpenSSL's text."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The certificate is not trusted: {reason}.")
        self.reason = reason


class BadResponse(NetError):
    """Response that is not valid HTTP."""

    code = "BAD_RESPONSE"


class TooManyRedirects(NetError):
    code = "TOO_MANY_REDIRECTS"


class BudgetExceeded(NetError):
    """Exceeded budget of requests or bytes of a scan."""

    code = "BUDGET_EXCEEDED"
