"""Domains whose mail is set up as mail services document.

The only findings are what these services leave to the customer: MTA-STS (which does not affect the score), an address
for DMARC reports, and SPF records that end with `?all`.
"""

from __future__ import annotations

from typing import Any

from tests.targets.domains.mail_zones import PERFECT, MailDomain, dkim_record, sts_policy
from tests.targets.domains.table import WEB

KEY = dkim_record(2048)
REPORTS = ("v=DMARC1; p=reject; rua=mailto:dmarc@{d}",)


def _model(
    name: str, service: str, source: str, mx: tuple[str, ...], spf: str, keys: dict[str, str], **parts: Any
) -> MailDomain:
    expected = PERFECT | {"mta-sts": "missing", "tls-rpt": "n/a"} | parts.pop("expected", {})
    defaults: dict[str, Any] = {"dmarc": REPORTS, "sts": (), "tls_rpt": ()}
    return MailDomain(f"model-{name}.com", service, source, expected, mx=mx, spf=(spf,), keys=keys, **defaults | parts)


MAIL_MODELS = (
    _model("google", "Google Workspace", "support.google.com/a/answer/174124", ("1 smtp.google.com.",),
           "v=spf1 include:_spf.google.com ~all", {"google": KEY}),
    _model("microsoft", "Microsoft 365", "learn.microsoft.com/en-us/microsoft-365/admin/setup/add-domain",
           ("0 model-microsoft-com.mail.protection.outlook.com.",), "v=spf1 include:spf.protection.outlook.com -all",
           {
               "selector1": "CNAME selector1-model-microsoft-com._domainkey.shop.onmicrosoft.com.",
               "selector2": "CNAME selector2-model-microsoft-com._domainkey.shop.onmicrosoft.com.",
           }),
    # The services recommend ?all, which does not restrict senders.
    _model("fastmail", "Fastmail", "fastmail.help/hc/en-us/articles/360060591153",
           ("10 in1-smtp.messagingengine.com.", "20 in2-smtp.messagingengine.com."),
           "v=spf1 include:spf.messagingengine.com ?all",
           {f"fm{n}": f"CNAME fm{n}.model-fastmail.com.dkim.fmhosted.com." for n in (1, 2, 3)},
           expected={"spf": "unrestricted"}),
    _model("proton", "Proton Mail", "proton.me/support/custom-domain",
           ("10 mail.protonmail.ch.", "20 mailsec.protonmail.ch."), "v=spf1 include:_spf.protonmail.ch ~all",
           {"protonmail": "CNAME protonmail.domainkey.dabc.domains.proton.ch."},
           dmarc=("v=DMARC1; p=quarantine",), expected={"dmarc-reports": "missing"}),
    _model("zoho", "Zoho Mail", "zoho.com/mail/help/adminconsole",
           ("10 mx.zoho.com.", "20 mx2.zoho.com.", "50 mx3.zoho.com."), "v=spf1 include:zohomail.com ~all",
           {"zmail": KEY}),
    _model("icloud", "Apple iCloud", "support.apple.com/en-us/102374",
           ("10 mx01.mail.icloud.com.", "10 mx02.mail.icloud.com."), "v=spf1 include:icloud.com ~all",
           {"sig1": "CNAME sig1.dkim.model-icloud.com.at.icloudmailadmin.com."}),
    _model("mailgun", "Mailgun", "documentation.mailgun.com", ("10 mxa.mailgun.org.", "10 mxb.mailgun.org."),
           "v=spf1 include:mailgun.org ~all", {"pic": KEY}),
    _model("sendgrid", "Twilio SendGrid", "twilio.com/docs/sendgrid", ("10 mx.sendgrid.net.",),
           "v=spf1 include:sendgrid.net ~all",
           {f"s{n}": f"CNAME s{n}.domainkey.u1.wl.sendgrid.net." for n in (1, 2)}),
    _model("ses", "Amazon SES", "docs.aws.amazon.com/ses", ("10 inbound-smtp.eu-west-1.amazonaws.com.",),
           "v=spf1 include:amazonses.com ~all",
           {f"token{n}": f"CNAME token{n}.dkim.amazonses.com." for n in (1, 2, 3)}),
    _model("mailchimp", "Mailchimp beside Google Workspace", "mailchimp.com/help/set-up-email-domain-authentication",
           ("1 smtp.google.com.",), "v=spf1 include:_spf.google.com include:servers.mcsv.net ~all",
           {"google": KEY, "k2": "CNAME dkim2.mcsv.net.", "k3": "CNAME dkim3.mcsv.net."}),
    _model("hetzner", "Hetzner web hosting", "docs.hetzner.com/konsoleh", ("10 www1.your-server.de.",),
           "v=spf1 a mx -all", {"default2605": KEY}),
    _model("ionos", "IONOS", "ionos.de/hilfe", ("10 mx00.ionos.com.", "10 mx01.ionos.com."),
           "v=spf1 include:_spf-us.ionos.com ~all",
           {f"s{n}-ionos": f"CNAME s{n}.dkim.ionos.com." for n in (1, 2)}),
    _model("ovh", "OVHcloud", "help.ovhcloud.com",
           ("1 mx1.mail.ovh.net.", "5 mx2.mail.ovh.net.", "100 mx3.mail.ovh.net."),
           "v=spf1 include:mx.ovh.com ~all",
           {f"ovhmo1-selector{n}": f"CNAME ovhmo1-selector{n}.dkim.mail.ovh.net." for n in (1, 2)}),
    _model("mailbox-org", "mailbox.org", "kb.mailbox.org", ("10 mxext1.mailbox.org.", "10 mxext2.mailbox.org.",
           "20 mxext3.mailbox.org."), "v=spf1 include:mailbox.org ~all",
           {f"MBO000{n}": f"CNAME MBO000{n}._domainkey.mailbox.org." for n in (1, 2, 3, 4)}),
    _model("netcup", "netcup", "helpcenter.netcup.com/en/wiki/sogo/sogo-dns", ("10 mail.{d}.",),
           "v=spf1 mx a include:_spf.webhosting.systems ~all",
           {f"key{n}": f"CNAME key{n}._domainkey.webhosting.systems." for n in (1, 2)}),
    _model("migadu", "Migadu", "migadu.com/guides/dns", ("10 aspmx1.migadu.com.", "20 aspmx2.migadu.com."),
           "v=spf1 include:spf.migadu.com -all",
           {f"key{n}": f"CNAME key{n}.model-migadu.com._domainkey.migadu.com." for n in (1, 2, 3)},
           dmarc=("v=DMARC1; p=quarantine;",), expected={"dmarc-reports": "missing"}),
    _model("cloudflare", "Cloudflare Email Routing", "developers.cloudflare.com/email-routing",
           ("37 route1.mx.cloudflare.net.", "12 route2.mx.cloudflare.net.", "89 route3.mx.cloudflare.net."),
           "v=spf1 include:_spf.mx.cloudflare.net ~all", {"cf2024-1": KEY}),
    _model("many-services", "Google Workspace, SendGrid, Mailchimp and Zendesk", "RFC 7208, 4.6.4",
           ("1 smtp.google.com.",),
           "v=spf1 include:_spf.google.com include:sendgrid.net include:servers.mcsv.net include:mail.zendesk.com ~all",
           {
               "google": KEY,
               "s1": "CNAME s1.domainkey.u1.wl.sendgrid.net.",
               "zendesk1": "CNAME zendesk1._domainkey.zendesk.com.",
           },
           dmarc=("v=DMARC1; p=quarantine; sp=reject; rua=mailto:abc@reporting.net; fo=1; adkim=r; aspf=r; ri=86400",)),
    _model("own-server", "own server with MTA-STS (Mail-in-a-Box)", "RFC 8461", ("10 mail.{d}.",), "v=spf1 mx -all",
           {"mail": KEY}, sts=("v=STSv1; id=20260101T000000",), tls_rpt=("v=TLSRPTv1; rua=mailto:postmaster@{d}",),
           dmarc=("v=DMARC1; p=quarantine; rua=mailto:dmarc@{d}",), policy=sts_policy("mail.model-own-server.com"),
           expected={"mta-sts": "pass", "tls-rpt": "pass"}),
)  # fmt: skip
ADDRESS = f"A {WEB}"
OPEN_KEY = 'TXT "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="'


