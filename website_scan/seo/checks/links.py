"""Checks for uncrawlable links, generic link texts and broken links."""

from __future__ import annotations

import itertools
import re
from typing import Annotated, ClassVar, NotRequired, Self, TypedDict

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import accessible_name
from website_scan.addresses import normal_address
from website_scan.catalogue import Category, check
from website_scan.crawl.indexing import IndexingRules
from website_scan.crawl.links import (
    MAX_LINKS,
    PageLinks,
    is_local_host,
    link_target_as_written,
    local_addresses,
    may_change_state,
)
from website_scan.elements import element
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import cut, excerpt
from website_scan.outcomes import Fail, Fix, Language, Pass, Verdict, Warn
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, live, resolve, select
from website_scan.places import Column, ElementType, Identity, Place, PlaceUrl, Status, as_prose, as_written
from website_scan.seo.evidence import LinkAnswer, LinkAnswers
from website_scan.seo.icons import visible_text_of
from website_scan.seo.link_texts import is_generic_link_text
from website_scan.values import Code, Count, Excerpt, Reason, Share, Value
from website_scan.written_urls import WrittenUrl

# Crawlers do not follow the links of error pages.
CATEGORY = Category("Links", weight=10, html=True, error_pages=False)

UNCRAWLABLE_SUMMARY = "{links} cannot be followed by crawlers"
UNCHECKED_LINKS = "external links could not be checked, because the scanner's name servers cannot resolve other sites"

# Attributes that scripts use instead of href to make an element a link.
HREF_SUBSTITUTES = ("onclick", "routerlink", "data-href", "ng-href", "ng-click")
# javascript: URLs that open no page, such as for printing, for going back, and bookmarklets.
HARMLESS_SCRIPT = re.compile(
    r"javascript:(?:void\s*+)?\(?\s*+(?:(?:window\.|self\.)?(?:print\s*+\(|history\.(?:back|go)\s*+\()"
    r"|\(?\s*+(?:async\s++)?function\b|\(?\s*+\(\s*+\)\s*+=>)",
    re.IGNORECASE,
)
# These javascript: URLs do nothing, but another script may handle the click.
EMPTY_SCRIPT = re.compile(r"javascript:(?:\s|;|void\b|undefined\b|false\b|[()0])*\Z", re.IGNORECASE)
# Attributes of controls that open, close or switch a part of the page (WAI-ARIA, Bootstrap).
CONTROL_ATTRIBUTES = frozenset(
    {
        *("aria-expanded", "aria-haspopup", "aria-controls", "aria-pressed", "aria-selected"),
        *("data-toggle", "data-target", "data-dismiss", "data-slide"),
        *("data-bs-toggle", "data-bs-target", "data-bs-dismiss", "data-bs-slide"),
    }
)
MAX_ICON_PX = 48  # Larger images are pictures.
# Text in a script that indicates navigation to another page.
NAVIGATION = re.compile(
    r"""location|href|navigat|redirect|\b(?:go|open|load|show)\w{0,20}\s*+\(\s*+["']|https?:|\.html?\b""", re.IGNORECASE
)
# Paths of pages that crawlers need not visit, such as log-in, account, cart and search.
UNCRAWLED_PAGE_PATH = re.compile(
    r"(?:^|[/_-])(?:log-?in|sign-?(?:in|up)|register|account|cart|basket|checkout|wishlist|compare|search|password|auth"
    r"|oauth|sso|admin|wp-login|wp-admin|konto|warenkorb|panier|compte|carrito|cuenta)(?:[/._-]|$)",
    re.IGNORECASE,
)


class UncrawlableLink(Place, frozen=True):
    """Link that crawlers cannot follow.

    Links without text do not count as findings.
    """

    kind: ClassVar[str] = "uncrawlable-link"
    are_counted: ClassVar[bool] = True

    text: Annotated[str, Identity(as_prose), Column("Text")]
    markup: Annotated[str, Identity(as_written), Column("Markup", "code")]
    reason: Annotated[str, Column("What is wrong")]

    @property
    def label(self) -> str:
        return f"{self.markup} “{cut(self.text, 40)}” {self.reason}"

    def normal(self, page: WrittenUrl) -> str:
        return element("", self.markup, page, text=self.text)


