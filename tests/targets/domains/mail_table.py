"""Domains whose mail is configured in right and wrong ways, with the outcomes of the checks that the RFCs demand."""

from __future__ import annotations

from typing import Any

from tests.targets.domains.mail_zones import PERFECT, SILENT, MailDomain, dkim_record, sts_policy
from tests.targets.domains.table import WEB
from tests.targets.server import Answer

LOGO = b'<svg xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps"><title>Shop</title></svg>'
BIMI = ("v=BIMI1; l=https://mta-sts.{d}/logo.svg",)


def _named(expected: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): outcome for name, outcome in expected.items()}


def _domain(name: str, because: str, rule: str, expected: dict[str, str] | None = None, **parts: Any) -> MailDomain:
    """Return a domain that differs in parts from the perfect one. `expected` are its other outcomes."""
    domain = f"{name}.com"
    parts.setdefault("policy", sts_policy(f"mail.{domain}"))
    return MailDomain(domain, because, rule, PERFECT | _named(expected or {}), **parts)


def _silent(name: str, because: str, rule: str, expected: dict[str, str] | None = None, **parts: Any) -> MailDomain:
    """Return a domain without mail, which says so by a null MX record unless `parts` differ."""
    defaults: dict[str, Any] = {
        "mx": ("0 .",),
        "spf": ("v=spf1 -all",),
        "dmarc": ("v=DMARC1; p=reject",),
        "keys": {},
        "sts": (),
        "tls_rpt": (),
    }
    return MailDomain(f"{name}.com", because, rule, SILENT | _named(expected or {}), **defaults | parts)


def _mx(name: str, because: str, rule: str, expected: str, *mx: str, **parts: Any) -> MailDomain:
    """Return a domain with other mail servers, which has no MTA-STS policy."""
    others = {"mta_sts": "missing", "tls_rpt": "pass"}
    return _domain(name, because, rule, {"mx": expected, **others}, mx=mx, sts=(), **parts)


def _spf(name: str, because: str, rule: str, expected: str, *spf: str, **parts: Any) -> MailDomain:
    return _domain(name, because, rule, {"spf": expected}, spf=spf, **parts)


def _dmarc(name: str, because: str, rule: str, dmarc: str, reports: str, *records: str) -> MailDomain:
    return _domain(name, because, rule, {"dmarc": dmarc, "dmarc_reports": reports}, dmarc=records)


def _dkim(name: str, because: str, rule: str, expected: str, keys: dict[str, str], **parts: Any) -> MailDomain:
    """Return a domain that Fastmail sends mail for, so that the names of its keys are known."""
    spf = ("v=spf1 mx include:spf.messagingengine.com -all",)
    return _domain(name, because, rule, {"dkim": expected}, keys=keys, spf=spf, **parts)


def _sts(name: str, because: str, rule: str, expected: str, **parts: Any) -> MailDomain:
    return _domain(name, because, rule, {"mta_sts": expected}, **parts)


