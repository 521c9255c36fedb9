"""Skip links, which jump past the repeated content of pages.

As in axe-core 4.12.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.page.css import OUT_OF_FLOW, SIMPLE, Allowance, Compound, last_compounds, rules
from website_scan.page.evidence import Document
from website_scan.page.markup import attribute, live, resolve
from website_scan.urls import Url

IN_PAGE_LINK = re.compile(r"/?#")
# Beginning of URL fragments that are routes of single-page applications.
ROUTE = re.compile(r"[!/]")
# Negative CSS length that moves a link outside of the window.
OFFSCREEN_POSITION = re.compile(r"-\s*\d{2}")
SIDES = frozenset({"left", "top", "right", "bottom"})


class SkipLinks:
    """Skip links of a page and their targets.

    All in-page links before the first link to another page count as skip links.
    """

    def __init__(self, document: AccessibleDocument) -> None:
        self._names: dict[str, LexborNode] = {}
        for node in live(document.document, "[name]"):
            self._names.setdefault(attribute(node, "name") or "", node)
        self._ids: dict[str, LexborNode] = {}
        for node in live(document.document, "[id]"):
            self._ids.setdefault(attribute(node, "id") or "", node)
        self._offscreen_rules = _list_offscreen_rules(document.document)
        self.links: dict[int, LexborNode] = {}
        here = _page_address(document.document.base.address)
        for node in live(document.document, "a[href]"):
            href = attribute(node, "href") or ""
            if href.startswith("javascript:"):
                continue
            if not _is_in_page_link(document.document, href, here):
                break
            self.links[node.mem_id] = node

    def target(self, link: LexborNode) -> LexborNode | None:
        """Return the element that an in-page link leads to.

        Its ID or name is the URL fragment.
        """
        fragment = unquote((attribute(link, "href") or "").partition("#")[2])
        return self._ids.get(fragment, self._names.get(fragment))

    def is_moved_offscreen(self, link: LexborNode) -> bool:
        """Return True if a CSS rule of the page moves the link offscreen."""
        names = (link.tag or "", attribute(link, "id") or "", frozenset((attribute(link, "class") or "").split()))
        return any(compound.may_match(*names) for compound in self._offscreen_rules)


def _list_offscreen_rules(document: Document) -> frozenset[Compound]:
    """Return selectors of CSS rules that move elements offscreen.

    They are the simple selectors of unconditional rules.
    """
    compounds: set[Compound] = set()
    allowance = Allowance()
    for node in live(document, "style"):
        if (attribute(node, "media") or "all").strip().lower() not in ("all", "screen"):
            continue
        for rule in rules(node.text() or "", allowance):
            style = dict(rule.declarations)
            if (
                not rule.within
                and style.get("position", "").lower() in OUT_OF_FLOW
                and any(OFFSCREEN_POSITION.match(value) for name, value in style.items() if name in SIDES)
            ):
                simple_selectors = ",".join(
                    selector for selector in rule.prelude.split(",") if SIMPLE.fullmatch(selector.strip())
                )
                compounds.update(
                    compound for compound in last_compounds(simple_selectors, allowance) if compound != Compound()
                )
    return frozenset(compounds)


def _is_in_page_link(document: Document, href: str, here: str) -> bool:
    if IN_PAGE_LINK.match(href):
        return href != "#" and (href.startswith("/#") or ROUTE.match(href.partition("#")[2]) is None)
    url = resolve(document, href)
    return url is not None and ROUTE.match(url.fragment) is None and _page_address(url) == here


def _page_address(url: Url) -> str:
    return f"{url.origin}{url.path}"
