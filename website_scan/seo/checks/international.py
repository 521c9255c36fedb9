"""International checks: the language versions of a page (hreflang)."""

from __future__ import annotations

from website_scan.accessibility.wording import Wording
from website_scan.catalogue import Category, check
from website_scan.crawl.canonicals import Canonicals
from website_scan.findings import HIGH, LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn
from website_scan.messages import clause, counted, excerpt, some
from website_scan.seo.evidence import AlternateAnswers
from website_scan.seo.hreflang import Alternates, code_fault, read_alternates

CATEGORY = Category("International", weight=5)

UNCONFIRMED = Wording("language version|versions checked", "cannot be confirmed")
NONE = NotApplicable("The page names no other language versions.")
GOOGLE = "Google Search Central: localized versions of your pages"


@check(
    "hreflang-code",
    name="hreflang codes are valid",
    found="hreflang codes are invalid",
    why="Search engines ignore such an entry, and may show people the page in the wrong language.",
    severity=MEDIUM,
    fix='Use a language code, with a country code if it matters: hreflang="en", hreflang="en-GB", '
    'hreflang="x-default".',
    references=(GOOGLE, "RFC 5646", "ISO 3166-1"),
)
def hreflang_code(alternates: Alternates) -> Finding:
    if not alternates.links:
        return NONE
    faults = {each.code: fault for each in alternates.links if (fault := code_fault(each.code)) is not None}
    if faults:
        shown = some([f"“{excerpt(code, 40)}” {fault}" for code, fault in faults.items()])
        return Fail(
            f"{counted(len(faults), 'hreflang code')} {'is' if len(faults) == 1 else 'are'} invalid: {shown}.",
            evidence=[{"hreflang": excerpt(code, 60)} for code in faults],
        )
    return Pass(f"The codes of {counted(len(alternates.links), 'language version')} are valid.")


@check(
    "hreflang-absolute",
    name="hreflang URLs are absolute",
    found="hreflang URLs are not absolute",
    why="Search engines ignore such an entry.",
    severity=MEDIUM,
    fix='Write the full URL: <link rel="alternate" hreflang="de" href="https://example.com/de/">',
    references=(GOOGLE,),
)
def hreflang_absolute(alternates: Alternates) -> Finding:
    if not alternates.links:
        return NONE
    relative = [each for each in alternates.links if not each.link.is_absolute or each.url is None]
    if relative:
        evidence: list[EvidenceItem] = [
            {"hreflang": excerpt(each.code, 60), "href": excerpt(each.link.reference)} for each in relative
        ]
        shown = some([excerpt(each.link.reference, 80) or "(empty)" for each in relative])
        return Fail(
            f"{counted(len(relative), 'hreflang entry has', 'hreflang entries have')} no absolute URL: {shown}.",
            evidence=evidence,
        )
    return Pass(f"The URLs of {counted(len(alternates.links), 'language version')} are absolute.")


@check(
    "hreflang-self",
    name="hreflang includes the page itself",
    found="hreflang does not include the page itself",
    why="Search engines may ignore a set that lacks the page itself.",
    severity=MEDIUM,
    fix='Add the page itself to the set: <link rel="alternate" hreflang="en" href="https://example.com/this-page">',
    references=(GOOGLE,),
)
def hreflang_self(alternates: Alternates, canonicals: Canonicals) -> Finding:
    if not alternates.links:
        return NONE
    if canonicals.own_urls & {each.url for each in alternates.links}:
        return Pass("The page is among its language versions.")
    return Warn("The page is not among the language versions that it names.")


@check(
    "hreflang-x-default",
    name="hreflang has an x-default",
    found="hreflang has no x-default",
    why="Search engines may show any of the versions to people whose language is not in the set.",
    severity=LOW,
    fix="Add a version for visitors whose language you do not offer: "
    '<link rel="alternate" hreflang="x-default" href="https://…">',
    references=(GOOGLE,),
)
def hreflang_x_default(alternates: Alternates) -> Finding:
    if not alternates.links:
        return NONE
    if any(each.is_default for each in alternates.links):
        return Pass("An x-default names the version for all other languages.")
    return Warn("No x-default names the version for visitors whose language is not among the others.")


@check(
    "hreflang-return",
    name="Language versions link back",
    found="Language versions do not link back",
    why="Search engines ignore a link that is not returned, as any page could claim to be a version.",
    severity=HIGH,
    fix="Put the same set of links on every version, this page among them: "
    '<link rel="alternate" hreflang="en" href="https://example.com/this-page">',
    references=(GOOGLE,),
)
def hreflang_return(alternates: Alternates, canonicals: Canonicals, answers: AlternateAnswers) -> Finding:
    if not alternates.links:
        return NONE
    if not answers.answers:
        return NotApplicable("No other language version than the page itself could be fetched.")
    own = canonicals.own_urls
    # A page for all other languages may redirect visitors by their language, as Google's own example does.
    named = {each.url for each in alternates.links if not each.is_default}
    faults: list[tuple[str, str]] = []
    judged = 0
    for each in answers.answers:
        status = each.page.response.status if each.page is not None else None
        if status is not None and (_proves_nothing(status) or (300 <= status < 400 and each.url not in named)):
            continue
        judged += 1
        url = each.url or ""
        if each.page is None or each.document is None:
            faults.append((url, f"does not load ({clause(each.error)})"))
        elif status != 200:
            faults.append((url, f"answers with status {status}"))
        elif not own & {version.url for version in read_alternates(each.page, each.document).links}:
            faults.append((url, "does not link back"))
    if not judged:
        return NotApplicable("The responses of the other language versions could not be judged.")
    if faults:
        shown = some([f"{excerpt(url, 80)} {fault}" for url, fault in faults])
        return Fail(
            f"{UNCONFIRMED.clause(len(faults), judged)}: {shown}.",
            evidence=[{"url": excerpt(url), "fault": fault} for url, fault in faults],
        )
    return Pass(f"{counted(judged, 'language version links', 'language versions link')} back.")


def _proves_nothing(status: int) -> bool:
    """Return True for a status that only scanners may get, or a temporary one. Search engines may get the page."""
    return status in (401, 403, 405, 408, 429) or status >= 500
