"""BIMI records and logos: the sign of a brand that mail programs show beside its mail.

https://bimigroup.org/ (draft-brand-indicators-for-message-identification and draft-svg-tiny-ps-abrotman)
"""

from __future__ import annotations

import re

from website_scan.security.tag_list import read_tags

VERSION = re.compile(r"v=BIMI1[ \t]*(?:;|\Z)")
ROOT = re.compile(rb"<svg\b[^>]{0,2000}>", re.IGNORECASE)
PROFILE = re.compile(rb"\bbaseProfile\s*=\s*[\"']tiny-ps[\"']")
FORBIDDEN = re.compile(rb"<(script|image|foreignObject|animate)\b", re.IGNORECASE)


def is_bimi_record(text: str) -> bool:
    """Return True for a TXT record with the version `v=BIMI1`."""
    return VERSION.match(text) is not None


def logo_url(record: str) -> str:
    """Return the address of the logo, empty if the domain declines to have one."""
    return dict(read_tags(record)).get("l", "")


def record_fault(record: str) -> str:
    """Return why mail programs ignore a record, empty if they use it."""
    tags = dict(read_tags(record))
    if "l" not in tags:
        return "it has no address of a logo (l)"
    faulty = next((name for name in ("l", "a") if tags.get(name) and not tags[name].lower().startswith("https://")), "")
    return f"the address in the tag {faulty} does not begin with https://" if faulty else ""


def logo_fault(body: bytes) -> str:
    """Return why mail programs refuse a logo, empty if they may show it."""
    root = ROOT.search(body)
    if root is None:
        return "it is not an SVG image"
    if not PROFILE.search(root[0]):
        return 'it lacks baseProfile="tiny-ps", the profile that mail programs accept'
    if (forbidden := FORBIDDEN.search(body)) is not None:
        return f"it has the element {forbidden[1].decode().lower()}, which the profile forbids"
    return ""
