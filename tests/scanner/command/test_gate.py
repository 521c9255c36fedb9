"""The gate and the baseline: findings that fail a build, and findings that are already known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scanner.command.baseline import baseline_of, read_baseline
from scanner.command.errors import WrongUsage
from scanner.command.judged import IN_BASELINE, Gate, Judged
from scanner.findings import Severity
from scanner.fingerprints import EVIDENCE_ITEMS
from tests.scanner.command.reports import failed, found, judged

HIGH, MEDIUM, LOW = Severity.HIGH, Severity.MEDIUM, Severity.LOW


def accepted(path: Path, before: list[Judged], now: Judged) -> Judged:
    path.write_text(baseline_of(before))
    return read_baseline(path).accept(now)


@pytest.mark.parametrize(
    ("fail_on", "is_good"), [(None, True), (Severity.CRITICAL, True), (HIGH, False), (MEDIUM, False), (LOW, False)]
)
def test_a_failed_check_fails_from_its_severity_on(fail_on: Severity | None, is_good: bool) -> None:
    report = judged(found("hsts", "fail", HIGH), found("csp", "pass"))
    assert (not list(Gate(fail_on=fail_on).complaints(report))) is is_good


def test_a_warning_fails_no_gate() -> None:
    assert not list(Gate(fail_on=LOW).complaints(judged(found("hsts", "warn", HIGH))))


def test_the_lowest_score_of_a_type_comes_before_that_of_all() -> None:
    report = judged(found("hsts", "fail", HIGH), found("csp", "pass"))
    assert report.score == 50
    assert not list(Gate({"": 50}).complaints(report))
    (complaint,) = Gate({"": 51}).complaints(report)
    assert complaint == "security of https://example.com/: 50 is below 51."
    assert not list(Gate({"": 90, "security": 50}).complaints(report))
    assert not list(Gate({"seo": 90}).complaints(report))


def test_what_is_in_the_baseline_is_no_news_and_does_not_count(tmp_path: Path) -> None:
    image = {"selector": "main > img", "snippet": '<img src="a.png">'}
    before = judged(found("alt", "fail", HIGH, image), found("hsts", "warn", LOW), found("csp", "pass"))
    report = accepted(tmp_path / "known", [before], before)
    assert report.accepted == {"alt": IN_BASELINE, "hsts": IN_BASELINE}
    assert report.score == 100
    assert report.document["score"] < 100
    assert not list(Gate({"": 100}, LOW).complaints(report))


def test_a_new_place_of_a_known_finding_is_news(tmp_path: Path) -> None:
    known, new = ({"selector": f"main > {each}", "snippet": f"<{each}>"} for each in ("img", "video"))
    before = judged(found("alt", "fail", HIGH, known))
    report = accepted(tmp_path / "known", [before], judged(found("alt", "fail", HIGH, known, new)))
    assert report.accepted == {}
    assert list(Gate(fail_on=LOW).complaints(report))


def test_a_place_of_a_template_is_known_on_every_page_and_a_fault_without_a_place_on_its_own(tmp_path: Path) -> None:
    image = {"selector": "footer > img", "snippet": "<img>"}
    checks = (found("alt", "fail", HIGH, image), found("title", "fail", HIGH))
    before = judged(*checks, url="https://example.com/a")
    elsewhere = accepted(tmp_path / "known", [before], judged(*checks, url="https://example.com/b"))
    assert elsewhere.accepted == {"alt": IN_BASELINE}
    preview = accepted(tmp_path / "known", [before], judged(*checks, url="https://preview-7.example.net/a"))
    assert set(preview.accepted) == {"alt", "title"}


def test_places_that_a_full_list_may_have_left_out_are_no_news(tmp_path: Path) -> None:
    images = [{"selector": f"#kept-{name} > img", "snippet": "<img>"} for name in "abcdefghijklmnopqrstuvwxyz"]
    before = judged(found("alt", "fail", HIGH, *images[:EVIDENCE_ITEMS]))
    now = judged(found("alt", "fail", HIGH, *images[1 : EVIDENCE_ITEMS + 1]))
    assert accepted(tmp_path / "known", [before], now).accepted == {"alt": IN_BASELINE}
    few = judged(found("alt", "fail", HIGH, *images[:3]))
    assert accepted(tmp_path / "known", [few], now).accepted == {}


def test_what_was_accepted_before_stays_in_a_baseline_that_is_written_again(tmp_path: Path) -> None:
    before = judged(found("hsts"), found("csp"))
    report = accepted(tmp_path / "known", [before], before)
    assert json.loads(baseline_of([report])) == json.loads(baseline_of([before]))


def test_a_baseline_reads_in_a_diff_and_is_the_same_twice() -> None:
    reports = [judged(found("hsts"), found("csp")), judged(found("hsts"), url="https://example.com/a"), failed()]
    written = baseline_of(reports)
    assert written == baseline_of(list(reversed(reports)))
    lines = [line for line in written.splitlines() if '"check"' in line]
    assert [json.loads(line.strip().rstrip(","))["check"] for line in lines] == ["csp", "hsts"]


@pytest.mark.parametrize(
    "written",
    [
        *("", "[]", "{}", "null", "\x00", "[" * 100_000, '{"version": 2}', '{"version": 1}'),
        *('{"version": 1, "findings": [1], "cut": {}}', '{"version": 1, "findings": [], "cut": []}'),
    ],
)
def test_what_is_no_baseline_is_told_in_a_sentence(tmp_path: Path, written: str) -> None:
    path = tmp_path / "known"
    path.write_text(written)
    with pytest.raises(WrongUsage, match=r"known (is not a baseline|was written by another version)"):
        read_baseline(path)
    with pytest.raises(WrongUsage, match="can't be read"):
        read_baseline(tmp_path / "nowhere")
