"""Evidence classes that the probes of security scans return."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from website_scan.net.http.response import Response
from website_scan.net.tls.ciphers import TlsVersion
from website_scan.net.tls.trust import Handshake
from website_scan.page.evidence import Page
from website_scan.security.csp import Policies
from website_scan.security.dmarc import ParentPolicy
from website_scan.security.spf import HostLookup, permits_nobody


class PlainHttp(Struct, frozen=True):
    """Redirect chain that starts at the page's plain HTTP URL.

    `url` is None if no port for plain HTTP is known. Without `hops`, no server answered and `error` is the reason.
    With `next_url`, the last hop redirects to that URL, which did not answer for the reason in `error`.
    """

    url: str | None
    hops: tuple[Response, ...] = ()
    error: str = ""
    next_url: str = ""


class TlsPeer(Struct, frozen=True):
    """Host and port with the result of a TLS handshake.

    `handshake` is None if it failed; `error` is the reason. `has_timed_out`: the server sent nothing before the
    timeout, so probes make no further attempt.
    """

    host: str
    port: int
    handshake: Handshake | None
    error: str = ""
    has_timed_out: bool = False


class TlsSupport(Struct, frozen=True):
    """TLS versions that the server accepts.

    They come with the cipher suite that the server chose for each.

    `weak_ciphers` has one suite for each kind of weakness, by its IANA name. Both fields are empty without TLS.
    """

    versions: Mapping[TlsVersion, str]
    weak_ciphers: tuple[str, ...] = ()


class HttpsAnswer(Struct, frozen=True):
    """Response of the page over HTTPS.

    The scanned page may have been loaded over plain HTTP.

    `response` is None if no server answers over TLS.
    """

    response: Response | None


class CorsAnswer(Struct, frozen=True):
    """Access-Control-Allow-… headers in the response to a request from `origin`."""

    origin: str
    allow_origin: tuple[str, ...]
    allow_credentials: tuple[str, ...]


class Cors(Struct, frozen=True):
    """The page's responses to CORS requests from foreign origins.

    The origins are a random host, `null`, and hosts that resemble the page's own.
    """

    answers: tuple[CorsAnswer, ...]


class OriginCors(Struct, frozen=True):
    """One page's responses to CORS requests.

    The requests have foreign origins that resemble the page's own.
    """

    url: str
    answers: tuple[CorsAnswer, ...] = ()


class SecondFetch(Struct, frozen=True):
    """Second response of the page, and its policies.

    `page` is None if the first response had no nonces to compare.
    """

    page: Page | None = None
    policies: Policies = field(default_factory=Policies)


class Script(Struct, frozen=True):
    """Script that the page loads.

    `text` is the beginning of its source, or empty if the script was not fetched.
    """

    url: str
    text: str = ""


class LoadedScripts(Struct, frozen=True):
    scripts: tuple[Script, ...]


class MailRecords(Struct, frozen=True):
    """MX records of the domain, and TXT records for SPF and DMARC.

    `included_spf` has the SPF records of the domains that the domain's record includes, by their names.
    `host_counts` tells how many addresses or mail servers the names in these records have.
    `parent_dmarc` is the policy of a parent domain that applies if the domain has no DMARC record.
    """

    domain: str | None
    mx: tuple[str, ...] = ()
    spf: tuple[str, ...] = ()
    dmarc: tuple[str, ...] = ()
    included_spf: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    host_counts: Mapping[HostLookup, int] = field(default_factory=dict)
    parent_dmarc: ParentPolicy | None = None

    @property
    def mail_servers(self) -> list[tuple[int, str]]:
        """Return preference and name of the mail servers, the best preference first. The name is empty for null MX."""
        pairs = (record.split(maxsplit=1) for record in self.mx)
        return sorted((int(pair[0]), pair[1].lower().rstrip(".")) for pair in pairs if len(pair) == 2)

    @property
    def has_null_mx(self) -> bool:
        """Return True if the domain says that it receives no mail (RFC 7505)."""
        return [name for _, name in self.mail_servers] == [""]

    @property
    def receives_mail(self) -> bool:
        """Return True if an MX record names a mail server."""
        return any(name for _, name in self.mail_servers)

    @property
    def sends_mail(self) -> bool:
        """Return True if the records suggest that mail of the domain exists."""
        if self.has_null_mx or (self.spf and all(map(permits_nobody, self.spf))):
            return False
        return bool(self.mx or self.spf)

    @property
    def mail_names(self) -> list[str]:
        """Return the names of mail servers and of included SPF records, which show who sends mail for the domain."""
        return [*(name for _, name in self.mail_servers), *self.included_spf]


class SecurityTxt(Struct, frozen=True):
    """Response with the security.txt of the host, or else of its domain.

    None if both lack the file.

    `requested_url` is the URL before redirects.
    """

    response: Response | None
    requested_url: str = ""


class NotFoundBaseline(Struct, frozen=True):
    """Responses for three paths that cannot exist.

    Two are random names, one has invalid UTF-8.

    The third response is missing if the server did not answer.
    """

    answers: tuple[Response, ...]


class PathAnswer(Struct, frozen=True):
    """Response for the path of a possible sensitive file, without its body.

    Redirects were not followed.

    `is_exposed`: the status is 200, the content matches the file's signature, and the response differs from the site's
    responses for files that do not exist. `excerpt` then names the proof, masked, without any value.
    `status` is None if no response came, or no baseline to compare the response with; `error` is the reason.
    """

    path: str
    status: int | None
    media_type: str = ""
    size_bytes: int = 0
    is_exposed: bool = False
    excerpt: str = ""
    error: str = ""


class Exposure(Struct, frozen=True):
    """Responses for the paths of sensitive files, by ID of the check."""

    families: Mapping[str, tuple[PathAnswer, ...]]


class FolderExposure(Struct, frozen=True):
    """Responses for sensitive files in the page's folders, by check ID.

    The folders are below the root.
    """

    families: Mapping[str, tuple[PathAnswer, ...]]


class SourceMaps(Struct, frozen=True):
    """Responses for the source maps of the page's own scripts."""

    answers: tuple[PathAnswer, ...]


class AssetDirectories(Struct, frozen=True):
    """Responses for the folders of the page's own assets, such as /static/."""

    answers: tuple[Response, ...]
