"""Content of a list's public page, its card and its badges. Without the table it names no site."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from django.urls import reverse

from infrastructure.web.cards.drawing import Card, CardGrade
from infrastructure.web.cards.previews import Preview, address_of, day_of, printable
from infrastructure.web.cards.responses import digest_of
from scans.check_catalogue import entries
from scans.models import Scan
from sites.badges.drawing import Drawing, draw, draw_note, draw_number
from sites.lists.adoption import PREDICATES, percent, sentence
from sites.lists.exports import status_of
from sites.lists.snapshots import CheckFigures, Figures, TypeFigures, grade_of
from sites.models import ListResult, ListRun, ListShare, SiteList
from website_scan.messages import counted, cut
from website_scan.scoring import mean_grade, rounded

LABELS = {value: str(label) for value, label in Scan.Type.choices}
HELD_BACK = 30  # checks in the table of what holds sites back
PAGE_SIZE = 100
TITLE_LENGTH = 60
NO_SNAPSHOT = "No snapshot yet"
STATUSES = {"failed": "Could not be judged", "left_out": "Not judged"}
# Sentences at the head of the page, if the checks ran.
HEADLINES = (
    *("https-available", "http-to-https-redirect", "tls-modern-protocols", "hsts", "csp-present", "dnssec", "dmarc"),
    *("security-txt", "text-compressed", "lcp", "html-has-lang", "image-alt", "color-contrast", "is-indexable"),
)


@dataclass(frozen=True, slots=True)
class Gauge:
    """Mean score of a type with its grade, which is empty where no site was judged."""

    label: str
    figures: TypeFigures
    grade: str

    @property
    def score(self) -> int | None:
        return None if self.figures["mean"] is None else rounded(self.figures["mean"])

    @property
    def spread(self) -> str:
        """The middle half of the sites, such as "half between 61 and 84.5"."""
        return f"half between {self.figures['lower_quartile']:g} and {self.figures['upper_quartile']:g}"

    @property
    def segments(self) -> list[tuple[str, int, float, float]]:
        """Grade, number of sites, and begin and width of its part of a bar, in percent."""
        found, begin = [], 0.0
        for letter, number in self.figures["grades"].items():
            width = 100 * number / (self.figures["judged"] or 1)
            found.append((letter, number, round(begin, 2), round(width, 2)))
            begin += width
        return found


@dataclass(frozen=True, slots=True)
class Adoption:
    sentence: str
    percent: int


@dataclass(frozen=True, slots=True)
class HeldBack:
    """Check that fails, with the title that its findings have."""

    title: str
    figures: CheckFigures

    @property
    def percent(self) -> int:
        return percent(self.figures["failed"], self.figures["of"])


@dataclass(frozen=True, slots=True)
class SiteRow:
    """Site of the table. `shown` is its address without the query, which may hold what is nobody else's business."""

    shown: str
    scores: Sequence[tuple[str, int | None, str | None]]
    status: str


@dataclass(frozen=True, slots=True)
class SitePage:
    """Page of the table of sites, with the query strings of the pages around it; None if there is none."""

    rows: Sequence[SiteRow]
    number: int
    pages: int
    total: int

    @property
    def previous(self) -> str | None:
        return f"page={self.number - 1}#sites" if self.number > 1 else None

    @property
    def next(self) -> str | None:
        return f"page={self.number + 1}#sites" if self.number < self.pages else None


def gauges(found: Figures) -> list[Gauge]:
    return [Gauge(LABELS[type], each, grade_of(each)) for type, each in found["types"].items()]


def adoptions(found: Figures) -> list[Adoption]:
    """Return the sentences about the checks of HEADLINES that ran, in their order."""
    by_check = {each["check"]: each for each in found["checks"] if each["of"]}
    ran = [by_check[each] for each in HEADLINES if each in by_check]
    return [
        Adoption(sentence(each["check"], each["passed"], each["of"]), percent(each["passed"], each["of"]))
        for each in ran
    ]


def held_back(found: Figures) -> list[HeldBack]:
    """Return the checks that fail on most sites."""
    failing = [each for each in found["checks"] if each["failed"]][:HELD_BACK]
    known = entries()
    return [HeldBack(known[each["check"]].found if each["check"] in known else each["name"], each) for each in failing]


def sites_page(run: ListRun, number: int) -> SitePage | None:
    """Return a page of the sites of a snapshot by address; None for a number beyond the last page."""
    pages = max(1, -(-run.entries // PAGE_SIZE))
    if not 1 <= number <= pages:
        return None
    results = ListResult.objects.filter(run=run).defer("findings", "facts", "seen", "statuses", "error_message")
    begin = (number - 1) * PAGE_SIZE
    rows = [_row(run, each) for each in results.order_by("url")[begin : begin + PAGE_SIZE]]
    return SitePage(rows, number, pages, run.entries)


def _row(run: ListRun, result: ListResult) -> SiteRow:
    host, path = address_of(result.url)
    scores = [(LABELS[each], result.score_of(each), result.grade_of(each)) for each in run.types]
    return SiteRow(f"{host}{path if path != '/' else ''}", scores, STATUSES.get(status_of(result), ""))


def preview_of(share: ListShare, run: ListRun | None, found: Figures | None) -> Preview:
    """Return the title of the page, with the grades of the means, and the address of its card."""
    name = cut(share.site_list.name, TITLE_LENGTH)
    card = card_of(share.site_list, run, found)
    return Preview(printable(f"{_told(card)}: {name}"), card_address(share, digest_of(card)))


def card_address(share: ListShare, digest: str) -> str:
    return reverse("list-share-card", args=[share.id, digest])


def card_of(site_list: SiteList, run: ListRun | None, found: Figures | None) -> Card:
    """Return the card of a snapshot: the list's name, its number of sites, and the means with their grades."""
    name = _ascii(site_list.name)
    if run is None or found is None:
        return Card(name, heading=NO_SNAPSHOT)
    grades = tuple(CardGrade(each.label, each.grade, each.score) for each in gauges(found))
    sites = counted(found["judged"], "site")
    day = day_of(_day(run))
    if len(grades) == 1:
        return Card(name, heading=f"{grades[0].label} of {sites}", note=day, grades=grades)
    return Card(name, heading=sites, note=day, grades=grades)


def badge_of(run: ListRun | None, found: Figures | None, check: str) -> Drawing:
    """Draw the number of a check as a sentence; without a check, the mean of each type."""
    if run is None or found is None or not found["judged"]:
        return draw_note("no result yet")
    day = _day(run)
    if not check:
        return draw(((f"{each.label}, mean", each.grade or None, each.score) for each in gauges(found)), day)
    for each in found["checks"]:
        if each["check"] == check and each["of"]:
            number = percent(each["passed"], each["of"])
            said = sentence(check, each["passed"], each["of"]).removeprefix(f"{number} % ")
            return draw_number(f"{number} %", said, mean_grade(number, is_flawless=True), day)
    return draw_note("no result yet")


def is_check(check: str) -> bool:
    """Return True for the ID of a check that there is, or that a sentence is about."""
    return check in entries() or check in PREDICATES


def _day(run: ListRun) -> date:
    moment: datetime = run.ended_at or run.started_at
    return moment.date()


def _told(card: Card) -> str:
    graded = ", ".join(f"{each.label} {each.grade}" for each in card.grades if each.grade)
    return f"{graded}, {card.heading}" if graded and len(card.grades) > 1 else graded or card.heading


def _ascii(name: str) -> str:
    """Return a name without accents: the font of cards has ASCII only. One in another script is not drawn at all."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", name) if not unicodedata.combining(each))
    return plain if plain.isascii() else "List of sites"
