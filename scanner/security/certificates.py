"""Certificates of servers: facts for evidence, sentences about distrust, and server settings for the fixes."""

from __future__ import annotations

from datetime import datetime, timedelta

from scanner.findings import EvidenceItem, Fix, Server
from scanner.messages import excerpt
from scanner.net.tls.certificates import Certificate
from scanner.net.tls.handshake import Distrust, Handshake

RENEWAL = timedelta(days=14)
FULL_CHAIN = {
    Server.NGINX: "ssl_certificate fullchain.pem;",
    Server.APACHE: "SSLCertificateFile fullchain.pem",
    Server.IIS: "import the intermediates into “Intermediate Certification Authorities” of the computer",
}
SEND_INTERMEDIATES = Fix("Send the intermediate certificates too ({example}).", FULL_CHAIN)
# Server settings that allow TLS 1.2 and 1.3 only.
TODAYS_TLS = {
    Server.NGINX: "ssl_protocols TLSv1.2 TLSv1.3;",
    Server.APACHE: "SSLProtocol -all +TLSv1.2 +TLSv1.3",
}
STRONG_SUITES = {
    Server.NGINX: "ssl_ciphers ECDHE+AESGCM:ECDHE+CHACHA20;",
    Server.APACHE: "SSLCipherSuite ECDHE+AESGCM:ECDHE+CHACHA20",
    Server.IIS: "Disable-TlsCipherSuite in PowerShell for each of the others",
}
LEGACY_OFF = TODAYS_TLS | {Server.IIS: "turn the older ones off under SCHANNEL\\Protocols in the registry"}
MODERN_ON = TODAYS_TLS | {Server.IIS: "Windows Server 2022 or later has it"}


def facts(certificate: Certificate) -> EvidenceItem:
    return {
        "subject": excerpt(certificate.subject),
        "issuer": excerpt(certificate.issuer),
        "not_before": f"{certificate.not_before:%Y-%m-%dT%H:%M:%SZ}",
        "not_after": f"{certificate.not_after:%Y-%m-%dT%H:%M:%SZ}",
        "key": f"{certificate.key_type} {certificate.key_bits or ''}".strip(),
        "signature": certificate.signature_hash,
    }


def distrust(handshake: Handshake) -> str | None:
    """Return why browsers do not trust the chain, as a sentence. None if they trust it."""
    trust, issuer = handshake.trust, excerpt(handshake.chain[-1].issuer)
    match trust.distrust:
        case None:
            return None
        case Distrust.SELF_SIGNED:
            return f"Self-signed certificate of “{excerpt(handshake.leaf.subject)}”."
        case Distrust.INCOMPLETE_CHAIN if trust.proven:
            return (
                f"Incomplete chain: the server does not send the intermediate “{issuer}”, which only some browsers "
                "fetch by themselves."
            )
        case Distrust.INCOMPLETE_CHAIN:
            return (
                f"Incomplete chain: the server sends its own certificate only, whose issuer “{issuer}” is not a "
                "trusted root; an intermediate is missing, or the issuer is unknown."
            )
        case Distrust.UNKNOWN_ISSUER:
            return f"Unknown issuer: the chain ends at untrusted “{issuer}”."
        case Distrust.OTHER:
            return f"The chain is not valid: {trust.text} (error {trust.code})."


def is_due_for_renewal(certificate: Certificate, now: datetime) -> bool:
    """Return True if less than two weeks are left, or less than a third of a shorter lifetime."""
    lifetime = certificate.not_after - certificate.not_before
    return certificate.not_after - now < min(RENEWAL, lifetime / 3)
