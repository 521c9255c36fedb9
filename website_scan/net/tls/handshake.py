"""TLS handshakes over the guarded connection.

They verify the chain.

Handshakes connect only through `Network.connect`. Probes import this module only when a site has TLS, because the
import of OpenSSL takes 50 ms.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from msgspec.structs import replace
from OpenSSL import SSL, crypto

from website_scan.net.client import Network
from website_scan.net.errors import NetError, TimedOut, TlsFailed
from website_scan.net.http.request import Request
from website_scan.net.targets import InvalidUrl
from website_scan.net.tls.certificate_reader import find_linked_certificates, read_certificate, read_issuers
from website_scan.net.tls.certificates import BadCertificate, Certificate
from website_scan.net.tls.ciphers import TlsVersion
from website_scan.net.tls.hello import NotTls
from website_scan.net.tls.offers import RECEIVE_CHUNK_BYTES, seconds_until, server_name
from website_scan.net.tls.roots import additional_roots, public_roots
from website_scan.net.tls.trust import HANDSHAKE_TIMEOUT_S, Distrust, Handshake, Trust

ISSUER_TIMEOUT_S = 3.0
MAX_ISSUER_BYTES = 64 * 1024
MAX_FETCHED_ISSUERS = 3
MAX_HANDSHAKE_BYTES = 512 * 1024

# Verification errors of OpenSSL, X509_V_ERR_… (openssl-verify(1), "Diagnostics").
NOT_YET_VALID, HAS_EXPIRED = 9, 10
SELF_SIGNED_LEAF, SELF_SIGNED_IN_CHAIN = 18, 19
ISSUER_MISSING_CODES = frozenset({2, 20, 21})

VERIFY_ERROR_TEXTS = {
    2: "an issuer's certificate is missing",
    7: "a signature in the chain is wrong",
    NOT_YET_VALID: "an issuer's certificate is not valid yet",
    HAS_EXPIRED: "an issuer's certificate has expired",
    SELF_SIGNED_LEAF: "the certificate is signed by its own key",
    SELF_SIGNED_IN_CHAIN: "the chain ends in a root that is not trusted",
    20: "the issuer of a certificate is neither sent nor trusted",
    21: "the issuer of the only certificate is neither sent nor trusted",
    24: "an issuer's certificate does not belong to a certificate authority",
    25: "the chain is longer than an issuer's certificate allows",
    26: "the certificate is not made for a web server",
    47: "an issuer may not sign for this name",
    79: "an issuer's certificate does not belong to a certificate authority",
}

# Weak cipher suites for old servers come last, so that a modern server chooses as for a browser.
CIPHERS = b"DEFAULT:@SECLEVEL=0"
OP_LEGACY_SERVER_CONNECT = 0x4  # Allows servers without RFC 5746.


def handshake(network: Network, host: str, port: int, *, timeout_s: float = HANDSHAKE_TIMEOUT_S) -> Handshake:
    """Complete a TLS handshake, and verify the chain.

    An untrusted certificate does not end the handshake.

    The trusted roots are those of the system, of certifi and of the policy's `ca_bundle`. Raises `TlsFailed` (also
    `NotTls`, `BadCertificate`), `TimedOut`, and the errors of `Network.connect`.
    """
    context = _context_of(network)
    tls = _new_connection(context, host, (b"h2", b"http/1.1"))
    with network.connect(host, port, timeout_s=timeout_s) as connection:
        _complete_handshake(tls, connection, time.monotonic() + timeout_s)
    return _describe_session(network, context, tls)


def upgrade(
    network: Network, connection: socket.socket, host: str, farewell: bytes, *, timeout_s: float = HANDSHAKE_TIMEOUT_S
) -> Handshake:
    """Complete a TLS handshake on an open connection, send `farewell` encrypted, and close the connection.

    An untrusted certificate does not end the handshake. Raises `TlsFailed` (also `NotTls`, `BadCertificate`) or
    `TimedOut`.
    """
    context = _context_of(network)
    tls = _new_connection(context, host, ())
    with connection:
        deadline = time.monotonic() + timeout_s
        _complete_handshake(tls, connection, deadline)
        # The session is established. A server that closes it without the farewell loses nothing.
        with contextlib.suppress(SSL.Error, NetError):
            tls.send(farewell)
            _send(tls, connection, deadline)
    return _describe_session(network, context, tls)


def _context_of(network: Network) -> SSL.Context:
    ca_bundle = network.policy.ca_bundle
    return _tls_context(str(ca_bundle) if ca_bundle else None)


def _new_connection(context: SSL.Context, host: str, protocols: Sequence[bytes]) -> SSL.Connection:
    """Return the client's end of a TLS session, whose app data is a list for the errors of certificates."""
    tls = SSL.Connection(context, None)
    errors: list[tuple[int, int]] = []
    tls.set_app_data(errors)
    name = server_name(host)
    if name is not None:
        tls.set_tlsext_host_name(name.encode("ascii"))
    if protocols:
        tls.set_alpn_protos(list(protocols))
    tls.set_connect_state()
    return tls


