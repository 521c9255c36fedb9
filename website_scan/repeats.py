"""Checks that find the same fact about a page: which of them tells it, and which are silent beside it.

Within a scan type, `told_once` is applied to the checks that ran. Across types, each report stands alone; reports of
one visit link to each other, and audits count the fact once (`told_elsewhere`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from website_scan.findings import ScanType
from website_scan.result import CheckResult, HowToFix, RepeatedCheck
from website_scan.scoring import SEVERITY_WEIGHT
from website_scan.written_urls import split_url


class CheckKey(NamedTuple):
    """A check and its scan type."""

    type: ScanType
    id: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """A check that is silent where `told_by` finds the same fact.

    `same_places`: only if all of its places are among those of the check that tells the fact, or neither names one.
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
    # Without a main landmark, its content is outside of landmarks, and there is nothing to jump to.
    Repeat(_accessibility("region"), _accessibility("landmark-one-main")),
    Repeat(_accessibility("bypass"), _accessibility("landmark-one-main")),
    Repeat(_accessibility("page-has-heading-one"), _accessibility("landmark-one-main"), is_part=True),
    # A second landmark of a kind that has to be the only one has the role and name of the first.
    Repeat(_accessibility("landmark-unique"), _accessibility("landmark-no-duplicate-main"), same_places=True),
    Repeat(_accessibility("landmark-unique"), _accessibility("landmark-no-duplicate-banner"), same_places=True),
    Repeat(_accessibility("landmark-unique"), _accessibility("landmark-no-duplicate-contentinfo"), same_places=True),
    # One block of metadata is missing. A picture that is named and does not load is another fact.
    Repeat(_seo("og-image"), _seo("og-title"), same_places=True, is_part=True),
    Repeat(_seo("twitter-card"), _seo("og-title"), is_part=True),
    # Without an answer for robots.txt, nobody knows what it blocks.
    Repeat(_seo("robots-blocked"), _seo("robots-txt"), same_places=True),
    # An error page is known by its words, whatever the browser shows of them.
    Repeat(_seo("soft-404"), _seo("seo-blank-page")),
    # Two types.
    Repeat(_seo("seo-blank-page"), _accessibility("accessibility-blank-page")),
    Repeat(_seo("seo-blank-page"), _performance("blank-page")),
    Repeat(_accessibility("accessibility-blank-page"), _performance("blank-page")),
    Repeat(_seo("lang-present"), _accessibility("html-has-lang")),
    Repeat(_seo("h1"), _accessibility("page-has-heading-one")),
    Repeat(_seo("seo-image-alt"), _accessibility("image-alt")),
    Repeat(_seo("tap-targets"), _accessibility("target-size")),
    # Other faults of a title, such as its length, are no faults for accessibility.
    Repeat(_seo("title"), _accessibility("document-title")),
)

# IDs of the checks that found something, each with the ID of the check of its type that tells it: usually its own.
Told = Mapping[str, str]


def told_once(
    scan_type: ScanType, results: Sequence[CheckResult]
) -> tuple[tuple[CheckResult, ...], tuple[RepeatedCheck, ...]]:
    """Separate the checks of a type that repeat what another one tells, whose finding then includes them."""
    found = {each.id: each for each in results if each.status != "pass"}
    silent: dict[str, Repeat] = {}
    for id, check in found.items():
        tellers = [each for each in _within(scan_type, id) if each.told_by.id in found]
        tellers = [each for each in tellers if found[each.told_by.id].weighs]
        if tellers and _adds_nothing(check, tellers, found):
            silent[id] = tellers[0]
    included: dict[str, list[tuple[CheckResult, Repeat]]] = {}
    for id, repeat in silent.items():
        included.setdefault(repeat.told_by.id, []).append((found[id], repeat))
    kept = tuple(
        _including(each, included[each.id]) if each.id in included else each
        for each in results
        if each.id not in silent
    )
    return kept, tuple(
        RepeatedCheck(id, found[id].name, repeat.told_by.id, found[repeat.told_by.id].title)
        for id, repeat in silent.items()
    )


def told(results: Sequence[CheckResult], repeated: Sequence[RepeatedCheck]) -> Told:
    """Return which check tells what, for the results of a type. Findings that need a review are left out."""
    found = {each.id: each.id for each in results if each.status != "pass" and each.weighs}
    return found | {each.id: each.told_by for each in repeated}


def told_elsewhere(told_of: Mapping[ScanType, Told]) -> dict[CheckKey, CheckKey]:
    """Return the findings of a visit that another of its types tells, each with the finding that tells it."""
    return {
        each.check: CheckKey(each.told_by.type, told_of[each.told_by.type][each.told_by.id])
        for each in REPEATS
        if not each.is_within_type
        and each.check.id in told_of.get(each.check.type, ())
        and each.told_by.id in told_of.get(each.told_by.type, ())
    }


def _within(scan_type: ScanType, id: str) -> list[Repeat]:
    return [each for each in REPEATS if each.is_within_type and each.check == (scan_type, id)]


def _adds_nothing(check: CheckResult, tellers: Sequence[Repeat], found: Mapping[str, CheckResult]) -> bool:
    """Return True unless the check names a place that the others do not. A list that was cut may have more places."""
    if not all(each.same_places for each in tellers):
        return True
    known = {place for each in tellers for place in _places(found[each.told_by.id])}
    return not check.places.is_cut and _places(check) <= known


def _places(check: CheckResult) -> set[str]:
    own = split_url("")
    return {place.normal(own) for place in check.places.kept} or {""}


def _including(teller: CheckResult, silent: Sequence[tuple[CheckResult, Repeat]]) -> CheckResult:
    """Return the finding with what it includes: the titles of all, the fixes and weights of its parts."""
    parts = [check for check, repeat in silent if repeat.is_part and check.weighs]
    fixes = [each.how_to_fix for each in (teller, *parts) if each.how_to_fix]
    return replace(
        teller,
        includes=tuple(check.title for check, _ in silent if check.weighs),
        how_to_fix=HowToFix(
            " ".join(each.text for each in fixes), tuple(snippet for each in fixes for snippet in each.snippets)
        ),
        included_weight=sum(SEVERITY_WEIGHT[each.declared_severity] for each in parts),
    )
