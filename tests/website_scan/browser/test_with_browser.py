"""Effects of a browser on a scan: the planned checks, the source of their verdicts, and their weights."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from tests.website_scan.cast import target
from website_scan import catalogue
from website_scan.browser.evidence import (
    BrowserLoad,
    Layout,
    Load,
    LoadedRequest,
    PagePicture,
    ShownContent,
    Unshown,
    Viewport,
)
from website_scan.browser.unshown import OUTCOMES, judge_shown
from website_scan.browser.visit import Browser, BrowserFailed, Visit
from website_scan.browser.waterfall import MAX_ROWS, waterfall
from website_scan.catalogue import CatalogueError, Category, Check, check, checks, probe
from website_scan.findings import CRITICAL, HIGH, LOW, ScanType
from website_scan.net.client import Network
from website_scan.outcomes import Fail, Pass, Review, Verdict, Warn
from website_scan.page.evidence import Clock, ServedContent
from website_scan.page.references import ResourceKind
from website_scan.plan import needs_browser, plan
from website_scan.result import Budget, ScanResult
from website_scan.run import scan
from website_scan.scoring import Cap
from website_scan.values import Excerpt

NOTHING = Load(None, None, (), None, 0.0, 0.0, ())
SEEN = BrowserLoad("Chromium 150", NOTHING, first_screen=PagePicture(b"RIFF", 412, 823, {}))
LAID_OUT = replace(SEEN, layout=Layout("<p>Text", {}, (), (), Viewport(412, 823, 1.75)))


@dataclass(frozen=True)
class Look:
    value: str


@dataclass
class FakeBrowser:
    seen: BrowserLoad | None = SEEN

    def start(self, limit_s: float) -> None: ...

    def load(self, visit: Visit) -> BrowserLoad:
        if self.seen is None:
            raise BrowserFailed("The browser died while it loaded the page.")
        return self.seen


class FakeNetwork:
    def close(self) -> None: ...


@probe()
def loaded(browser: Browser) -> BrowserLoad:
    return browser.load(cast(Visit, None))


@probe()
def look(load: BrowserLoad) -> Look:
    return Look(load.product)


@check("static", name="Static", outcomes={"faulty": "No Static"}, severity=HIGH, fix="-")
def static(clock: Clock) -> Verdict:
    return Fail("faulty", "Judged by the markup.")


@check("looks", name="Looks", outcomes={"faulty": "No Looks"}, severity=LOW, fix="-")
def looks(look: Look) -> Verdict:
    return Pass("{product}", product=Excerpt(look.value))


@check("may-look", name="May look", outcomes={"faulty": "No May look"}, severity=LOW, fix="-")
def may_look(look: Look | None) -> Verdict:
    return Pass("seen" if look else "not seen")


Plant = Callable[..., None]


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Iterator[Plant]:
    """Make these functions the catalogue of SEO scans, in one category of weight 40, or 10 without a browser."""

    def plant(*functions: Any, override: Any = None, probes: tuple[Any, ...] = (), caps: tuple[Cap, ...] = ()) -> None:
        category = types.ModuleType("planted.category")
        room = types.ModuleType("planted.probes")
        for module, members in ((category, functions), (room, (loaded, look, *probes))):
            for member in members:
                member.__module__ = module.__name__
                setattr(module, member.__name__, member)
        category.CATEGORY = Category("Category", 40, static_weight=10)  # type: ignore[attr-defined]
        monkeypatch.setattr(catalogue, "_modules", {"website_scan.seo.checks": [category]}.__getitem__)
        monkeypatch.setattr(catalogue, "_probe_modules", lambda: [room])
        second = catalogue.Override(override, catalogue._needs(override)[1:]) if override else None
        monkeypatch.setattr(catalogue, "_override", lambda _: second)
        monkeypatch.setattr("website_scan.judging.caps", lambda _: caps)
        forget()

    yield plant
    monkeypatch.undo()
    forget()


def forget() -> None:
    catalogue.checks.cache_clear()
    catalogue.probes.cache_clear()
    catalogue.catalogue_version.cache_clear()


def run(browser: FakeBrowser | None = None) -> ScanResult:
    network = cast(Network, FakeNetwork())
    return scan(target("https://site.example.com/"), [ScanType.SEO], network, Budget(10.0), browser=browser)[0]


def messages(result: ScanResult) -> dict[str, str]:
    return {check_result.id: check_result.summary for check_result in result.checks}


def test_without_a_browser_what_needs_one_is_not_planned_and_nothing_is_partial(plant: Plant) -> None:
    plant(static, looks, may_look)
    result = run()
    assert result.status == "completed"
    assert messages(result) == {"static": "Judged by the markup.", "may-look": "not seen"}
    assert (result.facts["checks_planned"], result.facts["checks_known"]) == (2, 3)
    assert "browser" not in result.facts
    assert result.screenshot is None


def test_with_a_browser_everything_is(plant: Plant) -> None:
    plant(static, looks, may_look)
    result = run(FakeBrowser())
    assert result.status == "completed"
    assert messages(result) == {"static": "Judged by the markup.", "looks": "Chromium 150", "may-look": "seen"}
    assert (result.facts["checks_planned"], result.facts["checks_known"]) == (3, 3)
    assert result.facts["browser"] == "Chromium 150"
    assert result.screenshot == b"RIFF"


def test_a_browser_that_breaks_makes_the_scan_partial(plant: Plant) -> None:
    plant(static, looks, may_look)
    result = run(FakeBrowser(None))
    assert result.status == "partial"
    assert messages(result) == {"static": "Judged by the markup.", "may-look": "not seen"}
    assert [(skipped.id, skipped.reason) for skipped in result.skipped_checks] == [
        ("looks", "The browser died while it loaded the page.")
    ]


@pytest.mark.parametrize(("browser", "weight"), [(None, 10), (FakeBrowser(None), 10), (FakeBrowser(), 40)])
def test_a_category_may_weigh_less_without_a_browser(plant: Plant, browser: FakeBrowser | None, weight: int) -> None:
    plant(static, looks)
    assert [category.weight for category in run(browser).categories] == [weight]


@pytest.mark.parametrize(("browser", "score"), [(None, 96), (FakeBrowser(None), 96), (FakeBrowser(), 100)])
def test_a_cap_may_hold_only_without_a_browser(plant: Plant, browser: FakeBrowser | None, score: int) -> None:
    plant(looks, may_look, caps=(Cap(96, "Without a browser.", count=0, is_static=True),))
    assert run(browser).score == score


@pytest.mark.parametrize(
    ("browser", "is_seen"),
    [(None, False), (FakeBrowser(None), False), (FakeBrowser(), False), (FakeBrowser(LAID_OUT), True)],
)
def test_what_a_page_shows_is_judged_only_where_somebody_saw_it(
    plant: Plant, browser: FakeBrowser | None, is_seen: bool
) -> None:
    """The page is built by scripts only. A browser that returns no layout has not seen it, either."""

    @probe()
    def served(clock: Clock) -> ServedContent:
        return ServedContent(is_blank=True, has_scripts=True)

    @check("shown", name="Shown", outcomes={"faulty": "Not shown"}, severity=LOW, fix="-", content=True)
    def shown(clock: Clock) -> Verdict:
        return Pass("Nothing wrong.")

    plant(may_look, shown, probes=(served,), caps=(Cap(79, "Nobody saw it.", count=0, is_unseen=True),))
    result = run(browser)
    assert ("shown" in messages(result)) is is_seen
    unseen = "The page shows no content until its scripts have run, and no browser ran them."
    assert [skipped.reason for skipped in result.skipped_checks] == ([] if is_seen else [unseen])
    assert ("notice" in result.facts) is not is_seen
    assert result.score == (100 if is_seen else 79)


def test_of_a_page_that_shows_nothing_only_faults_that_are_there_are_found(plant: Plant) -> None:
    """Nor does the second judge let anything pass that nobody saw. What does not depend on content is judged."""

    @probe()
    def shown(load: BrowserLoad) -> ShownContent:
        return ShownContent(Unshown.BLANK, "The page shows nothing.")

    @probe()
    def served(clock: Clock) -> ServedContent:
        return ServedContent(is_blank=False, has_scripts=True)

    @check("blank", name="Blank", outcomes=OUTCOMES, severity=CRITICAL, fix="-", content=True)
    def blank(content: ShownContent) -> Verdict:
        return judge_shown(content)

    @check("passed", name="Passed", outcomes={"faulty": "Not passed"}, severity=LOW, fix="-", content=True)
    def passed(look: Look) -> Verdict:
        return Pass("Nothing wrong.")

    @check("faulty", name="Faulty", outcomes={"faulty": "Is faulty"}, severity=LOW, fix="-", content=True)
    def faulty(look: Look) -> Verdict:
        return Fail("faulty", "A fault.")

    @check("absent", name="Absent", outcomes={"faulty": "Is absent"}, severity=LOW, fix="-", content=True, absence=True)
    def absent(look: Look) -> Verdict:
        return Fail("faulty", "There is no heading.")

    @check("quick", name="Quick", outcomes={"faulty": "Is slow"}, severity=LOW, fix="-", content=True, measured=True)
    def quick(look: Look) -> Verdict:
        return Fail("faulty", "It takes 9 s.")

    def override(check: Check, look: Look) -> Verdict | None:
        return Pass("No element fails this check.") if check.id == "passed" else None

    every = (blank, passed, faulty, absent, quick, static)
    plant(
        *every, override=override, probes=(shown, served), caps=(Cap(40, "It is blank.", checks=frozenset({"blank"})),)
    )
    result = run(FakeBrowser(LAID_OUT))
    assert {check_result.id for check_result in result.checks} == {"blank", "faulty", "static"}
    assert {skipped.reason for skipped in result.skipped_checks} == {"The page stays blank in the browser."}
    assert (result.status, result.grade) == ("partial", "F")
    assert str(result.facts["notice"]).startswith("The page stays blank in the browser.")


def test_the_second_judge_decides_where_there_is_one(plant: Plant) -> None:
    def override(check: Check, look: Look) -> Verdict | None:
        return Pass("Judged by the look.") if check.id == "static" else None

    plant(static, looks, override=override)
    assert messages(run(FakeBrowser())) == {"static": "Judged by the look.", "looks": "Chromium 150"}
    assert messages(run())["static"] == "Judged by the markup."
    assert messages(run(FakeBrowser(None)))["static"] == "Judged by the markup."


def test_a_scan_whose_browser_failed_says_first_that_the_markup_alone_was_judged(plant: Plant) -> None:
    plant(static, looks)
    assert run(FakeBrowser(None)).facts["notice"] == (
        "The browser died while it loaded the page. The page was judged by its markup alone."
    )
    assert "notice" not in run(FakeBrowser()).facts
    assert "notice" not in run(None).facts


def test_what_a_finding_earns_may_lie_on_a_curve(plant: Plant) -> None:
    @check("curve", name="Curve", outcomes={"faulty": "No Curve"}, severity=HIGH, fix="-")
    def curve(look: Look) -> Verdict:
        return Warn("faulty", "Between.", credit=0.75)

    plant(curve)
    result = run(FakeBrowser())
    assert (result.score, result.checks[0].points) == (75, 25.0)


def test_a_pass_that_is_not_the_best_says_what_it_cost(plant: Plant) -> None:
    @check("curve", name="Curve", outcomes={"faulty": "No Curve"}, severity=HIGH, fix="-")
    def curve(look: Look) -> Verdict:
        return Pass("Good.", credit=0.9)

    plant(curve)
    assert [check_result.points for check_result in run(FakeBrowser()).checks] == [10.0]


def test_a_warning_that_does_not_weigh_costs_nothing_and_keeps_nobody_from_an_a_plus(plant: Plant) -> None:
    @check("unsure", name="Unsure", outcomes={"faulty": "No Unsure"}, severity=CRITICAL, fix="-")
    def unsure(look: Look) -> Verdict:
        return Review("faulty", "Look at it.")

    plant(looks, unsure)
    result = run(FakeBrowser())
    assert (result.score, result.grade) == (100, "A+")
    assert [check_result.points for check_result in result.checks] == [0.0, 0.0]


def test_a_type_that_uses_no_browser_can_have_no_check_that_needs_one(
    plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(looks)
    monkeypatch.setattr(ScanType, "uses_browser", property(lambda _: False))
    with pytest.raises(CatalogueError, match="use no browser"):
        run(FakeBrowser())


@pytest.mark.parametrize("scan_type", list(ScanType))
def test_the_types_that_use_a_browser_have_checks_that_need_it(scan_type: ScanType) -> None:
    assert any(map(needs_browser, checks(scan_type))) is scan_type.uses_browser


@pytest.mark.parametrize("scan_type", list(ScanType))
def test_no_probe_that_needs_a_browser_is_planned_without_one(scan_type: ScanType) -> None:
    static_plan, full_plan = plan(scan_type), plan(scan_type, has_browser=True)
    assert BrowserLoad not in static_plan.probes
    assert (BrowserLoad in full_plan.probes) is scan_type.uses_browser
    assert len(full_plan.checks) == len(checks(scan_type))


# The waterfall.


def request(start_s: float, response_s: float | None, end_s: float | None, **more: Any) -> LoadedRequest:
    return LoadedRequest(
        **{"url": "https://a.test/x.js", "kind": ResourceKind.SCRIPT, "method": "GET", "status": 200, **more},
        start_s=start_s,
        response_s=response_s,
        end_s=end_s,
    )


def test_a_waterfall_is_bounded_and_in_order() -> None:
    rows = tuple(request(0.01 * number, 0.01 * number + 0.1, 0.01 * number + 0.2) for number in range(100))
    drawn = waterfall(replace(NOTHING, requests=rows, load_s=2.0, fcp_s=0.5))
    assert drawn is not None
    assert (len(drawn.rows), drawn.left_out) == (MAX_ROWS, 40)
    assert drawn.marks == (("First paint", 500), ("Loaded", 2000))
    assert drawn.total_ms == 2000
    assert [row.start_ms for row in drawn.rows] == sorted(row.start_ms for row in drawn.rows)


def test_a_request_that_never_ended_lasts_to_the_end_and_times_never_go_back() -> None:
    rows = (request(0.0, 0.3, 0.2), request(0.1, None, None, error="net::ERR_ABORTED"))
    drawn = waterfall(replace(NOTHING, requests=rows, load_s=1.0))
    assert drawn is not None
    assert [(row.start_ms, row.response_ms, row.end_ms) for row in drawn.rows] == [(0, 200, 200), (100, 1000, 1000)]
    assert [row.is_failed for row in drawn.rows] == [False, True]


def test_addresses_are_cut_and_an_empty_load_has_no_waterfall() -> None:
    long = waterfall(replace(NOTHING, requests=(request(0, 0, 0, url="https://a.test/" + "x" * 5000),)))
    assert long is not None
    assert len(long.rows[0].url) <= 201
    assert waterfall(NOTHING) is None
