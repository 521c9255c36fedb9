"""Indexability: whether search engines may take the page into their index, and under which address."""

from __future__ import annotations

import re

import ada_url

from scans.engine.catalogue import Category, check
from scans.engine.findings import (
    CRITICAL,
    HIGH,
    LOW,
    MEDIUM,
    EvidenceItem,
    Fail,
    Finding,
    NotApplicable,
    Pass,
    Warn,
)
from scans.engine.messages import excerpt, some
from scans.engine.page.evidence import Clock, Document, Page
from scans.engine.page.meta import refresh
from scans.engine.page.registrable_domain import is_same_site
from scans.engine.seo.canonical import Canonical, alternates, answer_fault, canonicals, named_url
from scans.engine.seo.evidence import CanonicalAnswer, RobotsFile
from scans.engine.seo.indexing import (
    CANONICAL,
    EVERYBODY,
    GOOGLE,
    ROBOTS,
    IndexingRule,
    exclusions,
    head_end,
    indexing_rules,
    misplaced,
    muddled,
    unreadable_dates,
)
from scans.engine.seo.robots import Decision, decide

CATEGORY = Category("Indexability", weight=30)

EVIDENCE_ITEMS = 20
PERMANENT = frozenset({301, 308})
MANY_REDIRECTS = 5
# Other search engines' crawlers by the tokens that robots.txt names them by.
OTHER_ENGINES = {
    "Bingbot": ("bingbot", MEDIUM),
    "DuckDuckBot": ("duckduckbot", LOW),
    "YandexBot": ("yandexbot", LOW),
    "Baiduspider": ("baiduspider", LOW),
}
BING_NAMES = frozenset({"bingbot", "msnbot"})
# The page that a folder stands for, under its own name.
INDEX_PAGE = re.compile(r"/(?:index|default|home)(?:\.\w+)?", re.IGNORECASE)

NO_CANONICAL = NotApplicable("The page names no canonical address.")
ERROR_PAGE = NotApplicable("The page answers with an error, so what its markup says is not indexed.")


@check(
    "http-status",
    name="HTTP status",
    severity=CRITICAL,
    fix="Let the address answer with status 200, or with a 301 to the address that took its place.",
    references=("RFC 9110, section 15", "Google Search Central: HTTP status codes"),
)
def http_status(page: Page) -> Finding:
    response = page.response
    status = f"{response.status} {response.reason}".strip()
    if response.status >= 500:
        return Fail(f"The page answers with status {excerpt(status)}; crawlers slow down, then drop it.")
    if response.status >= 400:
        return Fail(f"The page answers with status {excerpt(status)}, so it is not indexed.")
    if response.status >= 300:
        return Fail(f"The page answers with status {excerpt(status)}, which leads nowhere, so it is not indexed.")
    if not response.body.strip():
        return Warn(f"The page answers with status {excerpt(status)}, but without any content to index.", HIGH)
    return Pass(f"The page answers with status {excerpt(status)}.")


@check(
    "is-indexable",
    name="Indexing allowed",
    severity=CRITICAL,
    fix="Remove noindex, none and past unavailable_after dates from the robots meta elements and from the "
    "X-Robots-Tag header.",
    references=("Google Search Central: robots meta tag and X-Robots-Tag",),
)
def is_indexable(page: Page, document: Document, clock: Clock) -> Finding:
    if page.response.status >= 400:
        return ERROR_PAGE
    rules = indexing_rules(page, document)
    excluding = exclusions(rules, clock.now)
    evidence = tuple(_rule_evidence(each) for each in (excluding or list(rules))[:EVIDENCE_ITEMS])
    decisive = [each for each in excluding if each.agent in (EVERYBODY, GOOGLE)]
    if decisive:
        outweighed = [each for each in rules if each.name in ("index", "all")]
        more = ", which an index beside it does not undo" if outweighed else ""
        return Fail(f"Search engines are told not to index the page: {_shown(decisive)}{more}.", evidence=evidence)
    if excluding:
        severity = MEDIUM if any(each.agent in BING_NAMES for each in excluding) else LOW
        return Warn(f"Some search engines are told not to index the page: {_shown(excluding)}.", severity, evidence)
    if unclear := muddled(rules):
        return Warn(
            f"It is not clear whether the page may be indexed, as commas are missing: {_shown(unclear)}.",
            HIGH,
            evidence,
            fix='Separate the rules with commas, as in content="noindex, nofollow", or remove noindex.',
        )
    if unreadable := unreadable_dates(rules):
        return Warn(
            f"Search engines ignore a date that they can't read: {_shown(unreadable)}.",
            LOW,
            evidence,
            fix="Write the date as in unavailable_after: 2030-12-31T23:59:00Z",
        )
    if rules:
        return Pass(f"The page may be indexed; it says {_shown(rules)}.", evidence)
    return Pass("No robots meta and no X-Robots-Tag keeps the page out of search engines.")


