"""Declarations and verdicts of plug-ins are data from outside."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.findings import ScanType
from website_scan.plugins import Address, Bytes, Count, Element, Excerpt, Fail, Fix, Header, Pass, Resource, Warn
from website_scan.plugins.description import Description, read_description
from website_scan.plugins.installed import CHECKS, FORMATS, InstalledPlugIn, plug_ins_of
from website_scan.plugins.json_checking import WrongData
from website_scan.plugins.verdicts import read_verdict, verdict_json
from website_scan.values import Date

ACME = InstalledPlugIn("acme", "acme-scan", "1", (("acme", "rules"),), (("acme-text", "text:render"),))
CHECK: dict[str, Any] = {
    "id": "acme-a",
    "name": "A is fine",
    "outcomes": {"bad": {"title": "A is bad", "severities": [], "consequence": ""}},
    "severity": "medium",
    "fix": {"text": "Mend it.", "snippets": {}},
    "why": "",
    "consequence": "",
    "judged": "",
    "references": [],
    "evidence": {"page": True},
    "problem": "",
}


def described(check: dict[str, Any], **category: Any) -> Description:
    whole = {"id": "acme", "name": "Acme", "type": "seo", "error_pages": False, "checks": [CHECK | check]} | category
    return read_description({"categories": [whole], "formats": []}, ACME)


def test_description_has_checks_and_formats() -> None:
    description = described({})
    (check,) = description.checks
    assert (check.id, check.type, check.category_id, check.problem) == ("acme-a", ScanType.SEO, "acme", "")
    assert description.formats == ("acme-text",)
    assert description.problems == ()


@pytest.mark.parametrize(
    "id", ["hsts", "own-a", "acme", "acme-", "acmee-a", "acme-A", "acme-ä", "", 7, "acme-" + 80 * "a"]
)
def test_check_without_a_valid_id_is_left_out(id: object) -> None:
    description = described({"id": id})
    assert description.checks == ()
    assert len(description.problems) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"severity": "apocalyptic"},
        {"severity": None},
        {"outcomes": {}},
        {"outcomes": {"bad": {"title": "{n} bad", "severities": [], "consequence": ""}}},
        {"outcomes": {"Bad": {"title": "bad", "severities": [], "consequence": ""}}},
        {"name": "x" * 1000},
        {"name": "a\x1b[31m"},
        {"fix": {"text": "", "snippets": {}}},
        {"fix": {"text": "x", "snippets": {"COBOL": "x"}}},
        {"references": "CWE-1"},
        {"evidence": {"secrets": True}},
        {"evidence": {"page": "yes"}},
        {"why": 1e300},
        {"problem": "only probes may use Network"},
    ],
)
def test_check_with_a_wrong_declaration_cannot_run(change: dict[str, Any]) -> None:
    (check,) = described(change).checks
    assert check.problem


@pytest.mark.parametrize("evidence", ["requests", "rendered"])
def test_security_checks_have_no_browser(evidence: str) -> None:
    (check,) = described({"evidence": {evidence: True}}, type="security").checks
    assert check.problem == "security checks may not use Requests or RenderedPage"


@pytest.mark.parametrize(
    "category", [{"type": "speed"}, {"name": ""}, {"id": "other"}, {"name": "x" * 999}, {"checks": [{}] * 101}]
)
def test_plug_in_with_a_wrong_category_is_refused(category: dict[str, Any]) -> None:
    with pytest.raises(WrongData):
        described({}, **category)


def test_second_check_with_an_id_is_left_out() -> None:
    description = described({}, checks=[CHECK, CHECK | {"name": "Another"}])
    assert [check.declaration.name for check in description.checks] == ["A is fine"]
    assert len(description.problems) == 1


def points(group: str, *names: str) -> list[EntryPoint]:
    return [EntryPoint(name, "module:render", group) for name in names]


@pytest.mark.parametrize(
    ("names", "name", "problem"),
    [
        (["acme", "acme-links"], "acme", ""),
        (["acme", "other"], "acme", "must begin with one name"),
        (["own"], "own", "reserved"),
        (["Acme"], "unknown", "must have a name such as"),
        (["acme-" + str(number) for number in range(60)], "acme", "more than 50"),
    ],
)
def test_names_of_entry_points_are_checked(names: list[str], name: str, problem: str) -> None:
    (plug_in,) = plug_ins_of([*points(CHECKS, *names), *points(FORMATS)]).values()
    assert plug_in.name == name
    assert problem in plug_in.problem
    assert bool(problem) == bool(plug_in.problem)


def sent(verdict: object) -> Any:
    return read_verdict(json.loads(json.dumps(verdict_json(verdict))))


def test_verdict_survives_the_way_to_the_scanner() -> None:
    places = [Element("p", "<p>", "It is short."), Header("X-A", "b"), Resource("https://a.example/a.js")]
    verdict = Fail(
        "bad",
        "{n} {size} {text} {url}",
        places=places,
        total=9,
        fix=Fix("Mend it."),
        n=Count(2, "fault"),
        size=Bytes(7.5),
        text=Excerpt("a\x00b" * 3000),
        url=Address("/a"),
    )
    copy = sent(verdict)
    assert (copy.outcome, copy.places, copy.total, copy.fix) == ("bad", tuple(places), 9, Fix("Mend it."))
    assert copy.message == verdict.message
    assert sent(Pass("Fine.")).message == "Fine."
    assert type(sent(Warn("bad", "Bad."))) is Warn


def test_verdicts_have_only_public_values() -> None:
    with pytest.raises(WrongData, match="may not use Date"):
        verdict_json(Pass("{at}", at=Date(datetime.now(UTC))))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(anything, st.sampled_from(["kind", "summary", "outcome", "places", "total", "values", "details", "fix"]))
def test_wrong_verdicts_are_refused_by_one_exception(data: Any, field: str) -> None:
    verdict = verdict_json(Fail("bad", "Bad {n}.", n=1, places=[Element("p")])) | {field: data}
    try:
        read_verdict(verdict)
        read_verdict(data)
    except WrongData:
        return


@given(anything, st.sampled_from(list(CHECK)))
def test_wrong_declarations_are_refused_by_one_exception(data: Any, field: str) -> None:
    described({field: data})
