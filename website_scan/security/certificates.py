"""Certificates of servers: facts for evidence, sentences about distrust, and server settings for the fixes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from website_scan.findings import EvidenceItem, Fix, Server
from website_scan.messages import duration, excerpt
from website_scan.net.tls.certificates import Certificate
from website_scan.net.tls.trust import Distrust, Handshake, Trust

RENEWAL = timedelta(days=14)
# Days for which browsers accept a certificate of a public authority, by its first day (CA/Browser Forum, Baseline
# Requirements, section 6.3.2). None from before 2020-09-01 can still be valid.
LONGEST_VALIDITY = (
    (datetime(2029, 3, 15, tzinfo=UTC), 47),
    (datetime(2027, 3, 15, tzinfo=UTC), 100),
    (datetime(2026, 3, 15, tzinfo=UTC), 200),
    (datetime(2020, 9, 1, tzinfo=UTC), 398),
)
# Weak, but only Apple's browsers refuse RSA keys from this size on; tls-cert-strength reports them.
TOLERATED_RSA_BITS = 1024
FULL_CHAIN = {
    Server.NGINX: "ssl_certificate fullchain.pem;",
    Server.APACHE: "SSLCertificateFile fullchain.pem",
    Server.IIS: "import the intermediates into “Intermediate Certification Authorities” of the computer",
}
SEND_INTERMEDIATES = Fix("Send the intermediate certificates too ({example}).", FULL_CHAIN)
STRONG_CERTIFICATE = (
    "Get a new certificate from a public authority, with an ECDSA P-256 or RSA 2048-bit key, and let an ACME client "
    "renew it."
)
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


class Fault(NamedTuple):
    """Fault of a certificate or chain: the title of the finding, and a sentence."""

    title: str
    message: str


def distrust(handshake: Handshake) -> Fault | None:
    """Return why browsers do not trust the chain. None if they trust it."""
    trust, issuer = handshake.trust, excerpt(handshake.chain[-1].issuer)
    match trust.distrust:
        case None:
            return _refusal(handshake)
        case Distrust.SELF_SIGNED:
            return Fault(
                "Certificate is self-signed", f"The certificate of “{excerpt(handshake.leaf.subject)}” is self-signed."
            )
        case Distrust.INCOMPLETE_CHAIN if trust.proven:
            return Fault(
                "Certificate chain is incomplete",
                f"The server does not send the intermediate certificate “{issuer}”, which only some browsers fetch by "
                "themselves.",
            )
        case Distrust.INCOMPLETE_CHAIN:
            return Fault(
                "Certificate chain leads to no trusted root",
                f"The server sends its own certificate only, whose issuer “{issuer}” is not a trusted root: an "
                "intermediate is missing, or the issuer is unknown.",
            )
        case Distrust.UNKNOWN_ISSUER:
            return Fault("Certificate issuer is unknown", f"The chain ends at “{issuer}”, which is not trusted.")
        case Distrust.OTHER:
            return Fault(
                "Certificate chain is not valid", f"The chain is not valid: {trust.text} (error {trust.code})."
            )


def fix_of_distrust(trust: Trust) -> str | None:
    """Return the fix for a chain that browsers do not trust. None if it is that of the check."""
    if trust.distrust is None:
        return STRONG_CERTIFICATE
    return SEND_INTERMEDIATES if trust.distrust is Distrust.INCOMPLETE_CHAIN and trust.proven else None


def _refusal(handshake: Handshake) -> Fault | None:
    """Return why browsers refuse a chain that leads to a trusted root. None if they accept it."""
    for each in handshake.signed:
        is_tolerated = each.key_type == "RSA" and each.key_bits >= TOLERATED_RSA_BITS and not each.has_broken_signature
        if each.weak_point and not is_tolerated:
            weak = f"“{excerpt(each.subject)}” has {each.weak_point}"
            return Fault(
                "Certificate is too weak for browsers",
                f"Browsers refuse the chain, though its root is trusted: {weak}.",
            )
    leaf = handshake.leaf
    limits = ((since, days) for since, days in LONGEST_VALIDITY if leaf.not_before >= since)
    since, days = next(limits, (leaf.not_before, None))
    lifetime = leaf.not_after - leaf.not_before
    if days is None or not handshake.trust.is_public or lifetime <= timedelta(days=days):
        return None
    return Fault(
        "Certificate is valid for too long",
        f"The certificate is valid for {duration(lifetime)}; browsers accept at most {days} from public authorities "
        f"for certificates issued since {since:%F}.",
    )


def is_due_for_renewal(certificate: Certificate, now: datetime) -> bool:
    """Return True if less than two weeks are left, or less than a third of a shorter lifetime."""
    lifetime = certificate.not_after - certificate.not_before
    return certificate.not_after - now < min(RENEWAL, lifetime / 3)
