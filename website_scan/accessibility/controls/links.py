"""Links with the same accessible name but different destinations, as in axe-core 4.12."""

from __future__ import annotations

import re
import unicodedata
from itertools import islice
from urllib.parse import parse_qsl

from selectolax.lexbor import LexborNode

from website_scan.accessibility.aria.native_roles import role
from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import accessible_name
from website_scan.accessibility.verdicts import Faults
from website_scan.page.markup import attribute, resolve
from website_scan.urls import Url

LINKS = "a[href], area[href], [role=link]"
# Fragments by which single-page applications address their pages. Other fragments address parts of a page.
ROUTE = re.compile(r"[!/]")
MAX_LINKS = 2_000  # more than on real pages
WEB_PORTS = frozenset({80, 443})

Destination = tuple[object, ...]


def find_ambiguous_links(document: AccessibleDocument) -> Faults:
    """Find the first link of every name; for review if another link with the name has another destination.

    Names that differ only in case, punctuation and symbols count as the same.
    """
    first: dict[str, tuple[LexborNode, Destination]] = {}
    ambiguous: dict[str, LexborNode] = {}
    for node in islice(document.exposed(LINKS), MAX_LINKS):
        if role(document, node) not in (None, "link"):
            continue
        name = _normalized_name(accessible_name(document, node))
        if not name:
            continue
        destination = _destination(document, node)
        link, first_destination = first.setdefault(name, (node, destination))
        if destination != first_destination:
            ambiguous[name] = link
    return Faults([node for node, _ in first.values()], review=list(ambiguous.values()))


def _normalized_name(name: str) -> str:
    """Return a name in lower case, without punctuation and symbols."""
    return " ".join(
        "".join(character for character in name.lower() if unicodedata.category(character)[0] not in "PS").split()
    )


def _destination(document: AccessibleDocument, node: LexborNode) -> Destination:
    """Return the destination of a link, equal for spellings of the same address. Unique if only a script knows it."""
    href = attribute(node, "href")
    url = resolve(document.document, href) if href is not None else None
    return _normalized_url(url) if url is not None else (node.mem_id,)


def _normalized_url(url: Url) -> Destination:
    """Return the parts of a URL without TLS, index file, trailing slash and order of the query."""
    folder, _, file = url.path.rpartition("/")
    if "." not in file:
        folder, file = url.path, ""
    return (
        "http" if url.scheme == "https" else url.scheme,
        url.host,
        None if url.port in WEB_PORTS else url.port,
        folder.rstrip("/"),
        "" if file.startswith("index.") else file,
        frozenset(parse_qsl(url.query, keep_blank_values=True)),
        url.fragment if ROUTE.match(url.fragment) else "",
    )
