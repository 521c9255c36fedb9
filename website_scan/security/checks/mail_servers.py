"""Checks of a domain's mail servers: reachable, encrypted and authenticated."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from website_scan.catalogue import check
from website_scan.findings import LOW, MEDIUM, NotApplicable
from website_scan.messages import some
from website_scan.net.dnssec.answers import Security
from website_scan.net.smtp import MailState
from website_scan.net.tls.ciphers import TlsVersion, is_forward_secret
from website_scan.outcomes import Fail, Fix, Language, Note, Pass, Verdict, Warn, outcome
from website_scan.page.evidence import Clock
from website_scan.places import Place
from website_scan.security.checks import mail as mail_checks
from website_scan.security.dns_places import NO_OWN_DOMAIN
from website_scan.security.mail_server_evidence import MailDialogs, MailServer
from website_scan.security.mail_server_faults import certificate_fault
from website_scan.security.mail_server_places import (
    ContactedServerRow,
    MailCertificateRow,
    MailTlsaRow,
    MailTlsRow,
    encrypted_dialogs,
)
from website_scan.values import Count, Excerpt, Word

CATEGORY = mail_checks.CATEGORY

NOT_ALLOWED = NotApplicable(
    "Not tested: this installation does not connect to mail servers. Its operator allows it with SCAN_MAIL_SERVERS=on, "
    "and a user of the command with --mail-servers."
)
NO_MAIL = NotApplicable("The domain receives no mail: its MX record is “.”.")
NO_MX = NotApplicable("The domain has no MX records.")
NO_ANSWER = NotApplicable(
    "Not tested: no mail server answered on port 25. The network of this installation may block this port."
)
NO_DIALOG = NotApplicable("Not tested: no mail server let this scanner get as far as STARTTLS.")
NO_TLS = NotApplicable("No mail server completed a TLS handshake.")
NO_SIGNATURES = NotApplicable("Not tested: the name servers of this installation deliver no DNSSEC signatures.")
NO_DANE_NAMES = NotApplicable("DANE needs DNSSEC, which protects the address of no mail server.")
WITHOUT_STARTTLS = frozenset({MailState.NO_STARTTLS})
BROKEN_STARTTLS = frozenset({MailState.NOT_AVAILABLE, MailState.TLS_FAILED})
TESTED_STATES = WITHOUT_STARTTLS | BROKEN_STARTTLS | {MailState.ENCRYPTS}


def _not_judged(mail: MailDialogs) -> NotApplicable | None:
    """Return why there is no mail server to judge, or None."""
    if mail.domain is None:
        return NO_OWN_DOMAIN
    if not mail.is_allowed:
        return NOT_ALLOWED
    if not mail.servers:
        return NO_MAIL if mail.refuses_mail else NO_MX
    return None


def _in_state(servers: Sequence[MailServer], states: Collection[MailState]) -> list[MailServer]:
    return [server for server in servers if any(dialog.state in states for dialog in server.dialogs)]


def _names(servers: Sequence[MailServer]) -> Excerpt:
    return Excerpt(some([server.name for server in servers]), 300)


@check(
    "mail-server-reachable",
    name="Mail servers are reachable",
    outcomes={
        "unreachable": "Mail server does not answer",
        "no-address": "Mail server has no address",
        "not-smtp": "Mail server does not speak SMTP",
    },
    why="Mail reaches the domain later, or not at all, if a server that its MX records name does not accept it.",
    severity=MEDIUM,
    fix=Fix(
        "Let the mail server answer on port 25, or remove its MX record.",
        {Language.DNS: "example.com. MX 10 mail.example.com."},
    ),
    judged="A server that answers, but rejects the scanner or answers slowly, passes: many servers do so against spam. "
    "The check does not apply if no server answers, because the scanner's own network may block port 25.",
    references=("RFC 5321, section 5.1",),
)
def mail_server_reachable(mail: MailDialogs) -> Verdict:
    if (reason := _not_judged(mail)) is not None:
        return reason
    rows = ContactedServerRow.of(mail.servers)
    missing = [server for server in mail.servers if server.is_resolved and not server.addresses]
    if missing:
        return Fail("no-address", "No IP address is published for {servers}.", servers=_names(missing), details=rows)
    if other := _in_state(mail.servers, {MailState.NOT_SMTP}):
        return Fail("not-smtp", "Port 25 of {servers} answers, but not with SMTP.", servers=_names(other), details=rows)
    if not any(server.answers for server in mail.servers):
        return NO_ANSWER
    silent = [
        server
        for server in mail.servers
        if not server.answers and any(dialog.state is MailState.SILENT for dialog in server.dialogs)
    ]
    if silent:
        return Warn(
            "unreachable",
            "No answer came on port 25 of {servers}, unlike from other mail servers of the domain.",
            servers=_names(silent),
            details=rows,
        )
    answering = sum(server.answers for server in mail.servers)
    return Pass("{servers} {servers:answers|answer}.", servers=Count(answering, "mail server"), details=rows)


@check(
    "mail-server-ipv6",
    name="Mail servers are reachable over IPv6",
    outcomes={
        "missing": "Mail servers have no IPv6 address",
        "unreachable": outcome("Mail server does not answer over IPv6", MEDIUM),
    },
    why="Senders without IPv4 of their own reach other mail servers only through translators, which many do not use.",
    severity=LOW,
    fix=Fix(
        "Enable IPv6 at the mail server or its provider, and publish an AAAA record with a reverse record.",
        {Language.DNS: "mail.example.com. AAAA 2001:db8::25"},
    ),
    references=("RFC 6540", "RFC 3974"),
)
def mail_server_ipv6(mail: MailDialogs) -> Verdict:
    if (reason := _not_judged(mail)) is not None:
        return reason
    rows = ContactedServerRow.of(mail.servers)
    dialogs = [dialog for server in mail.servers for dialog in server.dialogs if dialog.is_ipv6]
    resolved = [server for server in mail.servers if server.is_resolved]
    if not resolved:
        return NO_ANSWER
    if not dialogs:
        return Warn("missing", "No mail server has an IPv6 address (AAAA record).", details=rows)
    silent = [
        server
        for server in mail.servers
        if any(dialog.is_ipv6 and dialog.state is MailState.SILENT for dialog in server.dialogs)
    ]
    if silent:
        return Fail("unreachable", "No answer came over IPv6 from {servers}.", servers=_names(silent), details=rows)
    if all(dialog.state in (MailState.NOT_TESTED, MailState.REFUSED) for dialog in dialogs):
        return NotApplicable("Not tested: this installation reaches no mail server over IPv6.")
    return Pass("Mail servers answer over IPv6.", details=rows)


@check(
    "mail-server-starttls",
    name="Mail servers encrypt with STARTTLS",
    outcomes={
        "missing": "Mail server does not offer STARTTLS",
        "broken": "STARTTLS of a mail server fails",
    },
    why="Without STARTTLS, everybody on the way between two mail servers can read and change the mail.",
    severity=MEDIUM,
    fix=Fix(
        "Give the mail server a certificate and enable STARTTLS on port 25, as here in Postfix.",
        {Language.FILE: "smtpd_tls_security_level = may"},
    ),
    references=("RFC 3207", "RFC 8314, section 3", "RFC 7435"),
)
def mail_server_starttls(mail: MailDialogs) -> Verdict:
    if (reason := _not_judged(mail)) is not None:
        return reason
    rows = ContactedServerRow.of(mail.servers)
    if missing := _in_state(mail.servers, WITHOUT_STARTTLS):
        return Fail("missing", "STARTTLS is not offered by {servers}.", servers=_names(missing), details=rows)
    if broken := _in_state(mail.servers, BROKEN_STARTTLS):
        return Fail(
            "broken",
            "STARTTLS is offered by {servers}, but no encrypted connection is possible.",
            servers=_names(broken),
            details=rows,
            fix="Read the mail server's log: a missing key file, an expired certificate chain or a firewall that "
            "changes SMTP are the usual reasons.",
        )
    tested = _in_state(mail.servers, TESTED_STATES)
    if not tested:
        return NO_DIALOG
    return Pass(
        "{servers} {servers:encrypts|encrypt} with STARTTLS.", servers=Count(len(tested), "mail server"), details=rows
    )


@check(
    "mail-server-tls",
    name="Mail servers use current TLS",
    outcomes={
        "old-version": "Mail server has only an outdated TLS version",
        "no-forward-secrecy": outcome("Mail server has no forward secrecy", LOW),
    },
    why="TLS 1.0 and 1.1 have known weaknesses, and without forward secrecy a stolen key decrypts recorded mail.",
    severity=MEDIUM,
    fix=Fix(
        "Update the mail server's TLS library, and allow TLS 1.2 and 1.3, as here in Postfix.",
        {Language.FILE: "smtpd_tls_protocols = >=TLSv1.2"},
    ),
    judged="The scanner connects once, offers TLS 1.0 to 1.3, and judges what the server chooses. A server that also "
    "accepts old versions passes, because senders would otherwise send without encryption (RFC 7435).",
    references=("RFC 8996", "RFC 9325, sections 3.1 and 4.1"),
)
def mail_server_tls(mail: MailDialogs) -> Verdict:
    if (reason := _not_judged(mail)) is not None:
        return reason
    sessions = list(encrypted_dialogs(mail.servers))
    if not sessions:
        return NO_TLS
    rows = [MailTlsRow.of(*session) for session in sessions]
    for server, _, handshake in sessions:
        if handshake.version < TlsVersion.TLS1_2:
            return Fail(
                "old-version",
                "{server} chooses {version}, although the scanner offers TLS 1.3.",
                server=Excerpt(server.name),
                version=Word(handshake.version.label),
                details=rows,
            )
    for server, _, handshake in sessions:
        if not is_forward_secret(handshake.cipher):
            return Warn(
                "no-forward-secrecy",
                "{server} chooses {cipher}, without forward secrecy.",
                server=Excerpt(server.name),
                cipher=Word(handshake.cipher),
                details=rows,
            )
    versions = sorted({handshake.version for _, _, handshake in sessions})
    return Pass(
        "Mail servers choose {versions}.", versions=Word(some([version.label for version in versions])), details=rows
    )


@check(
    "mail-server-certificate",
    name="Mail servers have valid certificates",
    outcomes={
        "wrong-name": outcome("Certificate of a mail server has another name", LOW, MEDIUM),
        "expired": outcome("Certificate of a mail server has expired", LOW, MEDIUM),
        "untrusted": outcome("Certificate of a mail server is not trusted", LOW, MEDIUM),
        "weak": outcome("Certificate of a mail server is weak", LOW, MEDIUM),
    },
    why="Only a valid certificate proves to senders that verify it that the mail server is the right one.",
    severity=LOW,
    fix="Get a certificate with the name of the MX record from a public authority, and let an ACME client renew it.",
    judged="Most senders accept every certificate, because they would otherwise send without encryption, so a fault "
    "has no weight. It fails with medium severity if an MTA-STS policy in mode enforce asks senders to verify. "
    "Certificates of servers with DANE are judged by mail-server-dane.",
    references=("RFC 8461, section 4.2", "RFC 7672, section 1.3", "RFC 9525"),
)
def mail_server_certificate(mail: MailDialogs, clock: Clock) -> Verdict:
    if (reason := _not_judged(mail)) is not None:
        return reason
    # MTA-STS asks for a trusted certificate also if the server has DANE (RFC 8461, section 2).
    judged = [server for server in mail.servers if mail.must_authenticate or not server.usable_tlsa]
    sessions = list(encrypted_dialogs(judged))
    if not sessions:
        return NO_TLS if judged else NotApplicable("All mail servers have DANE, which authenticates them.")
    rows: list[Place] = [
        MailCertificateRow.of(*pair)
        for pair in dict.fromkeys((server, handshake.leaf) for server, _, handshake in sessions)
    ]
    for server, _, handshake in sessions:
        if (fault := certificate_fault(server, handshake, clock.now)) is None:
            continue
        if mail.must_authenticate:
            return Fail(
                fault.outcome,
                "Senders that follow the domain's MTA-STS policy do not deliver to {server}: {reason}",
                severity=MEDIUM,
                server=Excerpt(server.name),
                reason=Excerpt(fault.sentence, 300),
                details=rows,
            )
        return Note(
            fault.outcome,
            "{server}: {reason}",
            server=Excerpt(server.name),
            reason=Excerpt(fault.sentence, 300),
            details=rows,
        )
    return Pass("The certificates are valid for the names of the MX records.", details=rows)


@check(
    "mail-server-dnssec",
    name="Names of mail servers are signed",
    outcomes={
        "off": "Name of a mail server is not signed",
        "broken": outcome("DNSSEC of a mail server's name is broken", MEDIUM),
    },
    why="A forged address of the mail server leads all mail to somebody else, although the domain itself is signed.",
    severity=LOW,
    fix="Enable DNSSEC for the domain of the mail server, or ask its provider to.",
    judged="An unsigned name has no weight, because it usually belongs to the mail provider.",
    references=("RFC 7672, section 2.2.2", "RFC 4035, section 5"),
)
def mail_server_dnssec(mail: MailDialogs) -> Verdict:
    if (reason := _not_judged(mail)) is not None:
        return reason
    if mail.security is not Security.SECURE:
        is_unknown = mail.security is Security.UNKNOWN
        return NO_SIGNATURES if is_unknown else NotApplicable("The domain's own MX records are not signed.")
    rows = ContactedServerRow.of(mail.servers)
    if broken := [server for server in mail.servers if server.security is Security.BOGUS]:
        return Fail(
            "broken",
            "Validating resolvers reject the addresses of {servers}, so senders that use them cannot deliver.",
            servers=_names(broken),
            details=rows,
        )
    if unsigned := [server for server in mail.servers if server.security is Security.INSECURE]:
        return Note("off", "The address of {servers} is not signed.", servers=_names(unsigned), details=rows)
    if all(server.security is Security.SECURE for server in mail.servers):
        return Pass("The addresses of all mail servers are signed.", details=rows)
    return NO_SIGNATURES


@check(
    "mail-server-dane",
    name="DANE authenticates mail servers",
    outcomes={
        "missing": "Mail server has no DANE",
        "mismatch": outcome("TLSA records match no certificate of a mail server", MEDIUM),
        "no-starttls": outcome("Mail server with DANE does not encrypt", MEDIUM),
        "rejected": outcome("TLSA records of a mail server cannot be looked up", MEDIUM),
        "unusable": "Senders ignore the TLSA records of a mail server",
        "mx-unsigned": "MX records of a domain with DANE are not signed",
        "no-rollover": "Only one TLSA record of a mail server",
    },
    why="DANE lets senders demand encryption and the right certificate, so nobody can intercept the mail on its way.",
    severity=LOW,
    fix=Fix(
        "Publish a TLSA record with the public key of each mail server, and a second one with its next key or its "
        "issuer's.",
        {Language.DNS: "_25._tcp.mail.example.com. TLSA 3 1 1 SHA-256-OF-PUBLIC-KEY"},
    ),
    judged="Missing DANE, unsigned MX records and a single record have no weight. Only the usages DANE-TA (2) and "
    "DANE-EE (3) count.",
    references=("RFC 7672", "RFC 7671, section 8.1", "RFC 6698"),
)
def mail_server_dane(mail: MailDialogs, clock: Clock) -> Verdict:
    if (reason := _not_judged(mail)) is not None:
        return reason
    if mail.security is Security.BOGUS:
        return NotApplicable("The domain's own MX records have wrong signatures.")
    signed = [server for server in mail.servers if server.addresses and server.security is Security.SECURE]
    if not signed:
        is_unknown = any(server.security is Security.UNKNOWN for server in mail.servers)
        return NO_SIGNATURES if is_unknown else NO_DANE_NAMES
    rows: list[Place] = [row for server in signed for row in MailTlsaRow.of(server, clock.now)]
    if rejected := [server for server in signed if server.tlsa_failed]:
        return Fail(
            "rejected",
            "The TLSA records of {servers} cannot be validated, so senders with DANE deliver no mail there.",
            servers=_names(rejected),
            details=rows,
            fix="Ask the provider of the name servers: they must answer queries of the type TLSA, with signatures.",
        )
    with_records = [server for server in signed if server.usable_tlsa]
    if unencrypted := _in_state(with_records, WITHOUT_STARTTLS | BROKEN_STARTTLS):
        return Fail(
            "no-starttls",
            "TLSA records exist for {servers}, but no encryption, so senders with DANE deliver no mail there.",
            servers=_names(unencrypted),
            details=rows,
        )
    mismatched = [
        server
        for server in with_records
        if any(not server.matching_tlsa(handshake, clock.now) for handshake in server.handshakes)
    ]
    if mismatched:
        return Fail(
            "mismatch",
            "No TLSA record of {servers} matches the certificate, so senders with DANE deliver no mail there.",
            servers=_names(mismatched),
            details=rows,
        )
    if useless := [server for server in signed if server.secure_tlsa and not server.usable_tlsa]:
        return Warn(
            "unusable",
            "Senders use none of the TLSA records of {servers}, because of their usage or syntax.",
            servers=_names(useless),
            details=rows,
        )
    if missing := [server for server in signed if not server.secure_tlsa]:
        return Note("missing", "No TLSA record exists for {servers}.", servers=_names(missing), details=rows)
    if not any(server.handshakes for server in with_records):
        return NO_DIALOG
    if mail.security is not Security.SECURE:
        return Note(
            "mx-unsigned",
            "The TLSA records match, but the MX records of {domain} are not signed, so a forged one can lead senders "
            "elsewhere.",
            domain=Excerpt(mail.domain or ""),
            details=rows,
        )
    if single := [server for server in with_records if len(server.usable_tlsa) == 1]:
        return Note(
            "no-rollover",
            "Only one TLSA record exists for {servers}, so a new key has to wait until resolvers know its record.",
            servers=_names(single),
            details=rows,
        )
    return Pass("TLSA records match the certificates of all mail servers with signed names.", details=rows)
