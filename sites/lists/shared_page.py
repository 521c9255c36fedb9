"""View models for a list's public page, preview card and badges.

Only the optional table contains names of sites.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from django.urls import reverse
from msgspec import Struct

from infrastructure.web.cards.drawing import Card, CardGrade
from infrastructure.web.cards.lettering import is_drawable
from infrastructure.web.cards.previews import Preview, address_of, day_of, printable
from infrastructure.web.cards.responses import digest_of
from scans.check_catalogue import failure_title, is_check_id
from scans.models import Scan
from sites.badges.drawing import Drawing, draw_badge, draw_note, draw_number_badge
from sites.lists.adoption import PREDICATES, percent, sentence
from sites.lists.exports import status_of
from sites.lists.snapshots import CheckFigures, Figures, TypeFigures, grade_of
from sites.models import ListResult, ListRun, ListShare
from website_scan.messages import counted, cut
from website_scan.scoring import mean_grade, rounded

LABELS = {value: str(label) for value, label in Scan.Type.choices}
MAX_FAILED_CHECKS = 30
PAGE_SIZE = 100
# The sites of larger snapshots are not sorted for each page of the table.
MAX_SORTED_SITES = 20_000
MAX_TITLE_LENGTH = 60
NO_SNAPSHOT = "No snapshot yet"
STATUSES = {"failed": "Could not be judged", "left_out": "Not judged"}
# IDs of the checks whose adoption is displayed at the top of the page.
HEADLINES = (
    *("https-available", "http-to-https-redirect", "tls-modern-protocols", "hsts", "csp-present"),
    *("dnssec", "ipv6", "spf", "dmarc"),
    *("security-txt", "text-compressed", "lcp", "html-has-lang", "image-alt", "color-contrast", "is-indexable"),
)


class Gauge(Struct, frozen=True):
    """Mean score of a scan type and its grade.

    The grade is empty if no site was judged.
    """

    label: str
    figures: TypeFigures
    grade: str

    @property
    def score(self) -> int | None:
        return None if self.figures["mean"] is None else rounded(self.figures["mean"])

    @property
    def spread(self) -> str:
        """Return the interquartile range as text, such as "half between 61 and 84.5"."""
        return f"half between {self.figures['lower_quartile']:g} and {self.figures['upper_quartile']:g}"

    @property
    def segments(self) -> list[tuple[str, int, float, float]]:
        """Return the grade bar's segments as (grade, number of sites, start, width).

        Start and width are percentages of the bar.
        """
        segments, start = [], 0.0
        for letter, number in self.figures["grades"].items():
            width = 100 * number / (self.figures["judged"] or 1)
            segments.append((letter, number, round(start, 2), round(width, 2)))
            start += width
        return segments


class Adoption(Struct, frozen=True):
    sentence: str
    percent: int


class FailedCheckRow(Struct, frozen=True):
    """Row in the table of failed checks.

    `title` is the title of the check's findings.
    """

    title: str
    figures: CheckFigures

    @property
    def percent(self) -> int:
        return percent(self.figures["failed"], self.figures["of"])


class SiteRow(Struct, frozen=True):
    """Row in the table of sites.

    `shown` is the URL without its query, which may contain private data.
    """

    shown: str
    scores: Sequence[tuple[str, int | None, str | None]]
    status: str


class SitePage(Struct, frozen=True):
    """Page of the table of sites.

    `previous` and `next` are query strings, or None at the table's ends.
    """

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


def gauges(figures: Figures) -> list[Gauge]:
    return [
        Gauge(LABELS[type], type_figures, grade_of(type_figures)) for type, type_figures in figures["types"].items()
    ]


def adoptions(figures: Figures) -> list[Adoption]:
    """Return the adoption of the checks in HEADLINES that ran, in that order."""
    figures_by_check = {check["check"]: check for check in figures["checks"] if check["of"]}
    ran = [figures_by_check[check_id] for check_id in HEADLINES if check_id in figures_by_check]
    return [
        Adoption(sentence(check["check"], check["passed"], check["of"]), percent(check["passed"], check["of"]))
        for check in ran
    ]


def most_failed_checks(figures: Figures) -> list[FailedCheckRow]:
    """Return the checks that fail on the most sites, at most MAX_FAILED_CHECKS."""
    failing = [check for check in figures["checks"] if check["failed"]][:MAX_FAILED_CHECKS]
    return [FailedCheckRow(failure_title(check["check"], check["name"]), check) for check in failing]


def sites_page(run: ListRun, number: int) -> SitePage | None:
    """Return a page of a snapshot's sites, sorted by URL, or in the order of the run if there are very many.

    Returns None if the page number is out of range.
    """
    results = ListResult.objects.filter(run=run).defer("findings", "facts", "seen", "statuses", "error_message")
    is_sorted = run.entries <= MAX_SORTED_SITES
    # The results of entries that were deleted during the run leave gaps between the positions.
    last_position = 0 if is_sorted else results.order_by("-position").values_list("position", flat=True).first() or 0
    pages = max(1, -(-(run.entries if is_sorted else last_position + 1) // PAGE_SIZE))
    if not 1 <= number <= pages:
        return None
    begin = (number - 1) * PAGE_SIZE
    if is_sorted:
        page = results.order_by("url")[begin : begin + PAGE_SIZE]
    else:
        page = results.filter(position__range=(begin, begin + PAGE_SIZE - 1)).order_by("position")
    return SitePage([_row(run, result) for result in page], number, pages, run.entries)


def _row(run: ListRun, result: ListResult) -> SiteRow:
    host, path = address_of(result.url)
    scores = [(LABELS[type], result.score_of(type), result.grade_of(type)) for type in run.types]
    return SiteRow(f"{host}{path if path != '/' else ''}", scores, STATUSES.get(status_of(result), ""))


def preview_of(share: ListShare, run: ListRun | None, figures: Figures | None) -> Preview:
    """Return the link preview of the public page."""
    name = cut(share.site_list.name, MAX_TITLE_LENGTH)
    card = card_of(share, run, figures)
    return Preview(printable(f"{_card_title(card)}: {name}"), card_address(share, digest_of(card)))


def card_address(share: ListShare, digest: str) -> str:
    return reverse("list-share-card", args=[share.id, digest])


def card_of(share: ListShare, run: ListRun | None, figures: Figures | None) -> Card:
    """Return the preview card of a snapshot with the list's name, the number of sites, and mean scores.

    A name in a script that cards cannot show is replaced by the address of the public page.
    """
    name, path = share.site_list.name, ""
    if not is_drawable(name):
        name, path = address_of(share.share_url)
    if run is None or figures is None:
        return Card(name, heading=NO_SNAPSHOT, path=path)
    grades = tuple(CardGrade(gauge.label, gauge.grade, gauge.score) for gauge in gauges(figures))
    sites = counted(figures["judged"], "site")
    day = day_of(_day(run))
    if len(grades) == 1:
        return Card(name, heading=f"{grades[0].label} of {sites}", path=path, note=day, grades=grades)
    return Card(name, heading=sites, path=path, note=day, grades=grades)


def badge_of(run: ListRun | None, figures: Figures | None, check: str) -> Drawing:
    """Return a badge with the adoption of a check, or with the mean scores if `check` is empty."""
    if run is None or figures is None or not figures["judged"]:
        return draw_note("no result yet")
    day = _day(run)
    if not check:
        return draw_badge(
            ((f"{gauge.label}, mean", gauge.grade or None, gauge.score) for gauge in gauges(figures)), day
        )
    for row in figures["checks"]:
        if row["check"] == check and row["of"]:
            number = percent(row["passed"], row["of"])
            text = sentence(check, row["passed"], row["of"]).removeprefix(f"{number} % ")
            return draw_number_badge(f"{number} %", text, mean_grade(number, is_flawless=True), day)
    return draw_note("no result yet")


def is_known_check(check: str) -> bool:
    """Return True for the ID of a check, of an own requirement or of PREDICATES."""
    return is_check_id(check) or check in PREDICATES


def _day(run: ListRun) -> date:
    moment: datetime = run.ended_at or run.started_at
    return moment.date()


def _card_title(card: Card) -> str:
    graded = ", ".join(f"{grade.label} {grade.grade}" for grade in card.grades if grade.grade)
    return f"{graded}, {card.heading}" if graded and len(card.grades) > 1 else graded or card.heading
