"""Zones of domains with mail, of mail services, and of domains that receive DMARC reports."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import cache

from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from msgspec import Struct, field

from tests.targets.domains.servers import Dns, unsigned_zone
from tests.targets.domains.table import GOOD, PROVIDERS, WEB
from tests.targets.server import Answer

STS_PATH = "/.well-known/mta-sts.txt"
PERFECT = {
    "mx": "pass",
    "spf": "pass",
    "dmarc": "pass",
    "dmarc-reports": "pass",
    "dkim": "pass",
    "mta-sts": "pass",
    "tls-rpt": "pass",
    "bimi": "n/a",
}
# Outcomes of a domain that says in the right way that it has no mail.
SILENT = PERFECT | {"dmarc-reports": "n/a", "dkim": "n/a", "mta-sts": "n/a", "tls-rpt": "n/a"}


def quoted(text: str) -> str:
    """Return a text as strings of a TXT record."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    parts = [escaped[start : start + 200] for start in range(0, len(escaped), 200)]
    return " ".join(f'"{part}"' for part in parts) or '""'


@cache
def dkim_record(bits: int, more: str = "") -> str:
    """Return the record of a DKIM key; one of Ed25519 with 0 bits."""
    if not bits:
        raw = ed25519.Ed25519PrivateKey.generate().public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return f"v=DKIM1; k=ed25519; p={base64.b64encode(raw).decode()}{more}"
    if bits >= 1024:
        key = rsa.generate_private_key(65537, bits).public_key()
    else:
        key = rsa.RSAPublicNumbers(65537, (1 << (bits - 1)) + 12345).public_key()
    data = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return f"v=DKIM1; k=rsa; p={base64.b64encode(data).decode()}{more}"


class MailDomain(Struct, frozen=True):
    """Domain of the mail zoo.

    `because` is what is special, `rule` the section of the RFC. In records, `{d}` is the domain. `policy` is the answer
    for the MTA-STS policy, and `logo` for the logo of BIMI.
    """

    name: str
    because: str
    rule: str
    outcomes: Mapping[str, str]
    mx: Sequence[str] = ("10 mail.{d}.",)
    spf: Sequence[str] = ("v=spf1 mx -all",)
    dmarc: Sequence[str] = ("v=DMARC1; p=reject; rua=mailto:dmarc@{d}",)
    keys: Mapping[str, str] = field(default_factory=lambda: {"mail2026": dkim_record(2048)})
    sts: Sequence[str] = ("v=STSv1; id=20260101",)
    tls_rpt: Sequence[str] = ("v=TLSRPTv1; rua=mailto:tls@{d}",)
    bimi: Sequence[str] = ()
    more: str = ""
    policy: Answer | None = None
    logo: Answer | None = None
    has_address: bool = True

    @property
    def records(self) -> str:
        """Return the records in the syntax of zone files."""
        lines = [f"{self.name}. A {WEB}"] if self.has_address else []
        lines += [f"mail.{self.name}. A {WEB}", f"mta-sts.{self.name}. A {WEB}"] if self.has_address else []
        lines += [f"{self.name}. MX {self._named(server)}" for server in self.mx]
        for label, texts in (
            ("", self.spf),
            ("_dmarc.", self.dmarc),
            ("_mta-sts.", self.sts),
            ("_smtp._tls.", self.tls_rpt),
            ("default._bimi.", self.bimi),
        ):
            lines += [f"{label}{self.name}. TXT {quoted(self._named(text))}" for text in texts]
        lines += [f"{selector}._domainkey.{self.name}. {self._key(record)}" for selector, record in self.keys.items()]
        return "\n".join([*lines, self._named(self.more)]) + "\n"

    def _named(self, text: str) -> str:
        return text.replace("{d}", self.name)

    @staticmethod
    def _key(record: str) -> str:
        return f"CNAME {record[6:]}" if record.startswith("CNAME ") else f"TXT {quoted(record)}"


def sts_policy(*mx: str, mode: str = "enforce", max_age: int = 1_209_600, media_type: str = "text/plain") -> Answer:
    lines = ["version: STSv1", f"mode: {mode}", *(f"mx: {name}" for name in mx), f"max_age: {max_age}"]
    return Answer("\r\n".join(lines) + "\r\n", headers={"Content-Type": media_type})


def mail_zones(domains: Sequence[MailDomain], services: Mapping[str, str]) -> Dns:
    """Return the DNS with the domains, and the records of other names: services and receivers of reports."""
    servers = [f"{server}." for server in GOOD]
    texts = {f"{domain.name}.": domain.records for domain in domains}
    for server in GOOD:
        zone, (ipv4, ipv6) = f"{server.partition('.')[2]}.", PROVIDERS[server]
        texts[zone] = f"{server}. A {ipv4}\n{server}. AAAA {ipv6}\n"
    for name, record in services.items():
        labels = name.split(".")
        zone = f"{'.'.join(labels[-2:])}."
        texts[zone] = texts.get(zone, "") + f"{name}. {record}\n"
    suffixes: dict[str, list[str]] = {}
    for zone in texts:
        suffixes.setdefault(zone.rstrip(".").rpartition(".")[2], []).append(zone)
    zones = [unsigned_zone(zone, text, servers) for zone, text in texts.items()]
    for suffix, delegated in suffixes.items():
        zones.append(unsigned_zone(f"{suffix}.", "".join(f"{zone} NS {servers[0]}\n" for zone in delegated), servers))
    zones.append(unsigned_zone(".", "".join(f"{suffix}. NS {servers[0]}\n" for suffix in suffixes), servers))
    return Dns(zones)
