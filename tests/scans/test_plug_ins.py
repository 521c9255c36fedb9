"""Plug-ins in the service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.urls import reverse
from pytest_django import Settings

from operations.health.system_checks import plug_ins as check_plug_ins
from scans.check_catalogue import check_page, entries
from scans.models import Scan
from scans.plug_ins import enabled_plug_ins, scan_extension
from scans.tasks import run_scan
from tests.factories import Member, browser_of, person_of
from tests.plug_ins import packages as packages
from tests.targets.server import Answer, Site
from tests.website_scan.net.loopback import NETWORKS
from tests.website_scan.plugins.distributions import install, module
from tests.website_scan.plugins.tricks import GOOD, SOURCE

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

CHECKS = module(
    """
    @declared("acme-a", name="<b>A</b> is fine")
    def a(page: Page) -> Verdict:
        return Fail("bad", "The page is {what}.", what=Excerpt("<script>alert(1)</script>"))

    @declared("acme-wrong", severity="apocalyptic")
    def wrong(page: Page) -> Verdict:
        return Pass("Never.")
    """
)
FORMAT = "def render(exports):\n    return f'{len(exports)} {exports[0][\"url\"]} <b>'"


@pytest.fixture
def site(settings: Settings) -> Iterator[Site]:
    settings.SCAN_ALLOWED_NETWORKS = NETWORKS
    settings.SCAN_BROWSER = "off"
    with Site({"/": Answer("<!doctype html><html lang=en><title>Shop</title><h1>Tea</h1>")}) as running:
        yield running


def scanned(home: Member, site: Site, scan_type: str = "seo") -> Scan:
    response = home.api.post("/v1/scan", {"url": f"{site.url}/", "type": scan_type})
    assert response.status_code == 201, response.content
    run_scan(response.json()["id"])
    scan = Scan.objects.get(id=response.json()["id"])
    assert scan.status in Scan.REPORTED, scan.error_message
    return scan


def categories(home: Member, scan: Scan) -> dict[str, object]:
    export = home.api.get(f"/v1/report/{scan.id}/export").json()
    return {category["name"]: category.get("plug_in") for category in export["categories"]}


def test_installed_plug_ins_are_not_used_without_the_variable(home: Member, site: Site, packages: Path) -> None:
    install(packages, {"acme": CHECKS})
    assert enabled_plug_ins() == ()
    assert scan_extension().checks == ()
    assert "Checks of Acme" not in categories(home, scanned(home, site))


def test_enabled_plug_in_is_in_reports_mutes_and_docs(
    home: Member, site: Site, packages: Path, settings: Settings
) -> None:
    install(packages, {"acme": CHECKS}, formats={"acme-text": FORMAT})
    settings.SCAN_PLUGINS = {"acme": 0}
    scan = scanned(home, site)
    assert categories(home, scan)["Checks of Acme"] == {"name": "acme", "version": "1.2"}
    member = browser_of(person_of(home, "owner", "owner@people.test"))
    page = member.get(f"/report/{scan.id}").content.decode()
    assert "Checks of the plug-in acme 1.2" in page
    assert "acme-text" in page
    assert "<script>alert(1)" not in page
    (run,) = home.api.get(f"/v1/report/{scan.id}/export?format=sarif").json()["runs"]
    assert run["tool"]["extensions"] == [{"name": "acme", "version": "1.2"}]
    docs = member.get(check_page("acme-a")).content.decode()
    assert "This check is part of the plug-in acme 1.2." in docs
    assert "&lt;b&gt;A&lt;/b&gt; is fine" in docs
    assert "<b>A</b>" not in docs
    assert check_page("acme-a") in member.get(reverse("docs-checks")).content.decode()
    mute = {"check": "acme-a", "host": site.url.partition("//")[2], "outcome": "bad", "reason": "Known."}
    muted = home.api.post("/v1/mutes", mute)
    assert muted.status_code == 201, muted.content
    assert home.api.post("/v1/mutes", mute | {"outcome": "unknown"}).status_code == 400
    found = home.api.get(f"/v1/report/{scan.id}/mutes").json()
    assert "acme-a" in json.dumps(found)


def test_format_of_an_enabled_plug_in_is_plain_text(
    home: Member, site: Site, packages: Path, settings: Settings
) -> None:
    install(packages, {}, formats={"acme-text": FORMAT, "acme-broken": "def render(exports):\n    1 / 0"})
    scan = scanned(home, site)
    assert home.api.get(f"/v1/report/{scan.id}/export/acme-text").status_code == 400
    settings.SCAN_PLUGINS = {"acme": 0}
    for path in (f"/v1/report/{scan.id}/export/acme-text", f"/v1/report/{scan.id}/export?format=acme-text"):
        response = home.api.get(path)
        assert response.content.decode() == f"1 {site.url}/ <b>"
        assert response["Content-Type"] == "text/plain; charset=utf-8"
    response = home.api.get(f"/v1/report/{scan.id}/export/acme-broken")
    assert (response.status_code, response.json()["code"]) == (500, "EXPORT_FAILED")
    assert "ZeroDivisionError" in response.json()["error"]


def test_report_is_readable_after_its_plug_in_was_removed(
    home: Member, site: Site, packages: Path, settings: Settings
) -> None:
    install(packages, {"acme": CHECKS})
    settings.SCAN_PLUGINS = {"acme": 10}
    scan = scanned(home, site)
    settings.SCAN_PLUGINS = {}
    assert "acme-a" not in entries()
    assert check_page("acme-a") == ""
    member = browser_of(person_of(home, "owner", "owner@people.test"))
    assert "Checks of the plug-in acme 1.2" in member.get(f"/report/{scan.id}").content.decode()
    assert categories(home, scan)["Checks of Acme"] == {"name": "acme", "version": "1.2"}
    assert home.api.get(f"/v1/report/{scan.id}/diff?with={scanned(home, site).id}").status_code == 200


def test_hostile_plug_in_costs_its_own_checks_only(
    home: Member, site: Site, packages: Path, settings: Settings
) -> None:
    plain = home.api.get(f"/v1/report/{scanned(home, site).id}/export").json()
    install(packages, {"acme": SOURCE})
    settings.SCAN_PLUGINS = {"acme": 0}
    scan = scanned(home, site)
    export = home.api.get(f"/v1/report/{scan.id}/export").json()
    skipped = {check["id"] for check in export["skipped_checks"] if check["code"] == "plug-in-failed"}
    assert len(skipped) == SOURCE.count('@declared("acme-') - len(GOOD) - 1
    assert (export["score"], export["grade"]) == (plain["score"], plain["grade"])
    member = browser_of(person_of(home, "owner", "owner@people.test"))
    assert "<script>alert(1)" not in member.get(f"/report/{scan.id}").content.decode()


def test_system_check_names_plug_ins_with_problems(packages: Path, settings: Settings) -> None:
    install(packages, {"acme": CHECKS})
    install(packages, {"links": "import missing_package"}, name="links-scan")
    settings.SCAN_PLUGINS = {"acme": 0, "links": 0, "absent": 0}
    assert [message.msg for message in check_plug_ins()] == [
        "Plug-in acme: acme-wrong cannot run: the severity “apocalyptic” is none of critical, high, medium, low.",
        "Plug-in links: It could not be loaded: ModuleNotFoundError: No module named 'missing_package' "
        "(checks_of_links.py, line 1).",
        "Plug-in absent: It is not installed.",
    ]


def test_documentation_explains_the_weight_of_a_plug_in(packages: Path, settings: Settings) -> None:
    install(packages, {"acme": CHECKS})
    settings.SCAN_PLUGINS = {"acme": 10}
    entry = entries()["acme-a"]
    own = next(entry for entry in entries().values() if entry.type == "seo")
    assert (entry.category_weight, entry.weight_of_all) == (10, own.weight_of_all + 10)
