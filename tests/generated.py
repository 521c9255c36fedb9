"""openapi.yaml and its examples."""

from __future__ import annotations

from collections.abc import Iterator
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


def examples() -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Yield each example with its operation and schema."""
    for methods in description()["paths"].values():
        for operation in methods.values():
            contents = [operation.get("requestBody", {}).get("content", {})]
            contents += [response.get("content", {}) for response in operation["responses"].values()]
            for content in contents:
                for each in content.values():
                    if "example" in each:
                        yield operation["operationId"], each["schema"], each["example"]
