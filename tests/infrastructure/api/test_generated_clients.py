"""Client generators process openapi.yaml without warnings."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.generated import DESCRIPTION, description, generate_client


def test_a_python_client_is_generated_without_a_warning(tmp_path: Path) -> None:
    said = generate_client(tmp_path / "client")
    assert "arning" not in said
    described = description()["paths"].values()
    operations = {operation["operationId"] for methods in described for operation in methods.values()}
    modules = {path.stem for path in (tmp_path / "client" / "api").glob("*/*.py")} - {"__init__"}
    assert modules == operations


@pytest.mark.skipif(
    shutil.which("openapi-typescript") is None,
    reason="openapi-typescript is not installed: npm install --global openapi-typescript",
)
def test_types_for_typescript_are_generated_without_a_warning(tmp_path: Path) -> None:
    program = shutil.which("openapi-typescript")
    assert program is not None
    ran = subprocess.run(
        [program, DESCRIPTION, "--output", tmp_path / "api.d.ts"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "⚠" not in ran.stdout + ran.stderr
    types = (tmp_path / "api.d.ts").read_text(encoding="utf-8")
    assert "create_scan: {" in types