@check(
    "robots-blocked",
    name="Crawling allowed by robots.txt",
    severity=CRITICAL,
    fix="Remove the quoted line from robots.txt, or add a longer Allow line for the page to its group.",
    references=("RFC 9309, section 2.2", "Google Search Central: robots.txt"),
)
def robots_blocked(page: Page, document: Document, file: RobotsFile, clock: Clock) -> Finding:
    if file.is_unreachable:
        why = file.error or f"It answers with status {file.response.status if file.response else ''}."
        return Warn(
            f"Crawlers stay away until robots.txt can be read; what it forbids is not known. {excerpt(why)}",
            HIGH,
            fix=f"Let {excerpt(file.url)} answer with status 200, or 404 where nothing is forbidden.",
        )
    path = page.target.path
    decision = decide(file.robots, GOOGLE, path)
    evidence = (_decision_evidence("Googlebot", decision, file),)
    if not decision.allowed:
        unseen = ""
        if exclusions(indexing_rules(page, document), clock.now):
            unseen = " The page's noindex can't be seen for that, so its address may still be listed."
        return Fail(f"robots.txt forbids Googlebot the page: {decision.quoted}.{unseen}", evidence=evidence)
    others = {
        name: (each, severity)
        for name, (token, severity) in OTHER_ENGINES.items()
        if not (each := decide(file.robots, token, path)).allowed
    }
    if others:
        shown = "; ".join(f"{name} by {each.quoted}" for name, (each, _) in others.items())
        severity = MEDIUM if any(each is MEDIUM for _, each in others.values()) else LOW
        refused = tuple(_decision_evidence(name, each, file) for name, (each, _) in others.items())
        return Warn(f"Googlebot is let in, but robots.txt forbids the page to {shown}.", severity, refused)
    for hop in page.hops[:-1]:
        target = page.target.join(hop.url)
        if target.origin == page.target.origin and not (on_way := decide(file.robots, GOOGLE, target.path)).allowed:
            return Warn(
                f"The page may be crawled, but not {excerpt(hop.url)}, which leads to it: {on_way.quoted}.",
                LOW,
                (_decision_evidence("Googlebot", on_way, file),),
            )
    if file.response is None or not 200 <= file.response.status < 300:
        status = f" (status {file.response.status})" if file.response else ""
        return Pass(f"There is no robots.txt{status}, so nothing is forbidden.")
    if decision.rule is None:
        return Pass("No line of robots.txt is about the page.", evidence)
    return Pass(f"robots.txt lets Googlebot in: {decision.quoted}.", evidence)


