"""Tests for `--width` and `--color-scheme`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.command_line import run
from tests.targets.server import Answer, Site
from website_scan.command.arguments import parse_arguments
from website_scan.command.errors import WrongUsage
from website_scan.viewing import Viewing

URL = "https://example.com/"
PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>Tea</title><meta name=viewport "
    "content='width=device-width'><style>.middle { display: none } @media (min-width: 700px) and (max-width: 900px)"
    " { .middle { display: block } }</style><main><h1>Tea</h1><input class=middle name=q></main>"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "viewing"),
    [
        ((), None),
        (("--width", "800", "--width", "412"), Viewing((800, 412))),
        (("--color-scheme", "dark"), Viewing(color_scheme="dark")),
        (("--width=320", "--color-scheme=dark"), Viewing((320,), "dark")),
    ],
)
def test_options_choose_the_viewing(arguments: tuple[str, ...], viewing: Viewing | None) -> None:
    assert parse_arguments([URL, *arguments]).viewing == viewing


@pytest.mark.parametrize(
    "widths", [("319",), ("2561",), ("800", "800"), ("400", "500", "600", "700"), ("-800",), ("0",)]
)
def test_wrong_widths_are_refused_in_words(widths: tuple[str, ...]) -> None:
    with pytest.raises(WrongUsage, match="--width: use 1 to 3 different widths from 320 to 2560 pixels"):
        parse_arguments([URL, *(f"--width={width}" for width in widths)])


def test_file_chooses_the_viewing(folder: Path) -> None:
    file = folder / "website-scan.toml"
    file.write_text('widths = [800, 412]\ncolor-scheme = "dark"\n')
    assert parse_arguments([URL]).viewing == Viewing((800, 412), "dark")
    # The command line replaces the list of the file.
    assert parse_arguments([URL, "--width", "1440"]).viewing == Viewing((1440,), "dark")
    file.write_text("widths = 800\n")
    assert parse_arguments([URL]).viewing == Viewing((800,))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("widths = [1]", "widths: must be 1 to 3 different widths from 320 to 2560 pixels"),
        ("widths = []", "widths: must be 1 to 3 different widths"),
        ('widths = ["800"]', "widths: must be 1 to 3 different widths"),
        ("widths = true", "widths: must be 1 to 3 different widths"),
        ('color-scheme = "sepia"', "color-scheme: must be one of light, dark"),
    ],
)
def test_wrong_viewing_in_the_file_is_refused(folder: Path, content: str, complaint: str) -> None:
    (folder / "website-scan.toml").write_text(f"{content}\n")
    with pytest.raises(WrongUsage, match=re.escape(complaint)):
        parse_arguments([URL])


def test_command_judges_the_chosen_width() -> None:
    with Site({"/": Answer(PAGE, headers={"Content-Type": "text/html"})}) as site:
        arguments = ("scan", f"{site.url}/", "--type", "accessibility", "--format", "full")
        reports = [
            json.loads(run(*arguments, *options, SCAN_BROWSER="auto").stdout) for options in ((), ("--width", "800"))
        ]
    usual, chosen = (
        {check["id"] for part in report["categories"] for check in part["checks"] if check["status"] == "fail"}
        for report in reports
    )
    assert ("label" in usual, "label" in chosen) == (False, True)
    assert [report.get("widths") for report in reports] == [None, [800]]
