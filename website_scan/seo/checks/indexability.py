"""Indexability checks: may search engines index the page, and under which URL."""

from __future__ import annotations

from collections.abc import Sequence

from website_scan.accessibility.document import AccessibleDocument
from website_scan.browser.evidence import Rendered
from website_scan.catalogue import Category, check
from website_scan.crawl.canonicals import Canonicals, qualifier
from website_scan.crawl.indexing import SEARCH_ENGINES, IndexingRule, IndexingRules
from website_scan.crawl.link_relations import RelatedLink
from website_scan.crawl.robots import GOOGLEBOT, Decision, blocked_engines, decide
from website_scan.crawl.robots_file import RobotsFile
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn
from website_scan.messages import clause, excerpt, some
from website_scan.page.evidence import Clock, Document, Page
from website_scan.page.meta import refresh
from website_scan.page.registrable_domain import is_same_site
from website_scan.page.soft_404 import resembles
from website_scan.seo.canonical import target_fault
from website_scan.seo.evidence import CanonicalAnswer, MissingPathAnswer
from website_scan.seo.hreflang import Alternates
from website_scan.seo.metadata import ROBOTS, MetadataOutsideHead, metadata_kinds
from website_scan.seo.visible_text import read_missing_page_words
from website_scan.urls import Url

CATEGORY = Category("Indexability", weight=30, error_pages=False)

PERMANENT = frozenset({301, 308})
MANY_REDIRECTS = 5
BING_NAMES = frozenset({"bingbot", "msnbot"})

NO_CANONICAL = NotApplicable("The page names no canonical URL.")


@check(
    "http-status",
    name="Page returns a successful HTTP status",
    found="Page answers with an error",
    why="Search engines do not index a page that answers with an error or with nothing.",
    severity=CRITICAL,
    fix="Let the URL answer with status 200, or with a 301 redirect to the URL that replaces it.",
    references=("RFC 9110, section 15", "Google Search Central: HTTP status codes"),
    error_pages=True,
)
def http_status(page: Page) -> Finding:
    response = page.response
    answers = f"The page answers with status {excerpt(f'{response.status} {response.reason}'.strip())}"
    if response.status >= 300:
        leads = "" if response.status >= 400 else " and leads to no other page"
        slows = ", which makes crawlers slow down" if response.status >= 500 else ""
        return Fail(
            f"{answers}{leads}{slows}.",
            evidence=[{"response_status": response.status}],
            title=f"Page answers with status {response.status}",
        )
    if not response.body.strip():
        return Warn(f"{answers} and has no content.", HIGH, title="Page is empty")
    return Pass(f"{answers}.")


@check(
    "soft-404",
    name="Successful answer is no error page",
    found="Error page with a successful status",
    why="Search engines drop such a page, but waste crawling on it until then.",
    judged="Words alone only warn, as there are articles about error pages: a fail needs the same answer for a path "
    "that cannot exist.",
    severity=HIGH,
    fix="Answer with status 404 or 410 if there is no such page, as in Express: res.status(404).render('404'); or "
    "with a 301 redirect to the page that replaces it.",
    references=("Google Search Central: soft 404 errors", "RFC 9110, section 15.5.5"),
    html=True,
    content=True,
)
def soft_404(
    page: Page, document: AccessibleDocument, missing: MissingPathAnswer, rendered: Rendered | None
) -> Finding:
    served = read_missing_page_words(document)
    status = page.response.status
    if missing.response is not None and resembles(page.response, page.target.path, missing.response, missing.path):
        return Fail(
            f"The page says that it does not exist, but answers with status {status}, as does "
            f"{excerpt(missing.path)}, a path that cannot exist.",
            evidence=[{"asked": excerpt(missing.path), "status": missing.response.status}],
        )
    if served.agree or (rendered is not None and read_missing_page_words(AccessibleDocument(rendered.document)).agree):
        return Warn(
            f"The page says that it does not exist, but answers with status {status}.",
            MEDIUM,
        )
    return Pass("The page does not look like an error page.")


