"""TLS probes: the handshake, and the protocol versions and cipher suites that the server accepts."""

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

# A scan may have eight connections open to a host at once; these are half of them.
OFFERS_AT_ONCE = 4
# For a page that came over plain HTTP: a web server that takes any hello for a slow request stays silent.
TWIN_TIMEOUT_S = 4.0

VERSION_OFFERS: tuple[tuple[TlsVersion, tuple[int, ...]], ...] = (
    (TlsVersion.TLS1_3, tuple(TLS13)),
    (TlsVersion.TLS1_2, SOUND_OR_OLD),
    (TlsVersion.TLS1_1, SOUND_OR_OLD),
    (TlsVersion.TLS1_0, SOUND_OR_OLD),
    (TlsVersion.SSL3_0, SOUND_OR_OLD),
)


@probe(of_origin=True)
def tls_peer(page: Page, network: Network) -> TlsPeer:
    """Shake hands with the page's host.

    For a page over plain HTTP, the handshake is with its https twin: port 443 for port 80, otherwise the same port,
    because no other is known. An https page whose handshake now fails is an error, not a host without TLS.
    """
    from website_scan.net.tls.handshake import handshake  # loads OpenSSL, which only this probe and one other need

    host, port = _place(page)
    try:
        timeout_s = HANDSHAKE_TIMEOUT_S if page.target.is_https else TWIN_TIMEOUT_S
        return TlsPeer(host, port, handshake(network, host, port, timeout_s=timeout_s))
    except (NotReachable, TimedOut, TlsFailed) as error:
        if page.target.is_https:
            raise
        return TlsPeer(host, port, None, str(error), is_silent=isinstance(error, TimedOut))


def _place(page: Page) -> tuple[str, int]:
    for target in (page.target, page.requested):
        if target.is_https:
            return target.host, target.port
    port = page.target.port
    return page.target.host, 443 if port == 80 else port


@probe(of_origin=True)
def tls_support(peer: TlsPeer, network: Network) -> TlsSupport:
    """Offer one hello per protocol version and one with weak suites only. Ask for more only if that was accepted.

    Raises `TlsFailed` if a server that completes a handshake accepts none of these offers, so that they show nothing.
    """
    if peer.handshake is None and (peer.is_silent or not _speaks_tls(peer, network)):
        return TlsSupport({})
    offers = [*VERSION_OFFERS, (TlsVersion.TLS1_2, tuple(WEAK))]
    with ThreadPoolExecutor(OFFERS_AT_ONCE, "offer") as pool:
        *answers, weak = pool.map(lambda each: _ask(network, peer, *each), offers)
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
    """Return True if the port answers a hello with TLS at all, even with a refusal."""
    try:
        answer = offer(network, peer.host, peer.port, TlsVersion.TLS1_2, SOUND_OR_OLD)
    except (NotReachable, TimedOut, NotTls):
        return False
    return answer is not None


def _ask(network: Network, peer: TlsPeer, version: TlsVersion, ciphers: Sequence[int]) -> ServerHello | None:
    """Return the server's hello if it accepted the offer. Silence is a refusal: a client can't go on either."""
    try:
        answer = offer(network, peer.host, peer.port, version, ciphers)
    except (NotReachable, TimedOut, NotTls):
        return None
    if answer is None or isinstance(answer, Alert):
        return None
    return answer if answer.cipher in ciphers else None


def _weak_ciphers(network: Network, peer: TlsPeer, taken: ServerHello | None, chosen: Sequence[str]) -> tuple[str, ...]:
    """Return one suite for each weakness. Each further offer leaves out the weaknesses already seen."""
    found: dict[Weakness, str] = {}
    for name in chosen:
        if (kind := weakness(name)) is not None:
            found.setdefault(kind, name)
    while taken is not None:
        name = NAMES[taken.cipher]
        found.setdefault(weakness(name) or Weakness.NULL, name)
        left = [code for code, each in WEAK.items() if weakness(each) not in found]
        taken = _ask(network, peer, TlsVersion.TLS1_2, left) if left else None
    return tuple(found.values())
