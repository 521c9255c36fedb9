"""Parser of DMARC records.

RFC 9989, and RFC 7489 before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from website_scan.security.tag_list import read_tags

# The version is the first tag, and its case matters (RFC 9989, section 4.8; RFC 7489, section 6.4).
VERSION = re.compile(r"v[ \t]*+=[ \t]*+DMARC1[ \t]*+(?:;|\Z)")
MAX_TREE_QUERIES = 8  # RFC 9989, section 4.10
ENFORCED_POLICIES = frozenset({"quarantine", "reject"})
MAX_REPORT_ADDRESSES = 10
MAILTO = re.compile(r"mailto:[^\s@,;!?]{1,200}@([a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?)(?:!\d{1,20}[kmgt]?)?(?:\?\S*)?")
OTHER_SCHEME = re.compile(r"(?!mailto:)[a-z][a-z0-9+.-]*://")
POLICIES = ENFORCED_POLICIES | {"none"}
WEAKENED = {"reject": "quarantine", "quarantine": "none", "none": "none"}


def is_dmarc_record(text: str) -> bool:
    """Return True for a TXT record that receivers take for DMARC.

    They discard all other records.
    """
    return VERSION.match(text[:1].lower() + text[1:]) is not None


def dmarc_tags(record: str) -> list[tuple[str, str]]:
    """Return a DMARC record's tags without the version.

    They are pairs of name and value in lower case.

    Their order does not matter.
    """
    return [(name.lower(), value.lower()) for name, value in read_tags(record)[1:]]


def has_valid_policies(tags: dict[str, str]) -> bool:
    """Return True if all policies are valid.

    Otherwise receivers apply none of them (RFC 7489, section 6.6.3).
    """
    return tags.get("p") in POLICIES and all(tags[name] in POLICIES for name in ("sp", "np") if name in tags)


def weakening_of(tags: Mapping[str, str]) -> str:
    """Return the tag that makes each policy of a record one level weaker, empty without one.

    RFC 9989, section 4.7 (t=y); RFC 7489, section 6.6.4 (pct=0).
    """
    if tags.get("t") == "y":
        return "t=y"
    return "pct=0" if applied_percent(tags) == 0 else ""


def applied_percent(tags: Mapping[str, str]) -> int:
    """Return the share of mail to which receivers that follow RFC 7489 apply the policy, from 0 to 100."""
    percent = tags.get("pct", "100")
    return min(int(percent[:3]), 100) if percent.isascii() and percent.isdecimal() else 100


def repeats_a_tag(tags: Sequence[tuple[str, str]]) -> bool:
    """Return True if a tag occurs twice, so that the record does not count (RFC 6376, section 3.2)."""
    names = [name for name, _ in tags if name]
    return len(set(names)) < len(names)


class ParentPolicy(Struct, frozen=True):
    """DMARC record of a parent domain, such as bank or gov.uk.

    It applies to a domain without its own record.
    """

    domain: str
    record: str

    @property
    def policy(self) -> str:
        """Return the policy that receivers apply to existing subdomains.

        Empty if the record has no valid one.
        """
        pairs = dmarc_tags(self.record)
        tags = dict(pairs)
        if repeats_a_tag(pairs) or not has_valid_policies(tags):
            return ""
        policy = tags.get("sp", tags["p"])
        return WEAKENED[policy] if weakening_of(tags) else policy


def parent_policy(domain: str, texts_of: Callable[[str], Sequence[str]]) -> ParentPolicy | None:
    """Find the DMARC policy of a domain that has no record.

    The search walks up the tree of domain names (RFC 9989, section 4.10).

    `texts_of` returns the TXT records of a name. A record with psd=n ends the walk. One with psd=y also ends it, and
    then the domain below it comes first. Otherwise, the domain with the fewest labels counts.
    """
    found: list[ParentPolicy] = []
    labels = domain.split(".")
    for start in range(max(1, len(labels) - MAX_TREE_QUERIES + 1), len(labels)):
        name = ".".join(labels[start:])
        records = [text for text in texts_of(f"_dmarc.{name}") if is_dmarc_record(text)]
        if len(records) != 1:
            continue
        match dict(dmarc_tags(records[0])).get("psd"):
            case "n":
                return ParentPolicy(name, records[0])
            case "y":
                below = ".".join(labels[start - 1 :])
                return next((policy for policy in found if policy.domain == below), ParentPolicy(name, records[0]))
        found.append(ParentPolicy(name, records[0]))
    return found[-1] if found else None


class ReportAddress(Struct, frozen=True):
    """Address for reports in a DMARC record. `host` is the domain of a mail address, empty if it is invalid."""

    tag: str
    text: str
    host: str = ""


def report_addresses(record: str) -> list[ReportAddress]:
    """Return the addresses in the tags rua and ruf.

    Addresses with another scheme than `mailto:` are left out, because receivers may ignore them. The limit of the size
    behind "!" was part of RFC 7489.
    """
    addresses = []
    for tag, value in dmarc_tags(record):
        if tag not in ("rua", "ruf"):
            continue
        for text in (part.strip(" \t") for part in value.split(",")[:MAX_REPORT_ADDRESSES]):
            if OTHER_SCHEME.match(text):
                continue
            match = MAILTO.fullmatch(text)
            addresses.append(ReportAddress(tag, text, match[1] if match else ""))
    return addresses
