"""TLS probes: handshake, and the protocol versions and cipher suites that the server accepts."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import NotReachable, TimedOut, TlsFailed
from website_scan.net.tls.ciphers import NAMES, SOUND_OR_OLD, TLS13, WEAK, TlsVersion, Weakness, weakness
from website_scan.net.tls.hello import Alert, NotTls, ServerHello
from website_scan.net.tls.offers import offer
from website_scan.net.tls.trust import HANDSHAKE_TIMEOUT_S
from website_scan.page.evidence import Page
from website_scan.security.evidence import TlsPeer, TlsSupport

# Half of the eight connections that a scan may have open to a host at once.
OFFERS_AT_ONCE = 4
# Short timeout for the TLS port of a page over plain HTTP: an HTTP server may wait for the rest of a TLS hello forever.
UNSURE_TIMEOUT_S = 4.0

VERSION_OFFERS: tuple[tuple[TlsVersion, tuple[int, ...]], ...] = (
    (TlsVersion.TLS1_3, tuple(TLS13)),
    (TlsVersion.TLS1_2, SOUND_OR_OLD),
    (TlsVersion.TLS1_1, SOUND_OR_OLD),
    (TlsVersion.TLS1_0, SOUND_OR_OLD),
    (TlsVersion.SSL3_0, SOUND_OR_OLD),
)


@probe(of_origin=True)
def tls_peer(page: Page, network: Network) -> TlsPeer:
    """Perform a TLS handshake with the page's host.

    For a page over plain HTTP, the port is 443 instead of 80, or the page's own port, because no other is known.
    Raises `NotReachable`, `TimedOut` or `TlsFailed` if the page came over https but the handshake fails.
    """
    from website_scan.net.tls.handshake import handshake  # deferred, because the import loads OpenSSL

    host, port = _host_and_port(page)
    try:
        timeout_s = HANDSHAKE_TIMEOUT_S if page.target.is_https else UNSURE_TIMEOUT_S
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
    """Send one TLS hello per protocol version, and one with weak suites only. If accepted, send more weak hellos.

    Raises `TlsFailed` if a server that completes a handshake accepts none of these hellos.
    """
    if peer.handshake is None and (peer.has_timed_out or not _speaks_tls(peer, network)):
        return TlsSupport({})
    offers = [*VERSION_OFFERS, (TlsVersion.TLS1_2, tuple(WEAK))]
    with ThreadPoolExecutor(OFFERS_AT_ONCE, "offer") as pool:
        *answers, weak = pool.map(lambda arguments: _accepted_hello(network, peer, *arguments), offers)
    versions = {
        version: NAMES[answer.cipher]
        for (version, _), answer in zip(VERSION_OFFERS, answers, strict=True)
        if answer is not None and answer.version == version
    }
    if peer.handshake is not None:
        if not versions:
            raise TlsFailed("The server took none of the TLS hellos that would show what it supports.")
        versions.setdefault(peer.handshake.version, peer.handshake.cipher)
    return TlsSupport(versions, _weak_ciphers(network, peer, weak, list(versions.values())))


def _speaks_tls(peer: TlsPeer, network: Network) -> bool:
    """Return True if the port answers a hello with a TLS message, even if the message is an alert."""
    try:
        answer = offer(network, peer.host, peer.port, TlsVersion.TLS1_2, SOUND_OR_OLD)
    except (NotReachable, TimedOut, NotTls):
        return False
    return answer is not None


def _accepted_hello(network: Network, peer: TlsPeer, version: TlsVersion, ciphers: Sequence[int]) -> ServerHello | None:
    """Return the server's hello if it accepts the version and a cipher suite. None after an alert or a timeout."""
    try:
        answer = offer(network, peer.host, peer.port, version, ciphers)
    except (NotReachable, TimedOut, NotTls):
        return None
    if answer is None or isinstance(answer, Alert):
        return None
    return answer if answer.cipher in ciphers else None


def _weak_ciphers(network: Network, peer: TlsPeer, hello: ServerHello | None, chosen: Sequence[str]) -> tuple[str, ...]:
    """Return one suite for each weakness that the server accepts.

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
        hello = _accepted_hello(network, peer, TlsVersion.TLS1_2, remaining) if remaining else None
    return tuple(suites.values())
