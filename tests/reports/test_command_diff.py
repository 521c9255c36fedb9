"""Tests for the command `manage.py diff`, which compares reports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import run, run_here
from tests.results import elements
from tests.targets.sample import sample_site
from tests.targets.server import Answer, Site
from tests.website_scan.report.test_diff import document

PAGE = '<!doctype html><html lang=en><title>A bakery</title><main><h1>Hello</h1><nav><img src="/a.png">{}</nav></main>'


def report(states: dict[str, str], **options: Any) -> dict[str, Any]:
    """Return a report with the fields that `diff` reads.

    The format is that of `scan --format full`.
    """
    times = {"created_at": "2026-11-21T10:00:00Z", "completed_at": "2026-11-21T10:00:09Z"}
    others = {"id": "scan_" + "0" * 22, "type": "seo", "grade": "C", "status": "completed"}
    return document(states, **options) | times | others


def write_reports(folder: Path, name: str, *reports: object) -> str:
    path = folder / name
    path.write_text("\n".join(json.dumps(report) for report in reports), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with sample_site() as running:
        yield running


def test_two_real_scans_are_compared(site: Site, tmp_path: Path) -> None:
    """Scan a site, change it, scan it again, and compare."""
    paths = []
    for number, extra_markup in enumerate(("", '<a href="/x"><img src="/b.png"></a>')):
        site.routes["/page"] = Answer(PAGE.format(extra_markup))
        execution = run(
            *("scan", site.url_as("localhost") + "/page", "--type", "accessibility", "--format", "full"),
            *("--allow-network", "127.0.0.0/8"),
            SCAN_CA_BUNDLE=str(site.ca_file),
        )
        assert execution.returncode == 0, execution.stderr
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(execution.stdout, encoding="utf-8")
    worse = run("diff", *map(str, paths))
    assert (worse.returncode, worse.stderr) == (1, "")
    assert "  Worse\n    Images without alternative text" in worse.stdout
    assert "1 new place" in worse.stdout
    assert "      + html > body > main > nav > a > img" in worse.stdout
    better = run("diff", *map(str, reversed(paths)))
    assert (better.returncode, better.stderr) == (0, "")
    assert "  Better\n" in better.stdout
    same = run("diff", str(paths[0]), str(paths[0]))
    assert same.returncode == 0
    assert "the same." in same.stdout


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ({"a": "fail"}, {"a": "fail"}, 0),
        ({"a": "fail"}, {"a": "pass"}, 0),
        ({"a": "fail"}, {"a": "warn"}, 0),
        ({"a": "skipped"}, {"a": "fail"}, 0),
        ({"a": "pass"}, {"a": "warn"}, 1),
        ({"a": "warn"}, {"a": "fail"}, 1),
    ],
)
def test_new_finding_has_exit_status_1(
    tmp_path: Path, before: dict[str, str], after: dict[str, str], code: int
) -> None:
    files = write_reports(tmp_path, "before", report(before)), write_reports(tmp_path, "after", report(after))
    assert run_here("diff", *files).returncode == code


def test_json_output_has_the_format_of_the_api(tmp_path: Path) -> None:
    files = (
        write_reports(tmp_path, "before", report({"a": "pass"})),
        write_reports(tmp_path, "after", report({"a": "fail"})),
    )
    execution = run_here("diff", *files, "--format", "json")
    assert execution.returncode == 1
    difference = json.loads(execution.stdout)
    assert list(difference)[:3] == ["from", "to", "score"]
    assert [change["id"] for change in difference["new"]] == ["a"]


def test_files_are_compared_by_type_and_page(tmp_path: Path) -> None:
    first_url, second_url = "https://example.com/1", "https://example.com/2"
    before = report({"a": "fail"}, url=first_url), report({"a": "pass"}, url=second_url)
    after = report({"a": "fail"}, url=second_url), report({"a": "fail"}, url="https://example.com/3")
    execution = run_here("diff", write_reports(tmp_path, "before", *before), write_reports(tmp_path, "after", *after))
    assert execution.returncode == 1
    assert execution.stdout.startswith("https://example.com/2  seo  50 C → 50 C\n  New\n")
    assert "https://example.com/1  seo" not in execution.stdout
    assert "Only one file has a report of https://example.com/1 (seo)." in execution.stderr
    assert "Only one file has a report of https://example.com/3 (seo)." in execution.stderr


def test_single_reports_of_two_hosts_are_compared(tmp_path: Path) -> None:
    before, after = report({"a": "fail"}), report({"a": "fail"}, url="https://next.example.com/")
    execution = run_here("diff", write_reports(tmp_path, "before", before), write_reports(tmp_path, "after", after))
    assert execution.returncode == 0
    assert "Different pages are compared: https://example.com/ and https://next.example.com/." in execution.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is not a report"),
        ("{}", "is not a report"),
        ("[1]", "is not a report"),
        ("\x00", "is not a report"),
        (json.dumps(report({"a": "fail"}) | {"type": "seo", "error": {"code": "TIMEOUT"}}), "failed"),
        (json.dumps(report({}) | {"type": "security"}), "no report of the same type and page in common"),
        (json.dumps(report({}) | {"categories": 1}), "is not as `scan --format full` wrote it"),
        (json.dumps(report({}) | {"categories": [{"name": "a", "checks": [{"id": 1}]}]}), "wrote it"),
    ],
)
def test_incomparable_file_is_a_usage_error(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "after").write_text(content, encoding="utf-8")
    execution = run_here("diff", write_reports(tmp_path, "before", report({})), str(tmp_path / "after"))
    assert execution.returncode == 2
    assert message in execution.stderr
    assert "Traceback" not in execution.stderr


def test_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    execution = run("diff", write_reports(tmp_path, "before", report({})), str(tmp_path / "nowhere"))
    assert execution.returncode == 2
    assert "can't be read" in execution.stderr


def test_terminal_control_characters_are_escaped(tmp_path: Path) -> None:
    before, after = report({"a": "pass"}), report({"a": "fail"}, places={"a": elements("main")})
    hostile = json.loads(json.dumps(after).replace("main", r"\u001b[2J\u202e"))
    execution = run_here("diff", write_reports(tmp_path, "before", before), write_reports(tmp_path, "after", hostile))
    assert "\x1b" not in execution.stdout
    assert "\u202e" not in execution.stdout
    assert r"\x1b[2J\u202e" in execution.stdout
