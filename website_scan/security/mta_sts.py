"""Parsers of MTA-STS records and policies, and of TLS-RPT records.

RFC 8461 and RFC 8460.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from website_scan.security.tag_list import SPACE

MAX_AGE_S = 31_557_600
MAX_POLICY_LINES = 500
STS_VERSION, REPORT_VERSION = "STSv1", "TLSRPTv1"
POLICY_ID = re.compile(r"[A-Za-z0-9]{1,32}")
FIELD_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")
MX_PATTERN = re.compile(
    r"(?:\*\.)?[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*", re.IGNORECASE
)
REPORT_URI = re.compile(r"mailto:[^\s@,;!]+@[^\s@,;!]+\.[^\s@,;!]+|https://[^\s/,;!]+\S*", re.IGNORECASE)
MODES = ("enforce", "testing", "none")


class StsPolicy(Struct, frozen=True):
    """Policy of a domain. `fault` describes why senders ignore the policy, empty if they follow it."""

    mode: str = ""
    max_age_s: int = 0
    mx: tuple[str, ...] = ()
    fault: str = ""


def version_records(texts: Sequence[str], version: str) -> list[str]:
    """Return the TXT records that senders take for the record of a version (RFC 8461, 3.1; RFC 8460, 3)."""
    return [text for text in texts if re.match(rf"v={version}[ \t]*(?:;|\Z)", text)]


def resembles(text: str, version: str) -> bool:
    """Return True for a record of the version, or one whose version is written in a wrong way."""
    return re.match(rf"[\s\"']*+v[ \t]*+(?:=[ \t]*+)?{version}\b", text, re.IGNORECASE) is not None


def sts_record_fault(record: str) -> str:
    """Return why senders ignore an MTA-STS record, empty if they follow it."""
    identifier = _fields(record).get("id")
    if identifier is None:
        return "it has no id"
    return "" if POLICY_ID.fullmatch(identifier) else "its id is not 1 to 32 letters and digits"


def report_record_fault(record: str) -> str:
    """Return why senders ignore a TLS-RPT record, empty if they follow it."""
    addresses = _fields(record).get("rua", "")
    if not addresses or addresses[0] in SPACE:
        return "it has no address (rua)"
    faulty = next((text for text in map(str.strip, addresses.split(",")) if not REPORT_URI.fullmatch(text)), None)
    return "" if faulty is None else "an address does not begin with mailto: or https:, or has no domain"


def _fields(record: str) -> dict[str, str]:
    """Return the fields of a record, around whose equals sign no space is allowed."""
    parts = (part.strip(SPACE).partition("=") for part in record.split(";"))
    return {name: value for name, _, value in parts}


def read_policy(body: bytes) -> StsPolicy:
    """Read the file of a policy (RFC 8461, section 3.2)."""
    lines = body.decode("utf-8", "replace").splitlines()
    if len(lines) > MAX_POLICY_LINES:
        return StsPolicy(fault="it has too many lines")
    fields: dict[str, list[str]] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon and line.strip():
            return StsPolicy(fault="a line has no colon")
        if colon and not FIELD_NAME.fullmatch(name.strip()):
            return StsPolicy(fault="a line does not begin with the name of a field")
        if colon:
            fields.setdefault(name.strip(), []).append(value.strip())
    # The first of repeated fields counts, except for mx.
    first = {name: values[0] for name, values in fields.items()}
    mode, age, mx = first.get("mode", ""), first.get("max_age", ""), tuple(fields.get("mx", ()))
    fault = ""
    if first.get("version") != STS_VERSION:
        fault = "it has no version STSv1"
    elif mode not in MODES:
        fault = "it has no valid mode"
    elif not re.fullmatch(r"\d{1,10}", age, re.ASCII):
        fault = "it has no valid max_age"
    elif mode != "none" and not mx:
        fault = "it names no mail server (mx)"
    elif not all(map(MX_PATTERN.fullmatch, mx)):
        fault = "a name of a mail server (mx) is invalid"
    if fault:
        return StsPolicy(fault=fault)
    return StsPolicy(mode, min(int(age), MAX_AGE_S), mx)


def permits(policy: StsPolicy, server: str) -> bool:
    """Return True if a policy names a mail server. A wildcard stands for one label (RFC 8461, section 4.1)."""
    name = server.lower().rstrip(".")
    parent = name.partition(".")[2]
    return any(
        parent == pattern[2:] if pattern.startswith("*.") else name == pattern for pattern in map(str.lower, policy.mx)
    )
