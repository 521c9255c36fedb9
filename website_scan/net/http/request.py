"""A request of the network guard, from the probe that makes it to the connection that carries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from website_scan.net.targets import Target


class Reuse(Enum):
    """Use of the cache of answers by a request."""

    NEVER = auto()
    # Requested, unless an earlier visit of the audit has the whole answer; only its beginning is kept for others.
    FOR_OTHERS = auto()
    ALLOWED = auto()


@dataclass(frozen=True, slots=True)
class Request:
    """One request, a GET unless `method` says otherwise. `url` becomes a `Target` before anything is sent.

    `headers` replace our own of the same names. `max_bytes` cuts the response's body, compressed or not; without it the
    network's limits apply. `timeout_s` is for the whole exchange, each hop of redirects anew.

    With `verify`, an untrusted certificate raises Untrusted. Without it, the certificate is checked first and
    `Response.tls` says why it is not trusted; outdated TLS versions are allowed, too. Without `decode` the body stays
    as it was sent, still compressed. Set `with_credentials` for the page and its resources; requests for resources that
    everybody can see go without.

    A reusable response also serves other requests for the same, now or later, for as many bytes or fewer; in an audit,
    up to `kept_bytes` are read for them.
    """

    url: Target | str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    max_bytes: int | None = None
    timeout_s: float | None = None
    verify: bool = True
    decode: bool = True
    with_credentials: bool = False
    reuse: Reuse = Reuse.NEVER
    kept_bytes: int = 0

    @property
    def target(self) -> Target:
        """Return the judged URL. Only requests that the network has judged have one."""
        assert isinstance(self.url, Target), self.url
        return self.url

    @property
    def is_kept(self) -> bool:
        """Return True if the response is kept for other requests."""
        return self.reuse is not Reuse.NEVER and self.method == "GET"