@check(
    "canonical-valid",
    name="Canonical address valid",
    severity=HIGH,
    fix='Name one address, once, in the head: <link rel="canonical" href="https://HOST/PATH">',
    references=("RFC 6596, section 3", "RFC 8288", "Google Search Central: canonical URLs"),
)
def canonical_valid(page: Page, document: Document) -> Finding:
    if page.response.status >= 400:
        return ERROR_PAGE
    found = canonicals(page, document)
    if not found:
        return NO_CANONICAL
    evidence = tuple(_canonical_evidence(each) for each in found[:EVIDENCE_ITEMS])
    if any(not each.reference.strip() for each in found):
        return Fail("A canonical link is empty, which names the page no address.", evidence=evidence)
    bad = [each for each in found if each.url is None]
    if bad:
        shown = some([f"“{excerpt(each.reference)}”" for each in bad])
        return Fail(f"A canonical link is no http or https address: {shown}.", evidence=evidence)
    counting = [each for each in found if not each.qualifier]
    urls = sorted({each.url or "" for each in counting})
    if len(urls) > 1:
        where = " in Link headers and in the head" if len({each.source for each in counting}) > 1 else ""
        return Fail(
            f"{len(urls)} canonical addresses{where} contradict each other, so search engines ignore them: "
            f"{some([excerpt(url) for url in urls])}.",
            evidence=evidence,
        )
    if not counting:
        return Warn(
            f"Search engines skip a canonical link that has {found[0].qualifier}.",
            evidence=evidence,
            fix=f"Remove {found[0].qualifier} from the canonical link; it belongs to rel=alternate.",
        )
    return Pass(f"The canonical address is {excerpt(urls[0])}.", evidence)


@check(
    "canonical-absolute",
    name="Canonical address absolute",
    severity=LOW,
    fix='Write the address with scheme and host: <link rel="canonical" href="https://HOST/PATH">',
    references=("Google Search Central: canonical URLs",),
)
def canonical_absolute(page: Page, document: Document) -> Finding:
    if page.response.status >= 400:
        return ERROR_PAGE
    found = [each for each in canonicals(page, document) if each.url is not None]
    if not found:
        return NO_CANONICAL
    relative = [each for each in found if not each.is_absolute]
    if relative:
        shown = some([f"“{excerpt(each.reference)}”" for each in relative])
        return Warn(
            f"The canonical address is relative, so copies of the page name themselves: {shown}.",
            evidence=tuple(_canonical_evidence(each) for each in relative[:EVIDENCE_ITEMS]),
        )
    return Pass("The canonical address has scheme and host.")


@check(
    "canonical-target",
    name="Canonical address leads to the page",
    severity=HIGH,
    fix="Name the address that answers with status 200, may be indexed and shows this page's content.",
    references=("Google Search Central: canonical URLs", "Lighthouse: canonical"),
)
def canonical_target(page: Page, document: Document, answer: CanonicalAnswer, clock: Clock) -> Finding:
    if page.response.status >= 400:
        return ERROR_PAGE
    found = canonicals(page, document)
    url = named_url(found)
    if not found:
        in_body = any(each.kind == CANONICAL for each in misplaced(document))
        where = " where it counts; the one in the body is ignored" if in_body else ""
        return Warn(
            f"The page names no canonical address{where}, so search engines choose one among its duplicates.",
            MEDIUM,
            fix=f'Add to the head: <link rel="canonical" href="{excerpt(page.target.url)}">',
        )
    if url is None:
        return NotApplicable("No single canonical address is named.")
    shown = excerpt(url)
    evidence: tuple[EvidenceItem, ...] = ({"page": excerpt(page.target.url), "canonical": shown},)
    if url == page.target.url:
        return Pass(f"The page names itself as canonical: {shown}.", evidence)
    own, other = ada_url.URL(page.target.url), ada_url.URL(url)
    if is_same_site(own.hostname, other.hostname) and _is_root(other) and not _is_front_page(own):
        return Fail(
            f"The canonical address is the front page, {shown}, so this page is left out for it.",
            evidence=evidence,
        )
    versions = {each.url: each.language for each in alternates(page, document)}
    if own.href in versions and url in versions:
        return Fail(
            f"The canonical address is another language version ({excerpt(versions[url])}), {shown}; each "
            "version should name itself.",
            evidence=evidence,
        )
    if (fault := answer_fault(page, answer, clock.now)) is not None:
        return Fail(f"The canonical address {shown} {fault}.", evidence=evidence)
    if not is_same_site(own.hostname, other.hostname):
        return Warn(
            f"The canonical address is on another site, {shown}, which then gets this page's place.",
            MEDIUM,
            evidence,
            fix="If the content is yours, name this page's own address; if it is a copy, leave it as it is.",
        )
    if page.target.is_https and other.protocol == "http:":
        return Warn(f"The canonical address {shown} is plain HTTP, while the page came over https.", MEDIUM, evidence)
    return Pass(f"The canonical address {shown} answers with status 200 and may be indexed.", evidence)


