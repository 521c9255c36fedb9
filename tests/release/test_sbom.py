"""Tests that `make sbom` lists all locked packages with their hashes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.release.test_containers import ROOT

LOCKS = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("requirements/*.txt") if path.stem != "dev")
RECIPE = re.search(r"^sbom:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS)
def test_bill_of_materials_lists_hashes(tmp_path: Path, lock: str) -> None:
    assert RECIPE
    path = tmp_path / "sbom.json"
    options = re.search(r"cyclonedx-py (.*) --output-file", RECIPE[1].replace("\\\n", " "))
    assert options
    arguments = [word.replace("$(LOCK)", lock) for word in options[1].split()]
    command = [sys.executable, "-m", "cyclonedx_py", *arguments, "--output-file", str(path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    text = path.read_text(encoding="utf-8")
    bill = json.loads(text)
    assert JsonStrictValidator(SchemaVersion.from_version(bill["specVersion"])).validate_str(text) is None
    locked = set(re.findall(r"^([\w.-]+)==([\w.+-]+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE))
    listed_packages = {(package["name"], package["version"]) for package in bill["components"]}
    assert {(name.partition("[")[0], version) for name, version in locked} == listed_packages
    assert bill["metadata"]["component"]["name"] == "website-scan"
    assert all(reference["hashes"] for package in bill["components"] for reference in package["externalReferences"][:1])
    assert str(ROOT) not in text