class GenericLink(Place, frozen=True):
    """Link whose text does not describe the linked page."""

    kind: ClassVar[str] = "generic-link"
    are_counted: ClassVar[bool] = True

    text: Annotated[str, Identity(as_prose), Column("Text")]
    url: Annotated[str, Column("Address", "address")]

    @property
    def label(self) -> str:
        return f"“{cut(self.text, 40)}” to {cut(self.url, 80)}"


class BrokenLink(Place, frozen=True):
    """Link that leads to an error status or gets no response.

    `error` is the reason for the latter.
    """

    kind: ClassVar[str] = "broken-link"

    url: PlaceUrl
    internal: Annotated[bool, Column("Same site", "short")]
    status: Status
    error: Annotated[str | None, Column("Error")]

    @classmethod
    def from_answer(cls, answer: LinkAnswer) -> Self:
        return cls(excerpt(answer.url), answer.is_internal, answer.status, excerpt(answer.error) or None)

    @property
    def label(self) -> str:
        reason = str(self.status) if self.status is not None else (self.error or "").rstrip(".")
        return f"{cut(self.url, 100)} ({reason})"


class PrivateReference(Place, frozen=True):
    """Link or other reference to a local or private address."""

    kind: ClassVar[str] = "private-reference"
    are_counted: ClassVar[bool] = True

    element: ElementType
    attribute: Annotated[str, Identity(as_written), Column("Attribute", "mono")]
    value: Annotated[str, Identity(normal_address), Column("Value", "mono")]

    @property
    def label(self) -> str:
        return f'<{self.element} {self.attribute}="{cut(self.value, 80)}">'


class NofollowLink(Place, frozen=True):
    """Internal link with rel=nofollow."""

    kind: ClassVar[str] = "nofollow-link"

    url: PlaceUrl


class CheckedLinks(TypedDict):
    """Values of the message about checked links.

    `links` is the number of all links, `unclear` that of inconclusive ones. `stopped` says why other links were not
    checked.
    """

    checked: Value
    links: Value
    stopped: NotRequired[Value]
    unclear: NotRequired[Value]


@check(
    "crawlable-anchors",
    name="Links are crawlable",
    outcomes={"uncrawlable": "Links are not crawlable"},
    why="Crawlers follow only href, so they do not find the pages behind these links.",
    severity=MEDIUM,
    fix='Link with a URL: `<a href="/PATH">`. Use `<button type="button">` for controls that only run a script.',
    references=("Google Search Central: crawlable links", "Lighthouse: crawlable-anchors"),
    content=True,
    absence=True,
)
def crawlable_anchors(document: Document) -> Verdict:
    anchors = list(itertools.islice(live(document, "a"), MAX_LINKS))
    if not anchors:
        return NotApplicable("The page has no links.")
    uncrawlable = [
        UncrawlableLink(excerpt(node.text().strip(), 80), _start_tag(node), fault)
        for node in anchors
        if (fault := _find_crawl_fault(document, node))
    ]
    if not uncrawlable:
        return Pass("Crawlers can follow the page's links ({links} checked).", links=Count(len(anchors), "link"))
    links = Share(len(uncrawlable), len(anchors), "link")
    details = [link for link in uncrawlable if not link.text]
    if places := [link for link in uncrawlable if link.text]:
        return Fail(
            "uncrawlable",
            f"{UNCRAWLABLE_SUMMARY}.",
            links=links,
            places=places,
            total=len(uncrawlable),
            details=details,
        )
    first = Code(details[0].markup)
    return Fail("uncrawlable", f"{UNCRAWLABLE_SUMMARY}, such as {{first}}.", links=links, first=first, details=details)


