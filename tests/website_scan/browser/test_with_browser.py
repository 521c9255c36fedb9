"""Tests for scans with a browser."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.website_scan.cast import target
from website_scan import catalogue
from website_scan.browser.evidence import BrowserLoad, Layout, Load, LoadedRequest, PagePicture, Viewport
from website_scan.browser.shown_content import MissingContent, ShownContent
from website_scan.browser.unshown import OUTCOMES, judge_shown_content
from website_scan.browser.visit import Browser, BrowserFailed, Visit
from website_scan.browser.waterfall import MAX_WATERFALL_ROWS, waterfall
from website_scan.catalogue import CatalogueError, Category, Check, check, checks, probe
from website_scan.findings import CRITICAL, HIGH, LOW, ScanType
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.outcomes import Fail, Pass, Review, Verdict, Warn
from website_scan.page.evidence import Clock, ServedContent
from website_scan.page.references import ResourceKind
from website_scan.plan import judges_journeys_only, needs_browser, plan
from website_scan.result import Budget, ScanResult
from website_scan.run import scan
from website_scan.scoring import Cap
from website_scan.values import Excerpt

EMPTY_LOAD = Load(None, None, (), None, 0.0, 0.0, ())
LOAD = BrowserLoad("Chromium 150", EMPTY_LOAD, first_screen=PagePicture(b"RIFF", 412, 823, {}))
LOAD_WITH_LAYOUT = replace(LOAD, layout=Layout("<p>Text", {}, (), (), Viewport(412, 823, 1.75)))


class Product(Struct, frozen=True):
    value: str


class FakeBrowser(Struct):
    browser_load: BrowserLoad | None = LOAD

    def start(self, limit_s: float) -> None: ...

    def load(self, visit: Visit) -> BrowserLoad:
        if self.browser_load is None:
            raise BrowserFailed("The browser died while it loaded the page.")
        return self.browser_load


class FakeNetwork:
    policy = Policy()

    def close(self) -> None: ...


@probe()
def load_in_browser(browser: Browser) -> BrowserLoad:
    return browser.load(cast(Visit, None))


@probe()
def product(load: BrowserLoad) -> Product:
    return Product(load.product)


@check("static", name="Static", outcomes={"faulty": "No Static"}, severity=HIGH, fix="-")
def markup_check(clock: Clock) -> Verdict:
    return Fail("faulty", "Judged by the markup.")


@check("looks", name="Looks", outcomes={"faulty": "No Looks"}, severity=LOW, fix="-")
def product_check(product: Product) -> Verdict:
    return Pass("{product}", product=Excerpt(product.value))


@check("may-look", name="May look", outcomes={"faulty": "No May look"}, severity=LOW, fix="-")
def optional_product_check(product: Product | None) -> Verdict:
    return Pass("seen" if product else "not seen")


PlantCatalogue = Callable[..., None]


@pytest.fixture
def plant_catalogue(monkeypatch: pytest.MonkeyPatch) -> Iterator[PlantCatalogue]:
    """Return a function that replaces the SEO catalogue with these checks.

    They form one category.

    The category has weight 40, or 10 without a browser.
    """

    def plant_catalogue(
        *functions: Any, override: Any = None, probes: tuple[Any, ...] = (), caps: tuple[Cap, ...] = ()
    ) -> None:
        category = types.ModuleType("planted.category")
        probe_module = types.ModuleType("planted.probes")
        for module, members in ((category, functions), (probe_module, (load_in_browser, product, *probes))):
            for member in members:
                member.__module__ = module.__name__
                setattr(module, member.__name__, member)
        category.CATEGORY = Category("Category", 40, static_weight=10)  # type: ignore[attr-defined]
        monkeypatch.setattr(catalogue, "_modules", {"website_scan.seo.checks": [category]}.__getitem__)
        monkeypatch.setattr(catalogue, "_probe_modules", lambda: [probe_module])
        second = catalogue.Override(override, catalogue._needs(override)[1:]) if override else None
        monkeypatch.setattr(catalogue, "_override", lambda _: second)
        monkeypatch.setattr("website_scan.judging.caps", lambda _: caps)
        clear_caches()

    yield plant_catalogue
    monkeypatch.undo()
    clear_caches()


def clear_caches() -> None:
    catalogue.checks.cache_clear()
    catalogue.probes.cache_clear()
    catalogue.catalogue_version.cache_clear()


def run(browser: FakeBrowser | None = None) -> ScanResult:
    network = cast(Network, FakeNetwork())
    return scan(target("https://site.example.com/"), [ScanType.SEO], network, Budget(10.0), browser=browser)[0]


def messages(result: ScanResult) -> dict[str, str]:
    return {check_result.id: check_result.summary for check_result in result.checks}


def test_browser_checks_need_a_browser(plant_catalogue: PlantCatalogue) -> None:
    plant_catalogue(markup_check, product_check, optional_product_check)
    result = run()
    assert result.status == "completed"
    assert messages(result) == {"static": "Judged by the markup.", "may-look": "not seen"}
    assert (result.facts["checks_planned"], result.facts["checks_known"]) == (2, 3)
    assert "browser" not in result.facts
    assert result.screenshot is None


def test_all_checks_are_planned_with_a_browser(plant_catalogue: PlantCatalogue) -> None:
    plant_catalogue(markup_check, product_check, optional_product_check)
    result = run(FakeBrowser())
    assert result.status == "completed"
    assert messages(result) == {"static": "Judged by the markup.", "looks": "Chromium 150", "may-look": "seen"}
    assert (result.facts["checks_planned"], result.facts["checks_known"]) == (3, 3)
    assert result.facts["browser"] == "Chromium 150"
    assert result.screenshot == b"RIFF"


def test_failed_browser_makes_the_scan_partial(plant_catalogue: PlantCatalogue) -> None:
    plant_catalogue(markup_check, product_check, optional_product_check)
    result = run(FakeBrowser(None))
    assert result.status == "partial"
    assert messages(result) == {"static": "Judged by the markup.", "may-look": "not seen"}
    assert [(skipped.id, skipped.reason) for skipped in result.skipped_checks] == [
        ("looks", "The browser died while it loaded the page.")
    ]


@pytest.mark.parametrize(("browser", "weight"), [(None, 10), (FakeBrowser(None), 10), (FakeBrowser(), 40)])
def test_category_keeps_its_weight_without_a_browser(
    plant_catalogue: PlantCatalogue, browser: FakeBrowser | None, weight: int
) -> None:
    plant_catalogue(markup_check, product_check)
    assert [category.weight for category in run(browser).categories] == [weight]


@pytest.mark.parametrize(("browser", "score"), [(None, 96), (FakeBrowser(None), 96), (FakeBrowser(), 100)])
def test_static_cap_applies_only_without_a_browser(
    plant_catalogue: PlantCatalogue, browser: FakeBrowser | None, score: int
) -> None:
    plant_catalogue(
        product_check, optional_product_check, caps=(Cap(96, "Without a browser.", count=0, is_static=True),)
    )
    assert run(browser).score == score


@pytest.mark.parametrize(
    ("browser", "is_seen"),
    [(None, False), (FakeBrowser(None), False), (FakeBrowser(), False), (FakeBrowser(LOAD_WITH_LAYOUT), True)],
)
def test_scripted_content_is_judged_only_with_a_layout(
    plant_catalogue: PlantCatalogue, browser: FakeBrowser | None, is_seen: bool
) -> None:
    """A browser that returns no layout counts as no browser."""

    @probe()
    def served_content(clock: Clock) -> ServedContent:
        return ServedContent(is_blank=True, has_scripts=True)

    @check("shown", name="Shown", outcomes={"faulty": "Not shown"}, severity=LOW, fix="-", content=True)
    def shown(clock: Clock) -> Verdict:
        return Pass("Nothing wrong.")

    plant_catalogue(
        optional_product_check,
        shown,
        probes=(served_content,),
        caps=(Cap(79, "Nobody saw it.", count=0, is_unseen=True),),
    )
    result = run(browser)
    assert ("shown" in messages(result)) is is_seen
    unseen = "The page shows no content until its scripts have run, and no browser ran them."
    assert [skipped.reason for skipped in result.skipped_checks] == ([] if is_seen else [unseen])
    assert ("notice" in result.facts) is not is_seen
    assert result.score == (100 if is_seen else 79)


def test_blank_page_skips_checks_of_missing_content(plant_catalogue: PlantCatalogue) -> None:
    """Not even an override can pass a check whose content is missing."""

    @probe()
    def shown(load: BrowserLoad) -> ShownContent:
        return ShownContent(MissingContent.BLANK, "The page shows nothing.")

    @probe()
    def served_content(clock: Clock) -> ServedContent:
        return ServedContent(is_blank=False, has_scripts=True)

    @check("blank", name="Blank", outcomes=OUTCOMES, severity=CRITICAL, fix="-", content=True)
    def blank_page_check(content: ShownContent) -> Verdict:
        return judge_shown_content(content)

    @check("passed", name="Passed", outcomes={"faulty": "Not passed"}, severity=LOW, fix="-", content=True)
    def passed_check(product: Product) -> Verdict:
        return Pass("Nothing wrong.")

    @check("faulty", name="Faulty", outcomes={"faulty": "Is faulty"}, severity=LOW, fix="-", content=True)
    def faulty_check(product: Product) -> Verdict:
        return Fail("faulty", "A fault.")

    @check("absent", name="Absent", outcomes={"faulty": "Is absent"}, severity=LOW, fix="-", content=True, absence=True)
    def absent_content_check(product: Product) -> Verdict:
        return Fail("faulty", "There is no heading.")

    @check("quick", name="Quick", outcomes={"faulty": "Is slow"}, severity=LOW, fix="-", content=True, measured=True)
    def quick_check(product: Product) -> Verdict:
        return Fail("faulty", "It takes 9 s.")

    def override(check: Check, product: Product) -> Verdict | None:
        return Pass("No element fails this check.") if check.id == "passed" else None

    all_checks = (blank_page_check, passed_check, faulty_check, absent_content_check, quick_check, markup_check)
    plant_catalogue(
        *all_checks,
        override=override,
        probes=(shown, served_content),
        caps=(Cap(40, "It is blank.", checks=frozenset({"blank"})),),
    )
    result = run(FakeBrowser(LOAD_WITH_LAYOUT))
    assert {check_result.id for check_result in result.checks} == {"blank", "faulty", "static"}
    assert {skipped.reason for skipped in result.skipped_checks} == {"The page stays blank in the browser."}
    assert (result.status, result.grade) == ("partial", "F")
    assert str(result.facts["notice"]).startswith("The page stays blank in the browser.")


def test_override_applies_only_with_a_browser(plant_catalogue: PlantCatalogue) -> None:
    def override(check: Check, product: Product) -> Verdict | None:
        return Pass("Judged by the look.") if check.id == "static" else None

    plant_catalogue(markup_check, product_check, override=override)
    assert messages(run(FakeBrowser())) == {"static": "Judged by the look.", "looks": "Chromium 150"}
    assert messages(run())["static"] == "Judged by the markup."
    assert messages(run(FakeBrowser(None)))["static"] == "Judged by the markup."


def test_notice_states_that_only_the_markup_was_judged(plant_catalogue: PlantCatalogue) -> None:
    plant_catalogue(markup_check, product_check)
    assert run(FakeBrowser(None)).facts["notice"] == (
        "The browser died while it loaded the page. The page was judged by its markup alone."
    )
    assert "notice" not in run(FakeBrowser()).facts
    assert "notice" not in run(None).facts


def test_warning_with_credit_costs_part_of_the_points(plant_catalogue: PlantCatalogue) -> None:
    @check("curve", name="Curve", outcomes={"faulty": "No Curve"}, severity=HIGH, fix="-")
    def curve(product: Product) -> Verdict:
        return Warn("faulty", "Between.", credit=0.75)

    plant_catalogue(curve)
    result = run(FakeBrowser())
    assert (result.score, result.checks[0].points) == (75, 25.0)


def test_pass_with_partial_credit_loses_points(plant_catalogue: PlantCatalogue) -> None:
    @check("curve", name="Curve", outcomes={"faulty": "No Curve"}, severity=HIGH, fix="-")
    def curve(product: Product) -> Verdict:
        return Pass("Good.", credit=0.9)

    plant_catalogue(curve)
    assert [check_result.points for check_result in run(FakeBrowser()).checks] == [10.0]


def test_review_costs_no_points_and_allows_an_a_plus(plant_catalogue: PlantCatalogue) -> None:
    @check("unsure", name="Unsure", outcomes={"faulty": "No Unsure"}, severity=CRITICAL, fix="-")
    def unsure(product: Product) -> Verdict:
        return Review("faulty", "Look at it.")

    plant_catalogue(product_check, unsure)
    result = run(FakeBrowser())
    assert (result.score, result.grade) == (100, "A+")
    assert [check_result.points for check_result in result.checks] == [0.0, 0.0]


def test_browser_check_needs_a_browser_scan_type(
    plant_catalogue: PlantCatalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant_catalogue(product_check)
    monkeypatch.setattr(ScanType, "uses_browser", property(lambda _: False))
    with pytest.raises(CatalogueError, match="use no browser"):
        run(FakeBrowser())


@pytest.mark.parametrize("scan_type", list(ScanType))
def test_browser_scan_types_have_browser_checks(scan_type: ScanType) -> None:
    assert any(map(needs_browser, checks(scan_type))) is scan_type.uses_browser


@pytest.mark.parametrize("scan_type", list(ScanType))
def test_static_plan_has_no_browser_probes(scan_type: ScanType) -> None:
    static_plan, full_plan = plan(scan_type), plan(scan_type, has_browser=True, has_validator=True)
    assert BrowserLoad not in static_plan.probes
    assert (BrowserLoad in full_plan.probes) is scan_type.uses_browser
    assert set(full_plan.checks) == {check for check in checks(scan_type) if not judges_journeys_only(check)}


# Tests of the waterfall.


def request(start_s: float, response_s: float | None, end_s: float | None, **fields: Any) -> LoadedRequest:
    return LoadedRequest(
        **{"url": "https://a.test/x.js", "kind": ResourceKind.SCRIPT, "method": "GET", "status": 200, **fields},
        start_s=start_s,
        response_s=response_s,
        end_s=end_s,
    )


def test_waterfall_is_limited_and_sorted() -> None:
    rows = tuple(request(0.01 * number, 0.01 * number + 0.1, 0.01 * number + 0.2) for number in range(100))
    drawn_waterfall = waterfall(replace(EMPTY_LOAD, requests=rows, load_s=2.0, fcp_s=0.5))
    assert drawn_waterfall is not None
    assert (len(drawn_waterfall.rows), drawn_waterfall.left_out) == (MAX_WATERFALL_ROWS, 40)
    assert drawn_waterfall.marks == (("First paint", 500), ("Loaded", 2000))
    assert drawn_waterfall.total_ms == 2000
    assert [row.start_ms for row in drawn_waterfall.rows] == sorted(row.start_ms for row in drawn_waterfall.rows)


def test_waterfall_clamps_times() -> None:
    rows = (request(0.0, 0.3, 0.2), request(0.1, None, None, error="net::ERR_ABORTED"))
    drawn_waterfall = waterfall(replace(EMPTY_LOAD, requests=rows, load_s=1.0))
    assert drawn_waterfall is not None
    assert [(row.start_ms, row.response_ms, row.end_ms) for row in drawn_waterfall.rows] == [
        (0, 200, 200),
        (100, 1000, 1000),
    ]
    assert [row.is_failed for row in drawn_waterfall.rows] == [False, True]


def test_waterfall_cuts_long_urls() -> None:
    long = waterfall(replace(EMPTY_LOAD, requests=(request(0, 0, 0, url="https://a.test/" + "x" * 5000),)))
    assert long is not None
    assert len(long.rows[0].url) <= 201
    assert waterfall(EMPTY_LOAD) is None
