"""International: which language versions belong together."""

from __future__ import annotations

from scans.engine.catalogue import Category, check
from scans.engine.findings import HIGH, LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn
from scans.engine.messages import counted, excerpt, some
from scans.engine.page.evidence import Document, Page
from scans.engine.seo.evidence import AlternateAnswers
from scans.engine.seo.hreflang import X_DEFAULT, code_fault, own_addresses, versions

CATEGORY = Category("International", weight=5)

EVIDENCE_ITEMS = 20
NONE = NotApplicable("The page names no other language versions.")
GOOGLE = "Google Search Central: localized versions of your pages"


@check(
    "hreflang-code",
    name="Language codes understood",
    severity=MEDIUM,
    fix='Use a language, and a country where it matters: hreflang="en", hreflang="en-GB", hreflang="x-default".',
    references=(GOOGLE, "RFC 5646", "ISO 3166-1"),
)
def hreflang_code(page: Page, document: Document) -> Finding:
    """A version with an unknown code is left out."""
    found = versions(page, document)
    if not found:
        return NONE
    faults = {each.code: fault for each in found if (fault := code_fault(each.code)) is not None}
    if faults:
        shown = some([f"“{excerpt(code, 40)}” {fault}" for code, fault in faults.items()])
        evidence: tuple[EvidenceItem, ...] = tuple(
            {"hreflang": excerpt(code, 60)} for code in list(faults)[:EVIDENCE_ITEMS]
        )
        return Fail(f"Search engines skip {counted(len(faults), 'language code')}: {shown}.", evidence=evidence)
    return Pass(f"{counted(len(found), 'language version')}, all with codes that search engines know.")


@check(
    "hreflang-absolute",
    name="Language versions with full addresses",
    severity=MEDIUM,
    fix='Write the whole address: <link rel="alternate" hreflang="de" href="https://example.com/de/">',
    references=(GOOGLE,),
)
def hreflang_absolute(page: Page, document: Document) -> Finding:
    """Google asks for the scheme and host in every address."""
    found = versions(page, document)
    if not found:
        return NONE
    relative = [each for each in found if not each.is_absolute or each.url is None]
    if relative:
        evidence: tuple[EvidenceItem, ...] = tuple(
            {"hreflang": excerpt(each.code, 60), "href": excerpt(each.reference)} for each in relative[:EVIDENCE_ITEMS]
        )
        shown = some([excerpt(each.reference, 80) or "(empty)" for each in relative])
        return Fail(
            f"{counted(len(relative), 'address', 'addresses')} not given in full, with https:// and host, which "
            f"search engines ask for: {shown}.",
            evidence=evidence,
        )
    return Pass("Every language version has its full address.")


@check(
    "hreflang-self",
    name="The page is among its language versions",
    severity=MEDIUM,
    fix='Add the page itself to the set: <link rel="alternate" hreflang="en" href="https://example.com/this-page">',
    references=(GOOGLE,),
)
def hreflang_self(page: Page, document: Document) -> Finding:
    """Each version lists all of them, itself too."""
    found = versions(page, document)
    if not found:
        return NONE
    if own_addresses(page, document) & {each.url for each in found}:
        return Pass("The page names itself among its language versions.")
    return Warn("The page does not name itself among its language versions, so search engines may not take the set.")


@check(
    "hreflang-x-default",
    name="A version for everybody else",
    severity=LOW,
    fix='Add the version for languages that you do not have: <link rel="alternate" hreflang="x-default" href="https://…">',
    references=(GOOGLE,),
)
def hreflang_x_default(page: Page, document: Document) -> Finding:
    """Says what to show to those whose language is not there."""
    found = versions(page, document)
    if not found:
        return NONE
    if any(each.code.lower() == X_DEFAULT for each in found):
        return Pass("There is a version for all other languages (x-default).")
    return Warn("No x-default says which version those get whose language is not there.")


@check(
    "hreflang-return",
    name="Language versions link back",
    severity=HIGH,
    fix="Put the same set of links on every version, this page among them: "
    '<link rel="alternate" hreflang="en" href="https://example.com/this-page">',
    references=(GOOGLE,),
)
def hreflang_return(page: Page, document: Document, answers: AlternateAnswers) -> Finding:
    """Search engines ignore a link that is not returned, as anybody could claim to be a version."""
    if not versions(page, document):
        return NONE
    if not answers.answers:
        return NotApplicable("No other language version than the page itself could be looked at.")
    own = own_addresses(page, document)
    # A page for everybody else may send visitors on by their language, as Google's own example does.
    named = {each.url for each in versions(page, document) if each.code.lower() != X_DEFAULT}
    faults: list[tuple[str, str]] = []
    judged = 0
    for each in answers.answers:
        status = each.page.response.status if each.page is not None else None
        if status is not None and (_proves_nothing(status) or (300 <= status < 400 and each.url not in named)):
            continue
        judged += 1
        if each.page is None or each.document is None:
            faults.append((each.url, f"does not load ({excerpt(each.error.rstrip('.'))})"))
        elif status != 200:
            faults.append((each.url, f"answers with status {status}"))
        elif not own & {version.url for version in versions(each.page, each.document)}:
            faults.append((each.url, "does not link back"))
    if not judged:
        return NotApplicable("The other language versions did not let themselves be looked at.")
    if faults:
        shown = some([f"{excerpt(url, 80)} {fault}" for url, fault in faults])
        return Fail(
            f"Search engines ignore {len(faults)} of {counted(judged, 'language version')} looked at: {shown}.",
            evidence=tuple({"url": excerpt(url), "fault": fault} for url, fault in faults),
        )
    return Pass(f"{counted(judged, 'language version')} looked at, all link back.")


def _proves_nothing(status: int) -> bool:
    """Whether it may be meant for scanners like this, or pass: search engines may well get the page."""
    return status in (401, 403, 405, 408, 429) or status >= 500
