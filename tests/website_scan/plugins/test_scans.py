"""Checks of plug-ins in scans. Hostile ones cost only themselves."""

from __future__ import annotations

import re
import time
from pathlib import Path

import psutil
import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import NOW, POLICY
from tests.website_scan.plugins.distributions import install, module
from tests.website_scan.plugins.tricks import GOOD, SOURCE
from website_scan.extension import NO_EXTENSION, Extension
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.targets import parse_target
from website_scan.plugins import registry
from website_scan.plugins.registry import used_plug_ins
from website_scan.plugins.scanning import extension_of
from website_scan.report.serialization import export_json
from website_scan.report.storage import compact_json
from website_scan.result import Budget, PlugIn, ScanResult
from website_scan.run import scan

PAGE = b"<!doctype html><html lang=en><title>Shop</title><p id=tea>Tea<a href=/imprint>Imprint</a>"


@pytest.fixture
def site() -> Site:
    return Site({"/": Answer(PAGE), "/notice": Answer(b"open", headers={"X-Notice": "yes"})})


def scanned(site: Site, extension: Extension, *types: ScanType, time_limit_s: float = 90) -> list[ScanResult]:
    with Network(POLICY, time_limit_s=time_limit_s) as network:
        page = parse_target(f"{site.url}/", POLICY)
        results = scan(page, types or [ScanType.SEO], network, Budget(time_limit_s), extension=extension)
    assert [result.error for result in results] == [None] * len(results)
    return list(results)


def installed_extension() -> Extension:
    return extension_of(used_plug_ins(None))


def document(result: ScanResult) -> str:
    return compact_json(export_json(result, scan_id="s", report_id="r", created_at=NOW, completed_at=NOW))


def reasons(result: ScanResult) -> dict[str, str]:
    return {
        check.id: check.reason.removeprefix("This check of the plug-in acme failed: ")
        for check in result.skipped_checks
        if check.code == "plug-in-failed"
    }


def test_each_hostile_trick_costs_its_own_check_only(site: Site, packages: Path) -> None:
    install(packages, {"acme": SOURCE})
    with site:
        (plain,) = scanned(site, NO_EXTENSION)
        (result,) = scanned(site, installed_extension())
    outcomes = {check.id: check.status for check in result.checks if check.id.startswith("acme-")}
    assert {name: outcomes[name] for name in GOOD} == {"acme-first": "pass", "acme-last": "fail"}
    # Only the child process was changed.
    assert outcomes.pop("acme-patches") == "warn"
    assert outcomes.keys() == set(GOOD)
    found = reasons(result)
    assert len(found) == SOURCE.count('@declared("acme-') - len(GOOD) - 1
    assert found["acme-sleep"] == "it took longer than 5 seconds."
    assert "processor time" in found["acme-loop-in-c"]
    assert found["acme-exception"].startswith("ValueError: <script>alert(1)</script> [31m x")
    assert re.search(r"xxx \(checks_of_acme\.py, line \d+, in exception\)\.$", found["acme-exception"])
    assert len(found["acme-exception"]) < 400
    assert found["acme-write"].startswith("plug-ins may not change files (checks_of_acme.py, line ")
    assert found["acme-socket"].startswith("plug-ins may not open connections; only probes may use the network")
    assert found["acme-subprocess"].startswith("plug-ins may not start or end other programs")
    assert found["acme-no-verdict"] == "the check returned a dict instead of a verdict."
    assert "not publicly accessible" in found["acme-private-address"]
    assert "All probes of a plug-in may send 20 requests for a page, with redirects" in found["acme-many-requests"]
    assert ", in request_too_much)" in found["acme-many-requests"]
    assert not Path("/tmp/written-by-a-plug-in").exists()
    assert [check for check in result.checks if not check.id.startswith("acme-")] == list(plain.checks)
    assert (result.score, result.grade) == (plain.score, plain.grade)


def test_hanging_checks_stop_at_the_time_limit_of_the_page(site: Site, packages: Path) -> None:
    checks = "\n".join(
        f"@declared('acme-sleep-{number}')\ndef sleep_{number}(page: Page) -> Verdict:\n    time.sleep(99)\n"
        for number in range(20)
    )
    install(packages, {"acme": module(f"import time\n{checks}")})
    with site:
        started = time.monotonic()
        (result,) = scanned(site, installed_extension(), time_limit_s=16)
        assert time.monotonic() - started < 13
    found = reasons(result)
    assert len(found) == 20
    assert found["acme-sleep-19"] == "the time for the plug-in's checks of a page was used up."


