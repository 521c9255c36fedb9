"""Evidence classes for the mail servers of a domain."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from website_scan.net.dnssec.answers import Security, SignedAnswer
from website_scan.net.mail_servers import MailDialog
from website_scan.net.smtp import MailState
from website_scan.net.tls.certificates import Certificate
from website_scan.net.tls.trust import Handshake
from website_scan.security.dane import DANE_EE, DANE_TA, TlsaRecord, read_tlsa

# Labels of the TLSA records for SMTP (RFC 7672, section 2.2.3).
SERVICE_LABELS = "_25._tcp."
# States of servers that have answered a connection.
ANSWERING_STATES = frozenset(MailState) - {MailState.SILENT, MailState.REFUSED, MailState.NOT_TESTED}


class MailServer(Struct, frozen=True):
    """Mail server of the domain (MX record), with a dialog for at most one address of each family.

    `addresses` are all addresses, `security` is the DNSSEC status of their records, and `is_resolved` is False if they
    could not be looked up. `tlsa` are the TLSA records of port 25, None if they were not looked up or no name server
    answered; `tlsa_failed` then distinguishes the two.
    """

    name: str
    preference: int
    addresses: tuple[str, ...] = ()
    is_resolved: bool = True
    security: Security = Security.UNKNOWN
    dialogs: tuple[MailDialog, ...] = ()
    tlsa: SignedAnswer | None = None
    tlsa_failed: bool = False

    @property
    def answers(self) -> bool:
        return any(dialog.state in ANSWERING_STATES for dialog in self.dialogs)

    @property
    def handshakes(self) -> tuple[Handshake, ...]:
        """Return the completed TLS handshakes, one for each address."""
        return tuple(dialog.handshake for dialog in self.dialogs if dialog.handshake is not None)

    @property
    def secure_tlsa(self) -> tuple[TlsaRecord, ...]:
        """Return the TLSA records that DNSSEC protects. Senders ignore others (RFC 7672, section 2.1.1)."""
        if self.tlsa is None or self.tlsa.security is not Security.SECURE:
            return ()
        return read_tlsa(self.tlsa.records)

    @property
    def usable_tlsa(self) -> tuple[TlsaRecord, ...]:
        """Return the records that senders use: of DANE-TA and DANE-EE only (RFC 7672, section 3.1)."""
        return tuple(record for record in self.secure_tlsa if record.is_usable and record.usage in (DANE_TA, DANE_EE))

    def matching_tlsa(self, handshake: Handshake, now: datetime) -> tuple[TlsaRecord, ...]:
        """Return the usable records that authenticate the server.

        DANE-TA requires a certificate with the name of the server that has not expired (RFC 7672, section 3.1.2). Of
        DANE-EE, neither name nor dates count (section 3.1.1).
        """
        linked = [certificate for certificate in handshake.chain if certificate not in handshake.strangers]
        leaf = handshake.leaf
        is_current = leaf.not_before <= now <= leaf.not_after
        return tuple(
            record
            for record in self.usable_tlsa
            if record.matches(linked) and (record.usage == DANE_EE or (is_current and self.has_name_of(leaf)))
        )

    def has_name_of(self, certificate: Certificate) -> bool:
        """Return True if the certificate is for this server, by the name of the MX record or of its alias' target."""
        target = self.tlsa.name.removeprefix(SERVICE_LABELS) if self.tlsa is not None else self.name
        return certificate.matches(self.name) or certificate.matches(target)


class MailDialogs(Struct, frozen=True):
    """Mail servers of the domain, of which `servers` are the preferred ones. `total` is the number of all.

    `domain` is None if the site owner does not control the domain. `is_allowed` is False if this installation does not
    connect to mail servers; the other fields are empty then. `refuses_mail` is True for the null MX record (RFC 7505).
    `security` is the DNSSEC status of the MX records. `must_authenticate`: an MTA-STS policy in mode "enforce" makes
    senders verify certificates (RFC 8461).
    """

    domain: str | None
    is_allowed: bool = True
    servers: tuple[MailServer, ...] = ()
    total: int = 0
    refuses_mail: bool = False
    security: Security = Security.UNKNOWN
    must_authenticate: bool = False
