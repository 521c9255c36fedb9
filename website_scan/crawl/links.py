"""Find a page's links, and decide which may be followed.

This module also finds references to private hosts.
"""

from __future__ import annotations

import ipaddress
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import TypeVar
from urllib.parse import unquote

from msgspec import Struct
from selectolax.lexbor import LexborNode

from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, http_address, live, resolve
from website_scan.page.references import CANDIDATE
from website_scan.page.registrable_domain import is_same_site
from website_scan.urls import DEFAULT_PORTS, Url, normal_form

T = TypeVar("T")

# A page with so many links has a generated list of similar links.
MAX_LINKS = 3_000
# URLs with these words have effects, such as a log-out, so the crawler does not request them. Ordinary words count only
# at the start of a segment, because “how-to-remove-stains” is a page.
ACTION_WORD_ANYWHERE = re.compile(
    r"log[-_]?(?:out|off)|sign[-_]?(?:out|off)|unsubscribe|opt[-_]?out|add[-_]?(?:to[-_]?)?(?:cart|basket|bag|wishlist)"
    r"|abmelde|ausloggen|abbestellen|deconnexion|desconnexion|desabonn|cerrar-?sesion|cancelar-?suscripcion"
    r"|afmelden|uitloggen|wyloguj|logga-?ut",
    re.IGNORECASE,
)
ACTION_WORD_AT_SEGMENT_START = re.compile(
    r"(?:^|[/?&=;,])(?:(?i:delete|remove|destroy|cancel|revoke|deactivate|activate|purge|confirm|approve|reject"
    r"|vote|upvote|downvote|unfollow|trash|unpublish|loeschen|entfernen|supprimer|eliminar|borrar|usun)(?![a-z])"
    r"|(?i:add)(?![a-z-]))"
)
ACTION_PARAMETER = re.compile(r"[?&;](?:action|do|op|cmd|command|task)=", re.IGNORECASE)
# Query parameters of links that work only once or for only one visitor.
ONE_TIME_PARAMETER = re.compile(r"[?&;][\w-]{0,20}?(?:nonce|token|csrf|otp|signature)=", re.IGNORECASE)

# Private suffixes: RFC 6761, RFC 6762, RFC 8375, ICANN's “internal”, and “lan” of routers.
PRIVATE_SUFFIXES = ("localhost", "local", "test", "internal", "lan", "home.arpa")
PRIVATE_NETWORKS = tuple(
    ipaddress.ip_network(network)
    for network in (
        *("127.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"),
        *("::1/128", "::/128", "fc00::/7", "fe80::/10"),
    )
)
# Other references lead to the host of the document's base URL.
OTHER_HOST_REFERENCE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:|[/\\]{2})", re.IGNORECASE)
ATTRIBUTES = ("href", "xlink:href", "src", "action", "formaction", "data", "poster", "content", "srcset")
REFERENCING_ELEMENTS = (
    ", ".join(f"[{name}]" for name in ATTRIBUTES if name not in ("content", "xlink:href")) + ", use, image, meta"
)
SHARING_CARD_PREFIXES = ("og:", "twitter:")


class Link(Struct, frozen=True):
    """Link to another page.

    `url` is absolute, without a fragment. `is_internal`: the target is on the page's site, on any subdomain;
    `is_same_host`: it is on the page's host, with or without www.
    """

    node: LexborNode
    url: str
    is_internal: bool
    is_same_host: bool

    @property
    def relations(self) -> frozenset[str]:
        """Return the tokens of the rel attribute."""
        return frozenset((attribute(self.node, "rel") or "").lower().split())

    @property
    def may_be_followed(self) -> bool:
        """Return True if a crawler may follow the link.

        Its markup and URL must not suggest that a request has side effects.
        """
        names = self.node.attributes
        if "nofollow" in self.relations or "download" in names or "data-method" in names or "data-confirm" in names:
            return False
        return not may_change_state(self.url)

    @property
    def is_local_instruction(self) -> bool:
        """Return True if the link's text shows its local address.

        As in “Open http://localhost:3000”.
        """
        url = Url.of(self.url)
        return is_local_host(url.hostname) and _shows_host_in_text(self.node, url)


class PageLinks(Struct, frozen=True):
    """Links of a page to other pages, in document order."""

    links: tuple[Link, ...] = ()


