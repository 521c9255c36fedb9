"""openapi.yaml, and a Python client as a consumer generates it from that."""

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
    """What the file says, read by libyaml: PyYAML's own parser takes a second, in each process that collects tests."""
    return dict(yaml.load(DESCRIPTION.read_text(encoding="utf-8"), yaml.CSafeLoader))


def as_json_schema(value: Any) -> Any:
    """OpenAPI 3.0 says `nullable` where JSON Schema has a type."""
    if isinstance(value, list):
        return [as_json_schema(each) for each in value]
    if not isinstance(value, dict):
        return value
    schema = {name: as_json_schema(each) for name, each in value.items() if name != "nullable"}
    return {"anyOf": [schema, {"type": "null"}]} if value.get("nullable") is True else schema


def generate_client(folder: Path) -> str:
    """Write the package into `folder`, which is made; returns what the generator said. Warnings are errors."""
    programs = Path(sys.executable).parent
    ran = subprocess.run(
        [
            *(programs / "openapi-python-client", "generate", "--meta", "none", "--fail-on-warning"),
            *("--path", DESCRIPTION, "--output-path", folder),
        ],
        # It formats what it writes with ruff.
        env=os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr
