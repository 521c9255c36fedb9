"""Tests for `--categories`."""

from __future__ import annotations

from pathlib import Path

import pytest

from website_scan.command.arguments import parse_arguments
from website_scan.command.errors import WrongUsage
from website_scan.security_categories import SecurityCategory

URL = "https://example.com/"
MAIL, NAMES = SecurityCategory.MAIL, SecurityCategory.NAMES


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_option_chooses_categories() -> None:
    assert parse_arguments([URL]).categories is None
    assert parse_arguments([URL, "--categories", "names, mail"]).categories == (MAIL, NAMES)


@pytest.mark.parametrize("names", ["", "Mail", "mail,", "mail,tls", "mail names"])
def test_unknown_categories_are_refused_with_the_known_ones(names: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        parse_arguments([URL, "--categories", names])
    assert refused.value.code == 2
    assert "--categories: must be some of transport, headers, csp" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--type", "seo"], "--categories needs --type security."),
        (["--write-baseline", "known.json"], "--categories and --write-baseline exclude each other."),
    ],
)
def test_contradictions_are_refused(arguments: list[str], message: str) -> None:
    with pytest.raises(WrongUsage, match=message):
        parse_arguments([URL, "--categories", "mail", *arguments])


def test_file_limits_security_and_other_types_ignore_it(folder: Path) -> None:
    file = folder / "website-scan.toml"
    file.write_text('categories = ["mail"]\n')
    assert parse_arguments([URL]).categories == (MAIL,)
    assert parse_arguments([URL, "--categories", "names"]).categories == (NAMES,)
    assert parse_arguments([URL, "--type", "seo"]).categories is None
    file.write_text('categories = ["tls"]\n')
    with pytest.raises(WrongUsage, match=r"website-scan\.toml: categories: must be some of transport"):
        parse_arguments([URL])
