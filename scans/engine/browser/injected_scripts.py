"""The scripts that are injected into a page to ask it, as they lie beside this file."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def script(name: str) -> str:
    """One of them, without its comments."""
    lines = (Path(__file__).parent / name).read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("//")).strip()


@cache
def expression(name: str) -> str:
    """One that is a single expression, with what it uses put before it."""
    # A function of its own, so that asking twice does not declare the same names twice.
    return "(() => {\n" + script("selector.js") + "\nreturn " + script(name) + "\n})()"
