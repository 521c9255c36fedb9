"""The project's own packages, as pyproject.toml names them, and its root."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES: tuple[str, ...] = tuple(_PYPROJECT["tool"]["importlinter"]["root_packages"])
