"""Rows of tables about mail servers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Annotated, ClassVar, Self

from website_scan.messages import excerpt
from website_scan.net.mail_servers import MailDialog
from website_scan.net.tls.certificates import Certificate
from website_scan.net.tls.trust import Handshake
from website_scan.places import Column, Identity, Place, as_written
from website_scan.security.mail_server_evidence import MailServer


class ContactedServerRow(Place, frozen=True):
    """Address of a mail server, with its reply or error."""

    kind: ClassVar[str] = "mail-server-dialog"

    server: Annotated[str, Identity(as_written), Column("Mail server", "mono")]
    address: Annotated[str | None, Column("Address", "mono")] = None
    state: Annotated[str | None, Column("State")] = None
    reply: Annotated[str | None, Column("Reply or error")] = None

    @classmethod
    def of(cls, servers: Iterable[MailServer]) -> list[Self]:
        rows = []
        for server in servers:
            name = excerpt(server.name, 255)
            if not server.addresses:
                rows.append(cls(name, state="has no address" if server.is_resolved else "not tested"))
            rows += [
                cls(name, dialog.address, str(dialog.state), excerpt(dialog.text, 200) or None)
                for dialog in server.dialogs
            ]
        return rows


class MailTlsRow(Place, frozen=True):
    """TLS version and cipher suite that a mail server has negotiated."""

    kind: ClassVar[str] = "mail-server-tls"

    server: Annotated[str, Identity(as_written), Column("Mail server", "mono")]
    address: Annotated[str, Column("Address", "mono")]
    version: Annotated[str, Column("TLS version", "short")]
    cipher: Annotated[str, Column("Cipher suite", "mono")]

    @classmethod
    def of(cls, server: MailServer, dialog: MailDialog, handshake: Handshake) -> Self:
        return cls(excerpt(server.name, 255), dialog.address, handshake.version.label, handshake.cipher)


class MailCertificateRow(Place, frozen=True):
    """Certificate of a mail server."""

    kind: ClassVar[str] = "mail-server-certificate"

    server: Annotated[str, Identity(as_written), Column("Mail server", "mono")]
    subject: Annotated[str, Column("Subject")]
    issuer: Annotated[str, Column("Issuer")]
    not_after: Annotated[str, Column("Valid until", "moment")]

    @classmethod
    def of(cls, server: MailServer, certificate: Certificate) -> Self:
        return cls(
            excerpt(server.name, 255),
            excerpt(certificate.subject),
            excerpt(certificate.issuer),
            f"{certificate.not_after:%Y-%m-%dT%H:%M:%SZ}",
        )


class MailTlsaRow(Place, frozen=True):
    """TLSA record of a mail server, with whether it matches the certificate."""

    kind: ClassVar[str] = "mail-server-tlsa"

    server: Annotated[str, Identity(as_written), Column("Mail server", "mono")]
    record: Annotated[str, Column("TLSA record", "code")]
    result: Annotated[str | None, Column("Result")] = None

    @classmethod
    def of(cls, server: MailServer, now: datetime) -> list[Self]:
        if server.tlsa is None:
            return []
        matching = {record for handshake in server.handshakes for record in server.matching_tlsa(handshake, now)}
        matching_texts = {record.text for record in matching}
        usable_texts = {record.text for record in server.usable_tlsa}

        def result(text: str) -> str | None:
            if text in matching_texts:
                return "matches"
            if text not in usable_texts:
                return "is ignored"
            return "does not match" if server.handshakes else None

        return [cls(excerpt(server.name, 255), excerpt(text, 300), result(text)) for text in server.tlsa.records]


def encrypted_dialogs(servers: Iterable[MailServer]) -> Iterator[tuple[MailServer, MailDialog, Handshake]]:
    """Yield the dialogs in which a TLS handshake was completed."""
    for server in servers:
        for dialog in server.dialogs:
            if dialog.handshake is not None:
                yield server, dialog, dialog.handshake
