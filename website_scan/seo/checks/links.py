"""Link checks: links that crawlers can't follow, generic link texts, and broken links."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import accessible_name
from website_scan.accessibility.wording import Wording
from website_scan.catalogue import Category, check
from website_scan.crawl.indexing import IndexingRules
from website_scan.crawl.links import (
    MAX_LINKS,
    PageLinks,
    changes_state,
    is_local_host,
    local_addresses,
    reference_of,
)
from website_scan.findings import HIGH, LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn
from website_scan.messages import clause, counted, excerpt, some
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, live, resolve, select
from website_scan.seo.evidence import LinkAnswer, LinkAnswers
from website_scan.seo.link_texts import is_generic

# Crawlers do not follow an error page's links.
CATEGORY = Category("Links", weight=10, html=True, error_pages=False)

UNCRAWLABLE = Wording("link|links", "cannot be followed by crawlers")
GENERIC = Wording("link|links to other pages", "has|have a generic text")
NOFOLLOW = Wording("internal link|links", "has|have rel=nofollow")

NO_OUTSIDE_NAMES = (
    "external links could not be checked, because the scanner's name servers know no name of another site"
)

# Attributes in place of href by which a script makes a link.
INSTEAD_OF_HREF = ("onclick", "routerlink", "data-href", "ng-href", "ng-click")
# Scripts that lead to no page a crawler could miss: printing, going back, bookmarklets.
HARMLESS_SCRIPT = re.compile(
    r"javascript:(?:void\s*+)?\(?\s*+(?:(?:window\.|self\.)?(?:print\s*+\(|history\.(?:back|go)\s*+\()"
    r"|\(?\s*+(?:async\s++)?function\b|\(?\s*+\(\s*+\)\s*+=>)",
    re.IGNORECASE,
)
# Scripts that do nothing: if something happens on a click, another script does it.
EMPTY_SCRIPT = re.compile(r"javascript:(?:\s|;|void\b|undefined\b|false\b|[()0])*\Z", re.IGNORECASE)
# Attributes of links that open, close or switch something on the page (WAI-ARIA, Bootstrap).
CONTROLLING = frozenset(
    {
        *("aria-expanded", "aria-haspopup", "aria-controls", "aria-pressed", "aria-selected"),
        *("data-toggle", "data-target", "data-dismiss", "data-slide"),
        *("data-bs-toggle", "data-bs-target", "data-bs-dismiss", "data-bs-slide"),
    }
)
# Signs that a script leads to another page.
LEADING = re.compile(
    r"""location|href|navigat|redirect|\b(?:go|open|load|show)\w{0,20}\s*+\(\s*+["']|https?:|\.html?\b""", re.IGNORECASE
)
# Pages of its own that a site has reasons to keep crawlers away from.
PRIVATE = re.compile(
    r"(?:^|[/_-])(?:log-?in|sign-?(?:in|up)|register|account|cart|basket|checkout|wishlist|compare|search|password|auth"
    r"|oauth|sso|admin|wp-login|wp-admin|konto|warenkorb|panier|compte|carrito|cuenta)(?:[/._-]|$)",
    re.IGNORECASE,
)


@check(
    "crawlable-anchors",
    name="Links are crawlable",
    found="Links are not crawlable",
    why="Crawlers follow only href, so they do not find the pages behind these links.",
    severity=MEDIUM,
    fix='Link with a URL: <a href="/PATH">; use <button type="button"> for controls that only run a script.',
    references=("Google Search Central: crawlable links", "Lighthouse: crawlable-anchors"),
    content=True,
    absence=True,
)
def crawlable_anchors(document: Document) -> Finding:
    anchors = list(itertools.islice(live(document, "a"), MAX_LINKS))
    if not anchors:
        return NotApplicable("The page has no links.")
    faulty = [(node, why) for node in anchors if (why := _uncrawlable(document, node))]
    if not faulty:
        return Pass(f"Crawlers can follow the page's links; {counted(len(anchors), 'a element')} checked.")
    shown = some([f"{_tag(node)} “{excerpt(node.text().strip(), 40)}” {why}" for node, why in faulty])
    return Fail(
        f"{UNCRAWLABLE.clause(len(faulty), len(anchors))}: {shown}.",
        evidence=[
            {"text": excerpt(node.text().strip(), 80), "markup": _tag(node), "reason": why} for node, why in faulty
        ],
    )


@check(
    "link-text",
    name="Links have descriptive text",
    found="Links without descriptive text",
    why="A text such as “click here” tells search engines and readers nothing about the linked page.",
    severity=LOW,
    fix='Say in the link what it leads to: <a href="/PATH">Prices for 2027</a>, not “read more”.',
    references=("Google Search Central: link best practices", "Lighthouse: link-text", "WCAG 2.4.4 (A)"),
    content=True,
)
def link_text(links: PageLinks, document: AccessibleDocument) -> Finding:
    judged = 0
    generic: list[tuple[str, str]] = []
    for link in links.links:
        if "nofollow" in link.relations or document.visibility.is_hidden_from_at(link.node):
            continue
        judged += 1
        name = accessible_name(document, link.node)
        if is_generic(name, link.node):
            generic.append((name, link.url))
    if not judged:
        return NotApplicable("The page links to no other page.")
    if not generic:
        return Pass(f"{counted(judged, 'link')} to other pages checked, none with a generic text such as “read more”.")
    shown = some([f"“{excerpt(name, 40)}” to {excerpt(url, 80)}" for name, url in generic])
    return Warn(
        f"{GENERIC.clause(len(generic), judged)}: {shown}.",
        evidence=[{"text": excerpt(name), "url": excerpt(url)} for name, url in generic],
    )


@check(
    "broken-links",
    name="No broken links found",
    found="Broken links",
    why="Visitors and crawlers who follow a broken link end at an error.",
    severity=MEDIUM,
    fix="Correct or remove the links, or redirect the old URLs with status 301 to those that replace them.",
    references=("RFC 9110, section 15.5.5", "Google Search Central: HTTP status codes"),
    content=True,
)
def broken_links(links: LinkAnswers) -> Finding:
    answers = links.answers
    judged = [each for each in answers if each.is_broken is not None]
    broken = [each for each in judged if each.is_broken]
    checked = f"{len(answers)} of {counted(links.internal + links.external, 'link')} checked"
    if links.stopped:
        checked += f"; the others were not, because of {clause(links.stopped)}"
    if not links.knows_outside_names:
        checked += f"; {NO_OUTSIDE_NAMES}"
    evidence = [_answer_evidence(each) for each in broken]
    internal = [each for each in broken if each.is_internal]
    external = [each for each in broken if not each.is_internal]
    if internal:
        others = f" Broken external links: {_shown(external)}." if external else ""
        return Fail(
            f"{counted(len(internal), 'internal link')} {'is' if len(internal) == 1 else 'are'} broken "
            f"({checked}): {_shown(internal)}.{others}",
            evidence=evidence,
        )
    if external:
        return Warn(
            f"{counted(len(external), 'external link')} {'is' if len(external) == 1 else 'are'} broken "
            f"({checked}): {_shown(external)}.",
            evidence=evidence,
        )
    if not judged:
        why = "" if links.knows_outside_names else f" In addition, {NO_OUTSIDE_NAMES}."
        return NotApplicable(
            f"No response shows whether a link is broken.{why}" if answers else "The page has no link to check."
        )
    unclear = len(answers) - len(judged)
    more = f"; {unclear} without a clear answer, such as a refusal or a timeout" if unclear else ""
    return Pass(f"No broken link was found ({checked}{more}).")


@check(
    "localhost-links",
    name="No links to local or private addresses",
    found="Links to private addresses",
    why="Such a link works only on the developer's machine or network.",
    severity=HIGH,
    fix="Write the URL without scheme and host, as in /PATH, or use the site's public host.",
    references=("RFC 6761", "RFC 1918", "RFC 6762"),
    error_pages=True,
)
def localhost_links(page: Page, document: Document) -> Finding:
    if is_local_host(page.target.host):
        return NotApplicable("The page itself is on a local or private host.")
    found = list(local_addresses(document))
    if not found:
        return Pass("No link and no resource has a local or private address.")
    shown = some([f'<{each.tag} {each.attribute}="{excerpt(each.reference, 80)}">' for each in found])
    return Fail(
        f"{counted(len(found), 'reference leads', 'references lead')} to local or private hosts or files: {shown}.",
        evidence=[
            {"element": each.tag, "attribute": each.attribute, "value": excerpt(each.reference)} for each in found
        ],
    )


@check(
    "internal-nofollow",
    name="Internal links can be followed",
    found="nofollow applies to internal links",
    why="Crawlers may not find the pages behind these links.",
    severity=LOW,
    fix="Remove nofollow from internal links; keep crawlers away with robots.txt or noindex instead.",
    references=("Google Search Central: qualify outbound links",),
    content=True,
)
def internal_nofollow(links: PageLinks, indexing: IndexingRules) -> Finding:
    own = [link for link in links.links if link.is_same_host]
    if not own:
        return NotApplicable("The page links to no other page of its own site.")
    for rule in indexing.rules:
        if rule.is_for_google and rule.name in ("nofollow", "none"):
            return Warn(
                f"The rule {excerpt(rule.shown)} applies to {counted(len(own), 'internal link')}.",
                fix="Remove nofollow from the robots meta element or the X-Robots-Tag header.",
                title="nofollow applies to the whole page",
            )
    # Links in comments and paid links are marked correctly. Filters and forms need not be crawled.
    held = [
        link.url
        for link in own
        if "nofollow" in link.relations
        and not link.relations & {"ugc", "sponsored"}
        and "?" not in link.url
        and not changes_state(link.url)
        and not PRIVATE.search(link.url.partition("//")[2].partition("/")[2])
    ]
    if held:
        urls = list(dict.fromkeys(held))
        return Warn(
            f"{NOFOLLOW.clause(len(held), len(own))}: {some([excerpt(url, 80) for url in urls])}.",
            evidence=[{"url": excerpt(url)} for url in urls],
        )
    followed = sum("nofollow" not in link.relations for link in own)
    others = counted(len(own) - followed, "internal link")
    if not followed:
        return Pass(f"{others} with nofollow, but only to pages that need no crawling: log-ins, filters, comments.")
    left = f"; {others} with nofollow need not be followed, such as log-ins" if followed < len(own) else ""
    return Pass(f"{counted(followed, 'internal link')} can be followed by crawlers{left}.")


def _uncrawlable(document: Document, node: LexborNode) -> str:
    """Return why a crawler can't follow an `a` element that looks like a link, as a clause. Empty if it can."""
    names = node.attributes
    if (attribute(node, "role") or "").strip():
        return ""
    reference = reference_of(node)
    if reference is None:
        script = next((name for name in INSTEAD_OF_HREF if name in names), None)
        return f"has no href, but {script}" if script else ""  # else a placeholder, or the target of a fragment
    reference = reference.strip()
    if not reference:
        return ""  # the page itself, as in the last of its breadcrumbs
    # Browsers skip line ends and tabs inside a URL.
    scheme = re.sub(r"[\t\r\n]", "", reference[:200]).lower()
    if scheme.startswith("javascript:"):
        is_harmless = HARMLESS_SCRIPT.match(scheme) or (EMPTY_SCRIPT.match(scheme) and _is_control(node))
        return "" if is_harmless else "runs a script instead of naming a URL"
    if scheme.startswith("file:"):
        return "leads to a local file"
    return "has an invalid URL" if resolve(document, reference) is None else ""


def _is_control(node: LexborNode) -> bool:
    """Return True if a link without an address switches something on the page, so that no page is behind it.

    So does one whose own script leads nowhere, and a sign or icon without words, which names no page.
    """
    if CONTROLLING & node.attributes.keys():
        return True
    if script := attribute(node, "onclick"):
        return not LEADING.search(script)
    nodes = (node, *select(node, "img"))
    named = "".join(attribute(each, name) or "" for each in nodes for name in ("aria-label", "alt"))
    return not any(character.isalnum() for character in node.text() + named)


def _tag(node: LexborNode) -> str:
    """Return the element's start tag with the attribute that shows the fault."""
    for name in ("href", "xlink:href", *INSTEAD_OF_HREF):
        value = attribute(node, name)
        if value is not None:
            return f'<a {name}="{excerpt(value, 60)}">'
    return "<a>"


def _shown(answers: Sequence[LinkAnswer]) -> str:
    return some([f"{excerpt(each.url, 100)} ({_outcome(each)})" for each in answers])


def _outcome(answer: LinkAnswer) -> str:
    return str(answer.status) if answer.status is not None else excerpt(answer.error).rstrip(".")


def _answer_evidence(answer: LinkAnswer) -> EvidenceItem:
    return {
        "url": excerpt(answer.url),
        "internal": answer.is_internal,
        "status": answer.status,
        "error": excerpt(answer.error) or None,
    }
