"""Judgement of a visit for one scan type: run the checks on the evidence and compute the score."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from website_scan import score_basis, scoring
from website_scan.browser.evidence import AxeReport, BrowserLoad, ShownContent, Unshown
from website_scan.browser.waterfall import waterfall
from website_scan.catalogue import Category, Check, caps, catalogue_version
from website_scan.catalogue import checks as checks_of
from website_scan.check_results import check_result
from website_scan.errors import Refusal
from website_scan.exhibits.collection import exhibits
from website_scan.exhibits.pictures import pictures
from website_scan.exhibits.site_facts import site_facts
from website_scan.findings import NotApplicable, ScanType, Server
from website_scan.messages import excerpt, plain
from website_scan.net.targets import Target
from website_scan.outcomes import Fault, Verdict
from website_scan.page.evidence import Clock, Page, ServedContent
from website_scan.page.server import server_of
from website_scan.plan import COMPUTING_S, INTERNAL, OUT_OF_TIME, TOO_SLOW, Missing, Plan, arguments, is_of_origin
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
from website_scan.stored_data import Facts
from website_scan.time_limit import OutOfTime, limited
from website_scan.timestamps import timestamp

logger = logging.getLogger(__name__)

NOT_HTML = NotApplicable("The page is not HTML.")
ERROR_PAGE = NotApplicable("The page answers with an error, so its content is not indexed.")
NO_CONTENT = Missing("The page shows no content.", "no-content")
NO_CONTENT_YET = Missing(
    "The page shows no content until its scripts have run, and no browser ran them.", "no-content-yet"
)
BUSY = Missing("Our server was too busy to check this in time. The site is not at fault.", "busy")
# Last sentence of the notice in a report on a page whose content nobody saw.
NOT_JUDGED = "What depends on its content was not judged."


class Judgement:
    """Judgement of a visit for one scan type.

    `evidence` is the evidence in this type's plan, without evidence gathered for other types only; `remaining_s`
    returns the seconds that are left for the visit. `shared_since` is the time at which the oldest evidence reused from
    an earlier visit to the same origin was gathered.
    """

    def __init__(
        self,
        target: Target,
        scan_type: ScanType,
        plan: Plan,
        evidence: Mapping[type, object],
        remaining_s: Callable[[], float],
        shared_since: datetime | None = None,
    ) -> None:
        self.target = target
        self.type = scan_type
        self.plan = plan
        self.evidence = evidence
        self.results: list[tuple[Check, CheckResult]] = []
        self.skipped: list[SkippedCheck] = []
        self.repeated: tuple[RepeatedCheck, ...] = ()
        self._remaining_s = remaining_s
        self._shared_since = shared_since

    def judge(self, report_progress: Callable[[int], None]) -> ScanError | None:
        """Run the checks one after the other; they are pure, so their order does not matter.

        Each check may use half of the remaining time, so that a slow check does not prevent the others. Calls
        `report_progress(done)` with the number of finished checks. Returns a ScanError if no check could run.
        """
        for done, check in enumerate(self.plan.checks):
            report_progress(done)
            outcome = self._judge_one(check)
            if isinstance(outcome, CheckResult):
                self.results.append((check, outcome))
            elif outcome is not None:
                self.skipped.append(SkippedCheck(check.id, check.name, plain(outcome.reason), outcome.code))
        if self.results:
            self._suppress_repeats()
            return None
        reason = self.skipped[0].reason if self.skipped else "No check of this type applies to what the site sent."
        return ScanError("NO_CHECK_RAN", f"No check could run. {reason}")

    def _suppress_repeats(self) -> None:
        """Drop the results of checks that found the same fact as another check."""
        checks = {check.id: check for check, _ in self.results}
        reported, self.repeated = suppress_repeats(self.type, [result for _, result in self.results])
        self.results = [(checks[result.id], result) for result in reported]

    def _judge_one(self, check: Check) -> CheckResult | Missing | None:
        if self._remaining_s() <= 0:
            return OUT_OF_TIME
        limit_s = self._remaining_s() / 2
        began_s = time.thread_time()
        try:
            verdict = limited(lambda: self._verdict(check), limit_s, COMPUTING_S)
        except OutOfTime:
            # The thread's processor time shows whether the page is too complex or this machine too busy.
            return TOO_SLOW if time.thread_time() - began_s > min(COMPUTING_S, limit_s / 2) else BUSY
        except Refusal as refusal:  # raised by evidence that could not be read, with the reason
            return Missing.refused(refusal)
        except Exception:
            logger.exception("check %s failed on %s", check.id, self.target.url)
            return INTERNAL
        if isinstance(verdict, Missing):
            return verdict
        return None if isinstance(verdict, NotApplicable) else check_result(check, verdict, self._server)

    def _verdict(self, check: Check) -> Verdict | Missing:
        """Return the check's verdict; `Missing` without evidence, or if the content to be judged was not seen."""
        page = self.evidence.get(Page)
        if isinstance(page, Page) and check.html and not page.is_html:
            return NOT_HTML
        if isinstance(page, Page) and not check.error_pages and page.response.status >= 400:
            return ERROR_PAGE
        unseen = self._unseen_reason
        if unseen and self._is_stand_in_page and not check.error_pages and not check.content:
            return unseen
        verdict = self._unfiltered_verdict(check)
        if not (check.content and unseen) or isinstance(verdict, Missing):
            return verdict
        if isinstance(verdict, Fault) and not self._may_be_due_to_missing_content(check):
            return verdict
        # Unseen content may have faults, so the check must not pass.
        return unseen

    def _unfiltered_verdict(self, check: Check) -> Verdict | Missing:
        """Return the verdict of the scan type's second judge, else of the check; `Missing` without evidence."""
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
        """Return True if a fault may only mean that content, which scripts may add, was absent when it was judged."""
        return check.measured or (check.absence and self._unseen_reason is not NO_CONTENT)

    @property
    def _server(self) -> Server | None:
        page = self.evidence.get(Page)
        return server_of(page.headers) if isinstance(page, Page) else None

    @property
    def _browser_load(self) -> BrowserLoad | None:
        """Return the browser's load of the page; None if there was no browser, or it failed."""
        load = self.evidence.get(BrowserLoad)
        return load if isinstance(load, BrowserLoad) else None

    @property
    def _browser_failure(self) -> str:
        """Return why an available browser could not judge the page; empty if it did, or none is available."""
        evidence = self.evidence.get(AxeReport if self.type is ScanType.ACCESSIBILITY else BrowserLoad)
        return evidence.reason if isinstance(evidence, Missing) else ""

    @property
    def _is_static(self) -> bool:
        return self._browser_load is None

    @property
    def _unseen_reason(self) -> Missing | None:
        """Return why nobody saw the page's content; None if the browser showed it, or if the markup contains it."""
        shown = self.evidence.get(ShownContent)
        if isinstance(shown, ShownContent) and shown.unshown:
            return Missing(shown.reason, f"page-{shown.unshown}")
        served = self.evidence.get(ServedContent)
        if not isinstance(served, ServedContent) or not served.is_blank:
            return None
        load = self._browser_load
        if load is not None and (load.axe if self.type is ScanType.ACCESSIBILITY else load.layout) is not None:
            return None
        return NO_CONTENT_YET if served.has_scripts else NO_CONTENT

    @property
    def _is_stand_in_page(self) -> bool:
        """Return True if all of the HTML, such as its title, belongs to an error page or a bot protection."""
        shown = self.evidence.get(ShownContent)
        return isinstance(shown, ShownContent) and shown.unshown in (Unshown.ERROR, Unshown.CHALLENGE)

    def build_result(self, error: ScanError | None) -> ScanResult:
        """Compute the score of the checks that ran, and build the result."""
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
            catalogue_version=catalogue_version(self.type),
            score=score.value if score else None,
            grade=score.grade if score else None,
            categories=score.categories if score else (),
            skipped_checks=() if error else tuple(self.skipped),
            caps=tuple(AppliedCap(cap.limit, cap.reason, self._is_of_origin(cap)) for cap in score.held)
            if score
            else (),
            browser=(load.product or None) if load else None,
            omitted_checks=() if error else self._omitted(),
            repeated_checks=() if error else self.repeated,
            error=error,
            scoring=None if error else score_basis.basis(categories, caps),
            facts=self._facts((completed_at - started_at).total_seconds()),
            exhibits={} if error else exhibits(self.type, self.evidence),
            site={} if error else site_facts(self.evidence),
            screenshot=load.first_screen.data if load and load.first_screen else None,
            pictures=pictures(self.type, load, (result for _, result in self.results)),
            waterfall=waterfall(load.first) if load and self.type is ScanType.PERFORMANCE else None,
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
            )
            for id, results in grouped.items()
        ]

    def _absent_weight(self, category_id: str, results: Sequence[CheckResult]) -> int:
        """Return the weight of the category's planned checks that have no result and are included in no finding."""
        judged = {result.id for result in results}
        planned = [check for check in self.plan.checks if check.category_id == category_id]
        absent = sum(scoring.SEVERITY_WEIGHT[check.severity] for check in planned if check.id not in judged)
        return absent - sum(result.included_weight for result in results)

    def _omitted(self) -> tuple[OmittedCheck, ...]:
        planned = set(self.plan.checks)
        return tuple(OmittedCheck(check.id, check.name) for check in checks_of(self.type) if check not in planned)

    def _weight(self, category: Category) -> int:
        if self._is_static and category.static_weight is not None:
            return category.static_weight
        return category.weight

    def _caps(self) -> tuple[Cap, ...]:
        return tuple(
            cap
            for cap in caps(self.type)
            if (self._is_static or not cap.is_static) and (self._unseen_reason or not cap.is_unseen)
        )

    def _is_of_origin(self, cap: Cap) -> bool:
        """Return True if all findings that the cap counts are the same on every page of the origin."""
        checks = [check for check in self.plan.checks if check.id in cap.checks]
        return bool(checks) and all(map(is_of_origin, checks))

    @property
    def _notice(self) -> str:
        """Return the notice at the top of the report: what was not judged, or not in a browser. May be empty."""
        page = self.evidence.get(Page)
        if isinstance(page, Page) and not page.is_html and any(check.html for check in self.plan.checks):
            kind = f" but {excerpt(page.media_type, 60)}" if page.media_type else ""
            return f"The page is not HTML{kind}, so the checks of HTML do not apply."
        failed = f"{self._browser_failure} The page was judged by its markup alone." if self._browser_failure else ""
        unseen = f"{self._unseen_reason.reason} {NOT_JUDGED}" if self._unseen_reason else ""
        return f"{failed} {unseen}".strip()

    def _facts(self, duration_s: float) -> Facts:
        facts: Facts = {"duration_s": round(duration_s, 3)}
        page = self.evidence.get(Page)
        if isinstance(page, Page):
            facts |= {
                "final_url": page.target.url,
                "status": page.response.status,
                "address": page.response.address,
                "redirects": len(page.hops) - 1,
                "document_bytes": len(page.response.body),
            }
            if server := server_of(page.headers):
                facts["server"] = str(server)
        if notice := self._notice:
            facts["notice"] = notice
        if self._unseen_reason:
            facts["unseen"] = self._unseen_reason.code
        if self._shared_since is not None:
            facts["site_evidence_at"] = timestamp(self._shared_since)
        facts |= {"checks_planned": len(self.plan.checks), "checks_known": len(checks_of(self.type))}
        if self._browser_load is not None and self._browser_load.product:
            facts["browser"] = self._browser_load.product
            if self._browser_load.axe is not None and self.type is ScanType.ACCESSIBILITY:
                facts["axe_core"] = self._browser_load.axe.version
                if self._browser_load.axe.frames_left_out:
                    facts["frames_not_judged"] = self._browser_load.axe.frames_left_out
            if self._browser_load.console_errors:
                facts["console_errors"] = len(self._browser_load.console_errors)
        return facts

    @property
    def _started_at(self) -> datetime:
        clock = self.evidence[Clock]
        assert isinstance(clock, Clock)
        return clock.now
