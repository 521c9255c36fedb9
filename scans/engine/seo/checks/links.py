"""Links: whether crawlers can follow them, what they say, and whether they lead somewhere."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.accessibility.names import accessible_name
from scans.engine.catalogue import Category, check
from scans.engine.findings import HIGH, LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn
from scans.engine.messages import counted, excerpt, some
from scans.engine.page.evidence import Document, Page
from scans.engine.page.markup import attribute, live, resolve
from scans.engine.seo.indexing import EVERYBODY, GOOGLE, indexing_rules
from scans.engine.seo.link_texts import is_generic
from scans.engine.seo.links import (
    MAX_LINKS,
    LinkAnswer,
    LinkAnswers,
    acts,
    is_local_host,
    is_same_host,
    local_addresses,
    page_links,
    reference_of,
)

CATEGORY = Category("Links", weight=10)

MAX_ITEMS = 20
NOT_HTML = NotApplicable("The page is not HTML.")
ERROR_PAGE = NotApplicable("The page answers with an error, so its links are not followed.")
# What stands in the place of href where a script does the linking.
INSTEAD_OF_HREF = ("onclick", "routerlink", "data-href", "ng-href", "ng-click")
# Scripts that lead to no page a crawler could miss: printing, going back, bookmarklets.
HARMLESS_SCRIPT = re.compile(
    r"javascript:(?:void\s*+)?\(?\s*+(?:(?:window\.|self\.)?(?:print\s*+\(|history\.(?:back|go)\s*+\()"
    r"|\(?\s*+(?:async\s++)?function\b|\(?\s*+\(\s*+\)\s*+=>)",
    re.IGNORECASE,
)
# Where a site has reasons to keep crawlers away from a page of its own.
PRIVATE = re.compile(
    r"(?:^|[/_-])(?:log-?in|sign-?(?:in|up)|register|account|cart|basket|checkout|wishlist|compare|search|password|auth"
    r"|oauth|sso|admin|wp-login|wp-admin|konto|warenkorb|panier|compte|carrito|cuenta)(?:[/._-]|$)",
    re.IGNORECASE,
)


@check(
    "crawlable-anchors",
    name="Links can be crawled",
    severity=MEDIUM,
    fix='Link with an address: <a href="/PATH">; use <button type="button"> for what only runs a script.',
    references=("Google Search Central: crawlable links", "Lighthouse: crawlable-anchors"),
)
def crawlable_anchors(page: Page, document: Document) -> Finding:
    if (out := _not_judged(page)) is not None:
        return out
    anchors = list(itertools.islice(live(document, "a"), MAX_LINKS))
    if not anchors:
        return NotApplicable("The page has no links.")
    faulty = [(node, why) for node in anchors if (why := _uncrawlable(document, node))]
    if not faulty:
        return Pass(f"Crawlers can follow the page's links: {counted(len(anchors), 'a element')} looked at.")
    shown = some([f"{_tag(node)} “{excerpt(node.text().strip(), 40)}” {why}" for node, why in faulty])
    return Fail(
        f"Crawlers can't follow {len(faulty)} of {counted(len(anchors), 'link')}, so what they lead to may stay "
        f"unknown: {shown}.",
        evidence=tuple(
            {"text": excerpt(node.text().strip(), 80), "markup": _tag(node), "reason": why}
            for node, why in faulty[:MAX_ITEMS]
        ),
    )


@check(
    "link-text",
    name="Link texts",
    severity=LOW,
    fix='Name the goal in the link: <a href="/PATH">Prices for 2027</a>, not “read more”; or add to the text what it '
    "is about.",
    references=("Google Search Central: link best practices", "Lighthouse: link-text", "WCAG 2.4.4 (A)"),
)
def link_text(page: Page, document: AccessibleDocument) -> Finding:
    if (out := _not_judged(page)) is not None:
        return out
    judged = 0
    generic: list[tuple[str, str]] = []
    for link in page_links(page, document.document):
        if "nofollow" in link.relations or document.visibility.is_hidden_from_at(link.node):
            continue
        judged += 1
        name = accessible_name(document, link.node)
        if is_generic(name, link.node):
            generic.append((name, link.url))
    if not judged:
        return NotApplicable("The page links to no other page.")
    if not generic:
        return Pass(f"The texts of {counted(judged, 'link')} to other pages say more than “read more”.")
    shown = some([f"“{excerpt(name, 40)}” to {excerpt(url, 80)}" for name, url in generic])
    return Warn(
        f"{len(generic)} of {counted(judged, 'link')} to other pages do not say where they lead: {shown}.",
        evidence=tuple({"text": excerpt(name), "url": excerpt(url)} for name, url in generic[:MAX_ITEMS]),
    )


@check(
    "broken-links",
    name="Links lead somewhere",
    severity=MEDIUM,
    fix="Correct or remove the links, or redirect the old addresses with status 301 to what took their place.",
    references=("RFC 9110, section 15.5.5", "Google Search Central: HTTP status codes"),
)
def broken_links(page: Page, links: LinkAnswers) -> Finding:
    if (out := _not_judged(page)) is not None:
        return out
    answers = links.answers
    judged = [each for each in answers if each.is_broken is not None]
    broken = [each for each in judged if each.is_broken]
    looked_at = f"{len(answers)} of {counted(links.internal + links.external, 'link')} looked at"
    if links.stopped:
        looked_at += f", until: {excerpt(links.stopped).rstrip('.')}"
    evidence = tuple(_answer_evidence(each) for each in broken[:MAX_ITEMS])
    internal = [each for each in broken if each.is_internal]
    external = [each for each in broken if not each.is_internal]
    if internal:
        others = f" Broken links to other sites: {_shown(external)}." if external else ""
        return Fail(
            f"{counted(len(internal), 'link')} to the own site {'is' if len(internal) == 1 else 'are'} broken "
            f"({looked_at}): {_shown(internal)}.{others}",
            evidence=evidence,
        )
    if external:
        return Warn(
            f"{counted(len(external), 'link')} to other sites {'is' if len(external) == 1 else 'are'} broken "
            f"({looked_at}): {_shown(external)}.",
            evidence=evidence,
        )
    if not judged:
        return NotApplicable(
            "No link's answer tells whether it is broken." if answers else "The page has no link to look at."
        )
    unclear = len(answers) - len(judged)
    more = f"; {unclear} of them did not tell, as by a refusal or a time-out" if unclear else ""
    return Pass(f"No broken link was found ({looked_at}{more}).")


@check(
    "localhost-links",
    name="No links to local machines",
    severity=HIGH,
    fix="Write the address without scheme and host, as in /PATH, or with the site's public host.",
    references=("RFC 6761", "RFC 1918", "RFC 6762"),
)
def localhost_links(page: Page, document: Document) -> Finding:
    if not page.is_html:
        return NOT_HTML
    if is_local_host(page.target.host):
        return NotApplicable("The page itself is on a local machine.")
    found = list(local_addresses(document))
    if not found:
        return Pass("No link and no resource leads to a local machine.")
    shown = some([f"<{each.tag} {each.attribute}=“{excerpt(each.reference, 80)}”>" for each in found])
    return Fail(
        f"{counted(len(found), 'address', 'addresses')} of local machines or files, which lead visitors and crawlers "
        f"nowhere: {shown}.",
        evidence=tuple(
            {"element": each.tag, "attribute": each.attribute, "value": excerpt(each.reference)}
            for each in found[:MAX_ITEMS]
        ),
    )


@check(
    "internal-nofollow",
    name="Own links are followed",
    severity=LOW,
    fix="Remove nofollow from links to pages of the own site; keep crawlers away with robots.txt or noindex instead.",
    references=("Google Search Central: qualify outbound links",),
)
def internal_nofollow(page: Page, document: Document) -> Finding:
    if (out := _not_judged(page)) is not None:
        return out
    own = [link for link in page_links(page, document) if is_same_host(page.target, link.host)]
    if not own:
        return NotApplicable("The page links to no other page of its own site.")
    for rule in indexing_rules(page, document):
        if rule.agent in (EVERYBODY, GOOGLE) and rule.name in ("nofollow", "none"):
            return Warn(
                f"{excerpt(rule.shown)} keeps crawlers from following any of {counted(len(own), 'link')} to the own "
                "site.",
                fix="Remove nofollow from the robots meta element or the X-Robots-Tag header.",
            )
    # What visitors wrote or somebody paid for is marked for what it is; filters and forms need not be crawled.
    held = [
        link.url
        for link in own
        if "nofollow" in link.relations
        and not link.relations & {"ugc", "sponsored"}
        and "?" not in link.url
        and not acts(link.url)
        and not PRIVATE.search(link.url.partition("//")[2].partition("/")[2])
    ]
    if held:
        urls = list(dict.fromkeys(held))
        return Warn(
            f"{len(held)} of {counted(len(own), 'link')} to the own site have rel=nofollow, so crawlers may not find "
            f"the pages by them: {some([excerpt(url, 80) for url in urls])}.",
            evidence=tuple({"url": excerpt(url)} for url in urls[:MAX_ITEMS]),
        )
    return Pass(f"Crawlers may follow the {counted(len(own), 'link')} to the own site.")


def _uncrawlable(document: Document, node: LexborNode) -> str:
    """Why a crawler can't follow an `a` element that looks like a link, as a clause; empty where it can."""
    names = node.attributes
    if (attribute(node, "role") or "").strip():
        return ""
    reference = reference_of(node)
    if reference is None:
        script = next((name for name in INSTEAD_OF_HREF if name in names), None)
        return f"has no href, but {script}" if script else ""  # else a placeholder, or the goal of a fragment
    reference = reference.strip()
    if not reference:
        return "" if attribute(node, "id") or attribute(node, "name") else "has an empty href"
    # Browsers skip line ends and tabs inside.
    scheme = re.sub(r"[\t\r\n]", "", reference[:200]).lower()
    if scheme.startswith("javascript:"):
        return "" if HARMLESS_SCRIPT.match(scheme) else "runs a script in place of an address"
    if scheme.startswith("file:"):
        return "leads to a file on a disk"
    return "has an address that can't be understood" if resolve(document, reference) is None else ""


def _tag(node: LexborNode) -> str:
    """The element's start with the attribute that tells what is wrong."""
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


def _not_judged(page: Page) -> NotApplicable | None:
    if not page.is_html:
        return NOT_HTML
    return ERROR_PAGE if page.response.status >= 400 else None
