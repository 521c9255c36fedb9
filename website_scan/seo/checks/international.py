"""Checks of the language versions of a page (hreflang)."""

from __future__ import annotations

from typing import Annotated, ClassVar

from website_scan.catalogue import Category, check
from website_scan.crawl.canonicals import Canonicals
from website_scan.crawl.sitemaps import Sitemaps
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import clause, cut, excerpt
from website_scan.outcomes import Fail, Fix, Language, Pass, Verdict, Warn
from website_scan.places import Column, Identity, Place, PlaceUrl, as_written
from website_scan.seo.evidence import AlternateAnswers, PageAnswer
from website_scan.seo.hreflang import (
    X_DEFAULT_CODE,
    Alternates,
    SitemapAlternates,
    find_hreflang_code_fault,
    read_alternates,
)
from website_scan.values import Count, Share

CATEGORY = Category("International", weight=5)

NO_ALTERNATES = NotApplicable("The page names no other language versions.")
GOOGLE_DOCUMENTATION = "Google Search Central: localized versions of your pages"
SELF_LINK_EXAMPLE = {Language.HTML: '<link rel="alternate" hreflang="en" href="https://example.com/this-page">'}


class InvalidCode(Place, frozen=True):
    """hreflang code that search engines do not understand.

    Empty codes do not count as findings.
    """

    kind: ClassVar[str] = "hreflang-code"

    hreflang: Annotated[str, Identity(as_written), Column("hreflang", "mono")]
    reason: Annotated[str, Column("What is wrong")]

    @property
    def label(self) -> str:
        return f"“{cut(self.hreflang, 40)}” {self.reason}"


class RelativeEntry(Place, frozen=True):
    """Language version without an absolute URL.

    Versions with an empty code do not count as findings.
    """

    kind: ClassVar[str] = "hreflang-entry"

    hreflang: Annotated[str, Identity(as_written), Column("hreflang", "mono")]
    href: Annotated[str, Column("Link", "address")]

    @property
    def label(self) -> str:
        return cut(self.href, 80) or "(empty)"


class UnconfirmedVersion(Place, frozen=True):
    """Language version that does not link back to the page."""

    kind: ClassVar[str] = "language-version"

    url: PlaceUrl
    fault: Annotated[str, Column("What is wrong")]

    @property
    def label(self) -> str:
        return f"{cut(self.url, 80)} {self.fault}"


@check(
    "hreflang-code",
    name="hreflang codes are valid",
    outcomes={"invalid": "hreflang codes are invalid"},
    why="Search engines ignore such an entry, and may show people the page in the wrong language.",
    severity=MEDIUM,
    fix='Use a language code, with a country code if it matters: `hreflang="en"`, `hreflang="en-GB"`, '
    '`hreflang="x-default"`.',
    references=(GOOGLE_DOCUMENTATION, "RFC 5646", "ISO 3166-1"),
)
def hreflang_code(alternates: Alternates) -> Verdict:
    if not alternates.links:
        return NO_ALTERNATES
    faults = {
        link.code: fault for link in alternates.links if (fault := find_hreflang_code_fault(link.code)) is not None
    }
    if faults:
        invalid = [InvalidCode(excerpt(code, 60), fault) for code, fault in faults.items()]
        return Fail(
            "invalid",
            "{codes} {codes:is|are} invalid.",
            codes=Count(len(invalid), "hreflang code"),
            places=[code for code in invalid if code.hreflang],
            details=[code for code in invalid if not code.hreflang],
        )
    return Pass(
        "The {versions:code|codes} of {versions} {versions:is|are} valid.", versions=_count_versions(alternates)
    )


@check(
    "hreflang-absolute",
    name="hreflang URLs are absolute",
    outcomes={"relative": "hreflang URLs are not absolute"},
    why="Search engines ignore such an entry.",
    severity=MEDIUM,
    fix=Fix(
        "Write the full URL.", {Language.HTML: '<link rel="alternate" hreflang="de" href="https://example.com/de/">'}
    ),
    references=(GOOGLE_DOCUMENTATION,),
)
def hreflang_absolute(alternates: Alternates) -> Verdict:
    if not alternates.links:
        return NO_ALTERNATES
    relative = [
        RelativeEntry(excerpt(alternate.code, 60), excerpt(alternate.link.reference))
        for alternate in alternates.links
        if not alternate.link.is_absolute or alternate.url is None
    ]
    if relative:
        return Fail(
            "relative",
            "{entries} {entries:has|have} no absolute URL.",
            entries=Count(len(relative), "hreflang entry", "hreflang entries"),
            places=[entry for entry in relative if entry.hreflang],
            total=len(relative),
            details=[entry for entry in relative if not entry.hreflang],
        )
    return Pass(
        "The {versions:URL|URLs} of {versions} {versions:is|are} absolute.", versions=_count_versions(alternates)
    )


