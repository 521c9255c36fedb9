"""docs/compatibility.md: nothing that it calls stable is gone since the previous release."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from infrastructure.api.references import inlined
from tests.releases import PREVIOUS, ROOT, needs_previous

ENVIRONMENT = re.compile(r"^\| `([A-Z][A-Z_]+)` \|", re.MULTILINE)
OPTION = re.compile(r"^\| `(--[a-z-]+)` \|", re.MULTILINE)


def before(path: str) -> str:
    """Return a file of the previous release; empty if it had none."""
    shown = subprocess.run(["git", "show", f"{PREVIOUS}:{path}"], cwd=ROOT, capture_output=True, text=True, check=False)
    return shown.stdout


def now(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def parts(description: dict[str, Any]) -> Iterator[str]:
    """Yield the operations, parameters, statuses, events and fields of an OpenAPI description as lines."""
    description = inlined(description)
    for kind in ("paths", "webhooks"):
        for path, methods in description.get(kind, {}).items():
            for method, operation in methods.items():
                name = f"{method} {path}"
                yield name
                for each in operation.get("parameters", ()):
                    yield f"{name} parameter {each.get('name')}"
                for status in operation["responses"]:
                    yield f"{name} status {status}"
    for name, schema in description["components"]["schemas"].items():
        for field in schema.get("properties", ()):
            yield f"{name}.{field}"


def lost(old: set[str], new: set[str]) -> list[str]:
    return sorted(old - new)


@needs_previous
def test_no_operation_parameter_status_event_or_field_is_gone() -> None:
    old, new = ({*parts(yaml.safe_load(text))} for text in (before("openapi.yaml"), now("openapi.yaml")))
    assert len(old) > 100
    assert lost(old, new) == []


@needs_previous
def test_no_check_is_gone() -> None:
    path = "website_scan/checks.json"
    old, new = ({each["id"] for each in json.loads(text)["checks"]} for text in (before(path), now(path)))
    assert lost(old, new) == []


@needs_previous
@pytest.mark.parametrize(
    ("path", "pattern"),
    [("docs/operations.md", ENVIRONMENT), ("docs/command.md", OPTION)],
    ids=["variables", "options"],
)
def test_no_variable_or_option_is_gone(path: str, pattern: re.Pattern[str]) -> None:
    old = {*pattern.findall(before(path))}
    assert old
    assert lost(old, {*pattern.findall(now(path))}) == []


def test_what_is_gone_is_named() -> None:
    description: dict[str, Any] = yaml.safe_load(now("openapi.yaml"))
    whole = {*parts(description)}
    del description["paths"]["/v1/usage"]
    assert "get /v1/usage" in lost(whole, {*parts(description)})
