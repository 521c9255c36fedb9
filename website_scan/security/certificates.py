"""Helpers that the checks of TLS certificates share."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, ClassVar, Self

from website_scan.findings import Server
from website_scan.messages import excerpt
from website_scan.net.tls.certificates import Certificate
from website_scan.net.tls.trust import Distrust, Handshake
from website_scan.outcomes import Fail, Fix
from website_scan.places import Column, Place
from website_scan.values import Excerpt, Lifetime, Reason, Word

RENEWAL_PERIOD = timedelta(days=14)
# Maximum validity in days that browsers accept from public authorities, by the first day of the certificate (CA/Browser
# Forum, Baseline Requirements, section 6.3.2). Certificates from before 2020-09-01 have all expired.
MAX_VALIDITY_DAYS = (
    (datetime(2029, 3, 15, tzinfo=UTC), 47),
    (datetime(2027, 3, 15, tzinfo=UTC), 100),
    (datetime(2026, 3, 15, tzinfo=UTC), 200),
    (datetime(2020, 9, 1, tzinfo=UTC), 398),
)
# Only Apple's browsers refuse weak RSA keys of this size, so tls-cert-strength judges them.
MIN_TOLERATED_RSA_BITS = 1024
FULL_CHAIN_SETTINGS = {
    Server.NGINX: "ssl_certificate fullchain.pem;",
    Server.APACHE: "SSLCertificateFile fullchain.pem",
    Server.IIS: "Import-Certificate -FilePath intermediate.cer -CertStoreLocation Cert:\\LocalMachine\\CA",
}
SEND_INTERMEDIATES_FIX = Fix("Send the intermediate certificates too.", FULL_CHAIN_SETTINGS)
REPLACE_INTERMEDIATES_FIX = Fix(
    "Keep the certificate. Replace the chain file with that of this certificate: the certificate first, then the "
    "intermediate that issued it.",
    FULL_CHAIN_SETTINGS,
)
STRONG_CERTIFICATE_FIX = (
    "Get a new certificate from a public authority, with an ECDSA P-256 or RSA 2048-bit key, and let an ACME client "
    "renew it."
)
# Server settings that allow TLS 1.2 and 1.3 only.
TLS_1_2_AND_1_3_SETTINGS = {
    Server.NGINX: "ssl_protocols TLSv1.2 TLSv1.3;",
    Server.APACHE: "SSLProtocol -all +TLSv1.2 +TLSv1.3",
}
STRONG_SUITES_SETTINGS = {
    Server.NGINX: "ssl_ciphers ECDHE+AESGCM:ECDHE+CHACHA20;",
    Server.APACHE: "SSLCipherSuite ECDHE+AESGCM:ECDHE+CHACHA20",
    Server.IIS: "Disable-TlsCipherSuite -Name SUITE # in PowerShell, for each of the others",
}
LEGACY_TLS_OFF_SETTINGS = TLS_1_2_AND_1_3_SETTINGS | {
    Server.IIS: r'reg add "HKLM\SYSTEM\CurrentControlSet\Control\SecurityProviders\SCHANNEL\Protocols\TLS 1.0\Server" '
    "/v Enabled /t REG_DWORD /d 0 /f # in PowerShell, for each older version",
}
TLS_1_3_ON_SETTINGS = TLS_1_2_AND_1_3_SETTINGS | {
    Server.IIS: "# Windows Server 2022 or later supports TLS 1.3 without a setting"
}


class CertificateRow(Place, frozen=True):
    """Certificate from the chain that a server sends."""

    kind: ClassVar[str] = "certificate"

    subject: Annotated[str, Column("Subject")]
    issuer: Annotated[str, Column("Issuer")]
    not_before: Annotated[str, Column("Valid from", "moment")]
    not_after: Annotated[str, Column("Valid until", "moment")]
    key: Annotated[str, Column("Key", "short")]
    signature: Annotated[str | None, Column("Signature", "short")]

    @classmethod
    def from_certificate(cls, certificate: Certificate) -> Self:
        return cls(
            subject=excerpt(certificate.subject),
            issuer=excerpt(certificate.issuer),
            not_before=f"{certificate.not_before:%Y-%m-%dT%H:%M:%SZ}",
            not_after=f"{certificate.not_after:%Y-%m-%dT%H:%M:%SZ}",
            key=f"{certificate.key_type} {certificate.key_bits or ''}".strip(),
            signature=certificate.signature_hash,
        )


def find_trust_fault(handshake: Handshake, details: Sequence[CertificateRow]) -> Fail | None:
    """Return the reason why browsers distrust the certificate chain.

    None if browsers trust the chain.
    """
    trust, issuer = handshake.trust, Excerpt(handshake.last_linked.issuer)
    match trust.distrust:
        case None:
            return _find_browser_refusal(handshake, details)
        case Distrust.SELF_SIGNED:
            subject = Excerpt(handshake.leaf.subject)
            return Fail(
                "self-signed", "The certificate of “{subject}” is self-signed.", subject=subject, details=details
            )
        case Distrust.INCOMPLETE_CHAIN if handshake.strangers:
            return _describe_wrong_intermediate(handshake, details)
        case Distrust.INCOMPLETE_CHAIN if trust.proven:
            return Fail(
                "incomplete",
                "The server does not send the intermediate certificate “{issuer}”, which only some browsers fetch by "
                "themselves.",
                issuer=issuer,
                details=details,
                fix=SEND_INTERMEDIATES_FIX,
            )
        case Distrust.INCOMPLETE_CHAIN:
            return Fail(
                "no-root",
                "The server sends its own certificate only, whose issuer “{issuer}” is not a trusted root: an "
                "intermediate is missing, or the issuer is unknown.",
                issuer=issuer,
                details=details,
            )
        case Distrust.UNKNOWN_ISSUER:
            return Fail(
                "unknown-issuer",
                "The chain ends at “{issuer}”, which is not trusted.",
                issuer=issuer,
                details=details,
            )
        case Distrust.OTHER:
            return Fail(
                "invalid",
                "The chain is not valid: {reason} (error {code}).",
                reason=Reason(trust.text),
                code=Word(str(trust.code)),
                details=details,
            )


def _describe_wrong_intermediate(handshake: Handshake, details: Sequence[CertificateRow]) -> Fail:
    last, stranger = handshake.last_linked, handshake.strangers[0]
    issuer, subject = Excerpt(last.issuer), Excerpt(last.subject)
    if stranger.subject == last.issuer:
        return Fail(
            "incomplete",
            "The server does not send the certificate “{issuer}”, which issued “{subject}”. It sends another "
            "certificate of this name, whose key did not sign it.",
            issuer=issuer,
            subject=subject,
            details=details,
            fix=REPLACE_INTERMEDIATES_FIX,
        )
    return Fail(
        "incomplete",
        "The server does not send the certificate “{issuer}”, which issued “{subject}”. It sends “{stranger}” instead, "
        "which did not issue it.",
        issuer=issuer,
        subject=subject,
        stranger=Excerpt(stranger.subject),
        details=details,
        fix=REPLACE_INTERMEDIATES_FIX,
    )


def _find_browser_refusal(handshake: Handshake, details: Sequence[CertificateRow]) -> Fail | None:
    """Return why browsers refuse a chain with a trusted root.

    An example is a weak key.

    None if browsers accept it.
    """
    for certificate in handshake.signed:
        is_tolerated_rsa_key = certificate.key_type == "RSA" and certificate.key_bits >= MIN_TOLERATED_RSA_BITS
        is_weakness_tolerated = is_tolerated_rsa_key and not certificate.has_broken_signature
        if certificate.weakness_reason and not is_weakness_tolerated:
            return Fail(
                "weak",
                "Browsers refuse the chain, though its root is trusted: “{subject}” has {fault}.",
                subject=Excerpt(certificate.subject),
                fault=Word(certificate.weakness_reason),
                details=details,
                fix=STRONG_CERTIFICATE_FIX,
            )
    leaf = handshake.leaf
    limits = ((since, days) for since, days in MAX_VALIDITY_DAYS if leaf.not_before >= since)
    since, days = next(limits, (leaf.not_before, None))
    lifetime = leaf.not_after - leaf.not_before
    if days is None or not handshake.trust.is_public or lifetime <= timedelta(days=days):
        return None
    return Fail(
        "long",
        "The certificate is valid for {lifetime}; browsers accept at most {days} days from public authorities for "
        "certificates issued since {since}.",
        lifetime=Lifetime(lifetime.total_seconds()),
        days=days,
        since=Word(f"{since:%F}"),
        details=details,
        fix=STRONG_CERTIFICATE_FIX,
    )


def is_due_for_renewal(certificate: Certificate, now: datetime) -> bool:
    """Return True if the certificate expires soon.

    This means within two weeks or, if shorter, within the last third of its lifetime.
    """
    lifetime = certificate.not_after - certificate.not_before
    return certificate.not_after - now < min(RENEWAL_PERIOD, lifetime / 3)
