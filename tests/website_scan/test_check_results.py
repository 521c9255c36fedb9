"""Test that verdicts become check results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.catalogue import CatalogueError, Declaration
from website_scan.check_results import check_result
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, Server, Severity
from website_scan.outcomes import CategoryFail, Fail, Fault, Fix, Language, Pass, Review, Warn, judge_by_limits, outcome
from website_scan.places import MAX_STORED_PLACES, Element, Header, Place, RedirectHop
from website_scan.result import CheckResult, HowToFix
from website_scan.values import Bytes, Code, Count, Excerpt, Lifetime
from website_scan.wording import catalogue_fix, fix, message, message_without_reason

SNIPPETS: dict[Server | Language, str] = {Server.NGINX: "hsts on;", Server.APACHE: "Header set", Language.HTML: "<p>"}


def declared_check(severity: Severity = HIGH, **columns: Any) -> Declaration:
    values: dict[str, Any] = {
        "name": "HSTS lasts a year",
        "outcomes": {"missing": "No HSTS", "short": outcome("HSTS lasts {lifetime}", MEDIUM, LOW)},
        "severity": severity,
        "why": "It matters.",
        "fix": Fix("Send `HSTS`.", SNIPPETS),
    }
    return Declaration("hsts", **values | columns)


def result(finding: Pass | Fault, server: Server | None = None, **columns: Any) -> CheckResult:
    return check_result(declared_check(**columns), finding, server)  # type: ignore[arg-type]  # a fault of one of three kinds


@pytest.mark.parametrize(
    ("finding", "status", "title", "severity"),
    [
        (Pass("Fine."), "pass", "HSTS lasts a year", None),
        (Fail("missing", "None."), "fail", "No HSTS", HIGH),
        (Warn("missing", "None."), "warn", "No HSTS", HIGH),
        (Fail("short", "S.", lifetime=Lifetime(60)), "fail", "HSTS lasts 60 seconds", MEDIUM),
        (Fail("short", "S.", severity=LOW, lifetime=Lifetime(60)), "fail", "HSTS lasts 60 seconds", LOW),
        (Review("missing", "Look."), "warn", "Check by hand: HSTS lasts a year", LOW),
        (CategoryFail("missing", "None."), "fail", "No HSTS", HIGH),
    ],
)
def test_outcome_determines_title_and_severity(
    finding: Pass | Fault, status: str, title: str, severity: Severity | None
) -> None:
    actual = result(finding)
    assert (actual.status, actual.title, actual.severity) == (status, title, severity)
    assert actual.outcome == getattr(finding, "outcome", "")
    assert actual.weighs is not isinstance(finding, Review)
    assert actual.needs_review is isinstance(finding, Review)
    assert actual.covers_category is isinstance(finding, CategoryFail)


@pytest.mark.parametrize(
    ("finding", "consequence"),
    [
        (Fail("missing", "None."), "Visitors may leave."),
        (Warn("missing", "None."), "Visitors may leave."),
        (Fail("weak", "None."), "Others can read along."),
        (Fail("weak", "None.", severity=LOW), ""),
        (Fail("off", "None."), ""),
        (Review("missing", "Look."), ""),
        (Pass("Fine."), ""),
    ],
)
def test_severe_findings_have_a_consequence(finding: Pass | Fault, consequence: str) -> None:
    weak = outcome("HSTS is weak", HIGH, LOW, consequence="Others can read along.")
    outcomes = {"missing": "No HSTS", "weak": weak, "off": outcome("HSTS is off", MEDIUM)}
    assert result(finding, outcomes=outcomes, consequence="Visitors may leave.").consequence == consequence


def test_warning_is_never_critical() -> None:
    assert result(Warn("missing", "None."), severity=CRITICAL).severity is HIGH
    assert result(Fail("missing", "None."), severity=CRITICAL).severity is CRITICAL


@pytest.mark.parametrize(
    ("finding", "complaint"),
    [
        (Fail("gone", "S."), "hsts declares no outcome gone"),
        (Fail("missing", "S.", severity=LOW), "hsts.missing does not declare the severity low"),
        (Fail("missing", "S.", lifetime=Lifetime(60)), "hsts uses no value lifetime"),
        (Pass("S.", lifetime=Lifetime(60)), "hsts uses no value lifetime"),
        (Fail("missing", "S.", places=[RedirectHop(1, "/a")]), "hsts returns a redirect as a place"),
    ],
)
def test_undeclared_verdict_parts_are_refused(finding: Pass | Fault, complaint: str) -> None:
    with pytest.raises(CatalogueError, match=complaint):
        result(finding)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([], "A header is wrong."),
        ([Header("Server", "nginx")], "A header is wrong: Server: nginx."),
        ([Element("#a", "<p>"), Element("#b", "<i>")], "A header is wrong: <p> at #a; <i> at #b."),
        ([Element(f"#a{n}") for n in range(5)], "A header is wrong: #a0; #a1; #a2 and 2 more."),
        ([Element("html", "<html>")], "A header is wrong."),  # The root element represents the whole page.
        ([Element("#a"), Element("#a")], "A header is wrong: #a."),
    ],
)
def test_message_names_the_first_places(places: Sequence[Place], expected: str) -> None:
    actual = result(Fail("missing", "A header is wrong.", places=places))
    assert message_without_reason(actual) == expected
    assert message(actual) == f"{expected} It matters."


def test_message_does_not_repeat_a_place() -> None:
    actual = result(Fail("missing", "{code} is wrong.", places=[Element("#a", "<p>")], code=Code("<p> at #a")))
    assert message_without_reason(actual) == "<p> at #a is wrong."


def test_long_place_ends_with_an_ellipsis() -> None:
    actual = result(Fail("missing", "A header is wrong.", places=[Header("Server", "x" * 200)]))
    assert message_without_reason(actual) == f"A header is wrong: Server: {'x' * 151}…."


def test_quoted_full_stop_ends_the_sentence() -> None:
    assert message(result(Fail("missing", "It says “{text}”.", text=Excerpt("Stop.")))) == "It says “Stop.” It matters."


def test_places_that_are_not_stored_are_counted() -> None:
    actual = result(Fail("missing", "S.", places=[Element(f"#a{n}") for n in range(57)], details=[Header("A", "b")]))
    assert len(actual.places.kept) == MAX_STORED_PLACES
    assert actual.places.totals == {Element: 57}
    assert actual.places.is_cut
    assert not actual.details.is_cut


@pytest.mark.parametrize(
    ("server", "labels"),
    [
        (None, ["nginx", "Apache", "HTML"]),
        (Server.NGINX, ["nginx", "HTML"]),
        (Server.CADDY, ["nginx", "Apache", "HTML"]),
    ],
)
def test_fix_has_snippet_for_the_server(server: Server | None, labels: list[str]) -> None:
    actual = result(Fail("missing", "S."), server)
    assert actual.how_to_fix is not None
    assert [label for label, _ in actual.how_to_fix.snippets] == labels


def test_fix_text_lists_snippets_last() -> None:
    how = HowToFix("Send `HSTS`.", (("nginx", "hsts on;"), ("HTML", "<p>")))
    assert fix(how) == "Send `HSTS`. nginx: `hsts on;` · HTML: `<p>`"
    assert fix(HowToFix("Send it.")) == "Send it."
    assert catalogue_fix(Fix("Send it.", {Server.IIS: "x"})) == "Send it. IIS: `x`"


def test_verdict_fix_replaces_check_fix() -> None:
    actual = result(Fail("missing", "S.", fix="Remove `{code}`.", code=Code("x`y")))
    assert actual.how_to_fix == HowToFix("Remove `x'y`.")


@given(st.text())
def test_values_cannot_break_code_spans(text: str) -> None:
    actual = result(Fail("missing", "S.", fix="Remove `{code}`, then wait.", code=Code(f"x{text}")))
    assert actual.how_to_fix is not None
    before, code, after = actual.how_to_fix.text.split("`")
    assert (before, after) == ("Remove ", ", then wait.")
    assert code.startswith("x")


@pytest.mark.parametrize(
    ("value", "expected", "status"),
    [
        (20_000, "The page weighs 20 kB.", "pass"),
        (20_400, "The page weighs 20 kB (just above the limit: up to 20 kB is good).", "warn"),
        (90_000, "The page weighs 90 kB (up to 20 kB is good).", "warn"),
        (100_001, "The page weighs 100 kB (up to 20 kB is good).", "fail"),
    ],
)
def test_limits_decide_the_verdict(value: int, expected: str, status: str) -> None:
    limits = (20_000, 100_000)
    finding = judge_by_limits(
        "missing", "The page weighs {weight}", value, limits, limit=Bytes(20_000), weight=Bytes(value),
        places=[Element("#a")],
    )  # fmt: skip
    actual = result(finding)
    assert (actual.summary, actual.status) == (expected, status)
    rows = actual.details if status == "pass" else actual.places
    assert rows.kept == (Element("#a"),)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (20_000, "The page weighs 20 kB."),
        (20_400, "The page weighs 20 kB; just above the limit: up to 20 kB is good."),
        (90_000, "The page weighs 90 kB; up to 20 kB is good."),
    ],
)
def test_message_without_places_states_limit(value: int, expected: str) -> None:
    limits = (20_000, 100_000)
    finding = judge_by_limits(
        "missing", "The page weighs {weight}", value, limits, limit=Bytes(20_000), weight=Bytes(value)
    )
    assert result(finding).summary == expected


def test_missing_limit_is_omitted() -> None:
    actual = result(judge_by_limits("missing", "{files} {files:is|are} empty", 2, (0, 1), files=Count(2, "file")))
    assert (actual.summary, actual.status) == ("2 files are empty.", "fail")


def test_title_does_not_end_with_a_space() -> None:
    actual = result(Fail("found", "{text}", text=Excerpt("")), outcomes={"found": "The page says {text}"})
    assert actual.title == "The page says"


def test_code_in_a_fix_is_never_empty() -> None:
    """Empty code would run on to the next backtick in Markdown."""
    assert result(Fail("missing", "S.", fix="Remove `{code}`.", code=Code(""))).how_to_fix == HowToFix("Remove `…`.")
