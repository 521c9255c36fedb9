"""Suppress duplicate findings.

Only one check reports a fact about a page.

Within a scan type, `suppress_repeats` is applied to the checks that ran. Across types, every report lists its own
findings; reports of one visit link to each other, and audits count the fact once (`reported_elsewhere`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from website_scan.findings import ScanType
from website_scan.result import CheckResult, HowToFix, RepeatedCheck
from website_scan.scoring import SEVERITY_WEIGHT
from website_scan.written_urls import split_url


class CheckKey(NamedTuple):
    """Scan type and ID of a check."""

    type: ScanType
    id: str


class Repeat(Struct, frozen=True):
    """Rule that suppresses a duplicate finding.

    The check `told_by` reports the same fact.

    `same_places`: suppress it only if all of its places are among those of `told_by`, or neither finding has places.
    `is_part`: its fault needs a fix of its own. The fix and the weight of the check are added to those of `told_by`.
    """

    check: CheckKey
    told_by: CheckKey
    same_places: bool = False
    is_part: bool = False

    @property
    def is_within_type(self) -> bool:
        return self.check.type is self.told_by.type


def _accessibility(id: str) -> CheckKey:
    return CheckKey(ScanType.ACCESSIBILITY, id)


def _seo(id: str) -> CheckKey:
    return CheckKey(ScanType.SEO, id)


def _performance(id: str) -> CheckKey:
    return CheckKey(ScanType.PERFORMANCE, id)


REPEATS = (
    # Without a main landmark, all content is outside of landmarks, and a skip link has no target.
    Repeat(_accessibility("region"), _accessibility("landmark-one-main")),
    Repeat(_accessibility("bypass"), _accessibility("landmark-one-main")),
    Repeat(_accessibility("page-has-heading-one"), _accessibility("landmark-one-main"), is_part=True),
    # A duplicate main, banner or contentinfo landmark has the same role and name as the first.
    Repeat(_accessibility("landmark-unique"), _accessibility("landmark-no-duplicate-main"), same_places=True),
    Repeat(_accessibility("landmark-unique"), _accessibility("landmark-no-duplicate-banner"), same_places=True),
    Repeat(_accessibility("landmark-unique"), _accessibility("landmark-no-duplicate-contentinfo"), same_places=True),
    # Without og:title, the page lacks all metadata for shared links. An og:image that does not load is a separate fact.
    Repeat(_seo("og-image"), _seo("og-title"), same_places=True, is_part=True),
    Repeat(_seo("twitter-card"), _seo("og-title"), is_part=True),
    # If robots.txt is not available, crawlers do not know which URLs are blocked.
    Repeat(_seo("robots-blocked"), _seo("robots-txt"), same_places=True),
    # The check for soft 404s reads the HTML, even if the browser displays a blank page.
    Repeat(_seo("soft-404"), _seo("seo-blank-page")),
    # The following rules are about checks of different scan types.
    Repeat(_seo("seo-blank-page"), _accessibility("accessibility-blank-page")),
    Repeat(_seo("seo-blank-page"), _performance("blank-page")),
    Repeat(_accessibility("accessibility-blank-page"), _performance("blank-page")),
    Repeat(_seo("lang-present"), _accessibility("html-has-lang")),
    Repeat(_seo("h1"), _accessibility("page-has-heading-one")),
    Repeat(_seo("seo-image-alt"), _accessibility("image-alt")),
    Repeat(_seo("tap-targets"), _accessibility("target-size")),
    # The SEO check also finds long titles, which are not a fault for accessibility.
    Repeat(_seo("title"), _accessibility("document-title")),
)

# IDs of the checks that report facts, by the IDs of the checks with findings.
Reporters = Mapping[str, str]


def suppress_repeats(
    scan_type: ScanType, results: Sequence[CheckResult]
) -> tuple[tuple[CheckResult, ...], tuple[RepeatedCheck, ...]]:
    """Separate reported results from suppressed duplicates.

    The results are those of one scan type.
    """
    findings = {result.id: result for result in results if result.status != "pass"}
    suppressed: dict[str, Repeat] = {}
    for id, finding in findings.items():
        repeats = [repeat for repeat in _repeats_within_type(scan_type, id) if repeat.told_by.id in findings]
        repeats = [repeat for repeat in repeats if findings[repeat.told_by.id].weighs]
        if repeats and _adds_no_place(finding, repeats, findings):
            suppressed[id] = repeats[0]
    included: dict[str, list[tuple[CheckResult, Repeat]]] = {}
    for id, repeat in suppressed.items():
        included.setdefault(repeat.told_by.id, []).append((findings[id], repeat))
    reported = tuple(
        _add_suppressed_findings(result, included[result.id]) if result.id in included else result
        for result in results
        if result.id not in suppressed
    )
    return reported, tuple(
        RepeatedCheck(id, findings[id].name, repeat.told_by.id, findings[repeat.told_by.id].title)
        for id, repeat in suppressed.items()
    )


def reporters(results: Sequence[CheckResult], repeated: Sequence[RepeatedCheck]) -> Reporters:
    """Map each finding of a scan type to the check that reports its fact.

    Omits findings that need a review.
    """
    own = {result.id: result.id for result in results if result.status != "pass" and result.weighs}
    return own | {repeat.id: repeat.told_by for repeat in repeated}


def reported_elsewhere(reporters_of: Mapping[ScanType, Reporters]) -> dict[CheckKey, CheckKey]:
    """Map each duplicate finding to the check that reports the fact.

    That check belongs to another scan type.
    """
    return {
        repeat.check: CheckKey(repeat.told_by.type, reporters_of[repeat.told_by.type][repeat.told_by.id])
        for repeat in REPEATS
        if not repeat.is_within_type
        and repeat.check.id in reporters_of.get(repeat.check.type, ())
        and repeat.told_by.id in reporters_of.get(repeat.told_by.type, ())
    }


def _repeats_within_type(scan_type: ScanType, id: str) -> list[Repeat]:
    return [repeat for repeat in REPEATS if repeat.is_within_type and repeat.check == (scan_type, id)]


def _adds_no_place(finding: CheckResult, repeats: Sequence[Repeat], findings: Mapping[str, CheckResult]) -> bool:
    """Return True if other findings have all places of this finding.

    These are the findings that report the fact.

    Returns False if this finding's list of places was cut.
    """
    if not all(repeat.same_places for repeat in repeats):
        return True
    reported = {place for repeat in repeats for place in _places(findings[repeat.told_by.id])}
    return not finding.places.is_cut and _places(finding) <= reported


def _places(finding: CheckResult) -> set[str]:
    page = split_url("")
    return {place.normal(page) for place in finding.places.kept} or {""}


def _join_snippets(fixes: Sequence[HowToFix]) -> tuple[tuple[str, str], ...]:
    """Join the code of snippets with the same label, such as all tags for the head."""
    codes: dict[str, list[str]] = {}
    for fix in fixes:
        for label, code in fix.snippets:
            codes.setdefault(label, []).append(code)
    return tuple((label, "\n".join(dict.fromkeys(lines))) for label, lines in codes.items())


def _add_suppressed_findings(reporter: CheckResult, suppressed: Sequence[tuple[CheckResult, Repeat]]) -> CheckResult:
    """Add suppressed findings to the finding that reports them.

    Their titles, fixes and weights are added.
    """
    parts = [finding for finding, repeat in suppressed if repeat.is_part and finding.weighs]
    fixes = [finding.how_to_fix for finding in (reporter, *parts) if finding.how_to_fix]
    return replace(
        reporter,
        includes=tuple(finding.title for finding, _ in suppressed if finding.weighs),
        how_to_fix=HowToFix(" ".join(fix.text for fix in fixes), _join_snippets(fixes)),
        included_weight=sum(SEVERITY_WEIGHT[finding.declared_severity] for finding in parts),
    )
