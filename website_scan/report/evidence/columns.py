"""Labels and formats of evidence on the page, by the engine's names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

# The format of a column's values. `code` is for copying, `mono` for exact reading; `address` is a URL or a path;
# `short` is one or two words.
Kind = Literal["text", "short", "mono", "code", "address", "number", "moment", "contrast"]


@dataclass(frozen=True, slots=True)
class Column:
    """Head of a column. `unit` is the unit of its numbers, empty for numbers without unit."""

    label: str
    kind: Kind = "text"
    unit: str = ""


BYTES = "bytes"  # shown in B, kB or MB, depending on the column's largest number

COLUMNS: Mapping[str, Column] = {
    "access-control-allow-credentials": Column("Access-Control-Allow-Credentials", "mono"),
    "access-control-allow-origin": Column("Access-Control-Allow-Origin", "mono"),
    "action": Column("Sends to", "address"),
    "address": Column("IP address", "mono"),
    "addresses": Column("Addresses", "number"),
    "agent": Column("Crawler", "mono"),
    "allowed": Column("Allowed", "short"),
    "alpn": Column("Protocol", "mono"),
    "animated": Column("Animated", "short"),
    "asked": Column("Requested address", "address"),
    "at_s": Column("Starts at", "number", "s"),
    "attempt": Column("Try", "number"),
    "attribute": Column("Attribute", "mono"),
    "bytes": Column("Size", "number", BYTES),
    "cache_control": Column("Cache-Control", "mono"),
    "calls": Column("Calls", "number"),
    "canonical": Column("Canonical URL", "address"),
    "cipher": Column("Cipher", "mono"),
    "closed": Column("Connections closed", "number"),
    "comment": Column("Comment", "code"),
    "contrast": Column("Contrast", "contrast"),
    "cookie": Column("Cookie", "mono"),
    "crawler": Column("Crawler", "mono"),
    "document_seconds": Column("Document alone", "number", "s"),
    "duration_ms": Column("Duration", "number", "ms"),
    "element": Column("Type of element", "mono"),
    "error": Column("Error"),
    "estimated_saving_bytes": Column("Could save", "number", BYTES),
    "exception": Column("Exception", "code"),
    "expected_waste_bytes": Column("Loaded again in vain", "number", BYTES),
    "expires": Column("Expires", "mono"),
    "family": Column("Font family"),
    "fault": Column("What is wrong"),
    "fields": Column("Fields"),
    "file": Column("File", "address"),
    "font_display": Column("font-display", "mono"),
    "format": Column("Format", "short"),
    "from": Column("From", "address"),
    "gzip_would_save_bytes": Column("gzip would save", "number", BYTES),
    "header": Column("Header", "mono"),
    "header_bytes": Column("Headers", "number", BYTES),
    "height": Column("Height", "number", "px"),
    "high": Column("High priority", "short"),
    "hop": Column("Step", "number"),
    "host": Column("Host", "mono"),
    "href": Column("Link", "address"),
    "hreflang": Column("hreflang", "mono"),
    "http_3_offered": Column("HTTP/3 offered", "short"),
    "http_only": Column("HttpOnly", "short"),
    "imports": Column("Imports", "address"),
    "in_html": Column("In the HTML", "short"),
    "internal": Column("Same site", "short"),
    "is_exposed": Column("Public", "short"),
    "issuer": Column("Issuer"),
    "key": Column("Key", "short"),
    "kind": Column("Type", "short"),
    "largest": Column("Largest", "number"),
    "least": Column("Smallest", "number"),
    "level": Column("WCAG level", "short"),
    "library": Column("Library", "short"),
    "lifetime_s": Column("Cache lifetime", "number", "s"),
    "line": Column("Line", "number"),
    "loaded_with_the_page": Column("Loaded with the page", "short"),
    "loads": Column("Loads measured", "number"),
    "markup": Column("Markup", "code"),
    "media_type": Column("Content type", "mono"),
    "median": Column("Median", "number"),
    "missing": Column("Missing"),
    "name": Column("Name"),
    "names": Column("Names", "mono"),
    "nonces_seen_twice": Column("Nonces seen twice", "number"),
    "not_after": Column("Valid until", "moment"),
    "not_before": Column("Valid from", "moment"),
    "not_counted": Column("Requests not counted", "number"),
    "origin": Column("Origin", "mono"),
    "other_site": Column("Another site's", "short"),
    "page": Column("Page", "address"),
    "passive": Column("Image, audio or video", "short"),
    "password": Column("Asks for a password", "short"),
    "path": Column("Path", "address"),
    "policy": Column("Policy", "code"),
    "proof": Column("What it holds"),
    "raw": Column("In the HTML as sent"),
    "reason": Column("What is wrong"),
    "record": Column("Record", "code"),
    "reference": Column("Address as written", "address"),
    "rendered": Column("After scripts have run"),
    "requests": Column("Requests", "number"),
    "response_status": Column("HTTP status", "number"),
    "robots": Column("Robots rules", "mono"),
    "robots_txt": Column("robots.txt", "address"),
    "rule": Column("Rule", "mono"),
    "same_as": Column("Same file", "address"),
    "same_site": Column("SameSite", "short"),
    "script": Column("Script", "address"),
    "seconds": Column("Time", "number", "s"),
    "secure": Column("Secure", "short"),
    "seen_s": Column("Measured without throttling", "number", "s"),
    "selector": Column("Selector", "code"),
    "sent_bytes": Column("Sent", "number", BYTES),
    "server": Column("Server", "mono"),
    "session_like": Column("Looks like a session", "short"),
    "share_percent": Column("Share", "number", "%"),
    "shift": Column("Layout shift", "number"),
    "shown": Column("Shown at", "short"),
    "shows": Column("Shows"),
    "stable": Column("Loads agree", "short"),
    "signature": Column("Signature", "short"),
    "size_bytes": Column("Size", "number", BYTES),
    "snippet": Column("Element", "code"),
    "source": Column("Found in"),
    "src": Column("Address", "address"),
    "static_requests": Column("Static files", "number"),
    "status": Column("HTTP status", "number"),
    "style_sheet": Column("Style sheet", "address"),
    "subject": Column("Subject"),
    "text": Column("Text"),
    "title": Column("Title"),
    "to": Column("To", "address"),
    "top_px": Column("Distance from the top", "number", "px"),
    "try": Column("Try", "number"),
    "ttfb_ms": Column("Time to first byte", "number", "ms"),
    "type": Column("Type", "short"),
    "unused_bytes": Column("Unused", "number", BYTES),
    "unused_percent": Column("Share unused", "number", "%"),
    "url": Column("Address", "address"),
    "value": Column("Value", "mono"),
    "version": Column("Version", "short"),
    "vulnerabilities": Column("Vulnerabilities"),
    "wasted_bytes": Column("Could save", "number", BYTES),
    "wcag": Column("WCAG", "short"),
    "weakness": Column("Weakness"),
    "where": Column("Found in"),
    "why": Column("What is wrong"),
    "width": Column("Width", "number", "px"),
    "wire_bytes": Column("Transferred", "number", BYTES),
}

# Abbreviations with capitals.
SPELLINGS = {
    word.lower(): word for word in ("URL", "WCAG", "HTML", "CSS", "HTTP", "TLS", "DNS", "IP", "ID", "ARIA", "CSP")
}
UNITS = {"bytes": BYTES, "ms": "ms", "s": "s", "px": "px", "percent": "%"}


def column(name: str) -> Column:
    """Return the column for a name of evidence. An unknown name, as in old reports, becomes a label of its words."""
    if known := COLUMNS.get(name):
        return known
    words, _, unit = name.rpartition("_")
    if words and unit in UNITS:
        return Column(_in_words(words), "number", UNITS[unit])
    return Column(_in_words(name))


def _in_words(name: str) -> str:
    text = " ".join(SPELLINGS.get(word, word) for word in re.split("_", name))
    return text[:1].upper() + text[1:]
