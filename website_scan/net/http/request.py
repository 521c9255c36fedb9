"""HTTP request with its options for the network guard."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from msgspec import Struct, field

from website_scan.net.targets import Target
from website_scan.records import repr_without


class Reuse(Enum):
    """Use of the response cache by a request."""

    NEVER = auto()
    # The request is sent unless an earlier visit has cached the whole response. Only its beginning is cached.
    STORE_ONLY = auto()
    ALLOWED = auto()


class Request(Struct, frozen=True):
    """HTTP request, by default a GET.

    `url` is parsed and checked before the request is sent.

    `headers` replace default headers of the same names. `max_bytes` truncates the response's body; without `max_bytes`,
    the network's limits apply. `timeout_s` limits the whole exchange, and each hop of redirects separately.

    With `verify`, an untrusted certificate raises Untrusted. Without `verify`, `Response.tls` has the reason why the
    certificate is not trusted, and outdated TLS versions are allowed. Without `decode`, the body stays compressed. Set
    `with_credentials` for the page and its resources, but not for public resources.

    A reusable response is also the response to other requests for the same URL, for as many bytes or fewer. In an
    audit, up to `cached_body_bytes` are read for other requests.
    """

    url: Target | str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)  # They may contain credentials.
    body: bytes | None = None
    max_bytes: int | None = None
    timeout_s: float | None = None
    verify: bool = True
    decode: bool = True
    with_credentials: bool = False
    reuse: Reuse = Reuse.NEVER
    cached_body_bytes: int = 0

    def __repr__(self) -> str:
        return repr_without(self, "headers")

    @property
    def target(self) -> Target:
        """Return the parsed and checked URL.

        Only requests of `Network` methods have one.
        """
        assert isinstance(self.url, Target), self.url
        return self.url

    @property
    def is_kept(self) -> bool:
        """Return True if the response is cached for other requests."""
        return self.reuse is not Reuse.NEVER and self.method == "GET"
