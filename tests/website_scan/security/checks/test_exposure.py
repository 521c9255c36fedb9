from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.website_scan.cast import message, outcome, rows, severity_of, verdict
from website_scan.catalogue import checks as catalogue
from website_scan.findings import HIGH, LOW, ScanType, Severity
from website_scan.outcomes import Fail, Fault, Verdict
from website_scan.security.checks import exposure as checks
from website_scan.security.evidence import Exposure, FolderExposure, PathAnswer, SourceMaps
from website_scan.security.file_signatures import HEALTH_ONLY_PROOF

CHECKS_BY_ID = {check.id: check for check in catalogue(ScanType.SECURITY) if check.category_id == "exposure"}
WARNINGS = {"exposed-api-docs", "exposed-source-maps"}
NOUNS = {
    "exposed-phpinfo": "page",
    "exposed-server-status": "page",
    "exposed-actuator": "endpoint",
    "exposed-api-docs": "API description",
    "exposed-source-maps": "source map",
}
ABSENT = PathAnswer("/a", 404, "text/html", 120)
OPEN = PathAnswer("/b", 200, "text/plain", 1, is_exposed=True, excerpt="DB_PASSWORD")
UNANSWERED = PathAnswer("/c", None, error="Nothing came.")


def judge(id: str, *answers: PathAnswer) -> Verdict:
    check: Callable[..., Any] = CHECKS_BY_ID[id].function
    folders = [FolderExposure({})] if id in ("exposed-git", "exposed-env") else []
    finding: Verdict = check(SourceMaps(answers) if id == "exposed-source-maps" else Exposure({id: answers}), *folders)
    return finding


@pytest.mark.parametrize("id", ["exposed-git", "exposed-env"])
def test_file_in_page_folder_is_reported(id: str) -> None:
    finding = CHECKS_BY_ID[id].function(Exposure({id: (ABSENT,)}), FolderExposure({id: (UNANSWERED, OPEN)}))
    assert (verdict(finding), message(finding)) == ("fail", "1 file is public.")


@pytest.mark.parametrize("id", CHECKS_BY_ID)
def test_exposed_file_is_reported_without_other_answers(id: str) -> None:
    finding = judge(id, ABSENT, UNANSWERED, OPEN)
    assert verdict(finding) == ("warn" if id in WARNINGS else "fail")
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


@pytest.mark.parametrize("id", CHECKS_BY_ID)
def test_pass_lists_status_of_each_path(id: str) -> None:
    finding = judge(id, ABSENT, PathAnswer("/d", 200, "text/html", 9000), PathAnswer("/e", 403))
    assert verdict(finding) == "pass"
    assert message(finding) == "No such file is public: /a (404), /d (200, but other content), /e (403)."
    assert [row["path"] for row in rows(finding)] == ["/a", "/d", "/e"]


@pytest.mark.parametrize("id", CHECKS_BY_ID)
def test_check_needs_answers_for_all_paths(id: str) -> None:
    with pytest.raises(
        checks.PathsUnanswered, match=r"1 path of 2 got no answer that could be judged \(/c: Nothing came"
    ):
        judge(id, ABSENT, UNANSWERED)


def test_message_counts_exposed_files() -> None:
    files = [PathAnswer(f"/{n}", 200, "", 2, is_exposed=True, excerpt="x") for n in range(12)]
    finding = judge("exposed-env", *files)
    assert isinstance(finding, Fail)
    assert finding.message == "12 files are public."
    assert len(finding.places) == 12


def test_source_maps_check_needs_own_scripts() -> None:
    assert verdict(judge("exposed-source-maps")) == "n/a"


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["/.svn/entries"], "subversion"),
        (["/.hg/requires"], "mercurial"),
        (["/.svn/entries", "/.hg/requires"], "public"),
    ],
)
def test_version_control_outcome_names_system(paths: list[str], expected: str) -> None:
    answers = [PathAnswer(path, 200, "", 9, is_exposed=True, excerpt="x") for path in paths]
    assert outcome(judge("exposed-svn-hg", *answers)) == expected


@pytest.mark.parametrize(
    ("excerpts", "expected", "severity"),
    [
        ([HEALTH_ONLY_PROOF], ("warn", "health-check"), LOW),  # Spring Boot exposes the health endpoint by default.
        (["links to env"], ("fail", "public"), HIGH),
        ([HEALTH_ONLY_PROOF, "activeProfiles"], ("fail", "public"), HIGH),
    ],
)
def test_actuator_health_endpoint_is_warning(
    excerpts: list[str], expected: tuple[str, str], severity: Severity
) -> None:
    answers = [PathAnswer("/actuator", 200, "", 9, is_exposed=True, excerpt=proof) for proof in excerpts]
    finding = judge("exposed-actuator", *answers)
    assert (verdict(finding), outcome(finding)) == expected
    assert severity_of(checks.exposed_actuator, finding) is severity
