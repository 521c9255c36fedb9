"""Cards of the report page: one for each check (templates/report/card.html)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from website_scan.messages import agreeing
from website_scan.priority import Priority, is_emergency, priority_of
from website_scan.report import fixes
from website_scan.report.elsewhere import Elsewhere
from website_scan.report.filters import EVERYTHING, Filter
from website_scan.report.illustrations import NO_ILLUSTRATIONS, Crop, Illustrations
from website_scan.report.metrics import CONCERNED
from website_scan.report.mute_matching import Covered
from website_scan.report.muting import NOTHING_MUTED, MutedPart, Muting, muted_parts
from website_scan.report.references import CriterionLink, ReferenceLink, criterion, page_url, reference
from website_scan.report.snippets import NO_HOW_TO, HowTo, how_to
from website_scan.report.standing import Standing, standing
from website_scan.report.tables import Table, tables
from website_scan.report_json import ExportedCheck
from website_scan.wording import without_places

# No card shows `host_ms`: it is about the scanner, and is shown with what was checked.
NOT_SHOWN = ("host_ms",)


@dataclass(frozen=True, slots=True)
class CheckCard:
    """Card of a check. `win` is text such as "+2.5 points", empty if passing this check alone wins none.

    `muted` are the muted parts of the finding; if `is_muted`, the whole finding is muted. `mute_url` is the address of
    the mute form, empty for readers who may not mute. `shows_rules` is as in `Muting`. `later` is for a check that wins
    nothing now because of a cap: the points it wins without caps. `holds` is True if a cap counts this check. `metrics`
    are the performance metrics that the check concerns. `is_hidden` is True if the reader's filter excludes the check.
    `elsewhere` are the findings of the visit's other reports that tell the same. `is_first` is True for the findings to
    fix first, which are open on a page without a filter; `is_open` is True for what is open on this page.
    `page_url` is the check's page in the documentation, empty if it has none.
    """

    id: str
    name: str
    status: str
    severity: str | None
    message: str
    fix: tuple[fixes.Part, ...]
    points: float
    win: str
    evidence: tuple[Table, ...]
    criteria: tuple[CriterionLink, ...]
    references: tuple[ReferenceLink, ...]
    anchor: str
    priority: Priority
    page_url: str = ""
    standing: Standing | None = None
    mute_url: str = ""
    muted: tuple[MutedPart, ...] = ()
    is_muted: bool = False
    shows_rules: bool = False
    later: float = 0.0
    holds: bool = False
    metrics: tuple[str, ...] = ()
    is_hidden: bool = False
    is_first: bool = False
    is_open: bool = False
    crops: Mapping[int, Crop] = field(default_factory=dict)  # by the number of the row
    elsewhere: tuple[Elsewhere, ...] = ()
    how_to: HowTo = NO_HOW_TO

    @property
    def is_critical(self) -> bool:
        """Return True for a failed critical check: a risk for the site or its visitors, however few points it costs."""
        return is_emergency(self.status, self.severity)

    @property
    def later_win(self) -> str:
        """Points to win later, in words; empty if the check holds the score, which they would make look small."""
        return "" if self.holds else _win(self.later)


@dataclass(frozen=True, slots=True)
class CardContext:
    """What the cards of a report depend on besides their checks.

    `url` is the scanned page. `muted` are the muted parts of findings, `elsewhere` the findings of the visit's other
    reports that tell the same, both by check ID. `prefix` goes before anchors. Cards outside the filter `chosen` are
    hidden. `check_pages` is the base URL of the checks' pages, empty without a service. `server` is the web server that
    answered, as `snippets.how_to` takes it.
    """

    url: str = ""
    muting: Muting = NOTHING_MUTED
    muted: Mapping[str, Covered] = field(default_factory=dict)
    elsewhere: Mapping[str, tuple[Elsewhere, ...]] = field(default_factory=dict)
    prefix: str = ""
    chosen: Filter = EVERYTHING
    check_pages: str = ""
    illustrations: Illustrations = NO_ILLUSTRATIONS
    server: str = ""


NO_CONTEXT = CardContext()


def card_of(exported: ExportedCheck, context: CardContext = NO_CONTEXT) -> CheckCard:
    """Return the card of a check of a JSON export."""
    id = exported["id"]
    covered = context.muted.get(id)
    is_muted = covered is not None and covered.is_whole
    page = page_url(context.check_pages, id)
    named = [(text, criterion(text)) for text in exported["references"]]
    criteria = tuple(found for _, found in named if found)
    stored = [*exported["details"], *(exported["places"] if exported["status"] != "pass" else ())]
    # The card shows the criteria elsewhere.
    without = (*NOT_SHOWN, "wcag", "level") if criteria else NOT_SHOWN
    points = exported["points"]
    fix = None if exported["status"] == "pass" else exported["how_to_fix"]
    return CheckCard(
        id=id,
        name=exported["title"],
        status=exported["status"],
        severity=exported["severity"],
        message=without_places(exported),
        fix=fixes.parts(fix) if fix else (),
        points=points,
        win=_win(points),
        evidence=tables(stored, without=without),
        criteria=criteria,
        references=tuple(reference(text) for text, found in named if not found),
        anchor=f"{context.prefix}check-{id}",
        priority=priority_of(exported),
        page_url=page,
        standing=standing(id),
        mute_url="" if is_muted or exported["status"] == "pass" else context.muting.url_of(id),
        muted=muted_parts(exported, covered) if covered and exported["status"] != "pass" else (),
        is_muted=is_muted,
        shows_rules=context.muting.shows_rules,
        later=0.0 if points else exported["later"],
        holds=exported["holds"],
        metrics=CONCERNED.get(id, ()),
        is_hidden=not context.chosen.fits(exported),
        crops=context.illustrations.crops(exported),
        elsewhere=context.elsewhere.get(id, ()),
        how_to=how_to(id, context.server, fixes.codes_of(fix), has_page=bool(page)) if fix else NO_HOW_TO,
    )


def _win(points: float) -> str:
    return f"+{points:g} {agreeing(points, 'point', 'points')}" if points > 0 else ""