@check(
    "is-indexable",
    name="Indexing is allowed",
    found="Page asks not to be indexed",
    why="A page that search engines may not index is missing from their results.",
    severity=CRITICAL,
    fix="Remove noindex, none and past unavailable_after dates from the robots meta elements and from the "
    "X-Robots-Tag header.",
    references=("Google Search Central: robots meta tag and X-Robots-Tag",),
)
def is_indexable(indexing: IndexingRules) -> Finding:
    rules, excluding = indexing.rules, indexing.excluding
    evidence = [_rule_evidence(each) for each in excluding or rules]
    if indexing.decisive:
        allows_too = any(each.name in ("index", "all") for each in rules)
        more = "; the index rule beside it does not override that" if allows_too else ""
        return Fail(f"The page asks not to be indexed: {_shown(indexing.decisive)}{more}.", evidence=evidence)
    if excluding and not any(each.agent in SEARCH_ENGINES for each in excluding):
        return Pass(
            f"Search engines may index the page; other crawlers are asked not to: {_shown(excluding)}.", evidence
        )
    if excluding:
        severity = MEDIUM if any(each.agent in BING_NAMES for each in excluding) else LOW
        return Warn(
            f"The page asks some search engines not to index it: {_shown(excluding)}.",
            severity,
            evidence,
            title="Page asks some search engines not to index it",
        )
    if indexing.ambiguous:
        return Warn(
            f"Commas are missing between rules, so noindex may or may not be obeyed: {_shown(indexing.ambiguous)}.",
            HIGH,
            evidence,
            fix='Separate the rules with commas, for example content="noindex, nofollow", or remove noindex.',
            title="Commas are missing between robots rules",
        )
    if indexing.unreadable_dates:
        return Warn(
            f"Search engines ignore a date that they cannot read: {_shown(indexing.unreadable_dates)}.",
            LOW,
            evidence,
            fix="Write the date as in unavailable_after: 2030-12-31T23:59:00Z",
            title="Robots rule has an unreadable date",
        )
    if rules:
        return Pass(f"The page may be indexed; its rules are {_shown(rules)}.", evidence)
    return Pass("Neither a robots meta element nor X-Robots-Tag keeps the page out of search engines.")


@check(
    "robots-blocked",
    name="Crawling is not blocked by robots.txt",
    found="robots.txt blocks the page",
    why="Search engines that may not read the page cannot tell what it is about.",
    severity=CRITICAL,
    fix="Remove the quoted line from robots.txt, or add a longer Allow line for the page to its group.",
    references=("RFC 9309, section 2.2", "Google Search Central: robots.txt"),
    error_pages=True,
)
def robots_blocked(page: Page, indexing: IndexingRules, file: RobotsFile) -> Finding:
    if file.is_unreachable:
        why = file.error or f"it answers with status {file.response.status if file.response else ''}"
        return Warn(
            f"What robots.txt blocks is unknown ({clause(why)}), and crawlers stay away until it can be read.",
            HIGH,
            [{"url": excerpt(file.response.url), "status": file.response.status}] if file.response else (),
            fix=f"Let {excerpt(file.url)} answer with status 200, or with 404 if nothing is blocked.",
            title="robots.txt cannot be read",
        )
    path = page.target.path
    decision = decide(file.robots, GOOGLEBOT, path)
    evidence = [_decision_evidence("Googlebot", decision, file)]
    if not decision.allowed:
        unseen = ""
        if indexing.excluding:
            unseen = " Its noindex can't be seen for that reason, so its URL may still be listed."
        return Fail(f"robots.txt blocks the page for Googlebot: {decision.quoted}.{unseen}", evidence=evidence)
    if blocked := blocked_engines(file.robots, path):
        rules: dict[str, list[str]] = {}
        for name, each in blocked.items():
            rules.setdefault(each.quoted, []).append(name)
        shown = "; ".join(f"{', '.join(names)} by {quoted}" for quoted, names in rules.items())
        return Warn(
            f"robots.txt allows Googlebot, but blocks {shown}.",
            MEDIUM if "Bingbot" in blocked else LOW,
            [_decision_evidence(name, each, file) for name, each in blocked.items()],
            title=f"robots.txt blocks {next(iter(blocked))}"
            if len(blocked) == 1
            else "robots.txt blocks some crawlers",
        )
    for hop in page.hops[:-1]:
        target = page.target.join(hop.url)
        if target.origin == page.target.origin and not (on_way := decide(file.robots, GOOGLEBOT, target.path)).allowed:
            return Warn(
                f"robots.txt allows the page, but blocks {excerpt(hop.url)}, which redirects to it: {on_way.quoted}.",
                LOW,
                [_decision_evidence("Googlebot", on_way, file)],
                title="robots.txt blocks a redirect to the page",
            )
    if file.response is None or not 200 <= file.response.status < 300:
        status = f" (status {file.response.status})" if file.response else ""
        return Pass(f"There is no robots.txt{status}, so nothing is blocked.")
    if decision.rule is None:
        return Pass("No line of robots.txt applies to the page.", evidence)
    return Pass(f"robots.txt allows Googlebot: {decision.quoted}.", evidence)