MAIL_DOMAINS = (
    _domain("mail-perfect", "everything is right", "RFC 8461"),
    _silent("no-mail", "null MX, SPF and DMARC refuse all mail", "RFC 7505, 4"),
    _silent("no-mail-no-address", "no MX record and no address", "RFC 5321, 5.1", mx=(), has_address=False),
    _silent("no-mail-unsaid", "address, but no MX record", "RFC 5321, 5.1", {"mx": "missing"}, mx=()),
    _silent("no-mail-soft", "null MX, SPF ~all", "RFC 7505, 4.2", {"spf": "null-mx"}, spf=("v=spf1 ~all",)),
    _silent("no-mail-sends", "null MX, SPF allows servers", "RFC 7505, 4.2", {"spf": "null-mx"},
            spf=("v=spf1 ip4:192.0.2.1 -all",)),
    _silent("no-mail-no-spf", "null MX without SPF", "RFC 7208, 10.1.2", {"spf": "missing"}, spf=()),
    _silent("no-mail-no-dmarc", "null MX without DMARC", "RFC 9989, 4.10", {"dmarc": "missing"}, dmarc=()),
    _silent("no-mail-reports", "null MX, DMARC reports", "RFC 9990", {"dmarc_reports": "pass"},
            dmarc=("v=DMARC1; p=reject; rua=mailto:dmarc@open-reports.net",)),
    # MX records.
    _mx("mx-two", "two servers", "RFC 5321, 5.1", "pass", "10 mail.{d}.", "20 mx2.mailhost.net."),
    _mx("mx-itself", "the domain itself", "RFC 5321, 5.1", "pass", "0 {d}."),
    _mx("mx-ipv6-only", "server with only an IPv6 address", "RFC 5321, 5.2", "pass", "10 mx6.mailhost.net."),
    _mx("mx-null-and-others", "null MX beside another", "RFC 7505, 3", "null-and-others", "0 .", "10 mail.{d}."),
    _mx("mx-literal", "IP address as name", "RFC 1035, 3.3.9", "address", "10 192.0.2.25."),
    _mx("mx-alias", "CNAME record", "RFC 2181, 10.3", "alias", "10 alias.{d}.", more="alias.{d}. CNAME mail.{d}.\n"),
    _mx("mx-missing-host", "host does not exist", "RFC 5321, 5.1", "no-address", "10 gone.mailhost.net."),
    _mx("mx-no-address", "host exists without address", "RFC 5321, 5.1", "no-address", "10 text.{d}.",
        more='text.{d}. TXT "no address"\n'),
    _mx("mx-one-missing", "one of two hosts does not exist", "RFC 5321, 5.1", "no-address", "10 mail.{d}.",
        "20 gone.mailhost.net."),
    _mx("mx-private", "private address", "RFC 1918, 3", "private", "10 lan.{d}.", more="lan.{d}. A 10.0.0.25\n"),
    _mx("mx-loopback", "loopback address", "RFC 6761, 6.3", "private", "10 lo.{d}.", more="lo.{d}. A 127.0.0.1\n"),
    _mx("mx-one-private", "one of two servers is private", "RFC 1918, 3", "private", "10 mail.{d}.", "20 lan.{d}.",
        more="lan.{d}. A 192.168.1.25\n"),
    _mx("mx-private-and-public", "server with both addresses", "RFC 5321, 5.1", "pass", "10 both.{d}.",
        more="both.{d}. A 10.0.0.25\nboth.{d}. A " + WEB + "\n"),
    _mx("mx-loop", "alias of itself", "RFC 2181, 10.3", "n/a", "10 loop.{d}.", more="loop.{d}. CNAME loop.{d}.\n"),
    # SPF.
    _spf("spf-missing", "no record", "RFC 7208, 3", "missing"),
    _spf("spf-two", "two records", "RFC 7208, 4.5", "repeated", "v=spf1 mx -all", "v=spf1 -all"),
    _spf("spf-syntax", "unknown mechanism", "RFC 7208, 4.6", "syntax", "v=spf1 ipv4:192.0.2.1 -all"),
    _spf("spf-all", "+all", "RFC 7208, 5.1", "allows-all", "v=spf1 +all"),
    _spf("spf-halves", "both halves of the internet", "RFC 7208, 5.6", "allows-all",
         "v=spf1 ip4:0.0.0.0/1 ip4:128.0.0.0/1 -all"),
    _spf("spf-large", "two networks of the size /8", "RFC 7208, 5.6", "large-network", "v=spf1 ip4:96.0.0.0/7 -all"),
    _spf("spf-neutral", "?all", "RFC 7208, 5.1", "unrestricted", "v=spf1 mx ?all"),
    _spf("spf-no-all", "no all", "RFC 7208, 4.7", "unrestricted", "v=spf1 mx"),
    _spf("spf-soft", "~all", "RFC 7208, 5.1", "pass", "v=spf1 mx ~all"),
    _spf("spf-ptr", "ptr", "RFC 7208, 5.5", "ptr", "v=spf1 ptr -all"),
    _spf("spf-include", "include", "RFC 7208, 5.2", "pass", "v=spf1 include:spf.mailhost.net -all"),
    _spf("spf-include-none", "include of a domain without record", "RFC 7208, 5.2", "include",
         "v=spf1 include:mx2.mailhost.net -all"),
    _spf("spf-include-missing", "include of a name that does not exist", "RFC 7208, 5.2", "include",
         "v=spf1 include:gone.mailhost.net -all"),
    _spf("spf-include-two", "include of a domain with two records", "RFC 7208, 4.5", "include",
         "v=spf1 include:two.mailhost.net -all"),
    _spf("spf-include-open", "include of +all", "RFC 7208, 5.2", "allows-all", "v=spf1 include:open.mailhost.net -all"),
    _spf("spf-include-loop", "include of a record that includes itself", "RFC 7208, 4.6.4", "lookups",
         "v=spf1 include:loop.mailhost.net -all"),
    _spf("spf-redirect", "redirect", "RFC 7208, 6.1", "pass", "v=spf1 redirect=spf.mailhost.net"),
    _spf("spf-redirect-none", "redirect to a domain without record", "RFC 7208, 6.1", "include",
         "v=spf1 redirect=mx2.mailhost.net"),
    _spf("spf-ten", "ten look-ups", "RFC 7208, 4.6.4", "pass", "v=spf1 include:nine.mailhost.net -all"),
    _spf("spf-eleven", "eleven look-ups", "RFC 7208, 4.6.4", "lookups", "v=spf1 mx include:nine.mailhost.net -all"),
    _spf("spf-void", "three look-ups without an answer", "RFC 7208, 4.6.4", "lookups",
         "v=spf1 a:a.gone.net a:b.gone.net exists:c.gone.net -all"),
    _spf("spf-two-void", "two look-ups without an answer", "RFC 7208, 4.6.4", "pass",
         "v=spf1 a:a.gone.net a:b.gone.net -all"),
    _spf("spf-mx-hosts", "mx with eleven servers", "RFC 7208, 4.6.4", "lookups", "v=spf1 mx:many.mailhost.net -all"),
    _spf("spf-macro", "macro of the sender's address", "RFC 7208, 7", "pass",
         "v=spf1 exists:%{i}._spf.mailhost.net -all"),
    _spf("spf-split", "record in several strings", "RFC 7208, 3.3", "pass",
         "v=spf1 " + " ".join(f"ip4:192.0.2.{number}" for number in range(40)) + " -all"),
    _spf("spf-other-text", "other TXT records", "RFC 7208, 3.2", "pass", "v=spf1 mx -all",
         more='{d}. TXT "google-site-verification=abc"\n{d}. TXT "v=spf10 +all"\n'),
    # DMARC.
    _domain("dmarc-missing", "no record", "RFC 9989, 4.10", {"dmarc": "missing", "dmarc_reports": "n/a"}, dmarc=()),
    _dmarc("dmarc-two", "two records", "RFC 9989, 4.10", "repeated", "n/a", "v=DMARC1; p=reject", "v=DMARC1; p=none"),
    _dmarc("dmarc-none", "p=none", "RFC 9989, 4.7", "monitors-only", "pass", "v=DMARC1; p=none; rua=mailto:d@{d}"),
    _dmarc("dmarc-quarantine", "p=quarantine", "RFC 9989, 4.7", "pass", "pass",
           "v=DMARC1; p=quarantine; rua=mailto:d@{d}"),
    _dmarc("dmarc-sp-none", "subdomains are not protected", "RFC 9989, 4.7", "monitors-only", "pass",
           "v=DMARC1; p=reject; sp=none; rua=mailto:d@{d}"),
    _dmarc("dmarc-np", "sp=none, but np=reject", "RFC 9989, 4.7", "pass", "pass",
           "v=DMARC1; p=reject; sp=none; np=reject; rua=mailto:d@{d}"),
    _dmarc("dmarc-test", "t=y weakens quarantine to none", "RFC 9989, 4.7", "applies-to-none", "pass",
           "v=DMARC1; p=quarantine; t=y; rua=mailto:d@{d}"),
    _dmarc("dmarc-psd", "psd=y of a domain that is no public suffix", "RFC 9989, 4.7", "public-suffix", "pass",
           "v=DMARC1; p=reject; psd=y; rua=mailto:d@{d}"),
    _dmarc("dmarc-pct", "pct, which RFC 9989 ignores", "RFC 9989, A.6", "pass", "pass",
           "v=DMARC1; p=reject; pct=50; rua=mailto:d@{d}"),
    _dmarc("dmarc-syntax", "version is not first", "RFC 9989, 4.8", "missing", "n/a", "p=reject; v=DMARC1"),
    _dmarc("dmarc-no-policy", "no p, but rua", "RFC 9989, 4.10.1", "invalid", "pass", "v=DMARC1; rua=mailto:d@{d}"),
    _dmarc("dmarc-no-reports", "no rua", "RFC 9989, 4.7", "pass", "missing", "v=DMARC1; p=reject"),
    _dmarc("dmarc-plain-address", "address without mailto:", "RFC 9989, 4.8", "pass", "invalid",
           "v=DMARC1; p=reject; rua=d@{d}"),
    _dmarc("dmarc-size", "limit of the size", "RFC 7489, 6.2", "pass", "pass",
           "v=DMARC1; p=reject; rua=mailto:d@{d}!10m"),
    _dmarc("dmarc-subdomain", "reports to a subdomain", "RFC 9990, 4", "pass", "pass",
           "v=DMARC1; p=reject; rua=mailto:d@reports.{d}"),
    _dmarc("dmarc-consent", "domain elsewhere consents", "RFC 9990, 4", "pass", "pass",
           "v=DMARC1; p=reject; rua=mailto:d@reports.net"),
    _dmarc("dmarc-open-consent", "domain elsewhere consents for all", "RFC 9990, 4", "pass", "pass",
           "v=DMARC1; p=reject; rua=mailto:d@open-reports.net"),
    _dmarc("dmarc-no-consent", "domain elsewhere does not consent", "RFC 9990, 4", "pass", "refused",
           "v=DMARC1; p=reject; rua=mailto:d@reports.net"),
    _dmarc("dmarc-ruf-no-consent", "failure reports without consent", "RFC 9991", "pass", "refused",
           "v=DMARC1; p=reject; rua=mailto:d@{d}; ruf=mailto:d@reports.net"),
    # DKIM.
    _dkim("dkim-2048", "RSA with 2048 bits", "RFC 8301, 3.2", "pass", {"fm1": dkim_record(2048)}),
    _dkim("dkim-1024", "RSA with 1024 bits", "RFC 8301, 3.2", "short", {"fm1": dkim_record(1024)}),
    _dkim("dkim-768", "RSA with 768 bits", "RFC 8301, 3.2", "weak", {"fm1": dkim_record(768)}),
    _dkim("dkim-ed25519", "Ed25519", "RFC 8463, 4.2", "pass", {"fm1": dkim_record(0)}),
    _dkim("dkim-sha1", "only for SHA-1", "RFC 8301, 3.1", "weak", {"fm1": dkim_record(2048, "; h=sha1")}),
    _dkim("dkim-revoked", "a key in use, and one revoked", "RFC 6376, 3.6.1", "pass",
          {"fm1": dkim_record(2048), "fm2": "v=DKIM1; p="}),
    _dkim("dkim-test", "test mode", "RFC 6376, 3.6.1", "test-mode", {"fm1": dkim_record(2048, "; t=y")}),
    _dkim("dkim-broken", "cut off", "RFC 6376, 3.6.1", "invalid", {"fm1": dkim_record(2048)[:200]}),
    _dkim("dkim-type", "unknown type", "RFC 6376, 3.6.1", "invalid", {"fm1": "v=DKIM1; k=dsa; p=AAAA"}),
    _dkim("dkim-alias", "key by CNAME record", "RFC 6376, 3.6.2", "pass", {"fm1": "CNAME key.mailhost.net."}),
    _dkim("dkim-missing", "no name below _domainkey", "RFC 8020, 2", "missing", {}),
    _dkim("dkim-other-selector", "key with an unknown name", "RFC 8020, 2", "pass", {"x7": dkim_record(2048)}),
    _dkim("dkim-wildcard", "wildcard", "RFC 4592, 2.2", "n/a", {}, more='*.{d}. TXT "hello"\n'),
    # MTA-STS and TLS-RPT.
    _sts("sts-missing", "no record", "RFC 8461, 3.1", "missing", sts=()),
    _sts("sts-two", "two records", "RFC 8461, 3.1", "record", sts=("v=STSv1; id=1", "v=STSv1; id=2")),
    _sts("sts-no-id", "no id", "RFC 8461, 3.1", "record", sts=("v=STSv1;",)),
    _sts("sts-bad-id", "id with a hyphen", "RFC 8461, 3.1", "record", sts=("v=STSv1; id=2026-01-01",)),
    _sts("sts-version", "version in lower case", "RFC 8461, 3.1", "record", sts=("v=stsv1; id=1",)),
    _sts("sts-no-policy", "policy is missing", "RFC 8461, 3.3", "unavailable", policy=Answer("gone", status=404)),
    _sts("sts-redirect", "policy is redirected", "RFC 8461, 3.3", "unavailable",
         policy=Answer.redirect("https://mta-sts.mail-perfect.com/.well-known/mta-sts.txt")),
    _sts("sts-html", "policy is HTML", "RFC 8461, 3.2", "invalid",
         policy=Answer("<p>Hello", headers={"Content-Type": "text/html"})),
    _sts("sts-syntax", "policy without mode", "RFC 8461, 3.2", "invalid",
         policy=Answer("version: STSv1\nmax_age: 86400\nmx: mail.a.com\n", headers={"Content-Type": "text/plain"})),
    _sts("sts-wildcard", "wildcard in the policy", "RFC 8461, 4.1", "pass", policy=sts_policy("*.sts-wildcard.com")),
    _sts("sts-deep-wildcard", "wildcard stands for one label", "RFC 8461, 4.1", "other-server",
         policy=sts_policy("*.com")),
    _sts("sts-other-server", "another mail server", "RFC 8461, 4.1", "other-server",
         policy=sts_policy("mx.mailhost.net")),
    _sts("sts-testing", "testing", "RFC 8461, 5", "not-enforced",
         policy=sts_policy("mail.sts-testing.com", mode="testing")),
    _sts("sts-none", "mode none", "RFC 8461, 5", "not-enforced", policy=sts_policy(mode="none")),
    _sts("sts-short", "valid for an hour", "RFC 8461, 3.2", "short-lived",
         policy=sts_policy("mail.sts-short.com", max_age=3600)),
    _sts("sts-other-certificate", "certificate of another host", "RFC 8461, 3.3", "unavailable", policy=None),
    _domain("rpt-missing", "no TLS-RPT record", "RFC 8460, 3", {"tls_rpt": "missing"}, tls_rpt=()),
    _domain("rpt-two", "two TLS-RPT records", "RFC 8460, 3", {"tls_rpt": "invalid"},
            tls_rpt=("v=TLSRPTv1; rua=mailto:a@{d}", "v=TLSRPTv1; rua=mailto:b@{d}")),
    _domain("rpt-address", "address without mailto:", "RFC 8460, 3", {"tls_rpt": "invalid"},
            tls_rpt=("v=TLSRPTv1; rua=a@{d}",)),
    _domain("rpt-https", "reports by HTTPS", "RFC 8460, 3", tls_rpt=("v=TLSRPTv1;rua=https://mta-sts.{d}/report",)),
    # BIMI.
    _domain("bimi", "logo", "BIMI, 4.3", {"bimi": "pass"}, bimi=BIMI, logo=Answer(LOGO)),
    _domain("bimi-http", "logo by HTTP", "BIMI, 4.3", {"bimi": "invalid"}, bimi=("v=BIMI1; l=http://{d}/logo.svg",)),
    _domain("bimi-two", "two records", "BIMI, 4.3", {"bimi": "invalid"}, bimi=(*BIMI, "v=BIMI1; l=")),
    _domain("bimi-none", "declines to have a logo", "BIMI, 4.3.1", {"bimi": "pass"}, bimi=("v=BIMI1; l=; a=",)),
    _domain("bimi-profile", "ordinary SVG", "SVG Tiny PS", {"bimi": "logo"}, bimi=BIMI, logo=Answer(b"<svg></svg>")),
    _domain("bimi-script", "logo with a script", "SVG Tiny PS", {"bimi": "logo"}, bimi=BIMI,
            logo=Answer(LOGO.replace(b"<title>", b"<script>1</script><title>"))),
    _domain("bimi-gone", "logo is missing", "BIMI, 4.3", {"bimi": "logo"}, bimi=BIMI, logo=Answer("", status=404)),
    _domain("bimi-dmarc", "DMARC only monitors", "BIMI, 7.1", {"bimi": "dmarc", "dmarc": "monitors-only"}, bimi=BIMI,
            logo=Answer(LOGO), dmarc=("v=DMARC1; p=none; rua=mailto:d@{d}",)),
)  # fmt: skip
NINE = " ".join(f"a:a{number}.mailhost.net" for number in range(9))
# Records of other names in the mail zoo.
SERVICES = {
    "mailhost.net": "A " + WEB,
    "mx2.mailhost.net": "A " + WEB,
    "mx6.mailhost.net": "AAAA 2606:2800:21f:cb07:6820:80da:af6b:8b2c",
    "spf.mailhost.net": 'TXT "v=spf1 ip4:192.0.2.0/24 -all"',
    "two.mailhost.net": 'TXT "v=spf1 -all"\ntwo.mailhost.net. TXT "v=spf1 ~all"',
    "open.mailhost.net": 'TXT "v=spf1 +all"',
    "loop.mailhost.net": 'TXT "v=spf1 include:loop.mailhost.net -all"',
    "nine.mailhost.net": f'TXT "v=spf1 {NINE} -all"',
    **{f"a{number}.mailhost.net": "A " + WEB for number in range(9)},
    "many.mailhost.net": "\nmany.mailhost.net. ".join(f"MX 10 mx{number}.mailhost.net." for number in range(11)),
    "key.mailhost.net": "TXT " + '"v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="',
    "dmarc-consent.com._report._dmarc.reports.net": 'TXT "v=DMARC1;"',
    "*._report._dmarc.open-reports.net": 'TXT "v=DMARC1"',
    "mail.nothing.org": "A " + WEB,
    "spf.messagingengine.com": 'TXT "v=spf1 ip4:103.168.172.128/27 ?all"',
}
