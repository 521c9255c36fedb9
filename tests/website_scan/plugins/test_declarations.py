"""Declarations and verdicts of plug-ins are data from outside."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from importlib.metadata import EntryPoint
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.findings import ScanType
from website_scan.plugins import (
    Address,
    Bytes,
    Count,
    Document,
    Element,
    Excerpt,
    Fail,
    Fix,
    Header,
    Number,
    Pass,
    Resource,
    Warn,
)
from website_scan.plugins.description import Description, read_description
from website_scan.plugins.installed import CHECKS, FORMATS, InstalledPlugIn, plug_ins_of
from website_scan.plugins.json_checking import WrongData
from website_scan.plugins.verdicts import read_verdict, verdict_json
from website_scan.values import Lifetime

ACME = InstalledPlugIn("acme", "acme-scan", "1", (("acme", "rules"),), (("acme-text", "text:render"),))
SCANNER_CHECK = json.loads((files("website_scan") / "checks.json").read_text())["checks"][0]
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
    return read_description({"categories": [whole], "formats": ["acme-text"], "problems": []}, ACME)


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
        {"references": ["http://a.example/rule"]},
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


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": "acme-Foo_bar"}, "A check was left out: “acme-Foo_bar” is no ID, because IDs are acme- and words of "),
        ({"outcomes": {}}, "acme-a cannot run: outcomes is empty."),
        ({"outcomes": {"Bad Thing": {}}}, "acme-a cannot run: “Bad Thing” is no name; write bad-thing."),
        ({"severity": "hi"}, "acme-a cannot run: the severity “hi” is none of critical, high, medium, low."),
        ({"references": "CWE-1"}, "acme-a cannot run: references must be a tuple or list of texts, such as "),
        ({"references": ["CWE 1"]}, "acme-a cannot run: the reference “CWE 1” is no name of a standard such as "),
    ],
)
def test_wrong_declaration_is_described(change: dict[str, Any], problem: str) -> None:
    (described_problem,) = described(change).problems
    assert described_problem.startswith(problem)


def test_references_of_the_listed_forms_are_accepted() -> None:
    references = ["RFC 6797, section 6.1", "CWE-319", "https://a.example/rule"]
    (check,) = described({"references": references}).checks
    assert check.declaration.references == tuple(references)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": "Another"}, "two checks have the ID acme-a"),
        ({"id": "acme-b", "name": "Another"}, "acme-b has the title “A is bad”, which acme-a has already"),
        ({"id": "acme-b", "name": "A is bad"}, "acme-b has the title “A is bad”, which acme-a has already"),
    ],
)
def test_second_check_with_an_id_or_title_is_left_out(change: dict[str, Any], problem: str) -> None:
    description = described({}, checks=[CHECK, CHECK | change])
    assert [check.id for check in description.checks] == ["acme-a"]
    assert description.problems == (f"A check was left out: {problem}.",)


def test_title_of_the_scanner_is_taken() -> None:
    (problem,) = described({"name": "The page has one title"}, type="seo").problems or ("",)
    assert problem == ""
    (problem,) = described({"name": SCANNER_CHECK["name"]}, type=SCANNER_CHECK["type"]).problems
    assert f"which {SCANNER_CHECK['id']} has already" in problem


def points(group: str, *names: str) -> list[EntryPoint]:
    return [EntryPoint(name, "module" if group == CHECKS else "module:render", group) for name in names]


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
    with pytest.raises(WrongData, match="may not use Lifetime"):
        verdict_json(Pass("{left}", left=Lifetime(3600)))


def test_time_is_a_value_in_UTC() -> None:
    at = datetime(2026, 1, 31, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert sent(Pass("Since {at}.", at=at)).message == "Since 2026-01-30 23:30 UTC."
    with pytest.raises(WrongData, match="the value of the Date at is a time without a time zone"):
        sent(Pass("Since {at}.", at=datetime(2026, 1, 31)))


def test_credit_survives_the_way_to_the_scanner() -> None:
    assert sent(Warn("bad", "Bad.", credit=0.8)).credit == 0.8
    assert sent(Pass("Fine.", credit=0.95)).credit == 0.95
    with pytest.raises(WrongData, match="the credit is not a number from 0 to 1"):
        sent(Fail("bad", "Bad.", credit=8))


NOTHING: Any = None
NODE: Any = Document("<p>").select("p")[0]
TEXT: Any = "1.5"
FRACTION: Any = 1.5
EMPTY: Any = []


async def coroutine() -> None: ...


@pytest.mark.parametrize(
    ("verdict", "message"),
    [
        (lambda: Fail("bad", "{r}", r=TEXT), "the value r is a str; use Excerpt(…) for texts"),
        (lambda: Fail("bad", "{r}", r=FRACTION), "the value r is a float; use Number(r, digits=1), or a class such as"),
        (lambda: Fail("bad", "{r}", r=True), "the value r is True; use a number, or a class such as Count or Excerpt"),
        (lambda: Fail("bad", "{r}", r=NOTHING), "the value r is None; use a number"),
        (lambda: Fail("bad", "{r}", r=Count(TEXT, "link")), "the value of the Count r is not a number"),
        (lambda: Pass("Ok.", places=EMPTY), "Pass has no places; use details"),
        (lambda: Pass("Ok.", severity=TEXT), "Pass has no severity"),
        (lambda: Fail("bad", "Bad.", places=[TEXT]), "a place is a str, not an Element, Header or Resource"),
        (lambda: Fail("bad", "Bad.", places=[NODE]), "a place is an element of the document; use element.place(why)"),
        (lambda: Fail("bad", "Bad.", places=Element("p")), "places must be a list"),  # type: ignore[arg-type]
        (lambda: Pass("Ok.", details=NODE), "details must be a list"),
        (lambda: None, "the check returned None instead of a verdict"),
        (lambda: True, "the check returned True instead of a verdict"),
        (dict, "the check returned a dict instead of a verdict"),
    ],
)
def test_wrong_verdict_has_a_message_for_its_author(verdict: Callable[[], object], message: str) -> None:
    with pytest.raises((WrongData, TypeError)) as wrong:
        sent(verdict())
    assert str(wrong.value).startswith(message)


def test_check_must_not_be_async() -> None:
    returned = coroutine()
    with pytest.raises(WrongData, match="the check returned a coroutine, because it is async, instead of a verdict"):
        verdict_json(returned)
    returned.close()


def test_digits_of_a_fraction_are_printed() -> None:
    assert sent(Fail("bad", "Ratio {r}.", r=Number(1.5, digits=1))).message == "Ratio 1.5."


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
