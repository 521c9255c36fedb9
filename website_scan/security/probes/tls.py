"""Probes for the TLS versions and cipher suites that the server accepts."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import NotReachable, TimedOut, TlsFailed
from website_scan.net.tls.ciphers import NAMES, SUITES_FOR_OLD_VERSIONS, TLS13, WEAK, TlsVersion, Weakness, weakness
from website_scan.net.tls.hello import Alert, NotTls, ServerHello
from website_scan.net.tls.offers import offer
from website_scan.net.tls.trust import HANDSHAKE_TIMEOUT_S
from website_scan.page.evidence import Page
from website_scan.security.evidence import TlsPeer, TlsSupport

# The TLS probe uses half of the eight connections that a scan may open to a host.
MAX_CONCURRENT_HELLOS = 4
# An HTTP server may wait forever for the rest of a TLS hello.
OPTIONAL_TLS_TIMEOUT_S = 4.0

HELLO_BY_VERSION: tuple[tuple[TlsVersion, tuple[int, ...]], ...] = (
    (TlsVersion.TLS1_3, tuple(TLS13)),
    (TlsVersion.TLS1_2, SUITES_FOR_OLD_VERSIONS),
    (TlsVersion.TLS1_1, SUITES_FOR_OLD_VERSIONS),
    (TlsVersion.TLS1_0, SUITES_FOR_OLD_VERSIONS),
    (TlsVersion.SSL3_0, SUITES_FOR_OLD_VERSIONS),
)


@probe(of_origin=True)
def tls_peer(page: Page, network: Network) -> TlsPeer:
    """Perform a TLS handshake with the page's host.

    For a page over plain HTTP, the port is 443 instead of 80, or the page's own port, because no other is known.
    Raises `NotReachable`, `TimedOut` or `TlsFailed` if the page came over https but the handshake fails.
    """
    from website_scan.net.tls.handshake import handshake  # The import is slow, because it loads OpenSSL.

    host, port = _host_and_port(page)
    try:
        timeout_s = HANDSHAKE_TIMEOUT_S if page.target.is_https else OPTIONAL_TLS_TIMEOUT_S
        return TlsPeer(host, port, handshake(network, host, port, timeout_s=timeout_s))
    except (NotReachable, TimedOut, TlsFailed) as error:
        if page.target.is_https:
            raise
        return TlsPeer(host, port, None, str(error), has_timed_out=isinstance(error, TimedOut))


def _host_and_port(page: Page) -> tuple[str, int]:
    for target in (page.target, page.requested):
        if target.is_https:
            return target.host, target.port
    port = page.target.port
    return page.target.host, 443 if port == 80 else port


@probe(of_origin=True)
def tls_support(peer: TlsPeer, network: Network) -> TlsSupport:
    """Find the TLS versions and weak cipher suites that the server accepts.

    Every version takes one TLS hello; weak suites may take several. Raises `TlsFailed` if a server that completes a
    handshake accepts none of these hellos.
    """
    if peer.handshake is None and (peer.has_timed_out or not _supports_tls(peer, network)):
        return TlsSupport({})
    offers = [*HELLO_BY_VERSION, (TlsVersion.TLS1_2, tuple(WEAK))]
    with ThreadPoolExecutor(MAX_CONCURRENT_HELLOS, "offer") as pool:
        *answers, weak = pool.map(lambda arguments: _send_hello(network, peer, *arguments), offers)
    versions = {
        version: NAMES[answer.cipher]
        for (version, _), answer in zip(HELLO_BY_VERSION, answers, strict=True)
        if answer is not None and answer.version == version
    }
    if peer.handshake is not None:
        if not versions:
            raise TlsFailed("The server took none of the TLS hellos that would show what it supports.")
        versions.setdefault(peer.handshake.version, peer.handshake.cipher)
    return TlsSupport(versions, _find_weak_ciphers(network, peer, weak, list(versions.values())))


def _supports_tls(peer: TlsPeer, network: Network) -> bool:
    """Return True if the port speaks TLS.

    It answers a TLS hello with a TLS message, which may be an alert.
    """
    try:
        answer = offer(network, peer.host, peer.port, TlsVersion.TLS1_2, SUITES_FOR_OLD_VERSIONS)
    except (NotReachable, TimedOut, NotTls):
        return False
    return answer is not None


def _send_hello(network: Network, peer: TlsPeer, version: TlsVersion, ciphers: Sequence[int]) -> ServerHello | None:
    """Return the server's hello if it accepts the offer, else None.

    The offer is the TLS version with the cipher suites.
    """
    try:
        answer = offer(network, peer.host, peer.port, version, ciphers)
    except (NotReachable, TimedOut, NotTls):
        return None
    if answer is None or isinstance(answer, Alert):
        return None
    return answer if answer.cipher in ciphers else None


def _find_weak_ciphers(
    network: Network, peer: TlsPeer, hello: ServerHello | None, chosen: Sequence[str]
) -> tuple[str, ...]:
    """Return one accepted weak cipher suite for each kind of weakness.

    Every further hello omits the weaknesses that the server has already accepted.
    """
    suites: dict[Weakness, str] = {}
    for name in chosen:
        if (kind := weakness(name)) is not None:
            suites.setdefault(kind, name)
    while hello is not None:
        name = NAMES[hello.cipher]
        suites.setdefault(weakness(name) or Weakness.NULL, name)
        remaining = [code for code, suite in WEAK.items() if weakness(suite) not in suites]
        hello = _send_hello(network, peer, TlsVersion.TLS1_2, remaining) if remaining else None
    return tuple(suites.values())
