"""Generated certificates, and small TLS servers on loopback."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import socket
import ssl
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID, NameOID
from msgspec import Struct

from website_scan.net.tls.ciphers import TlsVersion

LOOPBACK = "127.0.0.1"
DAY = datetime.timedelta(days=1)


class Identity(Struct, frozen=True):
    """Certificate with its private key.

    An authority's certificate can issue others.
    """

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

    @classmethod
    def root(cls, name: str = "A Test Root", *, rsa_bits: int = 0) -> Self:
        return cls(*_certificate(name, None, authority=True, rsa_bits=rsa_bits))

    def issue_authority(self, name: str = "A Test Intermediate") -> Identity:
        return Identity(*_certificate(name, self, authority=True))

    def issue(
        self,
        *names: str,
        not_before: datetime.datetime | None = None,
        not_after: datetime.datetime | None = None,
        ca_issuers: str | None = None,
        alternative_names: bool = True,
        rsa_bits: int = 0,
        client_only: bool = False,
    ) -> Identity:
        """Return a leaf certificate for these names or addresses.

        The first is also the common name.
        """
        return Identity(
            *_certificate(
                names[0],
                self,
                names=names if alternative_names else (),
                not_before=not_before,
                not_after=not_after,
                ca_issuers=ca_issuers,
                rsa_bits=rsa_bits,
                client_only=client_only,
            )
        )

    def issue_with_sha1(self, name: str) -> Identity:
        """Return a leaf certificate with a SHA-1 signature.

        The library refuses to issue such certificates.

        Requires an RSA authority.
        """
        assert isinstance(self.key, rsa.RSAPrivateKey)
        leaf = self.issue(name)
        with_sha256, with_sha1 = (bytes.fromhex(f"06092a864886f70d0101{last}") for last in ("0b", "05"))
        signed = leaf.certificate.tbs_certificate_bytes.replace(with_sha256, with_sha1)
        signature = self.key.sign(signed, padding.PKCS1v15(), hashes.SHA1())
        der = leaf.der.replace(with_sha256, with_sha1)[: -len(signature)] + signature
        return Identity(x509.load_der_x509_certificate(der), leaf.key)

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )


def self_signed(name: str) -> Identity:
    return Identity(*_certificate(name, None, names=(name,)))


_KEY_USAGE_OF_AUTHORITIES = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


def _certificate(
    name: str,
    issuer: Identity | None,
    *,
    authority: bool = False,
    names: Sequence[str] = (),
    not_before: datetime.datetime | None = None,
    not_after: datetime.datetime | None = None,
    ca_issuers: str | None = None,
    rsa_bits: int = 0,
    client_only: bool = False,
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey]:
    key = rsa.generate_private_key(65537, rsa_bits) if rsa_bits else ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(not_before or now - DAY)
        .not_valid_after(not_after or now + 60 * DAY)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    # Since Python 3.13, a default context enforces RFC 5280 (VERIFY_X509_STRICT).
    if authority:
        builder = builder.add_extension(_KEY_USAGE_OF_AUTHORITIES, critical=True)
    if issuer:
        builder = builder.add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key()), critical=False
        )
    if names:
        builder = builder.add_extension(
            x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False
        )
    if client_only:
        builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
    if ca_issuers:
        access = x509.AccessDescription(
            AuthorityInformationAccessOID.CA_ISSUERS, x509.UniformResourceIdentifier(ca_issuers)
        )
        builder = builder.add_extension(x509.AuthorityInformationAccess([access]), critical=False)
    return builder.sign(issuer.key if issuer else key, hashes.SHA256()), key


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


@contextlib.contextmanager
def serve(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """Run a server on loopback until the block ends.

    It passes each connection to `answer`. Yields the port.
    """
    threads: list[threading.Thread] = []
    connections: list[socket.socket] = []
    with socket.create_server((LOOPBACK, 0)) as listener:

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                connections.append(connection)
                thread = threading.Thread(target=_run, args=(answer, connection), daemon=True)
                threads.append(thread)
                thread.start()

        acceptor = threading.Thread(target=accept, daemon=True)
        acceptor.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            acceptor.join(5)
            for connection in connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
                connection.close()
            for thread in threads:
                thread.join(5)


def _run(answer: Callable[[socket.socket], None], connection: socket.socket) -> None:
    with connection, contextlib.suppress(OSError):
        answer(connection)


@contextlib.contextmanager
def tls_server(
    folder: Path,
    leaf: Identity,
    *issuers: Identity,
    minimum: ssl.TLSVersion | None = None,
    maximum: ssl.TLSVersion | None = None,
    ciphers: str | None = None,
    respond: bytes = b"",
) -> Iterator[int]:
    """Run a TLS server that sends exactly this chain.

    It answers every request with `respond`.
    """
    bundle = folder / f"{leaf.certificate.serial_number}.pem"
    bundle.write_bytes(b"".join([leaf.key_pem, leaf.pem, *(issuer.pem for issuer in issuers)]))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if ciphers:
        context.set_ciphers(ciphers)
    context.load_cert_chain(bundle)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Tests use old TLS versions, for which Python warns.
        if minimum is not None:
            context.minimum_version = minimum
        if maximum is not None:
            context.maximum_version = maximum

    def answer(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as tls:
            if tls.recv(65536) and respond:
                tls.sendall(respond)

    with serve(answer) as port:
        yield port


def http_answer(body: bytes, status: int = 200, headers: str = "") -> Callable[[socket.socket], None]:
    """Return a handler that sends the same response to every request.

    It is an argument of `serve`.

    `headers` are whole lines.
    """

    def answer(connection: socket.socket) -> None:
        if connection.recv(65536):
            connection.sendall(http_message(body, status, headers))

    return answer


def http_message(body: bytes, status: int = 200, headers: str = "") -> bytes:
    """Return a raw HTTP response with `Connection: close`."""
    typed = "" if "content-type:" in headers.lower() else "Content-Type: text/html; charset=utf-8\r\n"
    length = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return f"HTTP/1.1 {status} Answer\r\n{typed}{headers}{length}".encode() + body


def server_hello(version: int, cipher: int, *, random: bytes = bytes(32), extensions: bytes = b"") -> bytes:
    """Return a TLS record with a ServerHello."""
    legacy = min(version, TlsVersion.TLS1_2)
    body = legacy.to_bytes(2, "big") + random + b"\0" + cipher.to_bytes(2, "big") + b"\0"
    if version == TlsVersion.TLS1_3:
        extensions += bytes([0, 43, 0, 2]) + version.to_bytes(2, "big")
    if extensions:
        body += len(extensions).to_bytes(2, "big") + extensions
    message = b"\x02" + len(body).to_bytes(3, "big") + body
    return b"\x16\x03\x03" + len(message).to_bytes(2, "big") + message


def alert(description: int, level: int = 2) -> bytes:
    """Return a TLS record with an alert.

    The alert is fatal unless `level` is 1.
    """
    return bytes([21, 3, 3, 0, 2, level, description])
