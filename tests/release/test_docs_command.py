"""Tests that documented examples and tables match the command.

The documents are docs/command.md and README.md.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from website_scan.command import lists
from website_scan.command.arguments import FORMATS, is_list_command, parse_arguments, parser
from website_scan.command.configuration import KEYS, NAME
from website_scan.command.errors import EXIT_FAILED, EXIT_GATE, EXIT_USAGE
from website_scan.command.site_options import SiteOptions

ROOT = Path(__file__).resolve().parents[2]
DOC = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
SHOWN = DOC + (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = [
    shlex.split(line.partition(" > ")[0], comments=True)[1:]
    for line in re.findall(r"^(website-scan .*)$", SHOWN, re.MULTILINE)
]


def first_column(head: str) -> list[str]:
    """Return the first column of the table with this heading.

    Backticks are removed.
    """
    match = re.search(rf"^\| {head} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", DOC, re.MULTILINE)
    assert match, head
    return [row.split("|")[1].strip().strip("`") for row in match[1].splitlines()]


def write_journeys(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the documented journey to the files of the examples, and set its secrets."""
    (steps,) = re.findall(r"^```text\n(# log-in.txt\n.*?)^```$", DOC, re.MULTILINE | re.DOTALL)
    for path in (folder / "log-in.txt", folder / "menu.txt", folder / "journeys" / "log-in.txt"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(steps)
    monkeypatch.setenv("WEBSITE_SCAN_SECRET_USER", "ada@example.com")
    monkeypatch.setenv("WEBSITE_SCAN_SECRET_PASSWORD", "correct horse")


@pytest.mark.parametrize("arguments", EXAMPLES, ids=" ".join)
def test_every_example_is_accepted(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "sitemap.xml").write_text("https://example.com/shop\n")
    write_journeys(tmp_path, monkeypatch)
    if "--print-completion" in arguments:
        with pytest.raises(SystemExit) as exit_info:
            parse_arguments(arguments)
        assert not exit_info.value.code
    elif is_list_command(arguments):
        assert lists.parse_options(arguments, "website-scan").server
    else:
        assert parse_arguments(arguments).urls


def test_tables_of_options_are_complete() -> None:
    options = {option for action in parser("website-scan")._actions for option in action.option_strings} - {"-h"}
    assert set(first_column("option")) == options
    assert first_column("format") == list(FORMATS)
    assert first_column("exit status") == [str(status) for status in (0, EXIT_GATE, EXIT_USAGE, EXIT_FAILED)]


def test_configuration_example_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages, site, journeys, own = re.findall(r"^```toml\n(.*?)^```$", DOC, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).write_text(pages)
    assert len(parse_arguments([]).urls) == 2
    (tmp_path / NAME).write_text(site)
    assert parse_arguments([]).site == SiteOptions(max_pages=50, include=("/docs/*",), exclude=("*?page=*",))
    write_journeys(tmp_path, monkeypatch)
    (tmp_path / NAME).write_text(journeys)
    options = parse_arguments(["https://shop.example.com/"]).journeys
    assert options is not None
    assert [read.journey.title for read in options.read("")] == ["log-in", "Menu"]
    (tmp_path / NAME).write_text(own)
    (tmp_path / "budget.json").write_text('[{"timings": [{"metric": "speed-index", "budget": 4000}]}]')
    outcomes = {"own-imprint-is-linked.missing", "own-speed-index.above"}
    assert parse_arguments([]).fail_on_outcome == outcomes
    examples = (pages, site, journeys, own)
    documented = {"sitemap"}.union(*map(tomllib.loads, examples))
    assert documented == set(KEYS)