@check(
    "canonical-valid",
    name="Canonical URL is valid",
    found="Canonical URL is invalid",
    why="Search engines then ignore the canonical link and choose a URL themselves.",
    severity=HIGH,
    fix='Name one URL, once, in the head: <link rel="canonical" href="https://HOST/PATH">',
    references=("RFC 6596, section 3", "RFC 8288", "Google Search Central: canonical URLs"),
)
def canonical_valid(canonicals: Canonicals) -> Finding:
    found = canonicals.links
    if not found:
        return NO_CANONICAL
    evidence = [_canonical_evidence(each) for each in found]
    if any(not each.reference.strip() for each in found):
        return Fail("A canonical link is empty.", evidence=evidence, title="Canonical link is empty")
    bad = [each for each in found if each.url is None]
    if bad:
        shown = some([f"“{excerpt(each.reference)}”" for each in bad])
        return Fail(f"A canonical link is not an http or https URL: {shown}.", evidence=evidence)
    counting = [each for each in found if not qualifier(each)]
    urls = sorted({each.url or "" for each in counting})
    if len(urls) > 1:
        where = " in Link headers and in the head" if len({each.source for each in counting}) > 1 else ""
        return Fail(
            f"{len(urls)} canonical URLs{where} contradict each other: {some([excerpt(url) for url in urls])}.",
            evidence=evidence,
            title="Canonical URLs contradict each other",
        )
    if not counting:
        attribute = qualifier(found[0])
        return Warn(
            f"The canonical link has {attribute}, which belongs to rel=alternate.",
            LOW,
            evidence,
            fix=f"Remove {attribute} from the canonical link.",
            title="Canonical link is ignored",
        )
    return Pass(f"The canonical URL is {excerpt(urls[0])}.", evidence)


@check(
    "canonical-absolute",
    name="Canonical URL is absolute",
    found="Canonical URL is relative",
    why="A relative URL means another page if the same HTML is served on another host.",
    severity=LOW,
    fix='Write the URL with scheme and host: <link rel="canonical" href="https://HOST/PATH">',
    references=("Google Search Central: canonical URLs",),
)
def canonical_absolute(canonicals: Canonicals) -> Finding:
    found = [each for each in canonicals.links if each.url is not None]
    if not found:
        return NO_CANONICAL
    relative = [each for each in found if not each.is_absolute]
    if relative:
        shown = some([f"“{excerpt(each.reference)}”" for each in relative])
        return Warn(
            f"The canonical URL is relative: {shown}.",
            evidence=[_canonical_evidence(each) for each in relative],
        )
    return Pass("The canonical URL has scheme and host.")


@check(
    "canonical-target",
    name="Canonical URL is suitable",
    found="Canonical URL cannot stand for the page",
    why="Search engines may index another URL of the page, or split its ranking between several.",
    severity=HIGH,
    fix="Name a URL that answers with status 200, may be indexed and shows this page's content.",
    references=("Google Search Central: canonical URLs", "Lighthouse: canonical"),
)
def canonical_target(
    page: Page,
    canonicals: Canonicals,
    alternates: Alternates,
    answer: CanonicalAnswer,
    clock: Clock,
) -> Finding:
    url = canonicals.url
    if not canonicals.links:
        return NO_CANONICAL
    if url is None:
        return NotApplicable("No single canonical URL is named.")
    shown = excerpt(url)
    evidence: list[EvidenceItem] = [{"page": excerpt(page.target.url), "canonical": shown}]
    if url == page.target.url:
        return Pass(f"The page names itself as canonical: {shown}.", evidence)
    if (fault := target_fault(page, url, alternates, answer, clock.now)) is not None:
        return Fail(f"The canonical URL {shown} {fault.clause}.", evidence=evidence, title=fault.title)
    other = Url.of(url)
    if not is_same_site(page.target.host, other.host):
        return Warn(
            f"The canonical URL {shown} is on another site.",
            MEDIUM,
            evidence,
            fix="If the content is yours, name this page's own URL; if it is a copy, leave it as it is.",
            title="Canonical URL is on another site",
        )
    if page.target.is_https and other.scheme == "http":
        return Warn(
            f"The canonical URL {shown} is plain HTTP, while the page came over HTTPS.",
            MEDIUM,
            evidence,
            title="Canonical URL is plain HTTP",
        )
    return Pass(f"The canonical URL {shown} answers with status 200 and may be indexed.", evidence)


