"""Tests that documents name only what exists.

Links, files, commands and figures exist, and the steps in CONTRIBUTING.md work.
"""

from __future__ import annotations

import ast
import importlib.metadata
import io
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tokenize
import tomllib
from pathlib import Path

from website_scan.environment import SECRETS, defaults
from website_scan.net.client import DEFAULT_LIMITS
from website_scan.net.targets import RESERVED_SUFFIXES

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MIB = 1024 * 1024
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NAMED_DOCUMENT = re.compile(r"(?<![\w/.:*<{-])(?:[\w.-]+/)*[\w.-]+\.md\b")


def display_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors(path: Path) -> set[str]:
    """Return the anchors that GitHub makes from a document's headings."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_have_existing_targets() -> None:
    dead_links = []
    for document in DOCUMENTS:
        text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if target.startswith(("http://", "https://")):
                continue
            path, _, anchor = target.partition("#")
            linked = (document.parent / path).resolve() if path else document
            if not linked.exists() or (anchor and anchor not in anchors(linked)):
                dead_links.append(f"{display_name(document)}: {target}")
    assert dead_links == []


def test_code_blocks_have_one_statement_per_line() -> None:
    joined_lines = []
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for language, block in re.findall(r"^```(\w*).*\n((?:.*\n)*?)```", text, re.MULTILINE):
            lines = block.splitlines()
            joined = [line for line in lines if line.count(" # ") > 1]
            if language == "mermaid" and not re.fullmatch(r"\w+ \w+", lines[0]):
                joined.append(lines[0])
            joined_lines += [f"{display_name(document)}: {line}" for line in joined]
    assert joined_lines == []


def test_mentioned_files_and_variables_exist() -> None:
    apps = "accounts|benchmarks|config|docs|reports|scans|static|templates|tests|webhooks"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    codes = {f"SCAN_{suffix}" for suffix in ("NOT_FOUND", "NOT_COMPLETE", "NOT_STARTED", "INTERRUPTED", "CANCELLED")}
    known_names = {*defaults, *codes, *SECRETS, *(f"{secret}_FILE" for secret in SECRETS)}
    unknown = []
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        paths = re.findall(rf"`((?:{apps})/[\w./*-]*)(?:: \w+)?`", text)
        targets = re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)
        variables = re.findall(r"`((?:SCAN|SECRET|DATABASE|REDIS|BASE|EMAIL|LOG)_[A-Z_]+)(?:=[^`]*)?`", text)
        missing = [path for path in paths if not list(ROOT.glob(path.rstrip("/")))]
        missing += [f"make {target}" for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)]
        missing += [variable for variable in variables if variable not in known_names]
        unknown += [f"{display_name(document)}: {name}" for name in missing]
    assert unknown == []


def prose_of_file(path: Path) -> str:
    """Return the prose in a document or a source file.

    The prose of a source file is its docstrings and comments.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    if path.suffix != ".py":
        return "\n".join(re.findall(r"#.*", text))
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, DOCUMENTED))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return "\n".join([*(ast.get_docstring(node) or "" for node in nodes), *comments])


