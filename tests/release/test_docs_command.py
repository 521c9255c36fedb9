"""docs/command.md and README.md: their examples and tables match the command."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from website_scan.command import lists
from website_scan.command.arguments import FORMATS, is_about_lists, options_from, parser
from website_scan.command.configuration import KEYS, NAME
from website_scan.command.errors import EXIT_FAILED, EXIT_GATE, EXIT_USAGE

ROOT = Path(__file__).resolve().parents[2]
DOC = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
SHOWN = DOC + (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = [
    shlex.split(line.partition(" > ")[0], comments=True)[1:]
    for line in re.findall(r"^(website-scan .*)$", SHOWN, re.MULTILINE)
]


def column(head: str) -> list[str]:
    """Return the first column of the table with this heading, without backticks."""
    match = re.search(rf"^\| {head} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", DOC, re.MULTILINE)
    assert match, head
    return [row.split("|")[1].strip().strip("`") for row in match[1].splitlines()]


@pytest.mark.parametrize("arguments", EXAMPLES, ids=" ".join)
def test_every_example_is_accepted(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if "--print-completion" in arguments:
        with pytest.raises(SystemExit) as exit_info:
            options_from(arguments)
        assert not exit_info.value.code
    elif is_about_lists(arguments):
        assert lists.parse_options(arguments, "website-scan").server
    else:
        assert options_from(arguments).urls


def test_tables_of_options_formats_and_exit_statuses_are_complete() -> None:
    options = {option for action in parser("website-scan")._actions for option in action.option_strings} - {"-h"}
    assert set(column("option")) == options
    assert column("format") == list(FORMATS)
    assert column("exit status") == [str(status) for status in (0, EXIT_GATE, EXIT_USAGE, EXIT_FAILED)]


def test_documented_configuration_file_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (configuration,) = re.findall(r"^```toml\n(.*?)^```$", DOC, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).write_text(configuration)
    assert len(options_from([]).urls) == 2
    assert set(tomllib.loads(configuration)) == set(KEYS)