@check(
    "redirect-chain",
    name="Redirects",
    severity=MEDIUM,
    fix="Redirect straight to the final address, in one step, with status 301 or 308.",
    references=("RFC 9110, section 15.4", "Google Search Central: redirects"),
)
def redirect_chain(page: Page, document: Document) -> Finding:
    redirects = page.hops[:-1]
    evidence = tuple[EvidenceItem, ...](
        {"hop": number, "url": excerpt(hop.url), "status": hop.status} for number, hop in enumerate(page.hops, 1)
    )
    final = excerpt(page.target.url)
    if len(redirects) > MANY_REDIRECTS:
        return Fail(f"{len(redirects)} redirects lead to {final}; crawlers may give up.", evidence=evidence)
    onward = refresh(page, document)
    if onward is not None and onward.url is not None:
        return Warn(
            f"The page itself sends visitors on to {excerpt(onward.url)} by a refresh.",
            evidence=evidence,
            fix=f"Answer with a 301 or 308 redirect instead of the refresh: Location: {excerpt(onward.url)}",
        )
    temporary = [hop for hop in redirects if hop.status not in PERMANENT]
    kind = f", {some([f'{hop.status} at {excerpt(hop.url)}' for hop in temporary])} only temporary" if temporary else ""
    if len(redirects) > 1:
        return Warn(f"{len(redirects)} redirects in a row lead to {final}{kind}.", evidence=evidence)
    if temporary:
        return Warn(
            f"A temporary redirect ({temporary[0].status}) leads to {final}, so search engines may keep the "
            "old address.",
            evidence=evidence,
        )
    if redirects:
        return Pass(f"One permanent redirect leads to {final}.", evidence)
    return Pass("The page answers without a redirect.")


@check(
    "head-integrity",
    name="Metadata inside the head",
    severity=HIGH,
    fix="Move what shows something out of the head: only title, meta, link, base, style, script, noscript "
    "and template may stand there, and anything else ends it.",
    references=("HTML, the head element", "Google Search Central: valid page metadata"),
)
def head_integrity(page: Page, document: Document) -> Finding:
    if not page.is_html:
        return NotApplicable("The page is not HTML.")
    if page.response.status >= 400:
        return ERROR_PAGE
    found = misplaced(document)
    if not found:
        return Pass("Title, canonical link, robots meta and hreflang links stand in the head.")
    evidence = tuple({"element": each.kind, "snippet": excerpt(each.snippet)} for each in found[:EVIDENCE_ITEMS])
    first = head_end(document)
    cause = f", behind {excerpt(first, 60)}" if first else ""
    ignored = list(dict.fromkeys(each.kind for each in found if each.kind != ROBOTS))
    if not ignored:
        return Warn(
            f"The robots meta stands in the body{cause}; Google reads it there, others may not.",
            LOW,
            evidence,
        )
    return Fail(f"In the body, where search engines ignore it: {some(ignored)}{cause}.", evidence=evidence)


def _is_root(url: ada_url.URL) -> bool:
    return url.pathname in ("", "/") and not url.search


def _is_front_page(url: ada_url.URL) -> bool:
    return url.pathname in ("", "/") or INDEX_PAGE.fullmatch(url.pathname) is not None


def _shown(rules: list[IndexingRule] | tuple[IndexingRule, ...]) -> str:
    return some([excerpt(each.shown) for each in rules])


def _rule_evidence(rule: IndexingRule) -> EvidenceItem:
    return {"source": rule.source, "agent": rule.agent, "rule": rule.name, "value": excerpt(rule.text)}


def _canonical_evidence(canonical: Canonical) -> EvidenceItem:
    return {
        "source": canonical.source,
        "reference": excerpt(canonical.reference),
        "url": excerpt(canonical.url) if canonical.url else None,
    }


def _decision_evidence(crawler: str, decision: Decision, file: RobotsFile) -> EvidenceItem:
    return {
        "crawler": crawler,
        "allowed": decision.allowed,
        "robots_txt": excerpt(file.url),
        "line": decision.rule.line if decision.rule else None,
        "rule": excerpt(decision.rule.text) if decision.rule else None,
    }
