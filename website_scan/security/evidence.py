"""Evidence that the probes of security scans return, in addition to the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from website_scan.net.http.response import Response
from website_scan.net.tls.ciphers import TlsVersion
from website_scan.net.tls.trust import Handshake
from website_scan.page.evidence import Page
from website_scan.security.csp import Policies


@dataclass(frozen=True, slots=True)
class PlainHttp:
    """The host's responses over plain HTTP to a request for the page.

    `url` is None if no port for plain HTTP is known. No `hops` and an `error`: nothing answers there. Hops and
    a `next_url`: the last hop leads to an address that did not answer; `error` says why.
    """

    url: str | None
    hops: tuple[Response, ...] = ()
    error: str = ""
    next_url: str = ""


@dataclass(frozen=True, slots=True)
class TlsPeer:
    """The host and port of a TLS handshake. `handshake` is None if nothing answers over TLS; then `error` says why.

    `is_silent`: nothing came before the timeout, so another attempt would only cost more time.
    """

    host: str
    port: int
    handshake: Handshake | None
    error: str = ""
    is_silent: bool = False


@dataclass(frozen=True, slots=True)
class TlsSupport:
    """Protocol versions that the server accepts, and the cipher suite that it chose for each.

    `weak_ciphers` has one suite for each kind of weakness. Names are IANA's. Both are empty without TLS.
    """

    versions: Mapping[TlsVersion, str]
    weak_ciphers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HttpsAnswer:
    """The host's response over HTTPS: the page's own, or that of its https twin if the page came over plain HTTP.

    None if nothing answers over TLS.
    """

    response: Response | None


@dataclass(frozen=True, slots=True)
class CorsAnswer:
    """Response to a request with this `Origin`: its Access-Control-Allow-… field lines, unchanged."""

    origin: str
    allow_origin: tuple[str, ...]
    allow_credentials: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cors:
    """CORS responses of the page to two foreign origins: a random one, then `null`."""

    answers: tuple[CorsAnswer, ...]


@dataclass(frozen=True, slots=True)
class SecondFetch:
    """A second fetch of the page, and its policies. None if nothing on it could differ between two visits."""

    page: Page | None = None
    policies: Policies = field(default_factory=Policies)


@dataclass(frozen=True, slots=True)
class Script:
    """A script that the page loads. `text` is its beginning if it was read."""

    url: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class LoadedScripts:
    scripts: tuple[Script, ...]


@dataclass(frozen=True, slots=True)
class CaaRecords:
    """The CAA records in effect for the host: those of the first name from it upwards that has any.

    `domain` is None if the domain is not the owner's own; then the other fields are empty.
    """

    domain: str | None
    name: str = ""
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DnssecRecords:
    """DNSSEC of the domain: validated by the resolver, or with DS at its parent and DNSKEY of its own."""

    domain: str | None
    is_authenticated: bool = False
    ds: tuple[str, ...] = ()
    dnskey: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MailRecords:
    """The domain's MX records, and the TXT records of SPF and DMARC."""

    domain: str | None
    mx: tuple[str, ...] = ()
    spf: tuple[str, ...] = ()
    dmarc: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SecurityTxt:
    """The file /.well-known/security.txt of the host, else of its domain. None if neither has one."""

    response: Response | None


@dataclass(frozen=True, slots=True)
class NotFoundBaseline:
    """The site's responses for paths that cannot exist: two random names, then one that is also malformed.

    The third is missing if it got no response.
    """

    answers: tuple[Response, ...]


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """The response for a path where a sensitive file may be. The body is not kept, no redirect was followed.

    `is_exposed`: status 200, the content proves it to be such a file, and it differs from the site's responses
    for files that do not exist. `excerpt` then names the proof, masked, without any value.
    `status` is None if no response came, or no baseline to compare it with; `error` says why.
    """

    path: str
    status: int | None
    media_type: str = ""
    size_bytes: int = 0
    is_exposed: bool = False
    excerpt: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Exposure:
    """The responses for the paths of sensitive files, by the check ID of their family."""

    families: Mapping[str, tuple[PathAnswer, ...]]


@dataclass(frozen=True, slots=True)
class SourceMaps:
    """The responses for the source maps of the page's own scripts, at the named or the usual place."""

    answers: tuple[PathAnswer, ...]


@dataclass(frozen=True, slots=True)
class AssetDirectories:
    """The responses of the folders that hold the page's own assets, as far as any came."""

    answers: tuple[Response, ...]