def read_links(page: Page, document: Document) -> PageLinks:
    """Return the page's links to other pages.

    Only the first `MAX_LINKS` a and area elements are read.
    """
    return PageLinks(tuple(_find_links(page, document)))


def _find_links(page: Page, document: Document) -> Iterator[Link]:
    own = {normal_form(url) for url in (page.target.url, document.base.url)}
    own_host = page.target.host.removeprefix("www.")
    for node in itertools.islice(live(document, "a, area"), MAX_LINKS):
        reference = link_target_as_written(node)
        if reference is None or reference.strip().startswith("#"):
            continue
        url = resolve(document, reference)
        address = http_address(url)
        if url is not None and address is not None and normal_form(address) not in own:
            is_same_host = url.host.removeprefix("www.") == own_host
            yield Link(node, address, is_same_site(url.host, page.target.host), is_same_host)


def link_target_as_written(node: LexborNode) -> str | None:
    """Return the link target of an HTML or SVG element as written.

    None if the element is not a link.
    """
    reference = attribute(node, "href")
    return attribute(node, "xlink:href") if reference is None else reference


def may_change_state(url: str) -> bool:
    """Return True if a request probably changes something.

    Examples are a log-out, a deletion or a purchase.
    """
    address = unquote(Url.of(url).path_and_query)
    return any(
        pattern.search(address)
        for pattern in (ACTION_WORD_ANYWHERE, ACTION_WORD_AT_SEGMENT_START, ACTION_PARAMETER, ONE_TIME_PARAMETER)
    )


def sampled(items: Sequence[T], count: int) -> list[T]:
    """Return a sample of at most `count` items.

    They are evenly spaced, beginning with the first item.
    """
    size = min(count, len(items))
    return [items[position * len(items) // size] for position in range(size)]


class LocalAddress(Struct, frozen=True):
    """Reference to a local or private host as written.

    `LocalAddress` has the tag and attribute that contain it.
    """

    tag: str
    attribute: str
    reference: str


def is_local_host(host: str) -> bool:
    """Return True if a host's name or address is loopback or private."""
    host = host.strip("[].").lower()
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return any(host == suffix or host.endswith(f".{suffix}") for suffix in PRIVATE_SUFFIXES)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return any(address in network for network in PRIVATE_NETWORKS if network.version == address.version)


def local_addresses(document: Document) -> Iterator[LocalAddress]:
    """Yield references to local and private hosts.

    References to files on a visitor's disk count, too. A link whose text contains the host is left out, because the
    link is an instruction: “Open http://localhost:3000”.
    """
    is_base_local = is_local_host(document.base.host)
    for node in live(document, REFERENCING_ELEMENTS):
        attributes = node.attributes
        for name in ATTRIBUTES:
            value = attributes.get(name)
            if (
                not value
                or (name == "content" and not _is_sharing_card(node))
                or (name == "data" and node.tag != "object")
            ):
                continue
            for reference in _srcset_urls(value) if name == "srcset" else (value,):
                if not is_base_local and not OTHER_HOST_REFERENCE.match(reference):
                    continue
                url = resolve(document, reference)
                if url is not None and _is_local_url(url) and not _shows_host_in_text(node, url):
                    yield LocalAddress(node.tag or "", name, reference)


def _is_local_url(url: Url) -> bool:
    # A scheme of one letter is a Windows drive.
    if url.scheme == "file" or len(url.scheme) == 1:
        return True
    return url.scheme in DEFAULT_PORTS and is_local_host(url.host)


def _shows_host_in_text(node: LexborNode, url: Url) -> bool:
    return node.tag == "a" and url.hostname != "" and url.hostname in node.text().lower()


def _is_sharing_card(node: LexborNode) -> bool:
    """Return True if a meta element has a URL for link previews.

    Open Graph or Twitter card.
    """
    name = attribute(node, "property") or attribute(node, "name") or ""
    return name.strip().lower().startswith(SHARING_CARD_PREFIXES) and "://" in (attribute(node, "content") or "")[:10]


def _srcset_urls(source_set: str) -> Iterator[str]:
    position = 0
    while (match := CANDIDATE.match(source_set, position)) is not None:
        position = match.end()
        yield match["url"].rstrip(",")
