"""Sample reports for visitors who have no reports yet.

They are real scans of fictional pages and are stored in `samples/`. `make pictures` scans the pages again
(tests/e2e/pictures.py).
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from website_scan.findings import ScanType
from website_scan.report.filters import Filter
from website_scan.report.illustrations import create_illustrations, extract_frame
from website_scan.report.linked_reports import OtherReport
from website_scan.report.mute_matching import NO_MUTES
from website_scan.report.muting import Muting
from website_scan.report.report_page import ReportPage, report_page
from website_scan.report_json import ExportJson
from website_scan.stored_data import Facts, PicturePlaces, StoredBasis, StoredExhibits, StoredWaterfall

FOLDER = Path(__file__).resolve().parent / "samples"
# All samples of a page share these pictures of the page load.
SCREENSHOT, PAGE_PICTURE, FILM = "screenshot.webp", "page.webp", "film.jpgs"
FRAME = re.compile(r"film/([0-9]{1,3})\.jpg", re.ASCII)
NOTICE = "This is a sample. The site does not exist, but this service made the report from its demo pages."
SHOP = "shop"


class SamplePage(Struct, frozen=True):
    """Fictional page with sample reports.

    `title` is the kind of page, `about` describes its reports.
    """

    slug: str
    title: str
    about: str
    types: tuple[ScanType, ...] = tuple(ScanType)

    @property
    def names(self) -> dict[ScanType, str]:
        """Return the name of each scan type's sample report.

        Report URLs contain this name.
        """
        return {
            scan_type: scan_type.value if self.slug == SHOP else f"{self.slug}-{scan_type.value}"
            for scan_type in self.types
        }


PAGES = (
    SamplePage(
        SHOP,
        "A shop with ordinary faults",
        "The start page of a tea shop. It looks good, but has common faults: a cookie without Secure, pictures "
        "without text alternatives, an old PHP, and uncompressed files.",
    ),
    SamplePage(
        "library",
        "A page that was made with care",
        "The start page of a public library: a strict Content Security Policy, compressed files, headings and labels "
        "in order. It shows a report with few findings, and which ones remain even then.",
    ),
    SamplePage(
        "council",
        "A page that nobody has touched for years",
        "The home page of a parish council, as it was built around 2009: plain HTTP, a layout of tables, small grey "
        "text, no viewport, an old jQuery, and no security header at all.",
    ),
    SamplePage(
        "blog",
        "A blog as it is installed",
        "A travel blog with the headers that a common system sends when nobody has changed a setting, and posts whose "
        "pictures and links have no names.",
    ),
    SamplePage(
        "leak",
        "A page with emergencies",
        "The shop after a careless deployment: its Git repository, a file of secrets and a database dump can be "
        "downloaded by anybody. It shows what a report puts first, and why the score is capped.",
        (ScanType.SECURITY,),
    ),
)


class Sample(Struct, frozen=True):
    """Sample report, with the fields of `reports.models.Report`."""

    slug: str
    export_json: ExportJson
    facts: Facts
    scoring: StoredBasis | None
    waterfall: StoredWaterfall | None
    exhibits: StoredExhibits | None
    has_screenshot: bool
    pictures: PicturePlaces | None
    # Sample reports never expire.
    expires_at: None = None

    def page(self, chosen: Filter, check_pages: str, base: str, others: Iterable[OtherReport] = ()) -> ReportPage:
        """Return the sample's report page, without links to the fictional site.

        `base` is the URL of its pictures.
        """
        facts: Facts = {**self.facts, "notice": NOTICE}
        facts.pop("final_url", None)
        muting = Muting(NO_MUTES, self.scoring, shows_rules=False, mute_url="")
        page = report_page(
            self.export_json,
            facts,
            self.waterfall,
            muting,
            exhibits=self.exhibits,
            illustrations=create_illustrations(
                self.pictures,
                screenshot=f"{base}/{SCREENSHOT}",
                page=f"{base}/page.webp",
                frame=lambda number: f"{base}/film/{number}.jpg",
            ),
            chosen=chosen,
            check_pages=check_pages,
            others=others,
        )
        return replace(page, link=None)

    def picture(self, name: str) -> tuple[bytes, str] | None:
        """Return a picture and its media type.

        `name` is the path below the sample's URL, such as `film/0.jpg`.
        """
        folder = FOLDER / self.slug
        if name == SCREENSHOT and self.has_screenshot:
            return (folder / SCREENSHOT).read_bytes(), "image/webp"
        if name == PAGE_PICTURE and self.pictures and self.pictures["of"] == "page":
            return (folder / PAGE_PICTURE).read_bytes(), "image/webp"
        if (number := FRAME.fullmatch(name)) and self.pictures:
            frame = extract_frame((folder / FILM).read_bytes(), self.pictures, int(number[1]))
            return (frame, "image/jpeg") if frame else None
        return None


@functools.cache
def find_sample(name: str) -> Sample | None:
    """Return the sample report with this name, such as `security` (of the shop) or `blog-seo`, or None."""
    for page in PAGES:
        for scan_type, sample_name in page.names.items():
            if sample_name == name:
                return Sample(page.slug, **json.loads((FOLDER / page.slug / f"{scan_type}.json").read_text()))
    return None


def page_of(name: str) -> SamplePage:
    """Return the fictional page of an existing sample report."""
    return next(page for page in PAGES if name in page.names.values())


def samples_of_page(page: SamplePage) -> Mapping[ScanType, Sample]:
    samples = ((scan_type, find_sample(name)) for scan_type, name in page.names.items())
    return {scan_type: sample for scan_type, sample in samples if sample is not None}