@check(
    "redirect-chain",
    name="At most one permanent redirect",
    found="Redirects form a chain",
    why="Crawlers give up on long chains, and may keep the old URL unless the redirect is permanent.",
    severity=MEDIUM,
    fix="Redirect straight to the final URL, in one step, with status 301 or 308.",
    references=("RFC 9110, section 15.4", "Google Search Central: redirects"),
    error_pages=True,
)
def redirect_chain(page: Page, document: Document) -> Finding:
    redirects = page.hops[:-1]
    evidence: list[EvidenceItem] = [
        {"hop": number, "url": excerpt(hop.url), "status": hop.status} for number, hop in enumerate(page.hops, 1)
    ]
    final = excerpt(page.target.url)
    if len(redirects) > MANY_REDIRECTS:
        return Fail(f"{len(redirects)} redirects in a row lead to {final}.", evidence=evidence)
    onward = refresh(page, document)
    if onward is not None and onward.url is not None:
        return Warn(
            f"A refresh sends visitors on to {excerpt(onward.url)}.",
            evidence=evidence,
            fix=f"Answer with a 301 or 308 redirect instead of the refresh: Location: {excerpt(onward.url)}",
            title="Page redirects by a refresh",
        )
    temporary = [hop for hop in redirects if hop.status not in PERMANENT]
    kind = f"; temporary: {some([f'{hop.status} at {excerpt(hop.url)}' for hop in temporary])}" if temporary else ""
    # Browsers store HSTS for the requested host only if it is upgraded first, before it redirects elsewhere.
    is_upgraded = bool(redirects) and _is_upgrade(redirects[0].url, page.hops[1].url)
    if len(redirects) - is_upgraded > 1:
        return Warn(f"{len(redirects)} redirects in a row lead to {final}{kind}.", evidence=evidence)
    if temporary:
        return Warn(
            f"A temporary redirect ({temporary[0].status}) leads to {final}.",
            evidence=evidence,
            title="Redirect is temporary",
        )
    if len(redirects) > 1:
        return Pass(f"The upgrade to https and one more permanent redirect lead to {final}.", evidence)
    if redirects:
        return Pass(f"One permanent redirect leads to {final}.", evidence)
    return Pass("The page answers without a redirect.")


@check(
    "head-integrity",
    name="Metadata is inside the head",
    found="Metadata outside the head",
    why="Search engines may ignore what they do not find in the head.",
    severity=HIGH,
    fix="Move visible content out of the head: only title, meta, link, base, style, script, noscript and template "
    "belong there, and anything else ends it.",
    references=("HTML, the head element", "Google Search Central: valid page metadata"),
    html=True,
)
def head_integrity(document: Document, outside: MetadataOutsideHead) -> Finding:
    found = outside.elements
    if not found:
        kinds = metadata_kinds(document)
        return Pass(f"In the head: {', '.join(kinds)}.") if kinds else NotApplicable("The page has no such metadata.")
    evidence: list[EvidenceItem] = [{"element": each.kind, "snippet": excerpt(each.snippet)} for each in found]
    cause = f", after {excerpt(outside.head_end, 60)}" if outside.head_end else ""
    ignored = list(dict.fromkeys(each.kind for each in found if each.kind != ROBOTS))
    if not ignored:
        return Warn(
            f"The robots meta element is in the body{cause}.", LOW, evidence, title="Robots rules outside the head"
        )
    return Fail(f"Metadata in the body instead of the head: {some(ignored)}{cause}.", evidence=evidence)


def _is_upgrade(before: str, after: str) -> bool:
    """Return True if a redirect only changes http to https."""
    old, new = Url.of(before), Url.of(after)
    return (old.scheme, new.scheme) == ("http", "https") and (
        (old.host, old.path, old.query) == (new.host, new.path, new.query)
    )


def _shown(rules: Sequence[IndexingRule]) -> str:
    return some([excerpt(each.shown) for each in rules])


def _rule_evidence(rule: IndexingRule) -> EvidenceItem:
    return {"source": rule.source, "agent": rule.agent, "rule": rule.name, "value": excerpt(rule.text)}


def _canonical_evidence(canonical: RelatedLink) -> EvidenceItem:
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