def test_scan_without_plug_ins_has_the_same_report(site: Site, packages: Path) -> None:
    with site:
        (plain,), (without) = scanned(site, NO_EXTENSION), scanned(site, installed_extension())
    assert document(plain) == document(without[0])


def test_checks_read_evidence_and_probes_use_the_network(site: Site, packages: Path) -> None:
    source = module(
        """
        @dataclass
        class Notice:
            answer: Answer

        @probe
        def notice(page: Page, network: Network) -> Notice:
            return Notice(network.get(page.url + "notice"))

        @declared("acme-notice")
        def notice_is_open(notice: Notice) -> Verdict:
            assert notice.answer.headers.get("x-notice") == "yes"
            return Pass("The notice says {text}.", text=Excerpt(notice.answer.text))

        @declared("acme-imprint")
        def imprint(page: Page, document: Document) -> Verdict:
            assert page.text == document.markup
            (link,) = document.select("p > a")
            return Fail("bad", "{n} links.", n=1, places=[link.place("It is short.")])

        @declared("acme-rendered")
        def rendered(page: RenderedPage) -> Verdict:
            return Pass("It was rendered.")

        @declared("acme-none")
        def none(page: Page, rendered: RenderedPage | None, requests: Requests | None) -> Verdict:
            return NotApplicable("x") if rendered is None and requests is None else Pass("It was rendered.")
        """
    )
    install(packages, {"acme": source, "acme-security": module("", "Security of Acme", "security")})
    with site:
        (result,) = scanned(site, installed_extension())
    (category,) = [category for category in result.categories if category.plug_in]
    assert (category.id, category.name, category.plug_in) == ("acme", "Checks of Acme", PlugIn("acme", "1.2"))
    summaries = {check.id: check.summary for check in category.checks}
    assert summaries == {"acme-notice": "The notice says open.", "acme-imprint": "1 links."}
    (imprint,) = [check for check in category.checks if check.id == "acme-imprint"]
    (place,) = imprint.places.kept
    assert place.row() == {"selector": "p#tea > a", "snippet": '<a href="/imprint">', "why": "It is short."}
    assert [check.id for check in result.omitted_checks if check.id.startswith("acme")] == ["acme-rendered"]


def test_weight_of_a_plug_in_changes_score_and_version(site: Site, packages: Path) -> None:
    source = module('@declared("acme-a")\ndef a(page: Page) -> Verdict:\n    return Fail("bad", "It is bad.")')
    install(packages, {"acme": source})
    with site:
        (plain,) = scanned(site, NO_EXTENSION)
        (weighed,) = scanned(site, extension_of(used_plug_ins({"acme": 50})))
    assert weighed.score is not None
    assert plain.score is not None
    assert weighed.score < plain.score
    assert weighed.catalogue_version != plain.catalogue_version


def test_host_has_no_secrets_in_its_environment(site: Site, packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECRET_KEY", "DATABASE_URL", "REDIS_URL", "WEBSITE_SCAN_KEY"):
        monkeypatch.setenv(name, "secret-value")
    source = module(
        """
        import os

        @declared("acme-environment")
        def environment(page: Page) -> Verdict:
            return Pass("{names}", names=Excerpt(" ".join(sorted(os.environ)), 400))
        """
    )
    install(packages, {"acme": source})
    with site:
        (result,) = scanned(site, installed_extension())
    (check,) = [check for check in result.checks if check.id == "acme-environment"]
    assert set(check.summary.split()) <= {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "PYTHONPATH"}
    assert "secret-value" not in document(result)


def test_host_is_warm_and_ends_when_it_is_closed(site: Site, packages: Path) -> None:
    source = module('@declared("acme-a")\ndef a(page: Page) -> Verdict:\n    return Pass("It is fine.")')
    install(packages, {"acme": source})
    (used,) = used_plug_ins(None)
    pid = used.runner.pid
    assert pid is not None
    with site:
        scanned(site, installed_extension())
    assert used.runner.pid == pid
    registry.close_hosts()
    assert not psutil.pid_exists(pid)


def test_one_run_serves_all_scan_types(site: Site, packages: Path) -> None:
    body = '@declared("acme-{0}")\ndef a(page: Page) -> Verdict:\n    return Pass("It is fine.")'
    install(
        packages,
        {
            "acme": module(body.format("seo")),
            "acme-security": module(body.format("security"), "Security of Acme", "security"),
        },
    )
    with site:
        results = scanned(site, installed_extension(), ScanType.SECURITY, ScanType.SEO)
    assert [[check.id for check in result.checks if check.id.startswith("acme")] for result in results] == [
        ["acme-security"],
        ["acme-seo"],
    ]