@check(
    "link-text",
    name="Links have descriptive text",
    outcomes={"generic": "Links without descriptive text"},
    why="A text such as “click here” tells search engines and readers nothing about the linked page.",
    severity=LOW,
    fix=Fix(
        "Say in the link what it leads to, instead of “read more”.",
        {Language.HTML: '<a href="/PATH">Prices for 2027</a>'},
    ),
    references=("Google Search Central: link best practices", "Lighthouse: link-text", "WCAG 2.4.4 (A)"),
    content=True,
)
def link_text(links: PageLinks, document: AccessibleDocument) -> Verdict:
    judged = 0
    generic: list[GenericLink] = []
    for link in links.links:
        if "nofollow" in link.relations or document.visibility.is_hidden_from_at(link.node):
            continue
        judged += 1
        name = accessible_name(document, link.node)
        if is_generic_link_text(name, link.node):
            generic.append(GenericLink(excerpt(name), excerpt(link.url)))
    if not judged:
        return NotApplicable("The page links to no other page.")
    if not generic:
        return Pass(
            "{links} to other pages checked, none with a generic text such as “read more”.", links=Count(judged, "link")
        )
    return Warn(
        "generic",
        "{links} {links:has|have} a generic text.",
        links=Share(len(generic), judged, "link to another page", "links to other pages"),
        places=generic,
    )


@check(
    "broken-links",
    name="No broken links found",
    outcomes={"internal": "Broken links", "external": "Broken external links"},
    why="Visitors and crawlers who follow a broken link end at an error.",
    severity=MEDIUM,
    fix="Correct or remove the links, or redirect the old URLs with status 301 to those that replace them.",
    references=("RFC 9110, section 15.5.5", "Google Search Central: HTTP status codes"),
    content=True,
)
def broken_links(links: LinkAnswers) -> Verdict:
    answers = links.answers
    judged = [answer for answer in answers if answer.is_broken is not None]
    broken = [answer for answer in judged if answer.is_broken]
    checked = "{checked} of {links} checked"
    values: CheckedLinks = {"checked": Count(len(answers)), "links": Count(links.internal + links.external, "link")}
    if links.stopped:
        checked += "; the others were not, because of {stopped}"
        values["stopped"] = Reason(links.stopped)
    if not links.resolves_other_sites:
        checked += f"; {UNCHECKED_LINKS}"
    internal = Count(sum(answer.is_internal for answer in broken), "internal link")
    external = Count(len(broken) - internal.value, "external link")
    places = [BrokenLink.from_answer(answer) for answer in broken]
    if internal.value and external.value:
        seen = f"{{internal}} and {{external}} are broken ({checked})."
        return Fail("internal", seen, internal=internal, external=external, places=places, **values)
    if internal.value:
        seen = f"{{internal}} {{internal:is|are}} broken ({checked})."
        return Fail("internal", seen, internal=internal, places=places, **values)
    if external.value:
        seen = f"{{external}} {{external:is|are}} broken ({checked})."
        return Warn("external", seen, external=external, places=places, **values)
    if not judged:
        why = "" if links.resolves_other_sites else f" In addition, {UNCHECKED_LINKS}."
        return NotApplicable(
            f"No response shows whether a link is broken.{why}" if answers else "The page has no link to check."
        )
    if unclear := len(answers) - len(judged):
        checked += "; {unclear} without a clear answer, such as a refusal or a timeout"
        values["unclear"] = Count(unclear)
    return Pass(f"No broken link was found ({checked}).", **values)


@check(
    "localhost-links",
    name="No links to local or private addresses",
    outcomes={"private": "Links to addresses that are not public"},
    why="Such a link works only on the developer's machine or network.",
    consequence="Visitors who follow a link on the page get an error, because it leads to a private network.",
    severity=HIGH,
    fix="Write the URL without scheme and host, as in `/PATH`, or use the site's public host.",
    references=("RFC 6761", "RFC 1918", "RFC 6762"),
    error_pages=True,
)
def localhost_links(page: Page, document: Document) -> Verdict:
    if is_local_host(page.target.host):
        return NotApplicable("The page itself is on a local or private host.")
    local = list(local_addresses(document))
    if not local:
        return Pass("No link and no resource has a local or private address.")
    return Fail(
        "private",
        "{references} {references:leads to a local or private host or file|lead to local or private hosts or files}.",
        references=Count(len(local), "reference"),
        places=[PrivateReference(entry.tag, entry.attribute, excerpt(entry.reference)) for entry in local],
    )


