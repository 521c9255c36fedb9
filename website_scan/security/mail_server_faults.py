"""Faults of mail servers' certificates for senders that verify them."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from website_scan.net.tls.trust import Distrust, Handshake
from website_scan.security.mail_server_evidence import MailServer

REASONS = {
    Distrust.INCOMPLETE_CHAIN: "the server does not send the certificate that issued its own.",
    Distrust.SELF_SIGNED: "the certificate is self-signed.",
    Distrust.UNKNOWN_ISSUER: "the issuer of the certificate is not trusted.",
    Distrust.OTHER: "the certificate's chain is not valid.",
}


class CertificateFault(Struct, frozen=True):
    """Fault of a certificate, with the outcome of the check and a sentence without a subject."""

    outcome: str
    sentence: str


def certificate_fault(server: MailServer, handshake: Handshake, now: datetime) -> CertificateFault | None:
    """Return the first reason why a sender that verifies certificates refuses the server, or None.

    The name must be that of the MX record (RFC 8461, section 4.1).
    """
    leaf = handshake.leaf
    if handshake.trust.distrust is not None:
        return CertificateFault("untrusted", REASONS[handshake.trust.distrust])
    if leaf.not_after < now:
        return CertificateFault("expired", f"the certificate expired on {leaf.not_after:%Y-%m-%d}.")
    if leaf.not_before > now:
        return CertificateFault("expired", f"the certificate is valid only from {leaf.not_before:%Y-%m-%d}.")
    if not leaf.matches(server.name):
        names = ", ".join(leaf.dns_names[:3]) or "no name"
        return CertificateFault("wrong-name", f"the certificate is for {names}.")
    if leaf.weakness_reason is not None:
        return CertificateFault("weak", f"the certificate has {leaf.weakness_reason}.")
    return None
