"""The command `manage.py diff`: diff of reports on the command line."""

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
    """Return a document of `scan --format full`, with only the fields that the command reads."""
    times = {"created_at": "2026-11-21T10:00:00Z", "completed_at": "2026-11-21T10:00:09Z"}
    more = {"id": "scan_" + "0" * 22, "type": "seo", "grade": "C", "status": "completed"}
    return document(states, **options) | times | more


def written(folder: Path, name: str, *documents: object) -> str:
    path = folder / name
    path.write_text("\n".join(json.dumps(each) for each in documents), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with sample_site() as running:
        yield running


def test_two_scans_of_a_site_are_compared(site: Site, tmp_path: Path) -> None:
    """End to end: scan, change the site, scan again, compare."""
    paths = []
    for number, more in enumerate(("", '<a href="/x"><img src="/b.png"></a>')):
        site.routes["/page"] = Answer(PAGE.format(more))
        ran = run(
            *("scan", site.url_as("localhost") + "/page", "--type", "accessibility", "--format", "full"),
            *("--allow-network", "127.0.0.0/8"),
            SCAN_CA_BUNDLE=str(site.ca_file),
        )
        assert ran.returncode == 0, ran.stderr
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(ran.stdout, encoding="utf-8")
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
def test_the_exit_status_says_whether_anything_is_new_or_worse(
    tmp_path: Path, before: dict[str, str], after: dict[str, str], code: int
) -> None:
    files = written(tmp_path, "before", report(before)), written(tmp_path, "after", report(after))
    assert run_here("diff", *files).returncode == code


def test_as_json_it_is_the_answer_of_the_api(tmp_path: Path) -> None:
    files = written(tmp_path, "before", report({"a": "pass"})), written(tmp_path, "after", report({"a": "fail"}))
    ran = run_here("diff", *files, "--format", "json")
    assert ran.returncode == 1
    found = json.loads(ran.stdout)
    assert list(found)[:3] == ["from", "to", "score"]
    assert [each["id"] for each in found["new"]] == ["a"]


def test_files_of_several_reports_are_compared_by_type_and_page(tmp_path: Path) -> None:
    one, two = "https://example.com/1", "https://example.com/2"
    before = report({"a": "fail"}, url=one), report({"a": "pass"}, url=two)
    after = report({"a": "fail"}, url=two), report({"a": "fail"}, url="https://example.com/3")
    ran = run_here("diff", written(tmp_path, "before", *before), written(tmp_path, "after", *after))
    assert ran.returncode == 1
    assert ran.stdout.startswith("https://example.com/2  seo  50 C → 50 C\n  New\n")
    assert "https://example.com/1  seo" not in ran.stdout
    assert "Only one file has a report of https://example.com/1 (seo)." in ran.stderr
    assert "Only one file has a report of https://example.com/3 (seo)." in ran.stderr


def test_a_site_is_compared_with_its_next_version_on_another_host(tmp_path: Path) -> None:
    before, after = report({"a": "fail"}), report({"a": "fail"}, url="https://next.example.com/")
    ran = run_here("diff", written(tmp_path, "before", before), written(tmp_path, "after", after))
    assert ran.returncode == 0
    assert "Different pages are compared: https://example.com/ and https://next.example.com/." in ran.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is no report"),
        ("{}", "is no report"),
        ("[1]", "is no report"),
        ("\x00", "is no report"),
        (json.dumps(report({"a": "fail"}) | {"type": "seo", "error": {"code": "TIMEOUT"}}), "failed"),
        (json.dumps(report({}) | {"type": "security"}), "no report of the same type and page in common"),
        (json.dumps(report({}) | {"categories": 1}), "is not as `scan --format full` wrote it"),
        (json.dumps(report({}) | {"categories": [{"name": "a", "checks": [{"id": 1}]}]}), "wrote it"),
    ],
)
def test_what_cannot_be_compared_is_wrong_usage(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "after").write_text(content, encoding="utf-8")
    ran = run_here("diff", written(tmp_path, "before", report({})), str(tmp_path / "after"))
    assert ran.returncode == 2
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_file_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    ran = run("diff", written(tmp_path, "before", report({})), str(tmp_path / "nowhere"))
    assert ran.returncode == 2
    assert "can't be read" in ran.stderr


def test_what_a_terminal_obeys_is_shown(tmp_path: Path) -> None:
    before, after = report({"a": "pass"}), report({"a": "fail"}, places={"a": elements("main")})
    changed = json.loads(json.dumps(after).replace("main", r"\u001b[2J\u202e"))
    ran = run_here("diff", written(tmp_path, "before", before), written(tmp_path, "after", changed))
    assert "\x1b" not in ran.stdout
    assert "\u202e" not in ran.stdout
    assert r"\x1b[2J\u202e" in ran.stdout
