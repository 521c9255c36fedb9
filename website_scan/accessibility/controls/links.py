"""Links with the same name but different destinations.

As in axe-core 4.12.
"""

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
# Single-page applications use these fragments as routes.
ROUTE = re.compile(r"[!/]")
MAX_JUDGED_LINKS = 2_000
DEFAULT_WEB_PORTS = frozenset({80, 443})

Destination = tuple[object, ...]


def find_ambiguous_links(document: AccessibleDocument) -> Faults:
    """Find links with the name of a later link to another destination.

    They need a manual review. Names that differ only in case, punctuation and symbols count as the same.
    """
    first_by_name: dict[str, tuple[LexborNode, Destination]] = {}
    ambiguous: dict[str, LexborNode] = {}
    for node in islice(document.exposed(LINKS), MAX_JUDGED_LINKS):
        if role(document, node) not in (None, "link"):
            continue
        name = _normalized_name(accessible_name(document, node))
        if not name:
            continue
        destination = _link_destination(document, node)
        link, first_destination = first_by_name.setdefault(name, (node, destination))
        if destination != first_destination:
            ambiguous[name] = link
    return Faults([node for node, _ in first_by_name.values()], review=list(ambiguous.values()))


def _normalized_name(name: str) -> str:
    """Return a name in lower case without punctuation and symbols."""
    return " ".join(
        "".join(character for character in name.lower() if unicodedata.category(character)[0] not in "PS").split()
    )


def _link_destination(document: AccessibleDocument, node: LexborNode) -> Destination:
    """Return a comparable destination of a link.

    A link without a URL, which a script handles, has a unique destination.
    """
    href = attribute(node, "href")
    url = resolve(document.document, href) if href is not None else None
    return _normalized_url(url) if url is not None else (node.mem_id,)


def _normalized_url(url: Url) -> Destination:
    """Return the parts of a URL that identify a link's destination.

    The scheme https counts as http. Index files, trailing slashes and the order of query parameters do not count.
    """
    folder, _, file = url.path.rpartition("/")
    if "." not in file:
        folder, file = url.path, ""
    return (
        "http" if url.scheme == "https" else url.scheme,
        url.host,
        None if url.port in DEFAULT_WEB_PORTS else url.port,
        folder.rstrip("/"),
        "" if file.startswith("index.") else file,
        frozenset(parse_qsl(url.query, keep_blank_values=True)),
        url.fragment if ROUTE.match(url.fragment) else "",
    )
