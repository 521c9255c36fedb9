"""Caching: what visitors load again on their next page or visit.

Files of other sites are named, never judged: their lifetimes are not the owner's to set.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from scans.engine.catalogue import Category, check
from scans.engine.findings import HIGH, LOW, MEDIUM, Finding, NotApplicable, Pass, Warn, by_limits
from scans.engine.messages import counted, excerpt, some
from scans.engine.page.evidence import Clock, Page
from scans.engine.page.references import ResourceKind
from scans.engine.page.registrable_domain import is_same_site
from scans.engine.performance.caching import DAY_S, YEAR_S, CachePolicy, cache_policy, hit_probability, is_hashed_name
from scans.engine.performance.evidence import Resource, Resources

CATEGORY = Category("Caching", weight=5)

NOT_HTML = NotApplicable("The page is not HTML.")
NO_FILES = NotApplicable("The page loads no static file of its own site.")
EVIDENCE_ITEMS = 20
KIB = 1024
MISSING_GOOD, MISSING_POOR = 0, 5
LONG_S = 30 * DAY_S
WASTE_GOOD, WASTE_POOR = 20 * KIB, 128 * KIB
STATIC = frozenset(
    {ResourceKind.SCRIPT, ResourceKind.STYLESHEET, ResourceKind.IMAGE, ResourceKind.FONT, ResourceKind.ICON}
)
# What a build names by its content; names of images are more often numbers of a database.
BUILT = frozenset({ResourceKind.SCRIPT, ResourceKind.STYLESHEET, ResourceKind.FONT})
# Lighthouse passes over files with these: somebody has decided that they are to be asked for again.
DECIDED = frozenset({"no-store", "no-cache", "must-revalidate", "private", "stale-while-revalidate"})


@dataclass(frozen=True, slots=True)
class _File:
    resource: Resource
    policy: CachePolicy

    @property
    def shown(self) -> str:
        return excerpt(self.resource.url, 80)

    @property
    def waste_bytes(self) -> float:
        """What of it a later visit is expected to load again; the file is judged by its lifetime."""
        lifetime_s = self.policy.lifetime_s or 0
        return 0.0 if lifetime_s >= LONG_S else (1 - hit_probability(lifetime_s)) * self.resource.own_wire_bytes


@check(
    "cache-missing",
    name="Static files say how long they may be kept",
    severity=HIGH,
    fix="Send Cache-Control with every static file: max-age=31536000, immutable where its name changes with its "
    "content, otherwise max-age=2592000, or no-cache with an ETag.",
    references=("RFC 9111, section 4.2", "webhint: http-cache"),
)
def cache_missing(page: Page, resources: Resources, clock: Clock) -> Finding:
    if not page.is_html:
        return NOT_HTML
    own, _ = _files(page, resources, clock)
    if not own:
        return NO_FILES
    missing = [each for each in own if each.policy.is_missing]
    if not missing:
        return Pass(f"{counted(len(own), 'static file')} of the site: each says how long it may be kept.")
    size = sum(each.resource.own_wire_bytes for each in missing)
    return by_limits(
        len(missing),
        MISSING_GOOD,
        MISSING_POOR,
        f"{len(missing)} of {counted(len(own), 'static file')} ({size / KIB:,.1f} KiB) name no lifetime: "
        f"{some([each.shown for each in missing])}",
        "browsers guess how long to keep them",
        tuple(_evidence(each) for each in missing[:EVIDENCE_ITEMS]),
    )


@check(
    "cache-short",
    name="Static files may be kept for long",
    severity=MEDIUM,
    fix="Let static files be kept for at least 30 days (Cache-Control: max-age=2592000), and change their names when "
    "they change.",
    references=("Lighthouse: uses-long-cache-ttl", "RFC 9111, section 4.2.1"),
)
def cache_short(page: Page, resources: Resources, clock: Clock) -> Finding:
    """Only files with a lifetime: without one `cache-missing` speaks, with 0 s somebody has decided so."""
    if not page.is_html:
        return NOT_HTML
    own, foreign = (
        [each for each in files if each.policy.lifetime_s and not each.policy.deliberate & DECIDED]
        for files in _files(page, resources, clock)
    )
    if not own:
        return NotApplicable("No static file of the site names a lifetime that could be too short.")
    short = sorted((each for each in own if each.waste_bytes), key=lambda each: -each.waste_bytes)
    foreign = [each for each in foreign if each.waste_bytes]
    evidence = tuple(_evidence(each) for each in short[:EVIDENCE_ITEMS])
    evidence += tuple(_evidence(each) | {"other_site": True} for each in foreign[: EVIDENCE_ITEMS - len(evidence)])
    others = f" Of other sites {counted(len(foreign), 'file')} may be kept for less; that is theirs to say."
    if not short:
        return Pass(
            f"{counted(len(own), 'static file')} may be kept for 30 days or more.{others if foreign else ''}", evidence
        )
    waste = sum(each.waste_bytes for each in short)
    shown = some([f"{each.shown} ({_duration(each.policy.lifetime_s or 0)})" for each in short])
    return by_limits(
        waste,
        WASTE_GOOD,
        WASTE_POOR,
        f"{len(short)} of {counted(len(own), 'static file')} may be kept for less than 30 days: {shown}; a later visit "
        f"is expected to load {waste / KIB:,.1f} KiB again",
        f"up to {WASTE_GOOD // KIB} KiB is good{' (files of other sites not counted)' if foreign else ''}",
        evidence,
    )


@check(
    "cache-immutable",
    name="Files with a digest in their name never change",
    severity=LOW,
    fix="Send Cache-Control: public, max-age=31536000, immutable with files whose names change with their content.",
    references=("RFC 8246",),
)
def cache_immutable(page: Page, resources: Resources, clock: Clock) -> Finding:
    if not page.is_html:
        return NOT_HTML
    own, _ = _files(page, resources, clock)
    hashed = [
        each
        for each in own
        if each.resource.kind in BUILT and is_hashed_name(urlsplit(each.resource.final_url or each.resource.url).path)
    ]
    if not hashed:
        return NotApplicable("No script, style sheet or font of the site has a digest in its name.")
    asked = [each for each in hashed if (each.policy.lifetime_s or 0) < YEAR_S or not each.policy.is_immutable]
    if not asked:
        return Pass(f"{counted(len(hashed), 'file')} with a digest in the name: all for a year or more, and immutable.")
    size = sum(each.resource.own_wire_bytes for each in asked)
    return Warn(
        f"{len(asked)} of {counted(len(hashed), 'file')} with a digest in the name ({size / KIB:,.1f} KiB) do not come "
        f"with max-age=31536000 and immutable: {some([each.shown for each in asked])}. Browsers ask for them again for "
        "nothing.",
        evidence=tuple(_evidence(each) for each in asked[:EVIDENCE_ITEMS]),
    )


@check(
    "private-static",
    name="Static files may be shared by caches",
    severity=LOW,
    fix="Send Cache-Control: public in place of private with files that are the same for everybody, and no cookie.",
    references=("RFC 9111, section 5.2.2.7",),
)
def private_static(page: Page, resources: Resources, clock: Clock) -> Finding:
    if not page.is_html:
        return NOT_HTML
    own, _ = _files(page, resources, clock)
    if not own:
        return NO_FILES
    private = [each for each in own if "private" in each.policy.deliberate and "no-store" not in each.policy.deliberate]
    if not private:
        return Pass(f"Caches may share all of {counted(len(own), 'static file')} of the site.")
    return Warn(
        f"{len(private)} of {counted(len(own), 'static file')} say private, so that no CDN or proxy may keep them: "
        f"{some([each.shown for each in private])}.",
        evidence=tuple(_evidence(each) for each in private[:EVIDENCE_ITEMS]),
    )


def _files(page: Page, resources: Resources, clock: Clock) -> tuple[list[_File], list[_File]]:
    """The static files that came, of the page's site and of others."""
    own: list[_File] = []
    foreign: list[_File] = []
    for each in resources.items:
        if each.status != 200 or each.kind not in STATIC or not each.is_fetched:
            continue
        host = urlsplit(each.final_url or each.url).hostname or ""
        file = _File(each, cache_policy(each.headers, clock.now))
        (own if is_same_site(host, page.target.host) else foreign).append(file)
    return own, foreign


def _evidence(file: _File) -> dict[str, str | int | float | bool | None]:
    return {
        "url": excerpt(file.resource.url),
        "cache_control": excerpt(file.resource.headers.get("Cache-Control") or "") or None,
        "expires": excerpt(file.resource.headers.get("Expires") or "") or None,
        "lifetime_s": file.policy.lifetime_s,
        "wire_bytes": file.resource.own_wire_bytes,
        "expected_waste_bytes": round(file.waste_bytes),
    }


def _duration(seconds: int) -> str:
    for unit, name in ((DAY_S, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= unit:
            return counted(seconds // unit, name)
    return counted(seconds, "second")
