"""The links of a page: where they lead, whether that is the own site, and whether a machine may follow them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

import ada_url
from selectolax.lexbor import LexborNode

from scans.engine.evidence import Document, Page
from scans.engine.markup import attribute, live, resolve
from scans.engine.sites import is_same_site
from scans.targets import Target

# Words of addresses that change something for whoever follows them. Those that are no ordinary words count
# anywhere, the others at the beginning of a piece of the path or of the query: “how-to-remove-stains” is a page.
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
# A link that works once, or for one visitor.
ONE_TIME = re.compile(r"[?&;][\w-]{0,20}?(?:nonce|token|csrf|otp|signature)=", re.IGNORECASE)


# Who has more has a list made by a machine, whose links are alike.
MAX_LINKS = 3_000


@dataclass(frozen=True, slots=True)
class Link:
    """One link to an http(s) address: `url` is absolute, without a fragment; `host` has no brackets."""

    node: LexborNode
    url: str
    host: str

    @property
    def relations(self) -> frozenset[str]:
        """The tokens of its rel attribute."""
        return frozenset((attribute(self.node, "rel") or "").lower().split())


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """What came from where a link leads. `is_broken` is None where that proves nothing.

    `status` is that of the end of its redirects; None where nothing came, and `error` says why.
    """

    url: str
    is_internal: bool
    status: int | None
    is_broken: bool | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class LinkAnswers:
    """The links that were looked at, and how many might have been; `stopped` says why some of them were left."""

    answers: tuple[LinkAnswer, ...] = ()
    internal: int = 0
    external: int = 0
    stopped: str = ""


def page_links(page: Page, document: Document) -> Iterator[Link]:
    """The document's links that lead to another page, in its order, of the first `MAX_LINKS` elements."""
    own = without_fragment(page.target.url)
    base = without_fragment(document.base.url)
    for node in itertools.islice(live(document, "a, area"), MAX_LINKS):
        reference = reference_of(node)
        if reference is None or reference.strip().startswith("#"):
            continue
        url = resolve(document, reference)
        if url is None or url.protocol not in ("http:", "https:"):
            continue
        address = without_fragment(url.href)
        if address not in (own, base):
            yield Link(node, address, url.hostname.strip("[]"))


def reference_of(node: LexborNode) -> str | None:
    """Where an element leads as it is written, in SVG too; None where it is no link."""
    reference = attribute(node, "href")
    return attribute(node, "xlink:href") if reference is None else reference


def is_internal(page: Page, link: Link) -> bool:
    """Whether a link leads to the page's own site, whatever the subdomain."""
    return is_same_site(link.host, page.target.host)


def is_same_host(target: Target, host: str) -> bool:
    """Whether it is the same host, with www or without."""
    return host.removeprefix("www.") == target.host.removeprefix("www.")


def may_be_followed(link: Link) -> bool:
    """Whether asking for the link's address changes nothing, as far as its markup and its address tell."""
    names = link.node.attributes
    if "nofollow" in link.relations or "download" in names or "data-method" in names or "data-confirm" in names:
        return False
    return not acts(link.url)


def acts(url: str) -> bool:
    """Whether an address speaks of something that is done when it is asked for: a log-out, a deletion, a purchase."""
    parsed = ada_url.URL(url)
    address = unquote(parsed.pathname + parsed.search)
    return any(pattern.search(address) for pattern in (ACTING_ANYWHERE, ACTING_FIRST, ACTION, ONE_TIME))


def without_fragment(url: str) -> str:
    """An address without what stands from its `#` on."""
    return url.partition("#")[0]
