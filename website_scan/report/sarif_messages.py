"""Messages and locations of SARIF results, in which a site's text cannot add links."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from website_scan.fingerprints import page_path
from website_scan.report.references import safe_link
from website_scan.written_urls import split_url

# Characters that need no encoding in a path segment (RFC 3986, section 3.3).
SEGMENT = "!$&'()*+,;=:@~%"
# Characters that need no encoding in the URL of a Markdown link, unlike the closing parenthesis.
DESTINATION = "!$&'*+,;=:@~%/?#[]"
STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
# Code scanning displays only results with a region, so a page without source lines has line 1.
REGION: Mapping[str, object] = {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2}


def plain_text(message: str) -> str:
    """Escape brackets in a message.

    A site could use them to add links (SARIF 2.1.0, section 3.11.6).
    """
    return re.sub(r"[\\\[\]]", r"\\\g<0>", message)


def link(url: str) -> str:
    """Return a link to a page for a SARIF message.

    If opening the URL is not safe, the result is the escaped URL.
    """
    address = safe_link(url)
    return f"[{plain_text(url)}]({quote(address, safe=DESTINATION)})" if address else plain_text(url)


def notification(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": plain_text(text)}}


def message(title: str, summary: str, place: str, url: str, state: str = "") -> dict[str, str]:
    """Return the message of a SARIF result, with a link to the page.

    `state` is the name of a journey's state.
    """
    at = f" At {plain_text(place)}." if place else ""
    name = f"{plain_text(f'“{state}”')}, " if state else ""
    return {"text": f"{plain_text(f'{title}: {summary}')}{at} On {name}{link(url)}."}


def location(url: str, source: str = "") -> dict[str, Any]:
    """Return the location of a SARIF result on a page.

    It contains the HTML of the element.
    """
    region = {**REGION} | ({"snippet": {"text": source}} if source else {})
    return {"physicalLocation": {"artifactLocation": {"uri": relative_path(url)}, "region": region}}


def relative_path(url: str) -> str:
    """Return the relative file path for a page's URL.

    It begins with the host and the URL's path. The query is in the file name.

    GitHub refuses addresses with a scheme, and would read a host before a port as a scheme, perhaps even if the colon
    were encoded: so an underscore replaces the colon. Empty segments, "." and ".." are left out.
    """
    parts = split_url(url)
    host = parts.netloc.rpartition("@")[2].replace("[", "").replace("]", "").replace(":", "_")
    segments = [host, *page_path(url).split("/")]
    encoded = (STRAY_PERCENT.sub("%25", quote(segment, safe=SEGMENT, errors="replace")) for segment in segments)
    return "/".join(segment for segment in encoded if unquote(segment).strip() not in ("", ".", ".."))