def test_mentioned_documents_exist() -> None:
    patterns = ("*.md", "*.py", "*.toml", "*.yaml", "*.yml", "Makefile", "Dockerfile")
    tracked = subprocess.run(
        ["git", "ls-files", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    mentions = [
        (path, name)
        for path in map(ROOT.joinpath, tracked.stdout.split())
        if path.exists()
        for name in NAMED_DOCUMENT.findall(prose_of_file(path))
    ]
    folders = (ROOT, ROOT / "docs")
    missing = [
        f"{display_name(path)}: {name}"
        for path, name in mentions
        if not any((folder / name).exists() for folder in (*folders, path.parent))
    ]
    assert len(mentions) > 100
    assert missing == []


def test_decision_records_are_numbered() -> None:
    decisions = sorted((ROOT / "docs" / "adr").glob("0*.md"))
    assert [int(path.name[:4]) for path in decisions] == list(range(1, len(decisions) + 1))
    for path in decisions:
        text = path.read_text(encoding="utf-8")
        assert text.startswith(f"# {int(path.name[:4])}. ")
        assert len(text.splitlines()) < 65


def test_dependencies_have_a_reason_and_licence() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    entries = [*project["project"]["dependencies"], *project["dependency-groups"]["service"]]
    dependencies = {re.split(r"[^\w.-]", entry, maxsplit=1)[0] for entry in entries}
    table = (ROOT / "docs" / "adr" / "0002-dependencies.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z][\w, ()-]*) \| (.+?) \| (.+?) \|$", table, re.MULTILINE)
    listed = {name.strip() for names, *_ in rows for name in re.sub(r"\(.*?\)", "", names).split(",")} - {"package"}
    assert listed == dependencies
    for name in dependencies:
        meta = importlib.metadata.metadata(name)
        licences = " ".join(
            [
                *(meta.get_all("License-Expression") or ()),
                *(meta.get_all("License") or ()),
                *(meta.get_all("Classifier") or ()),
            ]
        )
        if name != "psycopg":  # psycopg was chosen although its licence is the LGPL.
            assert not re.search(r"\b[AL]?GPL|General Public", licences), name


def test_supported_python_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = re.findall(r"Python :: 3\.(\d+)", " ".join(project["classifiers"]))
    first, last = versions[0], versions[-1]
    assert project["requires-python"] == f">=3.{first}"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    candidates = re.search(r"^CANDIDATES := python3 (.*)$", makefile, re.MULTILINE)
    assert candidates
    assert candidates[1].split() == [f"python3.{minor}" for minor in reversed(versions)]
    assert f"not (3, {first}) <= sys.version_info[:2] <= (3, {last})" in makefile
    assert f"Python 3.{first} to 3.{last}" in makefile
    assert f"Python 3.{first} to 3.{last}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_documented_network_limits_match_the_code() -> None:
    text = " ".join((ROOT / "docs" / "security.md").read_text(encoding="utf-8").split())
    limits = DEFAULT_LIMITS
    assert f"{limits.requests} requests, {limits.requests_per_host} to a host, {limits.total_bytes // MIB} MiB" in text
    assert f"{limits.total_s:g} s, {limits.body_bytes // MIB} MiB on the wire" in text
    assert f"{limits.decoded_bytes // MIB} MiB unpacked, {limits.header_bytes // 1024} KiB of headers" in text
    assert limits.redirects == 10
    names = re.search(r"regardless of DNS: (.*?), single labels", text)
    assert names
    assert {name.strip(" `").lstrip(".") for name in names[1].split(",")} == RESERVED_SUFFIXES


def contributing_steps() -> tuple[str, str]:
    """Return the example check and its test from CONTRIBUTING.md.

    The section is "Add a check".
    """
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("\n## Add a check\n")[2].partition("\n## ")[0]
    check, test = re.findall(r"^   ```python\n(.*?)^   ```$", section, re.MULTILINE | re.DOTALL)
    return textwrap.dedent(check), textwrap.dedent(test)


def test_contributing_example_works(tmp_path: Path) -> None:
    """Add the example check as documented and run its test."""
    check, test = contributing_steps()
    for entry in ROOT.iterdir():
        if entry.name in ("website_scan", "tests"):
            shutil.copytree(entry, tmp_path / entry.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif entry.is_file():
            shutil.copy(entry, tmp_path)
        elif entry.name not in (".git", "var"):
            (tmp_path / entry.name).symlink_to(entry)
    tests = Path("tests", "website_scan", "security", "checks", "test_headers.py")
    for path, snippet in ((Path("website_scan", "security", "checks", "headers.py"), check), (tests, test)):
        with (tmp_path / path).open("a", encoding="utf-8") as file:
            file.write(f"\n\n{snippet}")

    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_XDIST_WORKER"}

    def run(*arguments: str) -> str:
        execution = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=environment | {"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert execution.returncode == 0, execution.stdout + execution.stderr
        return execution.stdout

    assert "| `via-version` |" in run("manage.py", "checks")
    assert "test_via_version" in run("-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "-rA", str(tests))
