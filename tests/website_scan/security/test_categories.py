"""Tests for security scans that are limited to some categories."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from tests.targets.typical import SITES
from tests.website_scan.security.typical_scan import running_typical_site
from website_scan.catalogue import checks
from website_scan.extension import NO_EXTENSION, Extension
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.plan import judges_journeys_only, plan, unchosen_checks
from website_scan.report.serialization import export_json, report_json
from website_scan.requirements.building import extension_of
from website_scan.requirements.reading import read_requirements
from website_scan.result import PlugIn, ScanResult
from website_scan.scoring import overall, rounded
from website_scan.security_categories import (
    CATEGORIES_RULE,
    LABELS,
    NEEDS_SECURITY,
    Categories,
    SecurityCategory,
    limitation,
    parse_categories,
)

# Probes with requests or queries by category. All others must not run.
PROBES = {
    "transport": "fetch_page https_answer plain_http tls_peer tls_support",
    "headers": "cors fetch_page origin_cors",
    "csp": "fetch_page second_fetch",
    "cookies": "fetch_page",
    "exposure": "exposure fetch_page folder_exposure not_found_baseline source_maps",
    "disclosure": "asset_directories fetch_page not_found_baseline",
    "content": "fetch_page loaded_scripts",
    "dns_security": "caa_records dnssec_records fetch_page tls_peer tlsa_records unused_name",
    "mail": "bimi dkim_keys dmarc_reports mail_dialogs mail_records mail_servers mta_sts tls_reporting unused_name",
    "names": "aliases fetch_page ipv6_site name_servers security_txt site_records tls_peer unused_name",
}
NOW = datetime(2026, 11, 29, tzinfo=UTC)
SITE = SITES[0]


def network_probes(*categories: str) -> set[str]:
    planned = plan(ScanType.SECURITY, categories=parse_categories(categories, ["security"]))
    return {probe.name for probe in planned.probes.values() if any(need.evidence is Network for need in probe.needs)}


def export_text(result: ScanResult) -> str:
    ids = {"scan_id": "scan_1", "report_id": "rpt_1", "created_at": NOW, "completed_at": NOW}
    return json.dumps(report_json(export_json(result, **ids)))  # type: ignore[arg-type]  # the values fit


@pytest.mark.parametrize("category", PROBES)
def test_category_runs_only_probes_that_its_checks_need(category: str) -> None:
    assert network_probes(category) == set(PROBES[category].split())


def test_categories_share_probes() -> None:
    assert network_probes("names", "mail") == network_probes("names") | network_probes("mail")


def test_keys_and_labels_are_those_of_the_catalogue() -> None:
    members = [check for check in checks(ScanType.SECURITY) if not judges_journeys_only(check)]
    assert {check.category_id: check.category.name for check in members} == LABELS
    assert set(SecurityCategory) == set(LABELS)


def test_unchosen_checks_are_those_of_other_categories() -> None:
    chosen = {check.id for check in plan(ScanType.SECURITY, categories=(SecurityCategory.MAIL,)).checks}
    every = {check.id for check in checks(ScanType.SECURITY)}
    assert every - unchosen_checks((SecurityCategory.MAIL,)) == chosen
    other = Extension(
        tuple(replace(check, id="bank-check", category_id="bank") for check in checks(ScanType.SECURITY)[:1])
    )
    assert "bank-check" in unchosen_checks((SecurityCategory.MAIL,), other)


def test_other_types_ignore_categories() -> None:
    assert plan(ScanType.SEO, categories=(SecurityCategory.MAIL,)).checks == plan(ScanType.SEO).checks


def test_own_requirements_run_beside_chosen_categories_and_plug_ins_do_not() -> None:
    rules = {"rules": [{"name": "Frames", "type": "security", "header": "X-Frame-Options"}]}
    own = extension_of(read_requirements(rules))
    plug_in = Extension(own.checks, own.probes, {own.checks[0].category_id: PlugIn("checks-of-bank", "1")})
    for extension, expected in ((own, 1), (plug_in, 0), (NO_EXTENSION, 0)):
        planned = plan(ScanType.SECURITY, extension=extension, categories=(SecurityCategory.MAIL,))
        assert sum(check.category_id != "mail" for check in planned.checks) == expected


@pytest.mark.parametrize(
    ("names", "types", "message"),
    [
        ([], ["security"], CATEGORIES_RULE),
        (["mail", "tls"], ["security"], CATEGORIES_RULE),
        (["mail"], ["seo"], NEEDS_SECURITY),
    ],
)
def test_invalid_categories_are_refused(names: list[str], types: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        parse_categories(names, types)


def test_categories_are_unique_and_in_the_order_of_the_catalogue() -> None:
    assert parse_categories(["names", "transport", "names"], ["seo", "security"]) == ("transport", "names")


@pytest.mark.parametrize(
    ("categories", "sentence"),
    [
        (None, ""),
        (["mail"], "Of the security checks, only those of Mail ran. Score and grade are of this category alone."),
        (
            ["names", "mail"],
            "Of the security checks, only those of Mail and Names and addresses ran. Score and grade are of these "
            "categories alone.",
        ),
    ],
)
def test_limitation_names_the_judged_categories(categories: list[str] | None, sentence: str) -> None:
    assert limitation(categories) == sentence


def test_scan_of_mail_sends_no_request_to_the_site() -> None:
    with running_typical_site(SITE) as world, world.open_network() as network:
        result = world.scan(network, (SecurityCategory.MAIL,))
        assert world.paths == set()
        assert network.requests == 0
    assert result.status == "completed"
    assert {category.name for category in result.categories} == {"Mail"}


@pytest.mark.parametrize("categories", [("names", "mail"), ("transport",), ("headers",)], ids="+".join)
def test_limited_scan_has_the_verdicts_of_a_whole_scan(categories: tuple[str, ...]) -> None:
    chosen: Categories | None = parse_categories(categories, ["security"])
    with running_typical_site(SITE) as world:
        with world.open_network() as network:
            whole = world.scan(network)
            requests = network.requests
        with world.open_network() as network:
            limited = world.scan(network, chosen)
            assert network.requests < requests
    kept = [category for category in whole.categories if category.id in categories]
    verdicts = [(check.id, check.status, check.outcome) for category in kept for check in category.checks]
    assert [(check.id, check.status, check.outcome) for check in limited.checks] == verdicts
    assert limited.score == rounded(overall(kept, [])) or limited.caps
    assert limited.chosen_categories == chosen
    assert limited.facts["notice"].startswith(limitation(categories))


def test_report_of_a_limited_scan_names_its_categories() -> None:
    with running_typical_site(SITE) as world, world.open_network() as network:
        report = json.loads(export_text(world.scan(network, (SecurityCategory.COOKIES,))))
    assert report["chosen_categories"] == ["cookies"]


def test_report_of_a_whole_scan_has_no_field_of_categories() -> None:
    with running_typical_site(SITE) as world, world.open_network() as network:
        result = world.scan(network)
    assert "chosen_categories" not in export_text(result)
    assert "notice" not in result.facts
