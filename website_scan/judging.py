"""Judge the evidence of a visit by the checks of one scan type, and compute the score."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from website_scan import score_basis, scoring
from website_scan.browser.evidence import AxeReport, BrowserLoad
from website_scan.browser.shown_content import MissingContent, ShownContent
from website_scan.browser.waterfall import waterfall
from website_scan.catalogue import Category, Check, caps
from website_scan.check_results import check_result
from website_scan.errors import Refusal
from website_scan.exhibits.axe_facts import axe_facts
from website_scan.exhibits.collection import exhibits
from website_scan.exhibits.pictures import pictures
from website_scan.exhibits.site_facts import site_facts
from website_scan.findings import NotApplicable, ScanType, Server
from website_scan.messages import excerpt, plain
from website_scan.net.targets import Target
from website_scan.outcomes import Fault, Verdict
from website_scan.page.content_digest import content_digest
from website_scan.page.evidence import Clock, Document, Page, ServedContent
from website_scan.page.log_in import leads_elsewhere, needs_log_in
from website_scan.page.server import server_of
from website_scan.plan import (
    INTERNAL,
    MAX_COMPUTING_CPU_S,
    OUT_OF_TIME,
    TOO_SLOW,
    Missing,
    Plan,
    applies_to_whole_origin,
    arguments,
)
from website_scan.repeats import suppress_repeats
from website_scan.result import (
    AppliedCap,
    CategoryResult,
    CheckResult,
    OmittedCheck,
    Outcome,
    RepeatedCheck,
    ScanError,
    ScanResult,
    SkippedCheck,
)
from website_scan.scoring import Cap
from website_scan.security_categories import limitation
from website_scan.stored_data import Facts
from website_scan.time_limit import OutOfTime, limited
from website_scan.timestamps import timestamp
from website_scan.urls import Url

logger = logging.getLogger(__name__)

NOT_HTML = NotApplicable("The page is not HTML.")
ERROR_PAGE = NotApplicable("The page answers with an error, so its content is not indexed.")
NO_CONTENT = Missing("The page shows no content.", "no-content")
NO_CONTENT_YET = Missing(
    "The page shows no content until its scripts have run, and no browser ran them.", "no-content-yet"
)
BUSY = Missing("Our server was too busy to check this in time. The site is not at fault.", "busy")
LOG_IN_NOTICE = "The site asked for a log-in, so its answer was judged in place of the requested page."
LEAD_NOTICE = "A refresh or script of the page leads to another page at once, so that page was judged."
# End of the notice about a page whose content was not visible.
NOT_JUDGED = "What depends on its content was not judged."


class Judgement:
    """Judgement of a visit's evidence by the checks of one scan type.

    `evidence` is the evidence in this type's plan, without evidence gathered for other types only; `remaining_s`
    returns the seconds that are left for the visit. `oldest_reused_at` is the time of the oldest evidence
    that was reused from an earlier visit to the same origin.
    """

    def __init__(
        self,
        target: Target,
        scan_type: ScanType,
        plan: Plan,
        evidence: Mapping[type, object],
        remaining_s: Callable[[], float],
        oldest_reused_at: datetime | None = None,
    ) -> None:
        self.target = target
        self.type = scan_type
        self.plan = plan
        self.evidence = evidence
        self.results: list[tuple[Check, CheckResult]] = []
        self.skipped: list[SkippedCheck] = []
        self.repeated: tuple[RepeatedCheck, ...] = ()
        self._remaining_s = remaining_s
        self._oldest_reused_at = oldest_reused_at

    def judge(self, report_progress: Callable[[int], None]) -> ScanError | None:
        """Run all checks of the plan on the evidence.

        Each check may use half of the remaining time, so that a slow check does not prevent the others. Calls
        `report_progress(done)` with the number of finished checks. Returns a ScanError if no check could run.
        """
        for done, check in enumerate(self.plan.checks):
            report_progress(done)
            outcome = self._judge_check(check)
            if isinstance(outcome, CheckResult):
                self.results.append((check, outcome))
            elif outcome is not None:
                self.skipped.append(SkippedCheck(check.id, check.name, plain(outcome.reason), outcome.code))
        if self.results:
            self._suppress_repeats()
            return None
        kind = "of the chosen categories" if self.plan.categories else "of this type"
        reason = self.skipped[0].reason if self.skipped else f"No check {kind} applies to what the site sent."
        return ScanError("NO_CHECK_RAN", f"No check could run. {reason}")

    def _suppress_repeats(self) -> None:
        """Remove results of checks that found the same fact as another check."""
        checks = {check.id: check for check, _ in self.results}
        reported, self.repeated = suppress_repeats(self.type, [result for _, result in self.results])
        self.results = [(checks[result.id], result) for result in reported]

    def _judge_check(self, check: Check) -> CheckResult | Missing | None:
        if self._remaining_s() <= 0:
            return OUT_OF_TIME
        check_limit_s = self._remaining_s() / 2
        cpu_start_s = time.thread_time()
        try:
            verdict = limited(lambda: self._verdict(check), check_limit_s, MAX_COMPUTING_CPU_S)
        except OutOfTime:
            # Processor time distinguishes a complex page from a busy machine.
            return TOO_SLOW if time.thread_time() - cpu_start_s > min(MAX_COMPUTING_CPU_S, check_limit_s / 2) else BUSY
        except Refusal as refusal:
            # Reading evidence raises a Refusal if its content is unreadable.
            return Missing.refused(refusal)
        except Exception:
            logger.exception("check %s failed on %s", check.id, self.target.url)
            return INTERNAL
        if isinstance(verdict, Missing):
            return verdict
        return None if isinstance(verdict, NotApplicable) else check_result(check, verdict, self._server)

    def _verdict(self, check: Check) -> Verdict | Missing:
        """Return the verdict of a check.

        `Missing` without evidence, or if the page's content was not visible.
        """
        page = self.evidence.get(Page)
        if isinstance(page, Page) and check.html and not page.is_html:
            return NOT_HTML
        if isinstance(page, Page) and not check.error_pages and page.response.status >= 400:
            return ERROR_PAGE
        unseen = self._unseen_content_reason
        if unseen and self._is_error_or_challenge_page and not check.error_pages and not check.content:
            return unseen
        verdict = self._verdict_of_override_or_check(check)
        if not (check.content and unseen) or isinstance(verdict, Missing):
            return verdict
        if isinstance(verdict, Fault) and not self._may_be_due_to_missing_content(check):
            return verdict
        # The check must not pass, because invisible content may have faults.
        return unseen

    def _verdict_of_override_or_check(self, check: Check) -> Verdict | Missing:
        """Return the verdict of the override or of the check.

        `Missing` without evidence.
        """
        if check.override is not None:
            needs = arguments(check.override.needs, self.evidence)
            if not isinstance(needs, Missing) and (overriding := check.override.function(check, **needs)) is not None:
                return overriding
        values = arguments(check.needs, self.evidence)
        if isinstance(values, Missing):
            return values
        verdict: Verdict = check.function(**values)
        return verdict

    def _may_be_due_to_missing_content(self, check: Check) -> bool:
        """Return True if a fault may be due to content that scripts had not added yet."""
        return check.measured or (check.absence and self._unseen_content_reason is not NO_CONTENT)

    @property
    def _server(self) -> Server | None:
        page = self.evidence.get(Page)
        return server_of(page.headers) if isinstance(page, Page) else None

    @property
    def _browser_load(self) -> BrowserLoad | None:
        """Return the page load of the browser; None without a browser, or if the load failed."""
        load = self.evidence.get(BrowserLoad)
        return load if isinstance(load, BrowserLoad) else None

    @property
    def _browser_failure(self) -> str:
        """Return why the browser could not load the page; empty if it succeeded, or if no browser is available."""
        evidence = self.evidence.get(AxeReport if self.type is ScanType.ACCESSIBILITY else BrowserLoad)
        return evidence.reason if isinstance(evidence, Missing) else ""

    @property
    def _needs_log_in(self) -> bool:
        """Return True if the judged page is an unrequested log-in page."""
        page, document = self.evidence.get(Page), self.evidence.get(Document)
        document = document if isinstance(document, Document) else None
        shown_url = self._browser_load.shown_url if self._browser_load else ""
        return isinstance(page, Page) and needs_log_in(self.target, page, document, shown_url)

    def _final_url(self, page: Page) -> str:
        """Return the address of the judged page.

        If scripts changed it to another page, this is the address that the browser shows.
        """
        shown = Url.parse(self._browser_load.shown_url) if self._browser_load else None
        has_other_address = shown is not None and shown.is_http and leads_elsewhere(page.target.address, shown)
        return shown.without_fragment if shown is not None and has_other_address else page.target.url

    @property
    def _was_led(self) -> bool:
        """Return True if a refresh or script led to the judged page.

        It came from the requested page.
        """
        judged = self.evidence.get(Target)
        return isinstance(judged, Target) and judged.url != self.target.url

    @property
    def _is_without_browser(self) -> bool:
        return self._browser_load is None

    @property
    def _is_partly_unjudged(self) -> bool:
        """Return True if a browser failed to judge the whole page.

        The browser was available. True also if only axe-core could not judge the whole page.
        """
        if self._browser_failure:
            return True
        axe = self.evidence.get(AxeReport)
        return self.type is ScanType.ACCESSIBILITY and isinstance(axe, AxeReport) and bool(axe.unfinished)

    @property
    def _unseen_content_reason(self) -> Missing | None:
        """Return why the page's content was not visible; None if the browser displayed it or the markup contains it."""
        content = self.evidence.get(ShownContent)
        if isinstance(content, ShownContent) and content.unshown:
            return Missing(content.reason, f"page-{content.unshown}")
        served = self.evidence.get(ServedContent)
        if not isinstance(served, ServedContent) or not served.is_blank:
            return None
        load = self._browser_load
        if load is not None and (load.axe if self.type is ScanType.ACCESSIBILITY else load.layout) is not None:
            return None
        return NO_CONTENT_YET if served.has_scripts else NO_CONTENT

    @property
    def _is_error_or_challenge_page(self) -> bool:
        """Return True for error pages and pages of a bot protection."""
        content = self.evidence.get(ShownContent)
        return isinstance(content, ShownContent) and content.unshown in (MissingContent.ERROR, MissingContent.CHALLENGE)

    def build_result(self, error: ScanError | None) -> ScanResult:
        """Compute the score, and return the result of the scan."""
        outcome: Outcome = "failed" if error else "partial" if self.skipped else "completed"
        categories, caps = self._categories(), self._caps()
        score = None if error else scoring.score(categories, caps)
        load = None if error else self._browser_load
        started_at, completed_at = self._started_at, datetime.now(UTC)
        return ScanResult(
            type=self.type,
            url=self.target.url,
            status=outcome,
            started_at=started_at,
            completed_at=completed_at,
            catalogue_version=self.plan.extension.version(self.type),
            score=score.value if score else None,
            grade=score.grade if score else None,
            categories=score.categories if score else (),
            skipped_checks=() if error else tuple(self.skipped),
            caps=tuple(AppliedCap(cap.limit, cap.reason, self._is_of_origin(cap)) for cap in score.held)
            if score
            else (),
            browser=(load.product or None) if load else None,
            omitted_checks=() if error else self._omitted_checks(),
            repeated_checks=() if error else self.repeated,
            error=error,
            scoring=None if error else score_basis.basis(categories, caps),
            facts=self._facts((completed_at - started_at).total_seconds(), has_failed=error is not None),
            exhibits={} if error else exhibits(self.type, self.evidence),
            site={} if error else site_facts(self.evidence),
            screenshot=load.first_screen.data if load and load.first_screen else None,
            pictures=pictures(self.type, load, (result for _, result in self.results)),
            waterfall=waterfall(load.first) if load and self.type is ScanType.PERFORMANCE else None,
            chosen_categories=self.plan.categories,
        )

    def _categories(self) -> list[CategoryResult]:
        grouped: dict[str, list[CheckResult]] = {}
        categories = {check.category_id: check.category for check, _ in self.results}
        for check, result in self.results:
            grouped.setdefault(check.category_id, []).append(result)
        return [
            CategoryResult(
                id,
                categories[id].name,
                self._weight(categories[id]),
                tuple(results),
                absent_weight=self._absent_weight(id, results),
                plug_in=self.plan.extension.plug_ins.get(id),
            )
            for id, results in grouped.items()
        ]

    def _absent_weight(self, category_id: str, results: Sequence[CheckResult]) -> int:
        """Return the weight of a category's planned checks without a result. Suppressed repeats do not count."""
        judged = {result.id for result in results}
        planned = [check for check in self.plan.checks if check.category_id == category_id]
        absent = sum(scoring.SEVERITY_WEIGHT[check.severity] for check in planned if check.id not in judged)
        return absent - sum(result.included_weight for result in results)

    def _omitted_checks(self) -> tuple[OmittedCheck, ...]:
        return tuple(OmittedCheck(check.id, check.name) for check in self.plan.omitted)

    def _weight(self, category: Category) -> int:
        if self._is_without_browser and category.static_weight is not None:
            return category.static_weight
        return category.weight

    def _caps(self) -> tuple[Cap, ...]:
        return tuple(
            cap
            for cap in caps(self.type)
            if (self._is_without_browser or not cap.is_static)
            and (self._unseen_content_reason or not cap.is_unseen)
            and (self._is_partly_unjudged or not cap.is_unjudged)
        )

    def _is_of_origin(self, cap: Cap) -> bool:
        """Return True if all checks of the cap judge the origin.

        All pages of the origin then have the same findings.
        """
        checks = [check for check in self.plan.checks if check.id in cap.checks]
        return bool(checks) and all(map(applies_to_whole_origin, checks))

    @property
    def _notice(self) -> str:
        """Return the notice above the report about what could not be judged; empty if there is nothing."""
        page = self.evidence.get(Page)
        if isinstance(page, Page) and not page.is_html and any(check.html for check in self.plan.checks):
            kind = f" but {excerpt(page.media_type, 60)}" if page.media_type else ""
            return f"The page is not HTML{kind}, so the checks of HTML do not apply."
        asked = LOG_IN_NOTICE if self._needs_log_in else LEAD_NOTICE if self._was_led else ""
        failed = f"{self._browser_failure} The page was judged by its markup alone." if self._browser_failure else ""
        unseen = f"{self._unseen_content_reason.reason} {NOT_JUDGED}" if self._unseen_content_reason else ""
        return " ".join(filter(None, (asked, failed, unseen)))

    def _facts(self, duration_s: float, *, has_failed: bool) -> Facts:
        facts: Facts = {"duration_s": round(duration_s, 3)}
        page = self.evidence.get(Page)
        if isinstance(page, Page):
            facts |= {
                "final_url": self._final_url(page),
                "status": page.response.status,
                "address": page.response.address,
                "redirects": len(page.hops) - 1,
                "document_bytes": len(page.response.body),
            }
            if self._needs_log_in:
                facts["needs_log_in"] = True
            if server := server_of(page.headers):
                facts["server"] = str(server)
            # Error pages are judged for SEO only, so other types have no document of their own.
            # A failed scan has a document only if another type has read the page.
            document = None if has_failed else self.evidence.get(Document)
            if self.type is ScanType.ACCESSIBILITY and isinstance(document, Document):
                facts["content_digest"] = content_digest(document)
        if notice := " ".join(filter(None, (limitation(self.plan.categories), self._notice))):
            facts["notice"] = notice
        if self._unseen_content_reason:
            facts["unseen"] = self._unseen_content_reason.code
        if self._oldest_reused_at is not None:
            facts["site_evidence_at"] = timestamp(self._oldest_reused_at)
        planned = len(self.plan.checks)
        facts |= {"checks_planned": planned, "checks_known": planned + len(self.plan.omitted)}
        if self._browser_load is not None and self._browser_load.product:
            facts["browser"] = self._browser_load.product
            if self._browser_load.axe is not None and self.type is ScanType.ACCESSIBILITY:
                facts |= axe_facts(self._browser_load.axe)
            if self._browser_load.console_errors:
                facts["console_errors"] = len(self._browser_load.console_errors)
        return facts

    @property
    def _started_at(self) -> datetime:
        clock = self.evidence[Clock]
        assert isinstance(clock, Clock)
        return clock.now
