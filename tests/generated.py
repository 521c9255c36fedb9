"""openapi.yaml, and a Python client generated from it."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
DESCRIPTION = ROOT / "openapi.yaml"


@cache
def description() -> dict[str, Any]:
    """Load openapi.yaml with libyaml: PyYAML's own parser takes a second, in each process that collects tests."""
    return dict(yaml.load(DESCRIPTION.read_text(encoding="utf-8"), yaml.CSafeLoader))


def generate_client(folder: Path) -> str:
    """Generate the client package in `folder`, which is created; return the generator's output. Warnings are errors."""
    programs = Path(sys.executable).parent
    ran = subprocess.run(
        [
            *(programs / "openapi-python-client", "generate", "--meta", "none", "--fail-on-warning"),
            *("--path", DESCRIPTION, "--output-path", folder),
        ],
        # The generator formats its output with ruff.
        env=os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr
