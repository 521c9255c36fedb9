"""Tests for `manage.py checks`, which prints the catalogue."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(("options", "document"), [((), "checks.md"), (("--format", "json"), "checks.json")])
def test_catalogue_is_printed_without_django(options: tuple[str, ...], document: str) -> None:
    code = (
        "import sys; sys.modules |= dict.fromkeys(('django', 'redis', 'psycopg'))\n"
        "import manage; sys.argv[0] = 'manage.py'; manage.main()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, "checks", *options], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == (ROOT / "docs" / document).read_text(encoding="utf-8").strip()
