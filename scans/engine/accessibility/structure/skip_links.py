"""Links that lead over what comes first on every page, as axe-core 4.12 finds them."""

from __future__ import annotations

import re
from urllib.parse import unquote

import ada_url
from selectolax.lexbor import LexborNode

from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.page.evidence import Document
from scans.engine.page.markup import attribute, live, resolve

IN_PAGE = re.compile(r"/?#")
# What single-page applications write for their pages.
ROUTE = re.compile(r"#[!/]")


class SkipLinks:
    """The links within the page that come before every link to another one, and where they lead."""

    def __init__(self, document: AccessibleDocument) -> None:
        self._names: dict[str, LexborNode] = {}
        for node in live(document.document, "[name]"):
            self._names.setdefault(attribute(node, "name") or "", node)
        self._ids: dict[str, LexborNode] = {}
        for node in live(document.document, "[id]"):
            self._ids.setdefault(attribute(node, "id") or "", node)
        self.links: dict[int, LexborNode] = {}
        here = _page(ada_url.URL(document.document.base.url))
        for node in live(document.document, "a[href]"):
            href = attribute(node, "href") or ""
            if href.startswith("javascript:"):
                continue
            if not _is_within(document.document, href, here):
                break
            self.links[node.mem_id] = node

    def target(self, link: LexborNode) -> LexborNode | None:
        """The element that a link within the page names, by its ID or its name."""
        fragment = unquote((attribute(link, "href") or "").partition("#")[2])
        return self._ids.get(fragment, self._names.get(fragment))


def _is_within(document: Document, href: str, here: str) -> bool:
    if IN_PAGE.match(href):
        return href != "#" and (href.startswith("/#") or ROUTE.match(href) is None)
    url = resolve(document, href)
    return url is not None and ROUTE.match(url.hash) is None and _page(url) == here


def _page(url: ada_url.URL) -> str:
    return f"{url.origin}{url.pathname}"
