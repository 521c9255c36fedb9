"""Build a very long report with 250 checks of all types.

A quarter of them have findings.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from django.utils import timezone
from msgspec.structs import replace

from accounts.models import Organization
from accounts.usage import month_of
from reports.page.sample import FOLDER, SHOP
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.factories import make_result
from tests.results import check_of, read_rows
from website_scan import score_basis, scoring
from website_scan.catalogue import Check, checks
from website_scan.exhibits.pictures import MAX_CROPS_PER_CHECK
from website_scan.findings import ScanType, Severity
from website_scan.places import BYTES, Column, Element, Place, PlaceUrl, WireBytes
from website_scan.result import CategoryResult, CheckResult, CheckStatus, Pictures, Waterfall, WaterfallRow
from website_scan.stored_data import PicturePlaces

CHECKS = 250
CHECKS_PER_CATEGORY = 25
STATUSES: tuple[CheckStatus, ...] = ("fail", "pass", "pass", "pass", "warn", "pass", "pass", "pass")
WORDS = (
    "account",
    "banner",
    "basket",
    "button",
    "card",
    "checkout",
    "footer",
    "gallery",
    "hero",
    "item",
    "menu",
    "news",
)
FRAMES = 8


class Contrast(Element, frozen=True):
    """Text element with a text colour and a background colour."""

    front: Annotated[str, Column("Text colour", "colour")] = ""
    back: Annotated[str, Column("Background", "colour")] = ""
    ratio: Annotated[float, Column("Contrast", "number")] = 1.0


class File(Place, frozen=True):
    """File with its size, possible savings and duration."""

    kind: ClassVar[str] = "file"

    url: PlaceUrl
    wire_bytes: WireBytes
    wasted_bytes: Annotated[int, Column("Could save", "number", BYTES)]
    duration_ms: Annotated[int, Column("Duration", "number", "ms")]


def finished_long_scan(organization: Organization, seed: int = 17) -> Scan:
    """Create a performance scan with the exhibits of all scan types.

    With another `seed`, a third of the findings have other places.
    """
    samples = {scan_type: json.loads((FOLDER / SHOP / f"{scan_type}.json").read_text()) for scan_type in ScanType}
    categories = tuple(_categories(samples, seed))
    score = scoring.score(categories, ())
    scan = Scan.objects.create(
        organization=organization,
        type="performance",
        url="https://shop.example/garden/tools",
        period=month_of(timezone.now()),
    )
    exhibits: Any = {name: value for sample in samples.values() for name, value in (sample["exhibits"] or {}).items()}
    result = replace(
        make_result(scan),
        categories=score.categories,
        score=score.value,
        grade=score.grade,
        scoring=score_basis.basis(categories, ()),
        facts=samples[ScanType.PERFORMANCE]["facts"],
        exhibits=exhibits,
        waterfall=_waterfall(samples[ScanType.PERFORMANCE]["waterfall"]),
        screenshot=b"screenshot",
        pictures=_pictures(categories),
    )
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(claim, result)
    return scan


def _categories(samples: Mapping[ScanType, Mapping[str, Any]], seed: int) -> Iterator[CategoryResult]:
    """Yield CHECKS checks, first those of the sample reports."""
    random_source = random.Random(seed)
    remaining = {check.id: check for scan_type in ScanType for check in checks(scan_type)}
    sampled = [
        _sample_result(exported, remaining.pop(exported["id"]))
        for sample in samples.values()
        for category in sample["export_json"]["categories"]
        for exported in category["checks"]
    ]
    added = list(remaining.values())[: CHECKS - len(sampled)]
    results = sampled + [
        _random_result(check, STATUSES[number % len(STATUSES)], random_source) for number, check in enumerate(added)
    ]
    assert len(results) == CHECKS
    for number in range(0, CHECKS, CHECKS_PER_CATEGORY):
        name = f"Category {number // CHECKS_PER_CATEGORY + 1}"
        yield CategoryResult(name, name, 10, tuple(results[number : number + CHECKS_PER_CATEGORY]))


def _sample_result(exported: Mapping[str, Any], check: Check) -> CheckResult:
    has_passed = exported["status"] == "pass"
    return check_of(
        check.id,
        check.name,
        exported["title"],
        exported["status"],
        exported["severity"],
        check.severity,
        exported["message"] if has_passed else exported["summary"],
        "" if has_passed else exported["how_to_fix"]["text"],
        references=tuple(exported["references"]),
        **({} if has_passed else {"places": read_rows(exported["places"]).kept, "why": exported["why"]}),
        details=read_rows(exported["details"]),
    )


def _random_result(check: Check, status: CheckStatus, random_source: random.Random) -> CheckResult:
    has_passed = status == "pass"
    rows = 0 if has_passed else random_source.choice((1, 3, 8, 20))
    make_place = random_source.choice((_element, _contrast, _file))
    return check_of(
        check.id,
        check.name,
        check.name if has_passed else check.found,
        status,
        None if has_passed else Severity.HIGH if status == "warn" and check.severity == "critical" else check.severity,
        check.severity,
        check.why,
        check.own_fix.text,
        tuple(make_place(random_source) for _ in range(rows)),
        check.references,
    )


def _selector(random_source: random.Random) -> str:
    return " > ".join(
        f"div.{random_source.choice(WORDS)}-{random_source.choice(WORDS)}" for _ in range(random_source.randint(2, 5))
    )


def _element(random_source: random.Random) -> Place:
    name = random_source.choice(WORDS)
    return Element(_selector(random_source), f'<a class="{name}" href="/{name}/{random_source.randint(1, 9999)}"></a>')


def _contrast(random_source: random.Random) -> Place:
    front, back = (f"#{random_source.randrange(1 << 24):06x}" for _ in range(2))
    return Contrast(_selector(random_source), front=front, back=back, ratio=random_source.randint(100, 449) / 100)


def _file(random_source: random.Random) -> Place:
    folder, name = random_source.choice(WORDS), random_source.choice(WORDS)
    address = f"https://static.shop.example/{folder}/{name}.{random_source.randrange(1 << 32):08x}.js"
    size = random_source.randint(2_000, 900_000)
    return File(address, size, size // 2, random_source.randint(5, 2_000))


def _waterfall(stored: Mapping[str, Any]) -> Waterfall:
    return Waterfall(
        rows=tuple(WaterfallRow(**row) for row in stored["rows"]),
        marks=tuple((name, at) for name, at in stored["marks"]),
        total_ms=stored["total_ms"],
        left_out=stored["left_out"],
    )


def _pictures(categories: tuple[CategoryResult, ...]) -> Pictures:
    """Return a filmstrip and crops of elements.

    The first places of findings get a crop.
    """
    crops = {
        check.id: {
            str(n): [20 + n, 90 * (n + position), 200, 40]
            for n in range(min(MAX_CROPS_PER_CHECK, len(check.places.kept)))
        }
        for position, check in enumerate(check for category in categories for check in category.checks)
        if check.status != "pass" and any(isinstance(place, Element) for place in check.places.kept)
    }
    frames = [(250 * number, ["First paint"] if number == 1 else [], 5) for number in range(FRAMES)]
    places: PicturePlaces = {"of": "page", "size": [412, 16_000], "crops": crops, "frames": frames}
    return Pictures(page=b"page", film=b"frame" * FRAMES, places=places)