def _spf(*terms: str) -> str:
    return f'TXT "v=spf1 {" ".join(terms)}"'


MODEL_SERVICES = {
    "smtp.google.com": ADDRESS,
    "_spf.google.com": _spf(*(f"include:_netblocks{n}.google.com" for n in ("", "2", "3")), "~all"),
    "_netblocks.google.com": _spf("ip4:35.190.247.0/24", "ip4:64.233.160.0/19", "ip4:74.125.0.0/16", "~all"),
    "_netblocks2.google.com": _spf("ip6:2001:4860:4000::/36", "ip6:2404:6800:4000::/36", "~all"),
    "_netblocks3.google.com": _spf("ip4:172.217.0.0/19", "ip4:108.177.96.0/19", "~all"),
    "model-microsoft-com.mail.protection.outlook.com": ADDRESS,
    "spf.protection.outlook.com": _spf("ip4:40.92.0.0/15", "ip4:40.107.0.0/16", "ip6:2a01:111:f400::/48", "-all"),
    **{f"selector{n}-model-microsoft-com._domainkey.shop.onmicrosoft.com": OPEN_KEY for n in (1, 2)},
    "in1-smtp.messagingengine.com": ADDRESS,
    "in2-smtp.messagingengine.com": ADDRESS,
    **{f"fm{n}.model-fastmail.com.dkim.fmhosted.com": OPEN_KEY for n in (1, 2, 3)},
    "mail.protonmail.ch": ADDRESS,
    "mailsec.protonmail.ch": ADDRESS,
    "_spf.protonmail.ch": _spf("ip4:185.70.40.0/24", "ip4:185.70.41.0/24", "~all"),
    "protonmail.domainkey.dabc.domains.proton.ch": OPEN_KEY,
    "mx.zoho.com": ADDRESS,
    "mx2.zoho.com": ADDRESS,
    "mx3.zoho.com": ADDRESS,
    "zohomail.com": _spf("ip4:136.143.178.49/32", "include:spf.zohomail.com", "-all"),
    "spf.zohomail.com": _spf("ip4:136.143.188.0/24", "-all"),
    "mx01.mail.icloud.com": ADDRESS,
    "mx02.mail.icloud.com": ADDRESS,
    "icloud.com": _spf("ip4:17.41.0.0/16", "ip4:17.58.0.0/16", "include:_spf.icloud.com", "~all"),
    "_spf.icloud.com": _spf("ip4:17.143.234.140/30", "~all"),
    "sig1.dkim.model-icloud.com.at.icloudmailadmin.com": OPEN_KEY,
    "mxa.mailgun.org": ADDRESS,
    "mxb.mailgun.org": ADDRESS,
    "mailgun.org": _spf("include:_spf.mailgun.org", "include:_spf.eu.mailgun.org", "~all"),
    "_spf.mailgun.org": _spf("ip4:69.72.32.0/20", "~all"),
    "_spf.eu.mailgun.org": _spf("ip4:141.193.32.0/23", "~all"),
    "mx.sendgrid.net": ADDRESS,
    "sendgrid.net": _spf("ip4:167.89.0.0/17", "ip4:208.117.48.0/20", "include:ab.sendgrid.net", "~all"),
    "ab.sendgrid.net": _spf("ip4:223.165.113.0/24", "~all"),
    **{f"s{n}.domainkey.u1.wl.sendgrid.net": OPEN_KEY for n in (1, 2)},
    "inbound-smtp.eu-west-1.amazonaws.com": ADDRESS,
    "amazonses.com": _spf("ip4:199.255.192.0/22", "ip4:54.240.0.0/18", "-all"),
    **{f"token{n}.dkim.amazonses.com": OPEN_KEY for n in (1, 2, 3)},
    "servers.mcsv.net": _spf("ip4:205.201.128.0/20", "ip4:198.2.128.0/18", "~all"),
    "dkim2.mcsv.net": OPEN_KEY,
    "dkim3.mcsv.net": OPEN_KEY,
    "www1.your-server.de": ADDRESS,
    "mx00.ionos.com": ADDRESS,
    "mx01.ionos.com": ADDRESS,
    "_spf-us.ionos.com": _spf("ip4:74.208.4.192/26", "~all"),
    "s1.dkim.ionos.com": OPEN_KEY,
    "s2.dkim.ionos.com": OPEN_KEY,
    **{f"mx{n}.mail.ovh.net": ADDRESS for n in (1, 2, 3)},
    "mx.ovh.com": _spf("ptr:mail-out.ovh.net", "ip4:8.33.137.105/32", "ip4:46.105.0.0/16", "?all"),
    **{f"ovhmo1-selector{n}.dkim.mail.ovh.net": OPEN_KEY for n in (1, 2)},
    **{f"mxext{n}.mailbox.org": ADDRESS for n in (1, 2, 3)},
    "mailbox.org": _spf("ip4:213.203.238.0/25", "ip4:195.10.208.0/24", "~all"),
    **{f"MBO000{n}._domainkey.mailbox.org": OPEN_KEY for n in (1, 2, 3, 4)},
    "_spf.webhosting.systems": _spf("ip4:188.68.63.160/28", "~all"),
    **{f"key{n}._domainkey.webhosting.systems": OPEN_KEY for n in (1, 2)},
    "aspmx1.migadu.com": ADDRESS,
    "aspmx2.migadu.com": ADDRESS,
    "spf.migadu.com": _spf("ip4:51.159.0.0/24", "-all"),
    **{f"key{n}.model-migadu.com._domainkey.migadu.com": OPEN_KEY for n in (1, 2, 3)},
    **{f"route{n}.mx.cloudflare.net": ADDRESS for n in (1, 2, 3)},
    "_spf.mx.cloudflare.net": _spf("ip4:104.30.0.0/20", "~all"),
    "mail.zendesk.com": _spf("ip4:192.161.144.0/20", "ip4:185.12.80.0/22", "~all"),
    "zendesk1._domainkey.zendesk.com": OPEN_KEY,
    "model-many-services.com._report._dmarc.reporting.net": 'TXT "v=DMARC1"',
}
