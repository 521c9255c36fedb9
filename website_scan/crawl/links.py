"""Links of a page: their targets, whether a crawler may follow them, and references to private hosts."""

from __future__ import annotations

import ipaddress
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, http_address, live, resolve
from website_scan.page.references import CANDIDATE
from website_scan.page.registrable_domain import is_same_site
from website_scan.urls import DEFAULT_PORTS, Url

T = TypeVar("T")

# A page with more links has a generated list, so the other links are alike.
MAX_LINKS = 3_000
# Words in URLs whose request has an effect. Unusual words count anywhere; ordinary words count only at the beginning of
# a segment of the path or query, because “how-to-remove-stains” is a page.
ACTING_ANYWHERE = re.compile(
    r"log[-_]?(?:out|off)|sign[-_]?(?:out|off)|unsubscribe|opt[-_]?out|add[-_]?(?:to[-_]?)?(?:cart|basket|bag|wishlist)"
    r"|abmelde|ausloggen|abbestellen|deconnexion|desconnexion|desabonn|cerrar-?sesion|cancelar-?suscripcion"
    r"|afmelden|uitloggen|wyloguj|logga-?ut",
    re.IGNORECASE,
)
ACTING_FIRST = re.compile(
    r"(?:^|[/?&=;,])(?:(?i:delete|remove|destroy|cancel|revoke|deactivate|activate|purge|confirm|approve|reject"
    r"|vote|upvote|downvote|unfollow|trash|unpublish|loeschen|entfernen|supprimer|eliminar|borrar|usun)(?![a-z])"
    r"|(?i:add)(?![a-z-]))"
)
ACTION = re.compile(r"[?&;](?:action|do|op|cmd|command|task)=", re.IGNORECASE)
# Parameters of a link that works once, or for one visitor only.
ONE_TIME = re.compile(r"[?&;][\w-]{0,20}?(?:nonce|token|csrf|otp|signature)=", re.IGNORECASE)

# RFC 6761, RFC 6762, RFC 8375, ICANN's “internal”, and “lan”, which routers use.
PRIVATE_SUFFIXES = ("localhost", "local", "test", "internal", "lan", "home.arpa")
PRIVATE_NETWORKS = tuple(
    ipaddress.ip_network(network)
    for network in (
        *("127.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"),
        *("::1/128", "::/128", "fc00::/7", "fe80::/10"),
    )
)
# References with a scheme or a host. Any other reference is on the host of the document's base URL.
ELSEWHERE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:|[/\\]{2})", re.IGNORECASE)
ATTRIBUTES = ("href", "xlink:href", "src", "action", "formaction", "data", "poster", "content", "srcset")
HOLDERS = ", ".join(f"[{name}]" for name in ATTRIBUTES if name not in ("content", "xlink:href")) + ", use, image, meta"
CARDS = ("og:", "twitter:")


@dataclass(frozen=True, slots=True)
class Link:
    """Link to another page. `url` is absolute, without a fragment.

    `is_internal`: the target is on the page's site, on any subdomain; `is_same_host`: it is on the page's host, with or
    without www.
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
        """Return True if requesting the link has no effect, judging by its markup and URL."""
        names = self.node.attributes
        if "nofollow" in self.relations or "download" in names or "data-method" in names or "data-confirm" in names:
            return False
        return not changes_state(self.url)

    @property
    def is_instruction(self) -> bool:
        """Return True if the text contains a local address for the reader, as in “Open http://localhost:3000”."""
        url = Url.of(self.url)
        return is_local_host(url.hostname) and _is_shown(self.node, url)


@dataclass(frozen=True, slots=True)
class PageLinks:
    """Links of a page to other pages, in the page's order."""

    links: tuple[Link, ...] = ()


def read_links(page: Page, document: Document) -> PageLinks:
    """Return the links to other pages among the first `MAX_LINKS` a and area elements."""
    return PageLinks(tuple(_links(page, document)))


def _links(page: Page, document: Document) -> Iterator[Link]:
    own = {url.partition("#")[0] for url in (page.target.url, document.base.url)}
    own_host = page.target.host.removeprefix("www.")
    for node in itertools.islice(live(document, "a, area"), MAX_LINKS):
        reference = reference_of(node)
        if reference is None or reference.strip().startswith("#"):
            continue
        url = resolve(document, reference)
        address = http_address(url)
        if url is not None and address is not None and address not in own:
            is_same_host = url.host.removeprefix("www.") == own_host
            yield Link(node, address, is_same_site(url.host, page.target.host), is_same_host)


def reference_of(node: LexborNode) -> str | None:
    """Return the link target of an element as written, also in SVG; None if the element is not a link."""
    reference = attribute(node, "href")
    return attribute(node, "xlink:href") if reference is None else reference


def changes_state(url: str) -> bool:
    """Return True if the URL suggests that requesting it has an effect: a log-out, a deletion, a purchase."""
    address = unquote(Url.of(url).path_and_query)
    return any(pattern.search(address) for pattern in (ACTING_ANYWHERE, ACTING_FIRST, ACTION, ONE_TIME))


def sampled(items: Sequence[T], count: int) -> list[T]:
    """Return at most `count` of the items, evenly spaced, beginning with the first."""
    size = min(count, len(items))
    return [items[position * len(items) // size] for position in range(size)]


@dataclass(frozen=True, slots=True)
class LocalAddress:
    """Reference to a local or private host as written, with its tag and attribute."""

    tag: str
    attribute: str
    reference: str


def is_local_host(host: str) -> bool:
    """Return True if a host is the visitor's own machine or is in a private network."""
    host = host.strip("[].").lower()
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return any(host == suffix or host.endswith(f".{suffix}") for suffix in PRIVATE_SUFFIXES)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return any(address in network for network in PRIVATE_NETWORKS if network.version == address.version)


def local_addresses(document: Document) -> Iterator[LocalAddress]:
    """Yield the references in the markup to local and private hosts, or to files on a visitor's disk.

    A link whose text contains the host is left out, because it is meant for the reader: “Open http://localhost:3000”.
    """
    base_is_local = is_local_host(document.base.host)
    for node in live(document, HOLDERS):
        attributes = node.attributes
        for name in ATTRIBUTES:
            value = attributes.get(name)
            if not value or (name == "content" and not _is_card(node)) or (name == "data" and node.tag != "object"):
                continue
            for reference in _candidates(value) if name == "srcset" else (value,):
                if not base_is_local and not ELSEWHERE.match(reference):
                    continue
                url = resolve(document, reference)
                if url is not None and _is_local(url) and not _is_shown(node, url):
                    yield LocalAddress(node.tag or "", name, reference)


def _is_local(url: Url) -> bool:
    if url.scheme == "file" or len(url.scheme) == 1:  # a Windows drive
        return True
    return url.scheme in DEFAULT_PORTS and is_local_host(url.host)


def _is_shown(node: LexborNode, url: Url) -> bool:
    return node.tag == "a" and url.hostname != "" and url.hostname in node.text().lower()


def _is_card(node: LexborNode) -> bool:
    """Return True if a meta element contains a URL for sharing (Open Graph or Twitter card)."""
    name = attribute(node, "property") or attribute(node, "name") or ""
    return name.strip().lower().startswith(CARDS) and "://" in (attribute(node, "content") or "")[:10]


def _candidates(source_set: str) -> Iterator[str]:
    position = 0
    while (match := CANDIDATE.match(source_set, position)) is not None:
        position = match.end()
        yield match["url"].rstrip(",")
