"""Tests that `make browser` prints which browser scans will use."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_make_browser_names_the_browser() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^browser:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert recipe is not None
    assert recipe[1].splitlines()[-1] == "\t@$(BIN)/python -c '$(BROWSER)'"
    code = re.search(r"^BROWSER := (.*)$", makefile, re.MULTILINE)
    assert code is not None
    command = [sys.executable, "-c", code[1]]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(r"Scans use /\S+ from now on; restart the service if it is running.\n", output)
