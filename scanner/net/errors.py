"""Why a connection was refused or failed. The codes are also the `error.code` of scans that failed so."""

from __future__ import annotations

from typing import ClassVar

from scanner.errors import Refusal


class NetError(Refusal):
    """Anything that keeps a request from its answer."""

    status: ClassVar[int] = 400


class Blocked(NetError):
    """The address, name or port may not be contacted."""

    code = "DOMAIN_BLOCKED"
    status = 403


class NotReachable(NetError):
    """The name does not resolve, or nothing accepts a connection."""

    code = "URL_NOT_REACHABLE"


class Refused(NotReachable):
    """The host is there, but accepts no connection on the port."""


class TimedOut(NetError):
    code = "TIMEOUT"


class TlsFailed(NetError):
    """No TLS connection could be agreed on."""

    code = "TLS_FAILED"


class Untrusted(TlsFailed):
    """The server's certificate is not trusted. `reason` says why, in OpenSSL's words."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The certificate is not trusted: {reason}.")
        self.reason = reason


class BadResponse(NetError):
    """What came back is not HTTP that can be understood."""

    code = "BAD_RESPONSE"


class TooManyRedirects(NetError):
    code = "TOO_MANY_REDIRECTS"


class BudgetExceeded(NetError):
    """The scan has used up its requests or bytes."""

    code = "BUDGET_EXCEEDED"
