from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.website_scan.cast import message, outcome, rows, severity_of, verdict
from website_scan.catalogue import checks as catalogue
from website_scan.findings import HIGH, LOW, ScanType, Severity
from website_scan.outcomes import Fail, Fault, Verdict
from website_scan.security.checks import exposure as checks
from website_scan.security.evidence import Exposure, PathAnswer, SourceMaps
from website_scan.security.file_signatures import HEALTH_ONLY

BY_ID = {each.id: each for each in catalogue(ScanType.SECURITY) if each.category_id == "exposure"}
HINTS = {"exposed-api-docs", "exposed-source-maps"}
NOUNS = {
    "exposed-phpinfo": "page",
    "exposed-server-status": "page",
    "exposed-actuator": "endpoint",
    "exposed-api-docs": "API description",
    "exposed-source-maps": "source map",
}
ABSENT = PathAnswer("/a", 404, "text/html", 120)
OPEN = PathAnswer("/b", 200, "text/plain", 1, is_exposed=True, excerpt="DB_PASSWORD")
SILENT = PathAnswer("/c", None, error="Nothing came.")


def judged(id: str, *answers: PathAnswer) -> Verdict:
    check: Callable[..., Any] = BY_ID[id].function
    finding: Verdict = check(SourceMaps(answers) if id == "exposed-source-maps" else Exposure({id: answers}))
    return finding


@pytest.mark.parametrize("id", BY_ID)
def test_one_exposed_file_decides_also_where_others_did_not_answer(id: str) -> None:
    finding = judged(id, ABSENT, SILENT, OPEN)
    assert verdict(finding) == ("warn" if id in HINTS else "fail")
    assert isinstance(finding, Fault)
    assert finding.outcome == ("mercurial" if id == "exposed-svn-hg" else "public")
    assert finding.message == f"1 {NOUNS.get(id, 'file')} is public."
    assert [place.label for place in finding.places] == ["/b (DB_PASSWORD; 1 B)"]
    assert rows(finding) == [
        {
            "path": "/b",
            "status": 200,
            "media_type": "text/plain",
            "size_bytes": 1,
            "is_exposed": True,
            "proof": "DB_PASSWORD",
        }
    ]


@pytest.mark.parametrize("id", BY_ID)
def test_nothing_exposed_passes_and_says_what_was_seen(id: str) -> None:
    finding = judged(id, ABSENT, PathAnswer("/d", 200, "text/html", 9000), PathAnswer("/e", 403))
    assert verdict(finding) == "pass"
    assert message(finding) == "No such file is public: /a (404), /d (200, but other content), /e (403)."
    assert [row["path"] for row in rows(finding)] == ["/a", "/d", "/e"]


@pytest.mark.parametrize("id", BY_ID)
def test_what_was_not_answered_is_not_passed(id: str) -> None:
    with pytest.raises(checks.Unanswered, match=r"1 path of 2 got no answer that could be judged \(/c: Nothing came"):
        judged(id, ABSENT, SILENT)


def test_several_files_are_counted() -> None:
    files = [PathAnswer(f"/{n}", 200, "", 2, is_exposed=True, excerpt="x") for n in range(12)]
    finding = judged("exposed-env", *files)
    assert isinstance(finding, Fail)
    assert finding.message == "12 files are public."
    assert len(finding.places) == 12


def test_a_page_without_scripts_of_its_own_has_no_source_maps() -> None:
    assert verdict(judged("exposed-source-maps")) == "n/a"


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["/.svn/entries"], "subversion"),
        (["/.hg/requires"], "mercurial"),
        (["/.svn/entries", "/.hg/requires"], "public"),
    ],
)
def test_version_control_systems_have_their_own_outcomes(paths: list[str], expected: str) -> None:
    answers = [PathAnswer(path, 200, "", 9, is_exposed=True, excerpt="x") for path in paths]
    assert outcome(judged("exposed-svn-hg", *answers)) == expected


@pytest.mark.parametrize(
    ("excerpts", "expected", "severity"),
    [
        ([HEALTH_ONLY], ("warn", "health-check"), LOW),  # exposed by default in Spring Boot
        (["links to env"], ("fail", "public"), HIGH),
        ([HEALTH_ONLY, "activeProfiles"], ("fail", "public"), HIGH),
    ],
)
def test_an_index_of_health_alone_is_a_hint(excerpts: list[str], expected: tuple[str, str], severity: Severity) -> None:
    answers = [PathAnswer("/actuator", 200, "", 9, is_exposed=True, excerpt=each) for each in excerpts]
    finding = judged("exposed-actuator", *answers)
    assert (verdict(finding), outcome(finding)) == expected
    assert severity_of(checks.exposed_actuator, finding) is severity
