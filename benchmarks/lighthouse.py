"""Lighthouse beside us: from PATH as `lighthouse`, else through npm's `npx`; nothing where there is neither."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from website_scan.net.browser import find_browser

LIMIT_S = 180.0
CHROME = "--headless --no-sandbox --disable-gpu --disable-background-networking --ignore-certificate-errors"


def command() -> Sequence[str]:
    """Return the command that runs Lighthouse, empty if there is none; then say so."""
    if found := shutil.which("lighthouse"):
        return [found]
    if found := shutil.which("npx"):
        return [found, "--yes", "lighthouse"]
    print("Neither lighthouse nor npx is on PATH: our own figures stand alone.", file=sys.stderr)
    return []


def judge(lighthouse: Sequence[str], url: str, category: str, path: Path) -> None:
    """Write Lighthouse's report of a category, of all if it is empty, in the format of the path's ending.

    As its defaults are: a phone on a slow connection. Raises CalledProcessError and TimeoutExpired.
    """
    options = [f"--only-categories={category}"] if category else []
    options += [f"--output={path.suffix.removeprefix('.')}", f"--output-path={path}", "--quiet"]
    subprocess.run(
        [*lighthouse, url, *options, f"--chrome-flags={CHROME}"],
        env=little_environment() | {"CHROME_PATH": str(find_browser("auto"))},
        check=True,
        timeout=LIMIT_S,
    )


def score(lighthouse: Sequence[str], url: str, category: str) -> int:
    """Return Lighthouse's score of a category, 0 to 100."""
    with TemporaryDirectory(prefix="wss-lighthouse-") as folder:
        path = Path(folder) / "report.json"
        judge(lighthouse, url, category, path)
        return round(100 * json.loads(path.read_text())["categories"][category]["score"])


def little_environment() -> dict[str, str]:
    """Return what programs beside us need of the environment."""
    return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
