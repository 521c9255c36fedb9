"""Checks of caching: files that visitors load again on their next page or visit.

Files of other sites are named, but not judged, because the owner does not set their lifetimes.
"""

from __future__ import annotations

from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, EvidenceItem, Finding, NotApplicable, Pass, Warn, by_limits
from website_scan.messages import KIB, agreeing, by_steps, counted, excerpt, part, size, some
from website_scan.page.evidence import Page
from website_scan.page.references import ResourceKind
from website_scan.performance.caching import DAY_S, DELIBERATE, YEAR_S, is_hashed_name
from website_scan.performance.evidence import StaticFile, StaticFiles
from website_scan.urls import Url

CATEGORY = Category("Caching", weight=5, html=True)

NO_FILES = NotApplicable("The page loads no static file of its own site.")
MISSING_GOOD, MISSING_POOR = 0, 5
WASTE_GOOD, WASTE_POOR = 20 * KIB, 128 * KIB
# Kinds that builds name by their content; image names are more often numbers from a database.
BUILT = frozenset({ResourceKind.SCRIPT, ResourceKind.STYLESHEET, ResourceKind.FONT})


@check(
    "cache-missing",
    name="Static files have a cache lifetime",
    found="Static files without a cache lifetime",
    why="Browsers then guess how long to keep a file, so returning visitors may download it again.",
    judged=by_steps(MISSING_GOOD, MISSING_POOR),
    severity=HIGH,
    fix="Send a Cache-Control header with every static file: max-age=31536000, immutable where its name changes with "
    "its content, otherwise max-age=2592000, or no-cache with an ETag.",
    references=("RFC 9111, section 4.2", "MDN: Cache-Control"),
)
def cache_missing(files: StaticFiles) -> Finding:
    if not files.own:
        return NO_FILES
    missing = [each for each in files.own if each.policy.is_missing]
    if not missing:
        return Pass(f"{counted(len(files.own), 'static file')} of the site, each with caching headers.")
    return by_limits(
        len(missing),
        MISSING_GOOD,
        MISSING_POOR,
        f"{part(len(missing), len(files.own), 'static file')} ({_size(missing)}) "
        f"{agreeing(len(missing), 'has', 'have')} no cache lifetime: {_shown(missing)}",
        evidence=_evidence(missing),
    )


@check(
    "cache-short",
    name="Efficient cache lifetimes",
    found="Short cache lifetimes",
    why="Returning visitors request the same files again, although they may not have changed.",
    judged=by_steps(size(WASTE_GOOD), size(WASTE_POOR))
    + " Counted are the bytes that a later visit has to load again.",
    severity=MEDIUM,
    fix="Let browsers keep static files for at least 30 days (Cache-Control: max-age=2592000); rename a file when it "
    "changes.",
    references=("Lighthouse: uses-long-cache-ttl", "RFC 9111, section 4.2.1"),
)
def cache_short(files: StaticFiles) -> Finding:
    """Judge only files with a lifetime: `cache-missing` judges those without one, and 0 s is a deliberate choice.

    Like Lighthouse, skip files with deliberate directives: they are meant to be requested again.
    """
    own, foreign = (
        [each for each in found if each.policy.lifetime_s and not each.policy.deliberate & DELIBERATE]
        for found in (files.own, files.foreign)
    )
    if not own:
        return NotApplicable("No static file of the site has a lifetime that could be too short.")
    short = sorted((each for each in own if each.waste_bytes), key=lambda each: -each.waste_bytes)
    foreign = [each for each in foreign if each.waste_bytes]
    evidence = _evidence(short) + [{**each, "other_site": True} for each in _evidence(foreign)]
    if not short:
        others = f" {counted(len(foreign), 'file')} of other sites may be kept for less; the owner cannot change that."
        return Pass(
            f"{counted(len(own), 'static file')} may be kept for 30 days or more.{others if foreign else ''}", evidence
        )
    waste = sum(each.waste_bytes for each in short)
    shown = some([f"{excerpt(each.resource.url, 80)} ({_duration(each.policy.lifetime_s or 0)})" for each in short])
    return by_limits(
        waste,
        WASTE_GOOD,
        WASTE_POOR,
        f"{part(len(short), len(own), 'static file')} may be kept for less than 30 days: {shown}; a later visit "
        f"is expected to load {size(waste)} again, where up to {size(WASTE_GOOD)} is good"
        f"{' (files of other sites not counted)' if foreign else ''}",
        evidence=evidence,
    )


@check(
    "cache-immutable",
    name="Fingerprinted files are immutable",
    found="Fingerprinted files are not immutable",
    why="On a reload, browsers ask again for files that never change.",
    severity=LOW,
    fix="Send Cache-Control: public, max-age=31536000, immutable with files whose names contain a hash of their "
    "content.",
    references=("RFC 8246", "MDN: Cache-Control"),
)
def cache_immutable(files: StaticFiles) -> Finding:
    hashed = [
        each
        for each in files.own
        if each.resource.kind in BUILT and is_hashed_name(Url.of(each.resource.final_url or each.resource.url).path)
    ]
    if not hashed:
        return NotApplicable("No script, style sheet or font of the site has a fingerprint in its name.")
    asked = [each for each in hashed if (each.policy.lifetime_s or 0) < YEAR_S or not each.policy.is_immutable]
    if not asked:
        return Pass(f"{counted(len(hashed), 'file')} with a fingerprint in the name: immutable for a year or more.")
    return Warn(
        f"{part(len(asked), len(hashed), 'file')} with a fingerprint in the name ({_size(asked)}) "
        f"{agreeing(len(asked), 'is', 'are')} sent without max-age=31536000 and immutable: {_shown(asked)}.",
        evidence=_evidence(asked),
    )


@check(
    "private-static",
    name="Shared caches may store static files",
    found="Static files are marked private",
    why="CDNs and other shared caches may not store such a file, so every visitor loads it from the origin.",
    severity=LOW,
    fix="Send Cache-Control: public instead of private with files that are the same for everyone, and without a "
    "cookie.",
    references=("RFC 9111, section 5.2.2.7", "MDN: Cache-Control"),
)
def private_static(page: Page, files: StaticFiles) -> Finding:
    if not files.own:
        return NO_FILES
    if page.is_keyed:
        return NotApplicable(
            "The files were requested with the scan's credentials, so they may be meant for some users only."
        )
    private = [each for each in files.own if each.policy.deliberate & {"private", "no-store"} == {"private"}]
    if not private:
        return Pass(f"None of {counted(len(files.own), 'static file')} of the site is marked private.")
    return Warn(
        f"{part(len(private), len(files.own), 'static file')} {agreeing(len(private), 'is', 'are')} marked "
        f"private: {_shown(private)}.",
        evidence=_evidence(private),
    )


def _shown(files: list[StaticFile]) -> str:
    return some([excerpt(each.resource.url, 80) for each in files])


def _size(files: list[StaticFile]) -> str:
    return size(sum(each.resource.own_wire_bytes for each in files))


def _evidence(files: list[StaticFile]) -> list[EvidenceItem]:
    return [
        {
            "url": excerpt(each.resource.url),
            "cache_control": excerpt(each.resource.headers.get("Cache-Control") or "") or None,
            "expires": excerpt(each.resource.headers.get("Expires") or "") or None,
            "lifetime_s": each.policy.lifetime_s,
            "wire_bytes": each.resource.own_wire_bytes,
            "expected_waste_bytes": round(each.waste_bytes),
        }
        for each in files
    ]


def _duration(seconds: int) -> str:
    for unit, name in ((DAY_S, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= unit:
            return counted(seconds // unit, name)
    return counted(seconds, "second")
