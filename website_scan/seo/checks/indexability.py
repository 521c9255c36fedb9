"""Checks that search engines may index the page under the right URL."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Self

from website_scan.accessibility.document import AccessibleDocument
from website_scan.browser.evidence import Rendered
from website_scan.catalogue import Category, States, check
from website_scan.crawl.canonicals import Canonicals, qualifier, read_canonicals
from website_scan.crawl.indexing import SEARCH_ENGINES, IndexingRule, IndexingRules
from website_scan.crawl.link_relations import ELEMENT, RelatedLink
from website_scan.crawl.robots import GOOGLEBOT, Decision, blocked_search_engines, decide
from website_scan.crawl.robots_file import RobotsFile
from website_scan.elements import element
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import excerpt
from website_scan.outcomes import Fail, Fix, Language, Pass, Verdict, Warn, outcome
from website_scan.page.evidence import Clock, Document, Page
from website_scan.page.meta import refresh
from website_scan.page.registrable_domain import is_same_site
from website_scan.page.soft_404 import resembles
from website_scan.places import Column, Identity, Place, RedirectHop, Status, as_written
from website_scan.seo.canonical import find_canonical_target_fault
from website_scan.seo.evidence import CanonicalAnswer, MissingPathAnswer
from website_scan.seo.hreflang import Alternates
from website_scan.seo.metadata import ROBOTS, MetadataOutsideHead, list_metadata_kinds
from website_scan.seo.places import RobotsTxtRow
from website_scan.seo.visible_text import read_missing_page_words
from website_scan.urls import Url, normal_form
from website_scan.values import Address, Count, Excerpt, Reason, Values, Word
from website_scan.written_urls import WrittenUrl

CATEGORY = Category("Indexability", weight=30, error_pages=False)

PERMANENT_REDIRECTS = frozenset({301, 308})
MAX_REDIRECTS = 5
BING_CRAWLERS = frozenset({"bingbot", "msnbot"})

NO_CANONICAL = NotApplicable("The page names no canonical URL.")
CANONICAL = {Language.HTML: '<link rel="canonical" href="https://HOST/PATH">'}


class ErrorStatus(Place, frozen=True):
    """HTTP status of the page, if the status is an error."""

    kind: ClassVar[str] = "status"

    response_status: Annotated[int, Identity(as_written), Column("HTTP status", "number")]


class MissingPath(Place, frozen=True):
    """Path that cannot exist, with the HTTP status of its response."""

    kind: ClassVar[str] = "missing-path"

    asked: Annotated[str, Column("Requested address", "address")]
    status: Status


class RobotsRule(Place, frozen=True):
    """Indexing rule (robots rule) of a page.

    It comes with the header or element that contains it.
    """

    kind: ClassVar[str] = "robots-rule"

    source: Annotated[str, Identity(as_written), Column("Found in")]
    agent: Annotated[str, Column("Crawler", "mono")]
    rule: Annotated[str, Identity(as_written), Column("Rule", "mono")]
    value: Annotated[str, Column("Value", "mono")]

    @classmethod
    def from_rule(cls, rule: IndexingRule) -> Self:
        return cls(rule.source, rule.agent, rule.name, excerpt(rule.text))

    @property
    def label(self) -> str:
        """Return an empty label.

        The message of the finding already quotes the rules.
        """
        return ""


class CrawlerRule(Place, frozen=True):
    """Decision of robots.txt about a crawler, with the deciding rule."""

    kind: ClassVar[str] = "crawler"

    crawler: Annotated[str, Identity(as_written), Column("Crawler", "mono")]
    allowed: Annotated[bool, Column("Allowed", "short")]
    robots_txt: Annotated[str, Column("robots.txt", "address")]
    line: Annotated[int | None, Column("Line", "number")]
    rule: Annotated[str | None, Column("Rule", "mono")]
    quoted: str

    @classmethod
    def from_decision(cls, crawler: str, decision: Decision, file: RobotsFile) -> Self:
        rule = decision.rule
        return cls(
            crawler=crawler,
            allowed=decision.allowed,
            robots_txt=excerpt(file.url),
            line=rule.line if rule else None,
            rule=excerpt(rule.text) if rule else None,
            quoted=decision.quoted,
        )

    @property
    def label(self) -> str:
        return self.quoted


class CanonicalLink(Place, frozen=True):
    """Canonical link of the page.

    `url` is None if the link has no http or https URL.
    """

    kind: ClassVar[str] = "canonical-link"

    source: Annotated[str, Identity(as_written), Column("Found in")]
    reference: Annotated[str, Column("Address as written", "address")]
    url: Annotated[str | None, Column("Address", "address")]

    @classmethod
    def from_link(cls, link: RelatedLink) -> Self:
        return cls(link.source, excerpt(link.reference), excerpt(link.url) if link.url else None)

    @property
    def label(self) -> str:
        """Return an empty label.

        The message of the finding already names the links.
        """
        return ""


class CanonicalTarget(Place, frozen=True):
    """Page and its canonical URL."""

    kind: ClassVar[str] = "canonical-target"

    page: Annotated[str, Column("Page", "address")]
    canonical: Annotated[str, Column("Canonical URL", "address")]


class MisplacedMetadata(Place, frozen=True):
    """Metadata element in the body instead of the head."""

    kind: ClassVar[str] = "misplaced-metadata"
    are_counted: ClassVar[bool] = True

    element: Annotated[str, Identity(as_written), Column("Type of element", "mono")]
    snippet: Annotated[str, Identity(as_written), Column("Element", "code")]

    @property
    def label(self) -> str:
        """Return the kind of the element.

        Empty for robots meta elements, which search engines also obey in the body.
        """
        return "" if self.element == ROBOTS else self.element

    def normal(self, page: WrittenUrl) -> str:
        return element("", self.snippet, page)


@check(
    "http-status",
    name="Page returns a successful HTTP status",
    outcomes={"error": "Page answers with an error", "empty": outcome("Page is empty", HIGH)},
    why="Search engines do not index a page that answers with an error or with nothing.",
    consequence="Search engines do not list a page that does not answer properly, so people may not find it.",
    severity=CRITICAL,
    fix="Let the URL answer with status 200, or with a 301 redirect to the URL that replaces it.",
    references=("RFC 9110, section 15", "Google Search Central: HTTP status codes"),
    error_pages=True,
)
def http_status(page: Page) -> Verdict:
    response = page.response
    status = Excerpt(f"{response.status} {response.reason}".strip())
    if response.status >= 300:
        leads = "" if response.status >= 400 else " and leads to no other page"
        slows = ", which makes crawlers slow down" if response.status >= 500 else ""
        return Fail(
            "error",
            f"The page answers with status {{status}}{leads}{slows}.",
            status=status,
            places=[ErrorStatus(response.status)],
        )
    if not response.body.strip():
        return Warn("empty", "The page answers with status {status} and has no content.", status=status)
    return Pass("The page answers with status {status}.", status=status)


@check(
    "soft-404",
    name="Successful answer is no error page",
    outcomes={"error-page": outcome("Error page with a successful status", HIGH, MEDIUM)},
    why="Search engines drop such a page, but waste crawling on it until then.",
    consequence="Search engines may drop this page, because it looks like an error message.",
    judged="Words alone only warn, as there are articles about error pages: a fail needs the same answer for a path "
    "that cannot exist.",
    severity=HIGH,
    fix="Answer with status 404 or 410 if there is no such page, as in Express: `res.status(404).render('404')`. If "
    "another page replaces it, answer with a 301 redirect.",
    references=("Google Search Central: soft 404 errors", "RFC 9110, section 15.5.5"),
    html=True,
    content=True,
)
def soft_404(
    page: Page, document: AccessibleDocument, missing: MissingPathAnswer, rendered: Rendered | None
) -> Verdict:
    words = read_missing_page_words(document)
    status = page.response.status
    if missing.response is not None and resembles(page.response, page.target.path, missing.response, missing.path):
        return Fail(
            "error-page",
            "The page says that it does not exist, but answers with status {status}, as does {path}, a path that "
            "cannot exist.",
            status=status,
            path=Address(missing.path),
            details=[MissingPath(excerpt(missing.path), missing.response.status)],
        )
    if words.is_in_all_parts or (
        rendered is not None and read_missing_page_words(AccessibleDocument(rendered.document)).is_in_all_parts
    ):
        return Warn(
            "error-page",
            "The page says that it does not exist, but answers with status {status}.",
            severity=MEDIUM,
            status=status,
        )
    return Pass("The page does not look like an error page.")


@check(
    "is-indexable",
    name="Indexing is allowed",
    outcomes={
        "excluded": "Page asks not to be indexed",
        "excluded-from-some": outcome("Page asks some search engines not to index it", MEDIUM, LOW),
        "missing-commas": outcome(
            "Commas are missing between robots rules",
            HIGH,
            consequence="Search engines may leave the page out, because they may misread the rules that you give them.",
        ),
        "unreadable-date": outcome("Robots rule has an unreadable date", LOW),
    },
    why="A page that search engines may not index is missing from their results.",
    consequence="The page tells search engines to leave it out, so people do not find it by searching.",
    severity=CRITICAL,
    fix="Remove `noindex`, `none` and past `unavailable_after` dates from the robots meta elements and from the "
    "`X-Robots-Tag` header.",
    references=("Google Search Central: robots meta tag and X-Robots-Tag",),
)
def is_indexable(indexing: IndexingRules) -> Verdict:
    rules, excluding = indexing.rules, indexing.excluding
    rows = [RobotsRule.from_rule(rule) for rule in excluding or rules]
    if indexing.decisive:
        has_contradicting_rule = any(rule.name in ("index", "all") for rule in rules)
        more = "; the index rule beside it does not override that" if has_contradicting_rule else ""
        return Fail(
            "excluded",
            f"The page asks not to be indexed: {{rules}}{more}.",
            rules=_quote_rules(indexing.decisive),
            places=rows,
        )
    if excluding and not any(rule.agent in SEARCH_ENGINES for rule in excluding):
        return Pass(
            "Search engines may index the page; other crawlers are asked not to: {rules}.",
            rules=_quote_rules(excluding),
            details=rows,
        )
    if excluding:
        return Warn(
            "excluded-from-some",
            "The page asks some search engines not to index it: {rules}.",
            severity=MEDIUM if any(rule.agent in BING_CRAWLERS for rule in excluding) else LOW,
            rules=_quote_rules(excluding),
            places=rows,
        )
    if indexing.ambiguous:
        return Warn(
            "missing-commas",
            "Commas are missing between rules, so noindex may or may not be obeyed: {rules}.",
            rules=_quote_rules(indexing.ambiguous),
            places=rows,
            fix='Separate the rules with commas, as in `content="noindex, nofollow"`, or remove `noindex`.',
        )
    if indexing.unreadable_dates:
        return Warn(
            "unreadable-date",
            "Search engines ignore a date that they cannot read: {rules}.",
            rules=_quote_rules(indexing.unreadable_dates),
            places=rows,
            fix="Write the date as in `unavailable_after: 2030-12-31T23:59:00Z`.",
        )
    if rules:
        return Pass("The page may be indexed; its rules are {rules}.", rules=_quote_rules(rules), details=rows)
    return Pass("Neither a robots meta element nor X-Robots-Tag keeps the page out of search engines.")


@check(
    "robots-blocked",
    name="Crawling is not blocked by robots.txt",
    outcomes={
        "blocked": "robots.txt blocks the page",
        "other-engines": outcome("robots.txt blocks {engines}", MEDIUM, LOW),
        "redirect": outcome("robots.txt blocks a redirect to the page", LOW),
        "unknown": outcome(
            "robots.txt cannot be read",
            HIGH,
            consequence="Search engines may stay away from the page, so people may not find it by searching.",
        ),
    },
    why="Search engines that may not read the page cannot tell what it is about.",
    consequence="Search engines are told not to read the page, so people may not find it by searching.",
    severity=CRITICAL,
    fix="Remove the quoted line from robots.txt, or add a longer `Allow` line for the page to its group.",
    references=("RFC 9309, section 2.2", "Google Search Central: robots.txt"),
    error_pages=True,
)
def robots_blocked(page: Page, indexing: IndexingRules, file: RobotsFile) -> Verdict:
    if file.is_unreachable:
        fix = "Let `{url}` answer with status 200, or with 404 if nothing is blocked."
        if file.response is None:
            return Warn(
                "unknown",
                "What robots.txt blocks is unknown ({error}), and crawlers stay away until it can be read.",
                error=Reason(file.error),
                url=Address(file.url),
                fix=fix,
            )
        return Warn(
            "unknown",
            "What robots.txt blocks is unknown (it answers with status {status}), and crawlers stay away until it can "
            "be read.",
            status=file.response.status,
            url=Address(file.url),
            places=[RobotsTxtRow.from_response(file.response)],
            fix=fix,
        )
    path = page.target.path
    decision = decide(file.robots, GOOGLEBOT, path)
    deciding = [CrawlerRule.from_decision("Googlebot", decision, file)]
    if not decision.allowed:
        unseen = ", so its noindex cannot be seen and its URL may still be listed" if indexing.excluding else ""
        return Fail("blocked", f"robots.txt blocks the page for Googlebot{unseen}.", places=deciding)
    if blocked := blocked_search_engines(file.robots, path):
        return Warn(
            "other-engines",
            "robots.txt allows Googlebot, but blocks {engines}.",
            severity=MEDIUM if "Bingbot" in blocked else LOW,
            engines=Values([Word(name) for name in blocked]),
            places=[CrawlerRule.from_decision(name, decision, file) for name, decision in blocked.items()],
        )
    for hop in page.hops[:-1]:
        target = page.target.join(hop.url)
        if (
            target.origin == page.target.origin
            and not (decision_at_hop := decide(file.robots, GOOGLEBOT, target.path)).allowed
        ):
            return Warn(
                "redirect",
                "robots.txt allows the page, but blocks {url}, which redirects to it.",
                url=Address(hop.url),
                places=[CrawlerRule.from_decision("Googlebot", decision_at_hop, file)],
            )
    if file.response is None:
        return Pass("There is no robots.txt, so nothing is blocked.")
    if not 200 <= file.response.status < 300:
        return Pass("There is no robots.txt (status {status}), so nothing is blocked.", status=file.response.status)
    if decision.rule is None:
        return Pass("No line of robots.txt applies to the page.", details=deciding)
    return Pass("robots.txt allows Googlebot: {line}.", line=Excerpt(decision.quoted), details=deciding)


@check(
    "canonical-valid",
    name="Canonical URL is valid",
    outcomes={
        "invalid": "Canonical URL is invalid",
        "empty": "Canonical link is empty",
        "contradictory": "Canonical URLs contradict each other",
        "ignored": outcome("Canonical link is ignored", LOW),
    },
    why="Search engines then ignore the canonical link and choose a URL themselves.",
    consequence="Search engines may list another address of the page than the one you want.",
    severity=HIGH,
    fix=Fix("Name one URL, once, in the head.", CANONICAL),
    references=("RFC 6596, section 3", "RFC 8288", "Google Search Central: canonical URLs"),
)
def canonical_valid(page: Page, canonicals: Canonicals, rendered: Rendered | None) -> Verdict:
    links = canonicals.links
    if not links:
        return NO_CANONICAL
    places = [CanonicalLink.from_link(link) for link in links]
    if empty := [link for link in links if not link.reference.strip()]:
        if rendered is not None and read_canonicals(page, rendered.document).url is not None:
            return NotApplicable("A script sets the canonical URL.")
        if empty[0].source == ELEMENT and "href" not in empty[0].attributes:
            return Fail("empty", "A canonical link has no href attribute.", places=places)
        return Fail("empty", "A canonical link is empty.", places=places)
    if invalid := [link for link in links if link.url is None]:
        return Fail(
            "invalid",
            "A canonical link is not an http or https URL: {references}.",
            references=_quote_references(invalid),
            places=places,
        )
    effective = [link for link in links if not qualifier(link)]
    urls = sorted({normal_form(link.url or ""): link.url or "" for link in effective}.values())
    if len(urls) > 1:
        where = " in Link headers and in the head" if len({link.source for link in effective}) > 1 else ""
        return Fail(
            "contradictory",
            f"{{count}} canonical URLs{where} contradict each other: {{urls}}.",
            count=len(urls),
            urls=Values([Address(url) for url in urls]),
            places=places,
        )
    if not effective:
        return Warn(
            "ignored",
            "The canonical link has {attribute}, which belongs to rel=alternate.",
            attribute=Word(qualifier(links[0])),
            places=places,
            fix="Remove `{attribute}` from the canonical link.",
        )
    return Pass("The canonical URL is {url}.", url=Address(urls[0]), details=places)


@check(
    "canonical-absolute",
    name="Canonical URL is absolute",
    outcomes={"relative": "Canonical URL is relative"},
    why="A relative URL means another page if the same HTML is served on another host.",
    severity=LOW,
    fix=Fix("Write the URL with scheme and host.", CANONICAL),
    references=("Google Search Central: canonical URLs",),
)
def canonical_absolute(canonicals: Canonicals) -> Verdict:
    valid = [link for link in canonicals.links if link.url is not None]
    if not valid:
        return NO_CANONICAL
    if relative := [link for link in valid if not link.is_absolute]:
        return Warn(
            "relative",
            "The canonical URL is relative: {references}.",
            references=_quote_references(relative),
            places=[CanonicalLink.from_link(link) for link in relative],
        )
    return Pass("The canonical URL has scheme and host.")


@check(
    "canonical-target",
    name="Canonical URL is suitable",
    outcomes={
        "other-page": "Canonical URL is a different page",
        "unreachable": "Canonical URL does not load",
        "redirects": "Canonical URL redirects",
        "error-status": "Canonical URL answers with status {status}",
        "noindex": "Canonical URL must not be indexed",
        "other-site": outcome("Canonical URL is on another site", MEDIUM),
        "plain-http": outcome("Canonical URL is plain HTTP", MEDIUM),
    },
    why="Search engines may index another URL of the page, or split its ranking between several.",
    consequence="Search engines may list another page instead of this one, or rank it lower.",
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
) -> Verdict:
    url = canonicals.url
    if not canonicals.links:
        return NO_CANONICAL
    if url is None:
        return NotApplicable("No single canonical URL is named.")
    address = Address(url)
    details = [CanonicalTarget(excerpt(page.target.url), excerpt(url))]
    if canonicals.is_self_referencing:
        return Pass("The page names itself as canonical: {url}.", url=address, details=details)
    if (fault := find_canonical_target_fault(page, url, alternates, answer, clock.now, details)) is not None:
        return fault
    other = Url.of(url)
    if not is_same_site(page.target.host, other.host):
        return Warn(
            "other-site",
            "The canonical URL {url} is on another site.",
            url=address,
            details=details,
            fix="If the content is yours, name this page's own URL; if it is a copy, leave it as it is.",
        )
    if page.target.is_https and other.scheme == "http":
        return Warn(
            "plain-http",
            "The canonical URL {url} is plain HTTP, while the page came over HTTPS.",
            url=address,
            details=details,
        )
    return Pass("The canonical URL {url} answers with status 200 and may be indexed.", url=address, details=details)


@check(
    "redirect-chain",
    name="At most one permanent redirect",
    outcomes={
        "chain": "Redirects form a chain",
        "refresh": "Page redirects by a refresh",
        "temporary": "Redirect is temporary",
    },
    why="Crawlers give up on long chains, and may keep the old URL unless the redirect is permanent.",
    severity=MEDIUM,
    fix="Redirect straight to the final URL, in one step, with status 301 or 308.",
    references=("RFC 9110, section 15.4", "Google Search Central: redirects"),
    error_pages=True,
    states=States.NONE,
)
def redirect_chain(page: Page, document: Document) -> Verdict:
    redirects = page.hops[:-1]
    chain = [RedirectHop(number, excerpt(hop.url), hop.status) for number, hop in enumerate(page.hops, 1)]
    count, final = Count(len(redirects), "redirect"), Address(page.target.url)
    if len(redirects) > MAX_REDIRECTS:
        return Fail("chain", "{redirects} in a row lead to {url}.", redirects=count, url=final, details=chain)
    next_page = refresh(page, document)
    if next_page is not None and next_page.url is not None:
        return Warn(
            "refresh",
            "A refresh sends visitors on to {url}.",
            url=Address(next_page.url),
            details=chain,
            fix="Answer with a 301 or 308 redirect instead of the refresh: `Location: {url}`.",
        )
    temporary = [hop for hop in redirects if hop.status not in PERMANENT_REDIRECTS]
    # Browsers store HSTS for a host only if the redirect to https comes first.
    begins_with_https_upgrade = bool(redirects) and _is_https_upgrade(redirects[0].url, page.hops[1].url)
    if len(redirects) - begins_with_https_upgrade > 1:
        if temporary:
            return Warn(
                "chain",
                "{redirects} in a row lead to {url}. {temporary:This one is|These are} temporary: {temporary}.",
                redirects=count,
                url=final,
                temporary=Values([Address(hop.url) for hop in temporary]),
                details=chain,
            )
        return Warn("chain", "{redirects} in a row lead to {url}.", redirects=count, url=final, details=chain)
    if temporary:
        return Warn(
            "temporary",
            "A temporary redirect ({status}) leads to {url}.",
            status=temporary[0].status,
            url=final,
            details=chain,
        )
    if len(redirects) > 1:
        return Pass("The upgrade to HTTPS and one more permanent redirect lead to {url}.", url=final, details=chain)
    if redirects:
        return Pass("One permanent redirect leads to {url}.", url=final, details=chain)
    return Pass("The page answers without a redirect.")


@check(
    "head-integrity",
    name="Metadata is inside the head",
    outcomes={
        "metadata": "Metadata outside the head",
        "robots-rules": outcome("Robots rules outside the head", LOW),
    },
    why="Search engines may ignore what they do not find in the head.",
    consequence="Search engines may miss what you tell them about the page, such as its description.",
    severity=HIGH,
    fix="Move visible content out of the head. Only `title`, `meta`, `link`, `base`, `style`, `script`, `noscript` and "
    "`template` belong there; anything else ends it.",
    references=("HTML, the head element", "Google Search Central: valid page metadata"),
    html=True,
    states=States.NONE,
)
def head_integrity(document: Document, outside: MetadataOutsideHead) -> Verdict:
    misplaced = [MisplacedMetadata(entry.kind, excerpt(entry.snippet)) for entry in outside.elements]
    if not misplaced:
        kinds = list_metadata_kinds(document)
        if not kinds:
            return NotApplicable("The page has no such metadata.")
        return Pass("In the head: {kinds}.", kinds=Values([Word(kind) for kind in kinds]))
    name, summary = "metadata", "Metadata is in the body instead of the head"
    if all(place.element == ROBOTS for place in misplaced):
        name, summary = "robots-rules", "The robots meta element is in the body"
    verdict = Warn if name == "robots-rules" else Fail
    if outside.head_end:
        return verdict(name, f"{summary}, after {{cause}}.", cause=Excerpt(outside.head_end, 60), places=misplaced)
    return verdict(name, f"{summary}.", places=misplaced)


def _is_https_upgrade(before: str, after: str) -> bool:
    """Return True if a redirect changes only the scheme, from http to https."""
    old, new = Url.of(before), Url.of(after)
    return (old.scheme, new.scheme) == ("http", "https") and (
        (old.host, old.path, old.query) == (new.host, new.path, new.query)
    )


def _quote_rules(rules: Iterable[IndexingRule]) -> Values:
    return Values([Excerpt(rule.shown) for rule in rules])


def _quote_references(links: Iterable[RelatedLink]) -> Values:
    return Values([Address(link.reference) for link in links])
