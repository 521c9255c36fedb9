"""Skip links: links past the content that is repeated at the top of every page, as in axe-core 4.12."""

from __future__ import annotations

import re
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.page.css import OUT_OF_FLOW, SIMPLE, Allowance, Compound, last_compounds, rules
from website_scan.page.evidence import Document
from website_scan.page.markup import attribute, live, resolve
from website_scan.urls import Url

IN_PAGE = re.compile(r"/?#")
# Fragments by which single-page applications address their pages.
ROUTE = re.compile(r"[!/]")
# CSS position that far beyond the window's edge, where nobody sees a link.
FAR_AWAY = re.compile(r"-\s*\d{2}")
SIDES = frozenset({"left", "top", "right", "bottom"})


class SkipLinks:
    """Skip links of a page, which are the in-page links before the first link to another page, and their targets."""

    def __init__(self, document: AccessibleDocument) -> None:
        self._names: dict[str, LexborNode] = {}
        for node in live(document.document, "[name]"):
            self._names.setdefault(attribute(node, "name") or "", node)
        self._ids: dict[str, LexborNode] = {}
        for node in live(document.document, "[id]"):
            self._ids.setdefault(attribute(node, "id") or "", node)
        self._rules_that_move_away = _list_rules_that_move_away(document.document)
        self.links: dict[int, LexborNode] = {}
        here = _page_address(document.document.base.address)
        for node in live(document.document, "a[href]"):
            href = attribute(node, "href") or ""
            if href.startswith("javascript:"):
                continue
            if not _is_in_page(document.document, href, here):
                break
            self.links[node.mem_id] = node

    def target(self, link: LexborNode) -> LexborNode | None:
        """Return the element whose ID or name is the link's fragment."""
        fragment = unquote((attribute(link, "href") or "").partition("#")[2])
        return self._ids.get(fragment, self._names.get(fragment))

    def is_moved_away(self, link: LexborNode) -> bool:
        """Return True if a CSS rule in the page moves the link, by its tag, ID or classes, beyond the window's edge."""
        names = (link.tag or "", attribute(link, "id") or "", frozenset((attribute(link, "class") or "").split()))
        return any(compound.may_match(*names) for compound in self._rules_that_move_away)


def _list_rules_that_move_away(document: Document) -> frozenset[Compound]:
    """Return the compounds of unconditional CSS rules with simple selectors that move elements beyond the edge."""
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
                and any(FAR_AWAY.match(value) for name, value in style.items() if name in SIDES)
            ):
                simple_selectors = ",".join(
                    selector for selector in rule.prelude.split(",") if SIMPLE.fullmatch(selector.strip())
                )
                compounds.update(
                    compound for compound in last_compounds(simple_selectors, allowance) if compound != Compound()
                )
    return frozenset(compounds)


def _is_in_page(document: Document, href: str, here: str) -> bool:
    if IN_PAGE.match(href):
        return href != "#" and (href.startswith("/#") or ROUTE.match(href.partition("#")[2]) is None)
    url = resolve(document, href)
    return url is not None and ROUTE.match(url.fragment) is None and _page_address(url) == here


def _page_address(url: Url) -> str:
    return f"{url.origin}{url.path}"
