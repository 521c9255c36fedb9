"""Why a connection was refused or failed. The codes are also the `error.code` of scans that failed so."""

from __future__ import annotations

from typing import ClassVar

from config.errors import Refusal


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


class TimedOut(NetError):
    code = "TIMEOUT"


class TlsFailed(NetError):
    """The TLS handshake failed for another reason than an untrusted certificate."""

    code = "TLS_FAILED"


class BadResponse(NetError):
    """What came back is not HTTP that can be understood."""

    code = "BAD_RESPONSE"


class TooManyRedirects(NetError):
    code = "TOO_MANY_REDIRECTS"


class BudgetExceeded(NetError):
    """The scan has used up its requests or bytes."""

    code = "BUDGET_EXCEEDED"