def _describe_session(network: Network, context: SSL.Context, tls: SSL.Connection) -> Handshake:
    presented = [_encode_der(certificate) for certificate in tls.get_peer_cert_chain() or ()]
    if not presented:
        raise TlsFailed("The server sent no certificate.")
    chain = _parse_chain(presented)
    linked_ders = find_linked_certificates(presented)
    linked = _parse_chain(linked_ders)
    strangers = _parse_readable(der for der in presented if der not in linked_ders)
    trust = _judge_errors(tls.get_app_data())
    if trust.code in ISSUER_MISSING_CODES:
        trust = _try_missing_issuers(network, context, presented, linked, trust, has_strangers=bool(strangers))
    verified = (
        [_encode_der(certificate) for certificate in tls.get_verified_chain() or ()] if trust.distrust is None else []
    )
    if verified:
        trust = replace(trust, is_public=verified[-1] in public_roots())
    return Handshake(
        version=TlsVersion(tls.get_protocol_version()),
        cipher=tls.get_cipher_name() or "",
        alpn=tls.get_alpn_proto_negotiated().decode("ascii", "replace"),
        chain=chain,
        path=_parse_chain(verified) if verified else chain,
        trust=trust,
        last_linked=linked[-1],
        strangers=strangers,
    )


@cache
def _tls_context(ca_bundle: str | None) -> SSL.Context:
    context = SSL.Context(SSL.TLS_METHOD)
    context.set_min_proto_version(SSL.TLS1_VERSION)
    context.set_cipher_list(CIPHERS)
    context.set_options(OP_LEGACY_SERVER_CONNECT)
    context.set_verify(SSL.VERIFY_PEER, _record_error)
    system = ssl.get_default_verify_paths()
    for bundle in (system.cafile, ca_bundle):
        if bundle and Path(bundle).is_file():
            context.load_verify_locations(bundle)
    if system.capath and Path(system.capath).is_dir():
        context.load_verify_locations(None, system.capath)
    if (store := context.get_cert_store()) is not None:
        for der in additional_roots():
            store.add_cert(crypto.load_certificate(crypto.FILETYPE_ASN1, der))
    return context


def _record_error(tls: SSL.Connection, _certificate: crypto.X509, code: int, depth: int, ok: int) -> bool:
    """Record certificate errors in OpenSSL's verification callback.

    The callback accepts each certificate.
    """
    if not ok:
        errors: list[tuple[int, int]] = tls.get_app_data()
        errors.append((code, depth))
    return True


def _complete_handshake(tls: SSL.Connection, connection: socket.socket, deadline: float) -> None:
    received_bytes = 0
    while True:
        done = False
        try:
            tls.do_handshake()
            done = True
        except SSL.WantReadError:
            pass
        except SSL.Error as error:
            _send(tls, connection, deadline)
            raise _named_error(error) from error
        _send(tls, connection, deadline)
        if done:
            return
        data = _receive(connection, deadline)
        if not data:
            raise TlsFailed("The server closed the connection during the TLS handshake.")
        received_bytes += len(data)
        if received_bytes > MAX_HANDSHAKE_BYTES:
            raise TlsFailed("The server's TLS handshake is too long.")
        tls.bio_write(data)


def _send(tls: SSL.Connection, connection: socket.socket, deadline: float) -> None:
    try:
        while True:
            data = tls.bio_read(RECEIVE_CHUNK_BYTES)
            connection.settimeout(seconds_until(deadline))
            connection.sendall(data)
    except SSL.WantReadError:
        return
    except TimeoutError as error:
        raise TimedOut("The TLS handshake took too long.") from error
    except OSError as error:
        raise TlsFailed("The server closed the connection during the TLS handshake.") from error


def _receive(connection: socket.socket, deadline: float) -> bytes:
    try:
        connection.settimeout(seconds_until(deadline))
        return connection.recv(RECEIVE_CHUNK_BYTES)
    except TimeoutError as error:
        raise TimedOut("The TLS handshake took too long.") from error
    except OSError as error:
        raise TlsFailed("The server closed the connection during the TLS handshake.") from error


