"""Test scans with checks in addition to those of the catalogue."""

from __future__ import annotations

import pytest
from msgspec import Struct

from tests.targets.server import Answer, Site
from tests.website_scan.cast import NOW, POLICY
from website_scan.catalogue import Category, Check, Declaration, Need, Probe, catalogue_version, new_check
from website_scan.extension import NO_EXTENSION, Extension
from website_scan.findings import CRITICAL, ScanType
from website_scan.net.client import Network
from website_scan.net.targets import Target, parse_target
from website_scan.outcomes import Fail, Pass, Verdict
from website_scan.page.evidence import Page
from website_scan.report.serialization import export_json
from website_scan.report_json import ExportJson
from website_scan.result import Budget, PlugIn, ScanResult
from website_scan.run import scan
from website_scan.score_basis import recompute_score


class Notice(Struct, frozen=True):
    """Answer of the site's address /notice."""

    status: int


def load_notice(page: Page, network: Network) -> Notice:
    return Notice(network.fetch(page.target.join("/notice")).status)


def notice_exists(notice: Notice) -> Verdict:
    if notice.status == 200:
        return Pass("The site has a notice.")
    return Fail("missing", "The site has no notice.")


PROBE = Probe(
    "load_notice",
    Notice,
    load_notice,
    (Need("page", Page, optional=False), Need("network", Network, optional=False)),
    essential=False,
    applies_to_whole_origin=True,
    needs_idle_network=False,
)
DECLARED = Declaration(
    "own-notice",
    name="Notice exists",
    outcomes={"missing": "Notice missing"},
    severity=CRITICAL,
    fix="Write a notice.",
    consequence="Visitors do not read the notice.",
)


def notice_check(weight: int) -> Check:
    return new_check(DECLARED, ScanType.SECURITY, "own", Category("Own", weight), notice_exists)


def extension(weight: int) -> Extension:
    return Extension((notice_check(weight),), {Notice: PROBE}, {"own": PlugIn("notices", "1.2")})


def scanned(site: Site, used: Extension, scan_type: ScanType = ScanType.SECURITY) -> ScanResult:
    with Network(POLICY, time_limit_s=30) as network:
        page: Target = parse_target(f"{site.url}/", POLICY)
        (result,) = scan(page, [scan_type], network, Budget(30), extension=used)
    assert result.error is None
    return result


def exported(result: ScanResult) -> ExportJson:
    return export_json(result, scan_id="s", report_id="r", created_at=NOW, completed_at=NOW)


@pytest.fixture
def site() -> Site:
    return Site({"/": Answer(b"<!doctype html><title>Shop</title><p>Tea")})


def test_check_without_weight_changes_neither_score_nor_grade(site: Site) -> None:
    with site:
        plain, with_check = scanned(site, NO_EXTENSION), scanned(site, extension(0))
    (added,) = [category for category in with_check.categories if category.id == "own"]
    assert [(check.id, check.status, check.severity) for check in added.checks] == [("own-notice", "fail", CRITICAL)]
    assert added.score == 0
    assert (added.checks[0].points, added.checks[0].later, added.checks[0].holds) == (0, 0, False)
    assert (with_check.score, with_check.grade, with_check.caps) == (plain.score, plain.grade, plain.caps)
    worths = [
        [(check.id, check.points, check.holds) for check in result.checks if check.id != "own-notice"]
        for result in (plain, with_check)
    ]
    assert worths[0] == worths[1]
    assert with_check.catalogue_version == plain.catalogue_version == catalogue_version(ScanType.SECURITY)
    assert with_check.scoring is not None
    assert recompute_score(with_check.scoring, ["own-notice"]) == (plain.score, plain.grade)


def test_check_with_weight_changes_score_and_version(site: Site) -> None:
    with site:
        plain, with_check = scanned(site, NO_EXTENSION), scanned(site, extension(30))
    assert plain.score is not None
    assert with_check.score is not None
    assert with_check.score < plain.score
    assert with_check.catalogue_version != plain.catalogue_version


def test_export_names_the_plug_in_of_a_category(site: Site) -> None:
    with site:
        plain, with_check = exported(scanned(site, NO_EXTENSION)), exported(scanned(site, extension(0)))
    plug_ins = {category["name"]: category.get("plug_in") for category in with_check["categories"]}
    assert plug_ins.pop("Own") == {"name": "notices", "version": "1.2"}
    assert set(plug_ins.values()) == {None}
    assert not any("plug_in" in category for category in plain["categories"])


def test_other_scan_types_do_not_run_the_check(site: Site) -> None:
    with site:
        result = scanned(site, extension(0), ScanType.SEO)
    assert "own" not in {category.id for category in result.categories}


def test_failed_probe_skips_only_its_check(site: Site) -> None:
    def fail(page: Page) -> Notice:
        raise RuntimeError

    probe = Probe("fail", Notice, fail, (Need("page", Page, optional=False),), False, False, False)
    with site:
        plain, result = scanned(site, NO_EXTENSION), scanned(site, Extension((notice_check(0),), {Notice: probe}))
    skipped = {check.id: check.code for check in result.skipped_checks}
    assert skipped.pop("own-notice") == "internal-error"
    assert skipped == {check.id: check.code for check in plain.skipped_checks}
    assert result.score == plain.score


def test_extensions_are_joined() -> None:
    joined = extension(0) | NO_EXTENSION
    assert [check.id for check in joined.checks_of(ScanType.SECURITY)] == ["own-notice"]
    assert joined.plug_ins == {"own": PlugIn("notices", "1.2")}
    assert joined.checks_of(ScanType.SEO) == ()
