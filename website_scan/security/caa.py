"""Parser of CAA records (RFC 8659), with the parameters of RFC 8657."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

CRITICAL_FLAG = 128
ISSUE_TAGS = frozenset({"issue", "issuewild", "issuemail", "issuevmc"})
# Registered tags (IANA, “Certification Authority Restriction Properties”).
KNOWN_TAGS = ISSUE_TAGS | {"iodef", "contactemail", "contactphone"}
RECORD = re.compile(r'(\d{1,3}) ([A-Za-z0-9]{1,255}) "((?:[^"\\]|\\.)*)"')
ESCAPE = re.compile(r"\\(\d{3}|.)")
LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
ISSUER = re.compile(rf"{LABEL}(?:\.{LABEL})*")
PARAMETER = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)[ \t]*=[ \t]*([\x21-\x3a\x3c-\x7e]*)")
METHOD = re.compile(r"[A-Za-z0-9-]+")
REPORT_ADDRESS = re.compile(r"mailto:[^@\s]+@\S+|https?://[^/\s]\S*", re.IGNORECASE)
ABSOLUTE_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
# Validation methods of ACME (IANA, “ACME Validation Methods”). Those of a single authority begin with "ca-".
ACME_METHODS = frozenset(
    {
        "http-01",
        "dns-01",
        "tls-alpn-01",
        "tls-sni-01",
        "email-reply-00",
        "dns-account-01",
        "dns-persist-01",
        "tkauth-01",
    }
)


class CaaProperty(Struct, frozen=True):
    """CAA record. `issuer` is empty if nobody may issue. `fault` is what a certificate authority cannot understand."""

    text: str
    flags: int = 0
    tag: str = ""
    value: str = ""
    issuer: str = ""
    accounts: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    fault: str = ""

    @property
    def is_unknown_and_critical(self) -> bool:
        """Return True if authorities must refuse to issue, because they do not know the tag."""
        return bool(self.flags & CRITICAL_FLAG) and self.tag not in KNOWN_TAGS


def read_caa(records: Sequence[str]) -> tuple[CaaProperty, ...]:
    """Parse CAA records in the syntax of zone files."""
    return tuple(_read(record) for record in records)


def _read(record: str) -> CaaProperty:
    match = RECORD.fullmatch(record)
    if match is None:
        return CaaProperty(record, fault="it cannot be read")
    tag, value = match[2].lower(), ESCAPE.sub(_unescape, match[3])
    known = CaaProperty(record, int(match[1]), tag, value)
    if tag in ISSUE_TAGS:
        return _read_issue(known)
    if tag == "iodef" and not REPORT_ADDRESS.fullmatch(value):
        return CaaProperty(record, known.flags, tag, value, fault="iodef is not a mailto:, http: or https: address")
    return known


def _read_issue(known: CaaProperty) -> CaaProperty:
    issuer, _, rest = known.value.partition(";")
    issuer = issuer.strip(" \t")
    # Only a record without parameters may end with a semicolon.
    texts = rest.split(";") if rest.strip(" \t") else []
    parameters = [PARAMETER.fullmatch(text.strip(" \t")) for text in texts]
    pairs = [(match[1].lower(), match[2]) for match in parameters if match is not None]
    accounts = tuple(value for name, value in pairs if name == "accounturi")
    methods = tuple(value for name, value in pairs if name == "validationmethods")
    fault = next(_issue_faults(issuer, parameters, accounts, methods), "")
    labels = tuple(label for value in methods for label in value.split(",") if label)
    return CaaProperty(known.text, known.flags, known.tag, known.value, issuer.lower(), accounts, labels, fault)


def _issue_faults(
    issuer: str, parameters: Sequence[re.Match[str] | None], accounts: Sequence[str], methods: Sequence[str]
) -> Iterator[str]:
    """Yield faults, because of which the record permits no certificate (RFC 8659, section 4.2; RFC 8657, section 3)."""
    if issuer and not ISSUER.fullmatch(issuer):
        yield f"“{issuer[:60]}” is not the domain of a certificate authority"
    if None in parameters:
        yield "a parameter is not written as name=value"
    if len(accounts) > 1 or len(methods) > 1:
        yield "a parameter is repeated"
    if accounts and not ABSOLUTE_URI.fullmatch(accounts[0]):
        yield "accounturi is not an address"
    labels = methods[0].split(",") if methods else []
    if not all(map(METHOD.fullmatch, labels)):
        yield "validationmethods has a name that is not of letters, digits and hyphens"
    # Authorities compare the names exactly.
    elif labels and not any(label in ACME_METHODS or label.startswith("ca-") for label in labels):
        yield "validationmethods has no known method"


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1])) if len(match[1]) == 3 else match[1]