def _named_error(error: SSL.Error) -> TlsFailed:
    details = error.args[0] if error.args else []
    reason = str(details[0][2]) if details else "no reason given"
    if reason in ("wrong version number", "http request", "packet length too long", "https proxy request"):
        return NotTls("The port answers, but not with TLS.")
    return TlsFailed(f"The TLS handshake failed: {reason}.")


def _encode_der(certificate: crypto.X509) -> bytes:
    return crypto.dump_certificate(crypto.FILETYPE_ASN1, certificate)


def _parse_chain(ders: Sequence[bytes]) -> tuple[Certificate, ...]:
    """Parse a chain of certificates.

    Raises `BadCertificate` for the leaf; leaves out other unreadable certificates.
    """
    return (read_certificate(ders[0]), *_parse_readable(ders[1:]))


def _parse_readable(ders: Iterable[bytes]) -> tuple[Certificate, ...]:
    certificates = []
    for der in ders:
        try:
            certificates.append(read_certificate(der))
        except BadCertificate:
            continue
    return tuple(certificates)


def _judge_errors(errors: Sequence[tuple[int, int]]) -> Trust:
    """Judge from OpenSSL's errors whether the chain is trusted.

    Another check judges the leaf's dates.
    """
    codes = [(code, depth) for code, depth in errors if depth or code not in (NOT_YET_VALID, HAS_EXPIRED)]
    if not codes:
        return Trust()
    kinds = (
        ({SELF_SIGNED_LEAF}, Distrust.SELF_SIGNED),
        ({SELF_SIGNED_IN_CHAIN}, Distrust.UNKNOWN_ISSUER),
        (ISSUER_MISSING_CODES, Distrust.UNKNOWN_ISSUER),
    )
    for wanted, distrust in kinds:
        for code, depth in codes:
            if code in wanted:
                return Trust(distrust, code, _error_text(code), depth)
    code, depth = codes[0]
    return Trust(Distrust.OTHER, code, _error_text(code), depth)


def _error_text(code: int) -> str:
    return VERIFY_ERROR_TEXTS.get(code, f"verification error {code}")


def _try_missing_issuers(
    network: Network,
    context: SSL.Context,
    presented: Sequence[bytes],
    linked: Sequence[Certificate],
    trust: Trust,
    *,
    has_strangers: bool,
) -> Trust:
    """Say why a certificate chain has no known root.

    Either an intermediate certificate is missing, or the issuer is unknown.

    The chain is proven incomplete if certificates from the caIssuers addresses (RFC 5280, section 4.2.2.1) complete it.
    If no such address answers, a leaf sent alone counts as incomplete, because authorities issue from intermediates. So
    does a chain with certificates that belong to no issuer of the leaf, such as those of an earlier certificate.
    """
    known = list(presented)
    top = linked[-1]
    answered = False
    for _ in range(MAX_FETCHED_ISSUERS):
        issuers = _fetch_issuers(network, top)
        if not issuers:
            break
        answered = True
        known += issuers
        if _completes_chain(context, known):
            return replace(trust, distrust=Distrust.INCOMPLETE_CHAIN, proven=True)
        try:
            top = read_certificate(issuers[0])
        except BadCertificate:
            break
        if top.is_self_issued:
            break
    if not answered and (len(linked) == 1 or has_strangers):
        return replace(trust, distrust=Distrust.INCOMPLETE_CHAIN)
    return trust


def _fetch_issuers(network: Network, certificate: Certificate) -> list[bytes]:
    for url in certificate.ca_issuers[:2]:
        # Only http is used, because https would depend on the trust that is being established.
        if not url.startswith("http://"):
            continue
        try:
            response = network.fetch(Request(url, timeout_s=ISSUER_TIMEOUT_S, max_bytes=MAX_ISSUER_BYTES))
        except (NetError, InvalidUrl):
            continue
        if response.status == 200 and (issuers := read_issuers(response.body)):
            return issuers
    return []


def _completes_chain(context: SSL.Context, ders: Sequence[bytes]) -> bool:
    certificates = [crypto.load_certificate(crypto.FILETYPE_ASN1, der) for der in ders]
    store = context.get_cert_store()
    if store is None:
        return False
    try:
        crypto.X509StoreContext(store, certificates[0], certificates[1:]).verify_certificate()
    except crypto.X509StoreContextError as error:
        # OpenSSL reports invalid dates only if the chain is complete.
        return error.errors[0] in (NOT_YET_VALID, HAS_EXPIRED)
    return True
