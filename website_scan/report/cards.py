"""Cards of the report page, one for each check (template report/card.html)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from website_scan.messages import agreeing
from website_scan.priority import Priority, is_emergency, priority_of
from website_scan.report import fixes
from website_scan.report.cap_sentence import next_cap_sentence
from website_scan.report.filters import EVERYTHING, Filter
from website_scan.report.illustrations import NO_ILLUSTRATIONS, Crop, Illustrations
from website_scan.report.linked_reports import LinkedFinding
from website_scan.report.metrics import METRICS_BY_CHECK
from website_scan.report.mute_matching import MutedPlaces
from website_scan.report.muting import MUTING_WITHOUT_RULES, MutedPart, Muting, muted_parts
from website_scan.report.references import CriterionLink, ReferenceLink, criterion, page_url, reference
from website_scan.report.snippets import NO_SNIPPETS, HowTo, how_to
from website_scan.report.tables import Table, tables
from website_scan.report.web_figures import WebFigure, web_figure
from website_scan.report_json import ExportedCheck
from website_scan.score_basis import FixStep
from website_scan.wording import message_without_places

# Cards omit `host_ms`, which the page lists under "What was checked".
HIDDEN_COLUMNS = ("host_ms",)


class CheckCard(Struct, frozen=True):
    """Card of a check on the report page.

    `consequence` is the sentence for site owners, empty unless the severity is critical or high.

    `win` is text such as "+2.5 points" if a fix of this finding, after all more urgent ones, gains points, and
    `next_cap` a sentence about the cap that lowers the score then; both may be empty. `later` are the points that the
    check would win if no cap lowered the score. `holds` is True if a cap counts this check. `muted` are the muted
    parts of the finding; `is_muted` is True if the whole finding is muted. `mute_url` is the address of the mute form,
    empty for readers who may not mute. `shows_rules` is as in `Muting`. `metrics` are the performance metrics that the
    check concerns. `is_hidden` is True if the reader's filter excludes the check. `elsewhere` are findings with the
    same fact in other reports of the visit. `is_first` is True for a finding to fix first, whose card is open unless
    there is a filter; `is_open` is True if the card is open. `page_url` is the check's page in the documentation, or
    empty. `crops` are by the number of the row among all rows of the check.
    """

    id: str
    name: str
    status: str
    severity: str | None
    message: str
    consequence: str
    fix: tuple[fixes.Part, ...]
    points: float
    evidence: tuple[Table, ...]
    criteria: tuple[CriterionLink, ...]
    references: tuple[ReferenceLink, ...]
    anchor: str
    priority: Priority
    page_url: str = ""
    web_figure: WebFigure | None = None
    mute_url: str = ""
    muted: tuple[MutedPart, ...] = ()
    is_muted: bool = False
    shows_rules: bool = False
    win: str = ""
    next_cap: str = ""
    later: float = 0.0
    holds: bool = False
    metrics: tuple[str, ...] = ()
    is_hidden: bool = False
    is_first: bool = False
    is_open: bool = False
    crops: Mapping[int, Crop] = field(default_factory=dict)
    elsewhere: tuple[LinkedFinding, ...] = ()
    how_to: HowTo = NO_SNIPPETS

    @property
    def is_critical(self) -> bool:
        """Return True for a failed critical check.

        It is urgent even if it costs few points.
        """
        return is_emergency(self.status, self.severity)

    def promise(self, step: FixStep) -> CheckCard:
        """Return the card with what its fix gains."""
        next_cap = next_cap_sentence(step.next_cap) if step.next_cap else ""
        return replace(self, win=points_text(step.gain), next_cap=next_cap)


class CardContext(Struct, frozen=True):
    """Data about a report and its reader for the cards of all checks.

    `url` is the scanned page. `muted` are the muted places of findings, `elsewhere` findings with the same fact in
    other reports of the visit, both by check ID. `prefix` goes before anchors. Cards of checks that the filter `chosen`
    excludes are hidden. `check_pages` is the base URL of the checks' pages, empty without a service. `server` is the
    page's web server as in `snippets.how_to`.
    """

    url: str = ""
    muting: Muting = MUTING_WITHOUT_RULES
    muted: Mapping[str, MutedPlaces] = field(default_factory=dict)
    elsewhere: Mapping[str, tuple[LinkedFinding, ...]] = field(default_factory=dict)
    prefix: str = ""
    chosen: Filter = EVERYTHING
    check_pages: str = ""
    illustrations: Illustrations = NO_ILLUSTRATIONS
    server: str = ""


EMPTY_CONTEXT = CardContext()


def card_of(exported: ExportedCheck, context: CardContext = EMPTY_CONTEXT) -> CheckCard:
    """Create the card for a check of a JSON export."""
    id = exported["id"]
    covered = context.muted.get(id)
    is_muted = covered is not None and covered.is_whole
    page = page_url(context.check_pages, id)
    references = [(text, criterion(text)) for text in exported["references"]]
    criteria = tuple(wcag for _, wcag in references if wcag)
    stored = [*exported["details"], *(exported["places"] if exported["status"] != "pass" else ())]
    # Omit the columns with WCAG criteria, because the card lists the criteria above the tables.
    without = (*HIDDEN_COLUMNS, "wcag", "level") if criteria else HIDDEN_COLUMNS
    fix = None if exported["status"] == "pass" else exported["how_to_fix"]
    return CheckCard(
        id=id,
        name=exported["title"],
        status=exported["status"],
        severity=exported["severity"],
        message=message_without_places(exported),
        consequence="" if exported["status"] == "pass" else exported["consequence"],
        fix=fixes.parts(fix) if fix else (),
        points=exported["points"],
        evidence=tables(stored, without=without),
        criteria=criteria,
        references=tuple(reference(text) for text, wcag in references if not wcag),
        anchor=f"{context.prefix}check-{id}",
        priority=priority_of(exported),
        page_url=page,
        web_figure=web_figure(id),
        mute_url="" if is_muted or exported["status"] == "pass" else context.muting.mute_form_url(id),
        muted=muted_parts(exported, covered) if covered and exported["status"] != "pass" else (),
        is_muted=is_muted,
        shows_rules=context.muting.shows_rules,
        later=exported["later"],
        holds=exported["holds"],
        metrics=METRICS_BY_CHECK.get(id, ()),
        is_hidden=not context.chosen.fits(exported),
        crops=context.illustrations.crops(exported),
        elsewhere=context.elsewhere.get(id, ()),
        how_to=how_to(id, context.server, fixes.snippet_codes(fix), has_page=bool(page)) if fix else NO_SNIPPETS,
    )


def points_text(points: float) -> str:
    return f"+{points:g} {agreeing(points, 'point', 'points')}" if points > 0 else ""
