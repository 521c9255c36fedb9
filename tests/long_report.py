"""Report that is longer than any real one: 250 checks of all types, a quarter of them findings, and pictures."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from django.utils import timezone

from accounts.models import Organization
from accounts.usage import month_of
from reports.page.sample import FOLDER, SHOP
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.factories import make_result
from tests.results import check_of, read_rows
from website_scan import score_basis, scoring
from website_scan.catalogue import Check, checks
from website_scan.exhibits.pictures import MAX_CROPS
from website_scan.findings import ScanType, Severity
from website_scan.places import BYTES, Column, Element, Place, PlaceUrl, WireBytes
from website_scan.result import CategoryResult, CheckResult, CheckStatus, Pictures, Waterfall, WaterfallRow
from website_scan.stored_data import PicturePlaces

CHECKS = 250
CATEGORY = 25
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


@dataclass(frozen=True, slots=True)
class Contrast(Element):
    """Text with two colours."""

    front: Annotated[str, Column("Text colour", "colour")] = ""
    back: Annotated[str, Column("Background", "colour")] = ""
    ratio: Annotated[float, Column("Contrast", "number")] = 1.0


@dataclass(frozen=True, slots=True)
class File(Place):
    """File with four figures."""

    kind: ClassVar[str] = "file"

    url: PlaceUrl
    wire_bytes: WireBytes
    wasted_bytes: Annotated[int, Column("Could save", "number", BYTES)]
    duration_ms: Annotated[int, Column("Duration", "number", "ms")]


def finished_long_scan(organization: Organization, seed: int = 17) -> Scan:
    """Create a finished performance scan, whose report also has the exhibits of all other types.

    With another `seed`, a third of its findings have other places.
    """
    samples = {each: json.loads((FOLDER / SHOP / f"{each}.json").read_text()) for each in ScanType}
    categories = tuple(_categories(samples, seed))
    score = scoring.score(categories, ())
    scan = Scan.objects.create(
        organization=organization,
        type="performance",
        url="https://shop.example/garden/tools",
        period=month_of(timezone.now()),
    )
    exhibits: Any = {name: value for each in samples.values() for name, value in (each["exhibits"] or {}).items()}
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
    """Yield the sample reports' checks, filled up to the wanted number with checks that did not apply to their page."""
    dice = random.Random(seed)
    known = {check.id: check for each in ScanType for check in checks(each)}
    sampled = [
        _sampled(each, known.pop(each["id"]))
        for sample in samples.values()
        for category in sample["export_json"]["categories"]
        for each in category["checks"]
    ]
    missing = list(known.values())[: CHECKS - len(sampled)]
    found = sampled + [_made_up(check, STATUSES[number % len(STATUSES)], dice) for number, check in enumerate(missing)]
    assert len(found) == CHECKS
    for number in range(0, CHECKS, CATEGORY):
        name = f"Category {number // CATEGORY + 1}"
        yield CategoryResult(name, name, 10, tuple(found[number : number + CATEGORY]))


def _sampled(exported: Mapping[str, Any], check: Check) -> CheckResult:
    is_good = exported["status"] == "pass"
    return check_of(
        check.id,
        check.name,
        exported["title"],
        exported["status"],
        exported["severity"],
        check.severity,
        exported["message"] if is_good else exported["summary"],
        "" if is_good else exported["how_to_fix"]["text"],
        references=tuple(exported["references"]),
        **({} if is_good else {"places": read_rows(exported["places"]).kept, "why": exported["why"]}),
        details=read_rows(exported["details"]),
    )


def _made_up(check: Check, status: CheckStatus, dice: random.Random) -> CheckResult:
    is_good = status == "pass"
    rows = 0 if is_good else dice.choice((1, 3, 8, 20))
    shape = dice.choice((_element, _contrast, _file))
    return check_of(
        check.id,
        check.name,
        check.name if is_good else check.found,
        status,
        None if is_good else Severity.HIGH if status == "warn" and check.severity == "critical" else check.severity,
        check.severity,
        check.why,
        check.own_fix.text,
        tuple(shape(dice) for _ in range(rows)),
        check.references,
    )


def _selector(dice: random.Random) -> str:
    return " > ".join(f"div.{dice.choice(WORDS)}-{dice.choice(WORDS)}" for _ in range(dice.randint(2, 5)))


def _element(dice: random.Random) -> Place:
    name = dice.choice(WORDS)
    return Element(_selector(dice), f'<a class="{name}" href="/{name}/{dice.randint(1, 9999)}"></a>')


def _contrast(dice: random.Random) -> Place:
    front, back = (f"#{dice.randrange(1 << 24):06x}" for _ in range(2))
    return Contrast(_selector(dice), front=front, back=back, ratio=dice.randint(100, 449) / 100)


def _file(dice: random.Random) -> Place:
    address = f"https://static.shop.example/{dice.choice(WORDS)}/{dice.choice(WORDS)}.{dice.randrange(1 << 32):08x}.js"
    size = dice.randint(2_000, 900_000)
    return File(address, size, size // 2, dice.randint(5, 2_000))


def _waterfall(stored: Mapping[str, Any]) -> Waterfall:
    return Waterfall(
        rows=tuple(WaterfallRow(**row) for row in stored["rows"]),
        marks=tuple((name, at) for name, at in stored["marks"]),
        total_ms=stored["total_ms"],
        left_out=stored["left_out"],
    )


def _pictures(categories: tuple[CategoryResult, ...]) -> Pictures:
    """Return crops for the first places of each finding that names elements, and a filmstrip."""
    crops = {
        check.id: {str(n): [20 + n, 90 * (n + at), 200, 40] for n in range(min(MAX_CROPS, len(check.places.kept)))}
        for at, check in enumerate(check for each in categories for check in each.checks)
        if check.status != "pass" and any(isinstance(place, Element) for place in check.places.kept)
    }
    frames = [(250 * number, ["First paint"] if number == 1 else [], 5) for number in range(FRAMES)]
    places: PicturePlaces = {"of": "page", "size": [412, 16_000], "crops": crops, "frames": frames}
    return Pictures(page=b"page", film=b"frame" * FRAMES, places=places)