@check(
    "hreflang-self",
    name="hreflang includes the page itself",
    outcomes={"missing": "hreflang does not include the page itself"},
    why="Search engines may ignore a set that lacks the page itself.",
    severity=MEDIUM,
    fix=Fix("Add the page itself to the set.", SELF_LINK_EXAMPLE),
    references=(GOOGLE_DOCUMENTATION,),
)
def hreflang_self(alternates: Alternates, canonicals: Canonicals, sitemaps: Sitemaps | None) -> Verdict:
    if not alternates.links:
        return NO_ALTERNATES
    if canonicals.own_urls & {alternate.url for alternate in alternates.links}:
        return Pass("The page is among its language versions.")
    if canonicals.own_urls & set(SitemapAlternates(sitemaps).page_versions.values()):
        return Pass("The page is among its language versions in the sitemap.")
    return Warn("missing", "The page is not among the language versions that it names.")


@check(
    "hreflang-x-default",
    name="hreflang has an x-default",
    outcomes={"missing": "hreflang has no x-default"},
    why="Search engines may show any of the versions to people whose language is not in the set.",
    severity=LOW,
    fix=Fix(
        "Add a version for visitors whose language you do not offer.",
        {Language.HTML: '<link rel="alternate" hreflang="x-default" href="https://…">'},
    ),
    references=(GOOGLE_DOCUMENTATION,),
)
def hreflang_x_default(alternates: Alternates, sitemaps: Sitemaps | None) -> Verdict:
    if not alternates.links:
        return NO_ALTERNATES
    if any(alternate.is_x_default for alternate in alternates.links):
        return Pass("An x-default names the version for all other languages.")
    if X_DEFAULT_CODE in SitemapAlternates(sitemaps).page_versions:
        return Pass("An x-default in the sitemap names the version for all other languages.")
    return Warn("missing", "No x-default names the version for visitors whose language is not among the others.")


@check(
    "hreflang-return",
    name="Language versions link back",
    outcomes={"unconfirmed": "Language versions do not link back"},
    why="Search engines ignore a link that is not returned, as any page could claim to be a version.",
    consequence="Search engines may show the page to people in the wrong language.",
    judged="Links in the head, in Link headers and in the sitemap count. If the sitemap lists language versions, but "
    "only a part of it was read, a version without a link in its head or headers is not judged.",
    severity=HIGH,
    fix=Fix("Put the same set of links on every version, this page among them.", SELF_LINK_EXAMPLE),
    references=(GOOGLE_DOCUMENTATION,),
)
def hreflang_return(
    alternates: Alternates, canonicals: Canonicals, answers: AlternateAnswers, sitemaps: Sitemaps | None
) -> Verdict:
    if not alternates.links:
        return NO_ALTERNATES
    if not answers.answers:
        return NotApplicable("No other language version than the page itself could be fetched.")
    own = canonicals.own_urls
    # x-default may redirect visitors by their language, as in Google's own example.
    language_urls = {alternate.url for alternate in alternates.links if not alternate.is_x_default}
    unconfirmed: list[UnconfirmedVersion] = []
    judged = 0
    in_sitemap = SitemapAlternates(sitemaps)
    for answer in answers.answers:
        status = answer.page.response.status if answer.page is not None else None
        if status is not None and (
            _is_inconclusive_status(status) or (300 <= status < 400 and answer.url not in language_urls)
        ):
            continue
        is_loaded = answer.page is not None and answer.document is not None and status == 200
        links_back = is_loaded and (_links_to(own, answer) or answer.url in in_sitemap.returning_urls)
        if is_loaded and not links_back and in_sitemap.may_list_more:
            continue
        judged += 1
        if answer.page is None or answer.document is None:
            fault = f"does not load ({clause(answer.error)})"
        elif status != 200:
            fault = f"answers with status {status}"
        elif not links_back:
            fault = "does not link back"
        else:
            continue
        unconfirmed.append(UnconfirmedVersion(excerpt(answer.url or ""), fault))
    if not judged:
        return NotApplicable("The responses of the other language versions could not be judged.")
    if unconfirmed:
        return Fail(
            "unconfirmed",
            "{versions} cannot be confirmed.",
            versions=Share(len(unconfirmed), judged, "language version"),
            places=unconfirmed,
        )
    return Pass("{versions} {versions:links|link} back.", versions=Count(judged, "language version"))


def _links_to(urls: frozenset[str], answer: PageAnswer) -> bool:
    """Return True if a loaded page links to one of the URLs by hreflang.

    The link may be in its head or in a Link header.
    """
    if answer.page is None or answer.document is None:
        return False
    return not urls.isdisjoint(version.url for version in read_alternates(answer.page, answer.document).links)


def _count_versions(alternates: Alternates) -> Count:
    return Count(len(alternates.links), "language version")


def _is_inconclusive_status(status: int) -> bool:
    """Return True for an HTTP status that may not concern search engines.

    It may be temporary or may not apply to them.
    """
    return status in (401, 403, 405, 408, 429) or status >= 500
