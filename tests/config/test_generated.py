"""What is generated and committed is what the code would generate: otherwise `make docs` was forgotten."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("path", "command", "options"),
    [
        ("openapi.yaml", "spectacular", {"validate": True, "fail_on_warn": True}),
        ("docs/checks.md", "checks", {}),
    ],
)
def test_the_committed_file_is_what_the_code_says(path: str, command: str, options: dict[str, object]) -> None:
    output = StringIO()
    call_command(command, stdout=output, **options)
    committed = (ROOT / path).read_text(encoding="utf-8")
    assert committed.strip() == output.getvalue().strip(), f"{path} is not up to date: run `make docs`"


def test_make_docs_writes_all_of_them() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "spectacular --file openapi.yaml" in makefile
    assert "checks > docs/checks.md" in makefile
