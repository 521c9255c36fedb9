"""What the probes of security scans bring, beside the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scanner.net.http.response import Response
from scanner.net.tls.ciphers import TlsVersion
from scanner.net.tls.handshake import Handshake
from scanner.page.evidence import Page
from scanner.security.csp import Policies


@dataclass(frozen=True, slots=True)
class PlainHttp:
    """What the host answers over plain HTTP when asked for the page.

    `url` is None where no port for plain HTTP is known. No `hops` and an `error`: nothing answers there.
    Hops and a `next_url`: nothing came from the address that the last hop leads to; `error` says why.
    """

    url: str | None
    hops: tuple[Response, ...] = ()
    error: str = ""
    next_url: str = ""


@dataclass(frozen=True, slots=True)
class TlsPeer:
    """Who answers over TLS. `handshake` is None where nothing does, and `error` is what came instead.

    `is_silent`: nothing came at all in the time, so that asking again only costs more of it.
    """

    host: str
    port: int
    handshake: Handshake | None
    error: str = ""
    is_silent: bool = False


@dataclass(frozen=True, slots=True)
class TlsSupport:
    """What the server takes when it is offered: protocol versions, and the cipher suite it chose for each.

    `weak_ciphers` holds one suite for each kind of weakness. Names are IANA's. All is empty without TLS.
    """

    versions: Mapping[TlsVersion, str]
    weak_ciphers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HttpsAnswer:
    """The host's response over HTTPS: the page's own, or of its twin when the page came over plain HTTP.

    None where nothing answers over TLS.
    """

    response: Response | None


@dataclass(frozen=True, slots=True)
class CorsAnswer:
    """What a request with this `Origin` got: the Access-Control-Allow-… field lines, unchanged."""

    origin: str
    allow_origin: tuple[str, ...]
    allow_credentials: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cors:
    """The page asked for from foreign origins: a random one, then `null`."""

    answers: tuple[CorsAnswer, ...]


@dataclass(frozen=True, slots=True)
class SecondFetch:
    """The page asked for once more, and its policies; None where nothing on it could tell two visits apart."""

    page: Page | None = None
    policies: Policies = field(default_factory=Policies)


@dataclass(frozen=True, slots=True)
class Script:
    """A script that the page loads, and its beginning where it was read."""

    url: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class LoadedScripts:
    scripts: tuple[Script, ...]


@dataclass(frozen=True, slots=True)
class CaaRecords:
    """The CAA records that hold for the host: those of the first name from it upwards that has any.

    `domain` is None where the name is not the owner's own; then nothing else is known either.
    """

    domain: str | None
    name: str = ""
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DnssecRecords:
    """Whether the domain is signed: validated by the resolver, or with DS at its parent and DNSKEY of its own."""

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
    """The file at /.well-known/security.txt of the host, else of its domain; None where none of them has one."""

    response: Response | None


@dataclass(frozen=True, slots=True)
class NotFoundBaseline:
    """The site's answers for paths that cannot exist: two of random names, then one that is also malformed.

    The third is left out where nothing came.
    """

    answers: tuple[Response, ...]


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """The answer of a path where a sensitive file may be; the body is not kept. No redirect was followed.

    `is_exposed`: it came with status 200, proved by its content to be such a file, and unlike what the site
    answers for files that do not exist. `excerpt` then names what proved it, masked, without any value.
    `status` is None where nothing came, or nothing to compare it with, for the reason in `error`.
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
    """The paths that were asked for, by the check ID of their family."""

    families: Mapping[str, tuple[PathAnswer, ...]]


@dataclass(frozen=True, slots=True)
class SourceMaps:
    """What lies where the maps of the page's own scripts are, or are usual."""

    answers: tuple[PathAnswer, ...]


@dataclass(frozen=True, slots=True)
class AssetDirectories:
    """The answers of the folders that hold the page's own assets, as far as any came."""

    answers: tuple[Response, ...]