@check(
    "internal-nofollow",
    name="Internal links can be followed",
    outcomes={"links": "nofollow applies to internal links", "page": "nofollow applies to the whole page"},
    why="Crawlers may not find the pages behind these links.",
    severity=LOW,
    fix="Remove `nofollow` from internal links; keep crawlers away with robots.txt or `noindex` instead.",
    references=("Google Search Central: qualify outbound links",),
    content=True,
)
def internal_nofollow(links: PageLinks, indexing: IndexingRules) -> Verdict:
    own = [link for link in links.links if link.is_same_host]
    if not own:
        return NotApplicable("The page links to no other page of its own site.")
    for rule in indexing.rules:
        if rule.applies_to_google and rule.name in ("nofollow", "none"):
            return Warn(
                "page",
                "The rule {rule} applies to {links}.",
                rule=Excerpt(rule.shown),
                links=Count(len(own), "internal link"),
                fix="Remove `nofollow` from the robots meta element or the `X-Robots-Tag` header.",
            )
    # nofollow is right for comments, paid links, filters, forms and log-in pages.
    wrong = [
        link.url
        for link in own
        if "nofollow" in link.relations
        and not link.relations & {"ugc", "sponsored"}
        and "?" not in link.url
        and not may_change_state(link.url)
        and not UNCRAWLED_PAGE_PATH.search(link.url.partition("//")[2].partition("/")[2])
    ]
    if wrong:
        return Warn(
            "links",
            "{links} {links:has|have} rel=nofollow.",
            links=Share(len(wrong), len(own), "internal link"),
            places=[NofollowLink(excerpt(url)) for url in dict.fromkeys(wrong)],
        )
    followed = sum("nofollow" not in link.relations for link in own)
    others = Count(len(own) - followed, "internal link")
    if not followed:
        return Pass(
            "{others} with nofollow, but only to pages that need no crawling: log-ins, filters, comments.",
            others=others,
        )
    crawlable = Count(followed, "internal link")
    if others.value:
        return Pass(
            "{links} can be followed by crawlers; {others} with nofollow need not be followed, such as log-ins.",
            links=crawlable,
            others=others,
        )
    return Pass("{links} can be followed by crawlers.", links=crawlable)


def _find_crawl_fault(document: Document, node: LexborNode) -> str:
    """Return why crawlers cannot follow an `a` element, as a clause.

    Empty if they can, or if it is no link.
    """
    names = node.attributes
    if (attribute(node, "role") or "").strip():
        return ""
    reference = link_target_as_written(node)
    if reference is None:
        script = next((name for name in HREF_SUBSTITUTES if name in names), None)
        # An `a` element without href is a placeholder or the target of a fragment.
        return f"has no href, but {script}" if script else ""
    reference = reference.strip()
    if not reference:
        return ""  # An empty href links to the page itself, such as the last breadcrumb.
    # Line breaks and tabs in a URL disappear in browsers.
    scheme = re.sub(r"[\t\r\n]", "", reference[:200]).lower()
    if scheme.startswith("javascript:"):
        is_harmless_script = HARMLESS_SCRIPT.match(scheme) or (EMPTY_SCRIPT.match(scheme) and _is_page_control(node))
        return "" if is_harmless_script else "runs a script instead of naming a URL"
    if scheme.startswith("file:"):
        return "leads to a local file"
    return "has an invalid URL" if resolve(document, reference) is None else ""


def _is_page_control(node: LexborNode) -> bool:
    """Return True if a link without a URL controls a part of the page.

    Other links open another page.

    Signs of a control are ARIA or Bootstrap attributes, an onclick script without navigation, and a visible content
    without letters, digits and pictures, such as an icon. A name for screen readers changes nothing.
    """
    if CONTROL_ATTRIBUTES & node.attributes.keys():
        return True
    if script := attribute(node, "onclick"):
        return not NAVIGATION.search(script)
    if any(not _is_icon_sized(image) for image in select(node, "img")):
        return False
    return not any(character.isalnum() for character in visible_text_of(node))


def _is_icon_sized(image: LexborNode) -> bool:
    sizes = [(attribute(image, name) or "").strip().lower().removesuffix("px") for name in ("width", "height")]
    return all(size.isdecimal() and int(size[:5]) <= MAX_ICON_PX for size in sizes)


def _start_tag(node: LexborNode) -> str:
    """Return the start tag of a link.

    It has only the href, or the attribute that scripts use instead.
    """
    for name in ("href", "xlink:href", *HREF_SUBSTITUTES):
        value = attribute(node, name)
        if value is not None:
            return f'<a {name}="{excerpt(value, 60)}">'
    return "<a>"
