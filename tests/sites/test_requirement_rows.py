"""Tests for the section with own requirements in the forms of scans, monitors, lists and journeys."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pytest_django import Settings

from scans.check_catalogue import OWN_OUTCOMES
from sites.journeys.schemas import journey_json_of
from sites.models import Audit, Journey, Monitor, SiteList
from sites.pages.requirement_rows import KIND_CHOICES, RequirementsForm, values_of_rule
from tests.factories import Member, browser_of, person_of
from tests.page_reading import page_of
from tests.sites.journeys.cast import make_journey, prove
from website_scan.requirements.model import MAX_RULES, FileKind, Metric, Requirements, RequirementsJson
from website_scan.requirements.reading import KINDS, read_requirements

pytestmark = pytest.mark.django_db

NEW_MONITOR = "/o/home/monitors/new"
MONITOR = {"scope": "page", "type": ["seo"], "every": "day", "timezone": "UTC"}
ROW = {"name": "Imprint is linked", "kind": "link", "value": "/imprint", "severity": "high"}
# A rule of each kind, with all of its fields.
RULES: list[dict[str, Any]] = [
    {"name": "A", "severity": "high", "type": "seo", "pages": ["/shop/*", "/a b"], "link": "/imprint"},
    {"name": "B", "severity": "low", "type": "security", "text": "Call us", "absent": True},
    {"name": "C", "severity": "medium", "type": "seo", "element": "main > h1[title='x:y']"},
    {"name": "D", "severity": "critical", "type": "security", "file": "/.well-known/security.txt"},
    {"name": "E", "severity": "medium", "type": "security", "header": "X-A"},
    {"name": "F", "severity": "medium", "type": "security", "header": "X-A", "equals": "*: b", "absent": True},
    {"name": "G", "severity": "medium", "type": "performance", "header": "X-A", "matches": "*b*"},
    {"name": "H", "severity": "medium", "type": "performance", "metric": "cumulative-layout-shift", "at_most": 0.1},
    {"name": "I", "severity": "medium", "type": "performance", "bytes": "script", "at_most": 100000},
    {"name": "J", "severity": "medium", "type": "performance", "requests": "third-party", "at_most": 0},
]


def entered(*rows: dict[str, Any], **values: Any) -> dict[str, Any]:
    """Return the fields of the section as a browser sends them."""
    fields = {f"own-{number}-{name}": value for number, row in enumerate(rows) for name, value in row.items()}
    return {"own_rows": str(len(rows)), "own_weight": "0", **fields, **values}


def stored(rules: list[dict[str, Any]], weight: int = 0) -> Requirements:
    return read_requirements({"rules": rules, "weight": weight})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["name"])
def test_row_of_a_rule_makes_the_same_rule(rule: dict[str, Any]) -> None:
    (complete,) = stored([rule]).json()["rules"]
    form = RequirementsForm(entered(values_of_rule(complete)))
    assert form.is_valid(), [row.errors for row in form.requirement_rows]
    assert form.requirements == stored([rule])


def test_rows_offer_all_kinds() -> None:
    offered = {value.partition(":")[0] for _, group in KIND_CHOICES[1:] for value, _ in group}
    assert offered == {*KINDS, "header-equals", "header-matches"}
    values = {value for _, group in KIND_CHOICES[1:] for value, _ in group}
    assert {f"metric:{metric}" for metric in Metric} <= values
    assert {f"{kind}:{files}" for kind in ("bytes", "requests") for files in FileKind} <= values


def test_outcomes_of_own_checks_are_those_of_the_rules() -> None:
    assert {outcome for rule in stored(RULES).rules for outcome in rule.outcomes} == set(OWN_OUTCOMES)


def test_form_has_three_empty_rows_but_no_more_than_the_limit() -> None:
    rules = [{"name": f"Rule {number}", "text": "x"} for number in range(MAX_RULES - 1)]
    for number, rows in ((0, 3), (2, 5), (MAX_RULES - 1, MAX_RULES)):
        complete = stored(rules[:number]).json()["rules"]
        form = RequirementsForm(initial={"own_rules": complete})
        assert (len(form.requirement_rows), form.rule_count) == (rows, number)
        assert form.expands_requirements_section == bool(number)


def test_empty_and_removed_rows_are_no_rules() -> None:
    form = RequirementsForm(
        entered({"severity": "high", "name": " ", "pages": "\n"}, {**ROW, "remove": "on"}, {"condition": "absent"})
    )
    assert form.is_valid()
    assert form.requirements is None


@pytest.mark.parametrize("rows", ["", "-1", "9999", "x", "²"])
def test_wrong_number_of_rows_is_no_error_of_the_service(rows: str) -> None:
    form = RequirementsForm(entered(ROW, own_rows=rows))
    form.is_valid()
    assert len(form.requirement_rows) == 0


@pytest.mark.parametrize(
    ("change", "field", "text"),
    [
        ({"name": ""}, "name", "“Rule name” must be a text that is not empty."),
        ({"name": "x" * 61}, "name", "Ensure this value has at most 60 characters (it has 61)."),
        ({"kind": ""}, "kind", "Choose what is required."),
        ({"kind": "cookie"}, "kind", "Choose what is required."),
        ({"value": ""}, "value", "“Value or limit” must be a text that is not empty."),
        ({"value": "imprint"}, "value", "“Value or limit” must be an address such as /imprint"),
        ({"kind": "element", "value": "p:hover"}, "value", "“Value or limit” "),
        ({"kind": "header-equals", "value": "X-A"}, "value", "Enter the name and the value, such as X-"),
        ({"kind": "bytes:script", "value": "1.5"}, "value", "“Value or limit” must be a whole number."),
        ({"kind": "metric:speed-index", "value": "fast"}, "value", "“Value or limit” must be a number."),
        ({"kind": "metric:speed-index", "value": "9", "condition": "absent"}, "condition", "“Condition” has no mea"),
        ({"kind": "metric:speed-index", "value": "9", "type": "seo"}, "type", "“Reported in” must be performance"),
        ({"pages": "shop"}, "pages", "“Only on pages” has the pattern “shop”."),
    ],
)
def test_error_is_displayed_at_its_row(change: dict[str, Any], field: str, text: str) -> None:
    form = RequirementsForm(entered({}, {**ROW, **change}))
    assert not form.is_valid()
    assert list(form.errors) == ["own_rows"]
    assert not form.requirement_rows[0].errors
    assert list(form.requirement_rows[1].errors) == [field]
    assert str(form.requirement_rows[1].errors[field][0]).startswith(text), form.requirement_rows[1].errors


def test_equal_names_are_refused_at_the_second_row() -> None:
    form = RequirementsForm(entered(ROW, {}, {**ROW, "value": "/other"}))
    assert not form.is_valid()
    assert form.requirement_rows[2].errors["name"] == ["“Rule name” is the name of another rule."]
    assert not form.requirement_rows[0].errors


def test_rule_about_all_rows_is_displayed_above_them() -> None:
    rows = [{"name": f"File {number}", "kind": "file", "value": f"/{number}"} for number in range(11)]
    form = RequirementsForm(entered(*rows))
    assert not form.is_valid()
    assert form.errors["own_rows"] == ["At most 10 rules may have “file”."]


def test_limits_of_lighthouse_become_rows_to_check() -> None:
    budget = [{"path": "/shop", "resourceCounts": [{"resourceType": "script", "budget": 20}]}]
    form = RequirementsForm(entered(ROW, {}, own_budget=json.dumps(budget)))
    assert not form.is_valid()
    assert str(form.errors["own_budget"][0]).startswith("1 requirement was read. Nothing is saved yet")
    names = ["Imprint is linked", "Number of scripts on /shop*"]
    assert [row["name"].value() for row in form.requirement_rows[:2]] == names
    assert (len(form.requirement_rows), form["own_rows"].value(), form["own_budget"].value()) == (5, "5", "")
    # The page with these rows can be sent as it is.
    again = {row.add_prefix(name): row[name].value() or "" for row in form.requirement_rows for name in row.fields}
    resent = RequirementsForm({"own_rows": "5", **{name: value for name, value in again.items() if value}})
    assert resent.is_valid(), [row.errors for row in resent.requirement_rows]
    assert resent.requirements is not None
    assert [rule.name for rule in resent.requirements.rules] == names


def test_parts_of_lighthouse_that_are_not_read_are_named() -> None:
    file = {"ci": {"assert": {"assertions": {"categories:seo": ["error", {"minScore": 1}], "nonsense": "error"}}}}
    form = RequirementsForm(entered(own_budget=json.dumps(file)))
    assert not form.is_valid()
    first, *notes = map(str, form.errors["own_budget"])
    assert first.startswith("0 requirements were read.")
    assert any("nonsense" in note for note in notes)
    assert any(note.startswith("Conditions on scores") for note in notes)


@pytest.mark.parametrize("text", ["{", "[" * 50_000, "module.exports = {}", "7"])
def test_other_files_than_those_of_lighthouse_are_refused(text: str) -> None:
    form = RequirementsForm(entered(own_budget=text))
    assert not form.is_valid()
    assert list(form.errors) == ["own_budget"]


def test_monitor_form_stores_and_shows_requirements(home: Member, target: str) -> None:
    client = browser_of(person_of(home, "member", "ann@example.com"))
    form = {**MONITOR, "url": target, **entered(ROW, own_weight="7")}
    assert client.post(NEW_MONITOR, form).status_code == 302
    monitor = Monitor.objects.get()
    rule = {"name": "Imprint is linked", "severity": "high", "type": "seo", "link": "/imprint"}
    assert monitor.own_requirements == stored([rule], 7)
    edit = f"/o/home/monitors/{monitor.id}/edit"
    page = page_of(client.get(edit))
    (section,) = page.xpath("//details[contains(@class, 'own-requirements')][@open]")
    assert section.xpath(".//input[@name='own-0-name']/@value") == ["Imprint is linked"]
    assert section.xpath(".//select[@name='own-0-kind']//option[@selected]/@value") == ["link"]
    assert section.xpath(".//input[@name='own_rows']/@value") == ["4"]
    assert section.xpath(".//input[@name='own_weight']/@value") == ["7"]
    assert client.post(edit, {**MONITOR, "url": target, **entered({**ROW, "remove": "on"})}).status_code == 302
    monitor.refresh_from_db()
    assert monitor.requirements is None


def test_errors_of_rows_are_on_the_page(home: Member, target: str) -> None:
    client = browser_of(person_of(home, "member", "ann@example.com"))
    response = client.post(NEW_MONITOR, {**MONITOR, "url": target, **entered({**ROW, "value": "<b>imprint"})})
    assert response.status_code == 400
    page = page_of(response)
    (problem,) = page.xpath("//p[@id='id_own-0-value_error']")
    assert problem.text_content().startswith("“Value or limit” must be an address such as /imprint")
    assert page.xpath("//details[contains(@class, 'own-requirements')]/@open")
    assert page.xpath("//input[@name='own-0-value']/@value") == ["<b>imprint"]
    assert not Monitor.objects.exists()


def test_monitor_of_an_audit_has_its_requirements(home: Member, target: str) -> None:
    own: RequirementsJson = {"rules": [{"name": "Phone", "text": "Call us"}]}
    audit = home.api.post("/v1/audits", {"page": target, "types": ["seo"], "requirements": own}).json()
    client = browser_of(person_of(home, "member", "ann@example.com"))
    page = page_of(client.get(f"{NEW_MONITOR}?of={audit['id']}"))
    assert page.xpath("//input[@name='own-0-name']/@value") == ["Phone"]


def test_scan_form_starts_an_audit_with_requirements(home: Member, target: str) -> None:
    client = browser_of(person_of(home, "member", "ann@example.com"))
    response = client.post("/o/home/scans/new", {"url": target, "scope": "page", "type": ["seo"], **entered(ROW)})
    assert response.status_code == 302
    (rule,) = stored([{**ROW_JSON}]).rules
    assert Audit.objects.get().own_requirements == Requirements((rule,))


ROW_JSON = {"name": "Imprint is linked", "severity": "high", "link": "/imprint"}


def test_list_form_stores_and_shows_requirements(home: Member) -> None:
    client = browser_of(person_of(home, "member", "ann@example.com"))
    form = {"name": "Teas", "type": ["seo"], "pages_per_entry": "1", "window_hours": "24", **entered(ROW)}
    assert client.post("/o/home/lists/new", form).status_code == 302
    site_list = SiteList.objects.get()
    assert site_list.own_requirements == stored([ROW_JSON])
    page = page_of(client.get(f"/o/home/lists/{site_list.id}/edit"))
    assert page.xpath("//input[@name='own-0-name']/@value") == ["Imprint is linked"]


def test_journey_form_shows_requirements_and_its_monitor_ignores_rows(
    home: Member, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.SCAN_BROWSER = "auto"
    # The start is a site that does not exist.
    monkeypatch.setattr("sites.monitors.services.refuse_unreachable", lambda *_: None)
    journey = make_journey(home)
    prove(journey)
    Journey.objects.filter(id=journey.id).update(requirements=stored([ROW_JSON]).json())
    client = browser_of(person_of(home, "member", "ann@example.com"))
    page = page_of(client.get(f"/o/home/journeys/{journey.id}/edit"))
    assert page.xpath("//input[@name='own-0-name']/@value") == ["Imprint is linked"]
    # The style sheet hides the fields of pages while the form is for a journey.
    rows = page_of(client.get(NEW_MONITOR)).xpath("//*[starts-with(@name, 'own')]")
    assert rows
    assert all(row.xpath("ancestor::*[contains(@class, 'of-pages')]") for row in rows)
    form = {
        "scope": "journey",
        "journey": journey.id,
        "every": "day",
        "timezone": "UTC",
        **entered({**ROW, "value": "wrong"}),
    }
    assert client.post(NEW_MONITOR, form).status_code == 302
    assert Monitor.objects.get().own_requirements == stored([ROW_JSON])
    assert journey_json_of(Journey.objects.get())["requirements"]["weight"] == 0
