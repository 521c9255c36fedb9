"""Distributions with plug-ins, which tests install into a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

HEAD = """
from dataclasses import dataclass
from website_scan.plugins import *
from website_scan.plugins import Category, check, probe
from website_scan.plugins.evidence import *

CATEGORY = Category("{category}", "{type}")

def declared(id, **values):
    texts = dict(name=f"{{id}} is fine", outcomes={{"bad": f"{{id}} is not fine"}}, severity="medium", fix="Mend it.")
    return check(id, **texts | values)
"""


def module(body: str, category: str = "Checks of Acme", type: str = "seo") -> str:
    """Return the source of a module with the checks in `body`. `declared` there is `check` with default texts."""
    return HEAD.format(category=category, type=type) + dedent(body)


def install(
    folder: Path,
    checks: Mapping[str, str],
    *,
    formats: Mapping[str, str] | None = None,
    name: str = "acme-scan",
    version: str = "1.2",
) -> None:
    """Write a distribution into the folder.

    `checks` has the source of the module of each entry point by its name; `formats` has the sources of functions
    `render(exports)` in the same way.
    """
    lines = []
    for group, sources in (("checks", checks), ("formats", formats or {})):
        lines.append(f"[website_scan.{group}]")
        for entry_point, source in sources.items():
            module_name = f"{group}_of_{entry_point.replace('-', '_')}"
            (folder / f"{module_name}.py").write_text(source)
            lines.append(f"{entry_point} = {module_name}{':render' if group == 'formats' else ''}")
    metadata = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (metadata / "entry_points.txt").write_text("\n".join(lines))
