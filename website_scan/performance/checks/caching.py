"""Checks for files that visitors needlessly load again.

Files of other sites are listed, but not judged, because the owner cannot set their lifetimes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import KIB, cut, document_thresholds, excerpt, size
from website_scan.outcomes import Pass, Verdict, Warn, judge_by_limits
from website_scan.page.evidence import Page
from website_scan.page.references import ResourceKind
from website_scan.performance.caching import DELIBERATE, YEAR_S, has_hashed_name
from website_scan.performance.evidence import StaticFile, StaticFiles
from website_scan.places import Column, Place, PlaceUrl, WireBytes
from website_scan.urls import Url
from website_scan.values import Bytes, Count, Lifetime, Share

CATEGORY = Category("Caching", weight=5, html=True)

NO_STATIC_FILES = NotApplicable("The page loads no static file of its own site.")
GOOD_UNCACHED_FILES, POOR_UNCACHED_FILES = 0, 5
GOOD_WASTE_BYTES, POOR_WASTE_BYTES = 20 * KIB, 128 * KIB
# Digits in image names are database IDs more often than digests.
HASHED_NAME_KINDS = frozenset({ResourceKind.SCRIPT, ResourceKind.STYLESHEET, ResourceKind.FONT})


class CachedFile(Place, frozen=True):
    """Static file and its cache lifetime.

    `lifetime_s` is None if no header sets a lifetime.
    """

    kind: ClassVar[str] = "cached-file"

    url: PlaceUrl
    cache_control: Annotated[str | None, Column("Cache-Control", "mono")]
    expires: Annotated[str | None, Column("Expires", "mono")]
    lifetime_s: Annotated[int | None, Column("Cache lifetime", "number", "s")]
    wire_bytes: WireBytes
    expected_waste_bytes: Annotated[int, Column("Loaded again in vain", "number", "bytes")]
    other_site: Annotated[bool | None, Column("Another site's", "short")] = None

    @classmethod
    def from_file(cls, file: StaticFile, *, is_foreign: bool = False) -> Self:
        headers = file.resource.headers
        return cls(
            url=excerpt(file.resource.url),
            cache_control=excerpt(headers.get("Cache-Control") or "") or None,
            expires=excerpt(headers.get("Expires") or "") or None,
            lifetime_s=file.policy.lifetime_s,
            wire_bytes=file.resource.last_response_wire_bytes,
            expected_waste_bytes=round(file.waste_bytes),
            other_site=is_foreign or None,
        )

    @property
    def label(self) -> str:
        notes = []
        if self.lifetime_s:
            notes.append(f"kept for {Lifetime(self.lifetime_s).text}")
        if self.other_site:
            notes.append("another site's")
        return cut(self.url, 100) + (f" ({', '.join(notes)})" if notes else "")


@check(
    "cache-missing",
    name="Static files have a cache lifetime",
    outcomes={"no-lifetime": "Static files without a cache lifetime"},
    why="Browsers then guess how long to keep a file, so returning visitors may download it again.",
    consequence="Returning visitors may have to load the same files again, so the page appears more slowly.",
    judged=document_thresholds(GOOD_UNCACHED_FILES, POOR_UNCACHED_FILES),
    severity=HIGH,
    fix="Send a `Cache-Control` header with every static file: `max-age=31536000, immutable` where its name changes "
    "with its content, otherwise `max-age=2592000`, or `no-cache` with an `ETag`.",
    references=("RFC 9111, section 4.2", "MDN: Cache-Control"),
)
def cache_missing(files: StaticFiles) -> Verdict:
    if not files.own:
        return NO_STATIC_FILES
    missing = [file for file in files.own if file.policy.is_missing]
    if not missing:
        own_file_count = Count(len(files.own), "static file")
        return Pass("{files} of the site {files:has|all have} caching headers.", files=own_file_count)
    return judge_by_limits(
        "no-lifetime",
        "{files} ({weight}) {files:has|have} no cache lifetime",
        len(missing),
        (GOOD_UNCACHED_FILES, POOR_UNCACHED_FILES),
        files=Share(len(missing), len(files.own), "static file"),
        weight=_total_wire_bytes(missing),
        places=[CachedFile.from_file(file) for file in missing],
    )


@check(
    "cache-short",
    name="Efficient cache lifetimes",
    outcomes={"short-lived": "Short cache lifetimes"},
    why="Returning visitors request the same files again, although they may not have changed.",
    judged=document_thresholds(size(GOOD_WASTE_BYTES), size(POOR_WASTE_BYTES))
    + " Counted are the bytes that a later visit has to load again.",
    severity=MEDIUM,
    fix="Let browsers keep static files for at least 30 days (`Cache-Control: max-age=2592000`); rename a file when it "
    "changes.",
    references=("Lighthouse: uses-long-cache-ttl", "RFC 9111, section 4.2.1"),
)
def cache_short(files: StaticFiles) -> Verdict:
    """Judge only static files with a cache lifetime.

    `cache-missing` judges other files, and a lifetime of 0 s is a deliberate choice. Like Lighthouse, skip files with
    deliberate directives, because browsers should request such files again.
    """
    own, foreign = (
        [file for file in group if file.policy.lifetime_s and not file.policy.deliberate & DELIBERATE]
        for group in (files.own, files.foreign)
    )
    if not own:
        return NotApplicable("No static file of the site has a lifetime that could be too short.")
    short = sorted((file for file in own if file.waste_bytes), key=lambda file: -file.waste_bytes)
    foreign = [file for file in foreign if file.waste_bytes]
    places = [CachedFile.from_file(file) for file in short] + [
        CachedFile.from_file(file, is_foreign=True) for file in foreign
    ]
    if not short:
        own_file_count = Count(len(own), "static file")
        if not foreign:
            return Pass("{files} may be kept for 30 days or more.", files=own_file_count)
        return Pass(
            "{files} may be kept for 30 days or more. {others} of other sites may be kept for less, which you cannot "
            "change.",
            details=places,
            files=own_file_count,
            others=Count(len(foreign), "file"),
        )
    waste_bytes = sum(file.waste_bytes for file in short)
    others = ", not counting files of other sites" if foreign else ""
    return judge_by_limits(
        "short-lived",
        f"{{files}} may be kept for less than 30 days, so a later visit is expected to load {{waste}} again{others}",
        waste_bytes,
        (GOOD_WASTE_BYTES, POOR_WASTE_BYTES),
        limit=Bytes(GOOD_WASTE_BYTES),
        files=Share(len(short), len(own), "static file"),
        waste=Bytes(round(waste_bytes)),
        places=places,
    )


@check(
    "cache-immutable",
    name="Fingerprinted files are immutable",
    outcomes={"not-immutable": "Fingerprinted files are not immutable"},
    why="On a reload, browsers ask again for files that never change.",
    severity=LOW,
    fix="Send `Cache-Control: public, max-age=31536000, immutable` with files whose names contain a hash of their "
    "content.",
    references=("RFC 8246", "MDN: Cache-Control"),
)
def cache_immutable(files: StaticFiles) -> Verdict:
    hashed = [
        file
        for file in files.own
        if file.resource.kind in HASHED_NAME_KINDS
        and has_hashed_name(Url.of(file.resource.final_url or file.resource.url).path)
    ]
    if not hashed:
        return NotApplicable("No script, style sheet or font of the site has a fingerprint in its name.")
    files_without_immutable = [
        file for file in hashed if (file.policy.lifetime_s or 0) < YEAR_S or not file.policy.is_immutable
    ]
    if not files_without_immutable:
        return Pass(
            "{files} with a fingerprint in the name {files:is|are} immutable for a year or more.",
            files=Count(len(hashed), "file"),
        )
    return Warn(
        "not-immutable",
        "{files} with a fingerprint in the name ({weight}) {files:is|are} not sent with both max-age=31536000 and "
        "immutable.",
        files=Share(len(files_without_immutable), len(hashed), "file"),
        weight=_total_wire_bytes(files_without_immutable),
        places=[CachedFile.from_file(file) for file in files_without_immutable],
    )


@check(
    "private-static",
    name="Shared caches may store static files",
    outcomes={"private": "Static files are marked private"},
    why="CDNs and other shared caches may not store such a file, so every visitor loads it from the origin.",
    severity=LOW,
    fix="Send `Cache-Control: public` instead of `private` with files that are the same for everyone, and without a "
    "cookie.",
    references=("RFC 9111, section 5.2.2.7", "MDN: Cache-Control"),
)
def private_static(page: Page, files: StaticFiles) -> Verdict:
    if not files.own:
        return NO_STATIC_FILES
    if page.has_credentials:
        return NotApplicable(
            "The files were requested with the scan's credentials, so they may be meant for some users only."
        )
    private = [file for file in files.own if file.policy.deliberate & {"private", "no-store"} == {"private"}]
    if not private:
        return Pass(
            "No static file of the site is marked private ({files} checked).", files=Count(len(files.own), "file")
        )
    return Warn(
        "private",
        "{files} {files:is|are} marked private.",
        files=Share(len(private), len(files.own), "static file"),
        places=[CachedFile.from_file(file) for file in private],
    )


def _total_wire_bytes(files: Sequence[StaticFile]) -> Bytes:
    return Bytes(sum(file.resource.last_response_wire_bytes for file in files))
