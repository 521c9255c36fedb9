"""Domains with mail servers of right and wrong kinds, with the outcomes that the RFCs demand.

`expected` names only outcomes that differ from those of the first domain, which is perfect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from tests.targets.domains.zones import Signing
from tests.targets.mail_server import Reply

CAPABILITIES = "250-mail.test\r\n250-SIZE 52428800\r\n250-PIPELINING\r\n250-STARTTLS\r\n250 8BITMIME"
WITHOUT_STARTTLS = "250-mail.test\r\n250-SIZE 52428800\r\n250 8BITMIME"
PERFECT = {
    "reachable": "pass",
    "ipv6": "pass",
    "starttls": "pass",
    "tls": "pass",
    "certificate": "n/a",
    "dnssec": "pass",
    "dane": "pass",
}
UNTESTED = {"starttls": "n/a", "tls": "n/a", "certificate": "n/a", "dane": "n/a"}
# Domains without DANE: their certificates are judged.
UNSIGNED = {"certificate": "pass", "dnssec": "n/a", "dane": "n/a"}
UNREACHED = {**UNTESTED, "reachable": "n/a", "ipv6": "n/a"}
ROLLOVER = "TLSA 3 1 1 {key}\nTLSA 2 1 1 {issuer}"


class Server(Struct, frozen=True):
    """Behaviour of a mail server.

    `replies` are those of `MailServer`. `certificate` is one of `CERTIFICATES` in `mail_server_zoo.py`, None for a
    server that answers STARTTLS in plaintext. `max_version` is the newest TLS version. A `silent` server accepts no
    connection.
    """

    replies: Mapping[str, Reply] = field(default_factory=dict)
    certificate: str | None = "valid"
    max_version: str = ""
    ciphers: str = ""
    is_silent: bool = False


class MailDomain(Struct, frozen=True):
    """Domain with its mail servers. `because` is what is special, `rule` the section of an RFC.

    The first server is `mx1.` and the domain, and so on. In `records`, `{0}` is the domain. `tlsa` are the TLSA records
    of each server. `hosts` replaces the servers' address records, with `{ipv4}` and `{ipv6}` for the addresses.
    """

    name: str
    because: str
    rule: str
    expected: Mapping[str, str] = field(default_factory=dict)
    servers: tuple[Server, ...] = (Server(),)
    tlsa: str = ROLLOVER
    records: str = ""
    hosts: str = "A {ipv4}\nAAAA {ipv6}"
    mx: str = ""
    signing: Signing | None = field(default_factory=Signing)

    @property
    def outcomes(self) -> dict[str, str]:
        return PERFECT | dict(self.expected)


def _talks(name: str, because: str, rule: str, expected: Mapping[str, str], **server: Any) -> MailDomain:
    """Return an unsigned domain whose only mail server is special."""
    return MailDomain(name, because, rule, UNSIGNED | dict(expected), (Server(**server),), "", signing=None)


def _dane(name: str, because: str, rule: str, tlsa: str, dane: str, certificate: str = "valid") -> MailDomain:
    return MailDomain(name, because, rule, {"dane": dane}, (Server(certificate=certificate),), tlsa)


def _presents(name: str, because: str, rule: str, certificate: str, expected: str) -> MailDomain:
    return _talks(name, because, rule, {"certificate": expected}, certificate=certificate)


def _enforces(name: str, because: str, certificate: str, expected: str) -> MailDomain:
    return MailDomain(
        name,
        because,
        "RFC 8461, 4.2",
        UNSIGNED | {"certificate": expected},
        (Server(certificate=certificate),),
        "",
        '_mta-sts.{0} TXT "v=STSv1; id=1"\nmta-sts.{0} A 93.184.215.14\n',
        signing=None,
    )


DOMAINS = (
    MailDomain("perfect.com", "everything is right", "RFC 7672, 2.2"),
    MailDomain("unsigned.com", "no DNSSEC, so no DANE", "RFC 7672, 2.1.1", UNSIGNED, tlsa="", signing=None),
    # STARTTLS.
    _talks(
        "plain.com",
        "EHLO lists no STARTTLS",
        "RFC 3207, 4",
        {"starttls": "missing", "tls": "n/a", "certificate": "n/a"},
        replies={"EHLO": WITHOUT_STARTTLS},
    ),
    _talks(
        "helo-only.com",
        "EHLO is unknown, so there are no extensions",
        "RFC 5321, 4.1.1.1",
        {"starttls": "missing", "tls": "n/a", "certificate": "n/a"},
        replies={"EHLO": "502 what?"},
    ),
    _talks(
        "unavailable.com",
        "STARTTLS answers 454",
        "RFC 3207, 4",
        {"starttls": "broken", "tls": "n/a", "certificate": "n/a"},
        replies={"STARTTLS": "454 TLS not available due to temporary reason"},
    ),
    _talks(
        "plaintext.com",
        "the server goes on in plaintext after STARTTLS",
        "RFC 3207, 4",
        {"starttls": "broken", "tls": "n/a", "certificate": "n/a"},
        certificate=None,
    ),
    _talks(
        "injected.com",
        "a reply that nobody has asked for comes before the handshake",
        "RFC 3207, 4.2 and 5",
        {"starttls": "broken", "tls": "n/a", "certificate": "n/a"},
        replies={"STARTTLS": "220 go ahead\r\n250-mail.test\r\n250 AUTH PLAIN"},
    ),
    _talks(
        "lower-case.com",
        "keywords have any case, and parameters",
        "RFC 5321, 2.4",
        {},
        replies={"EHLO": "250-mail.test\r\n250-size 1\r\n250 starttls required"},
    ),
    _talks(
        "named-like.com",
        "the server's name is no keyword",
        "RFC 5321, 4.1.1.1",
        {"starttls": "missing", "tls": "n/a", "certificate": "n/a"},
        replies={"EHLO": "250-STARTTLS greets you\r\n250 SIZE"},
    ),
    _talks(
        "greeting-lines.com",
        "the greeting has several lines",
        "RFC 5321, 4.2",
        {},
        replies={"HELLO": "220-mail.test ESMTP\r\n220-no spam\r\n220 ready"},
    ),
    # Servers that do not talk to everybody have no fault.
    _talks("rejecting.com", "the greeting is 554", "RFC 5321, 3.1", UNTESTED, replies={"HELLO": "554 blocked"}),
    _talks("busy.com", "the greeting is 421", "RFC 5321, 3.8", UNTESTED, replies={"HELLO": "421 try later"}),
    _talks("greylisting.com", "EHLO answers 450", "RFC 6647, 2", UNTESTED, replies={"EHLO": "450 come back later"}),
    _talks("picky.com", "EHLO answers 550", "RFC 5321, 4.1.4", UNTESTED, replies={"EHLO": "550 no reverse record"}),
    _talks("hanging-up.com", "the server hangs up", "RFC 5321, 3.8", UNTESTED, replies={"HELLO": lambda _: None}),
    _talks("byte-a-time.com", "a byte at a time", "RFC 5321, 4.5.3.2", UNTESTED, replies={"HELLO": "slowly 220 hi"}),
    # Servers that do not speak SMTP.
    _talks(
        "web.com",
        "port 25 is a web server",
        "RFC 5321, 4.2",
        UNTESTED | {"reachable": "not-smtp"},
        replies={"HELLO": "HTTP/1.1 400 Bad Request"},
    ),
    _talks(
        "megabyte.com",
        "a line has a megabyte",
        "RFC 5321, 4.5.3.1.5",
        UNTESTED | {"reachable": "not-smtp"},
        replies={"HELLO": f"220 {'x' * 1_000_000}"},
    ),
    _talks(
        "endless.com",
        "a reply has ten thousand lines",
        "RFC 5321, 4.2.1",
        UNTESTED | {"reachable": "not-smtp"},
        replies={"EHLO": "\r\n".join(["250-X"] * 10_000)},
    ),
    _talks(
        "two-codes.com",
        "the lines of a reply have different codes",
        "RFC 5321, 4.2.1",
        UNTESTED | {"reachable": "not-smtp"},
        replies={"EHLO": "250-mail.test\r\n550 STARTTLS"},
    ),
    # TLS versions, cipher suites and certificates.
    _talks("tls-1-0.com", "TLS 1.0 only", "RFC 8996", {"tls": "old-version"}, max_version="TLSv1"),
    _talks("tls-1-1.com", "TLS 1.1 only", "RFC 8996", {"tls": "old-version"}, max_version="TLSv1_1"),
    _talks("tls-1-2.com", "TLS 1.2 is enough", "RFC 9325, 3.1.1", {}, max_version="TLSv1_2"),
    _talks(
        "static-key.com",
        "RSA key exchange",
        "RFC 9325, 4.1",
        {"tls": "no-forward-secrecy"},
        certificate="rsa",
        max_version="TLSv1_2",
        ciphers="AES256-GCM-SHA384",
    ),
    _presents("other-name.com", "certificate of another name", "RFC 7672, 1.3", "other", "wrong-name"),
    _presents("expired.com", "expired certificate", "RFC 7672, 1.3", "expired", "expired"),
    _presents("self-signed.com", "self-signed certificate", "RFC 7672, 1.3", "self-signed", "untrusted"),
    _presents("unknown-root.com", "issuer that nobody trusts", "RFC 7672, 1.3", "unknown", "untrusted"),
    _presents("weak-key.com", "RSA key of 1,024 bits", "RFC 9325, 4.5", "weak", "weak"),
    _enforces("enforced.com", "MTA-STS and a valid certificate", "valid", "pass"),
    _enforces("enforced-other.com", "MTA-STS and a certificate of another name", "other", "wrong-name"),
    # DANE.
    _dane("key.com", "one record of the key", "RFC 7671, 8.1", "TLSA 3 1 1 {key}", "no-rollover"),
    _dane("next-key.com", "records of this key and the next", "RFC 7671, 8.1",
          "TLSA 3 1 1 {key}\nTLSA 3 1 1 {other}", "pass"),
    _dane("sha-512.com", "SHA-512 of the certificate", "RFC 6698, 2.1.3",
          "TLSA 3 0 2 {certificate512}\nTLSA 3 1 1 {other}", "pass"),
    _dane("issuer.com", "record of the issuer", "RFC 7672, 3.1.2", "TLSA 2 1 1 {issuer}", "no-rollover"),
    _dane("wrong-record.com", "no record matches", "RFC 7672, 2.2", "TLSA 3 1 1 {other}", "mismatch"),
    _dane("issuer-as-leaf.com", "DANE-EE with the issuer's key", "RFC 7672, 3.1.1", "TLSA 3 1 1 {issuer}", "mismatch"),
    _dane("expired-key.com", "DANE-EE ignores dates", "RFC 7672, 3.1.1", ROLLOVER, "pass", "expired"),
    _dane("other-key.com", "DANE-EE ignores names", "RFC 7672, 3.1.1", ROLLOVER, "pass", "other"),
    _dane("other-issued.com", "DANE-TA compares names", "RFC 7672, 3.2.2", "TLSA 2 1 1 {issuer}", "mismatch", "other"),
    _dane("expired-issued.com", "DANE-TA compares dates", "RFC 7671, 5.2", "TLSA 2 1 1 {issuer}", "mismatch",
          "expired"),
    MailDomain("pkix.com", "PKIX-EE is unusable for SMTP", "RFC 7672, 3.1.3",
               {"dane": "unusable", "certificate": "pass"}, tlsa="TLSA 1 1 1 {key}"),
    MailDomain("selector.com", "selector that nobody knows", "RFC 6698, 4.1",
               {"dane": "unusable", "certificate": "pass"}, tlsa="TLSA 3 7 1 {key}"),
    MailDomain("signed-only.com", "DNSSEC, but no TLSA record", "RFC 7672, 2.2",
               {"dane": "missing", "certificate": "pass"}, tlsa=""),
    MailDomain("dane-plain.com", "TLSA records, but no STARTTLS", "RFC 7672, 2.2",
               {"dane": "no-starttls", "starttls": "missing", "tls": "n/a"},
               (Server({"EHLO": WITHOUT_STARTTLS}),)),
    MailDomain("bad-tlsa.com", "the TLSA records have wrong signatures", "RFC 7672, 2.1.2",
               {"dane": "rejected", "certificate": "pass"}, signing=Signing(forged=("TLSA",))),
    MailDomain("bad-address.com", "the addresses have wrong signatures", "RFC 7672, 2.2.2",
               {"dnssec": "broken", "dane": "n/a", "certificate": "pass"}, tlsa="", signing=Signing(forged=("A",))),
    MailDomain("half-dane.com", "one of two servers has no DANE", "RFC 7672, 2.2",
               {"dane": "missing", "certificate": "pass"}, (Server(), Server()), ROLLOVER + "\n;"),
    # Names and addresses.
    MailDomain("alias.com", "TLSA records at the target of an alias", "RFC 7672, 2.2.3", {},
               hosts="CNAME host.{0}",
               records="host.{0} A {ipv4}\nhost.{0} AAAA {ipv6}\n_25._tcp.host.{0} TLSA 3 1 1 {key}\n"
                       "_25._tcp.host.{0} TLSA 2 1 1 {issuer}\n", tlsa=""),
    MailDomain("ipv4.com", "no IPv6", "RFC 6540", {"ipv6": "missing"}, hosts="A {ipv4}"),
    MailDomain("no-address.com", "the name of the MX record has no address", "RFC 5321, 5.1",
               UNTESTED | {"reachable": "no-address", "ipv6": "missing"}, hosts="TXT nothing",
               tlsa=""),
    MailDomain("null.com", "null MX", "RFC 7505",
               dict.fromkeys(PERFECT, "n/a"), mx="0 .", hosts="A {ipv4}", tlsa=""),
    MailDomain("no-mx.com", "no MX record", "RFC 5321, 5.1", dict.fromkeys(PERFECT, "n/a"), mx=";", tlsa=""),
    MailDomain("silent.com", "nothing answers, perhaps because of our network", "RFC 5321, 4.5.4.1",
               UNREACHED | {"dane": "n/a"}, (Server(is_silent=True),)),
    MailDomain("half-silent.com", "one of two servers does not answer", "RFC 5321, 5.1",
               {"reachable": "unreachable", "ipv6": "unreachable"}, (Server(), Server(is_silent=True))),
    MailDomain("private.com", "a private address gets no connection", "RFC 1918",
               UNREACHED, hosts="A 10.1.2.3\nAAAA fd00::25"),
    MailDomain("metadata.com", "an address of cloud metadata gets no connection", "RFC 3927",
               UNREACHED | {"ipv6": "missing"}, hosts="A 169.254.169.254"),
    MailDomain("provider-unsigned.com", "the provider's zone is not signed", "RFC 7672, 2.2.2",
               {"dnssec": "off", "dane": "n/a", "certificate": "pass"}, mx="10 mx1.unsigned.com.", tlsa=""),
)  # fmt: skip
