"""Tests for the architecture, such as import layers."""

from __future__ import annotations

import ast
import graphlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest
from django.apps import apps
from importlinter import api as importlinter  # Importing this module configures the library.
from importlinter.application.use_cases import lint_imports

from config.celery import app as celery
from tests.project import PACKAGES, ROOT

MAX_LINES = 400
VAGUE_NAMES = {"base", "common", "core", "helper", "helpers", "misc", "shared", "util", "utils"}
# Django requires this name for a database engine.
NAMES_REQUIRED_BY_DJANGO = {"infrastructure/postgresql/base.py"}


def sources() -> Iterator[Path]:
    for app in PACKAGES:
        yield from (path for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts)


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def import_contracts() -> list[dict[str, object]]:
    options: list[dict[str, object]] = importlinter.read_configuration(str(ROOT / "pyproject.toml"))[
        "contracts_options"
    ]
    return options


def test_import_contracts_are_kept(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    is_contract_met = lint_imports("pyproject.toml", cache_dir=None, no_logo=True)
    report = capsys.readouterr().out
    assert is_contract_met, report
    assert f"Contracts: {len(import_contracts())} kept, 0 broken." in report


def string_constants(path: Path) -> Iterator[str]:
    if path.suffix == ".sql":
        yield path.read_text(encoding="utf-8")
    elif path.suffix == ".py":
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_sql_uses_no_tables_of_higher_packages() -> None:
    (layers,) = (contract["layers"] for contract in import_contracts() if contract["id"] == "packages")
    assert isinstance(layers, list)
    height = {package.strip(): -number for number, layer in enumerate(layers) for package in str(layer).split(":")}
    owners = {
        model._meta.db_table: model._meta.app_config.name
        for model in apps.get_models(include_auto_created=True)
        if model._meta.app_config and model._meta.app_config.name in height
    }
    assert owners["sites_audit"] == "sites"
    foreign = [
        f"{path.relative_to(ROOT)} names {word}"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        for text in string_constants(path)
        for word in re.findall(r"\w+", text)
        if word in owners and owners[word] != package and height[owners[word]] >= height[package]
    ]
    assert not foreign


def test_modules_have_no_import_cycles() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 100
    assert imports["scans.visits.claims"] >= {"scans.signals", "website_scan.result"}
    # The package imports its public names at their first use. These imports are for type checkers.
    imports["website_scan"] = set()
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_scan_engine_runs_without_django() -> None:
    """Check the import contract at run time.

    This includes the checks that the catalogue imports dynamically.
    """
    code = (
        "import sys\n"
        "from website_scan.run import scan\n"
        "from website_scan.catalogue import checks\n"
        "from website_scan.findings import ScanType\n"
        "assert all(checks(scan_type) for scan_type in ScanType)\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))\n"
    )
    execution = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert execution.returncode == 0, execution.stderr
    loaded = set(execution.stdout.split())
    assert "website_scan" in loaded
    assert not loaded & {"django", "rest_framework", "celery", "psycopg", "redis"}


VIEWS = [
    path
    for path in sources()
    if path.name in ("api.py", "views.py") or path.parent == ROOT / "accounts" / "pages"
    if not path.is_relative_to(ROOT / "config")  # Pages for operators belong to no organization.
]


@pytest.mark.parametrize("path", VIEWS, ids=module_name)
def test_views_access_rows_through_accounts(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        assert not (
            isinstance(node, ast.Attribute) and node.attr in ("objects", "_default_manager", "_base_manager")
        ), f"{path.name}:{node.lineno} asks a manager; accounts.access is the only way to a tenant's rows"
        if isinstance(node, ast.ImportFrom):
            assert node.module not in ("django.db", "infrastructure.postgresql.statements"), (
                f"{path.name}:{node.lineno} writes its own SQL"
            )


def test_tasks_called_by_name_exist() -> None:
    """Tasks of higher packages are called by name.

    A message with a wrong name would be lost in the queue.
    """
    celery.loader.import_default_modules()
    task_names = {name for name in celery.tasks if name.partition(".")[0] in PACKAGES}
    called = {
        node.args[0].value
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("queue.enqueue", "current_app.send_task")
        and isinstance(node.args[0], ast.Constant)
    }
    assert called == {
        "accounts.tasks.make_export",
        "infrastructure.tasks.delete_old",
        "reports.tasks.announce_mutes",
        "accounts.tasks.send_mails",
        "sites.tasks.compare_snapshots",
        "sites.tasks.copy_results",
        "sites.tasks.count_results",
        "sites.tasks.finish_run",
        "sites.tasks.insert_results",
        "sites.tasks.discover_pages",
        "scans.tasks.run_scan",
        "sites.tasks.start_entries",
        "sites.tasks.start_run",
        "webhooks.tasks.deliver",
    }
    scheduled = {entry["task"] for entry in celery.conf.beat_schedule.values()}
    routed = set(celery.conf.task_routes) - {"*"}
    assert called | routed | scheduled == task_names


def test_no_file_is_longer_than_400_lines() -> None:
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in sources()}
    long = {module_name(path): count for path, count in lines.items() if count > MAX_LINES}
    # A module of checks contains a whole category, so it may be longer.
    assert not {name for name in long if ".checks." not in name}


def test_modules_do_not_have_vague_names() -> None:
    for path in sources():
        if str(path.relative_to(ROOT)) not in NAMES_REQUIRED_BY_DJANGO:
            assert not VAGUE_NAMES & {path.stem, *path.relative_to(ROOT).parent.parts}, path


URL_PARSERS = {
    "website_scan/urls.py": {"ada_url"},
    "website_scan/written_urls.py": {"SplitResult", "urljoin", "urlsplit"},
}


def test_only_two_modules_parse_urls() -> None:
    """All modules must agree about the host of a URL.

    Attackers bypass an address check if two parsers disagree (docs/adr/0004).
    """
    parsers = {"ada_url", "urljoin", "urlparse", "urlsplit", "urldefrag", "SplitResult", "ParseResult"}
    paths = [*sources(), *(ROOT / "benchmarks").glob("*.py")]
    imported = {str(path.relative_to(ROOT)): parsers.intersection(_imported_names(path)) for path in paths}
    assert {name: names for name, names in imported.items() if names} == URL_PARSERS


def _imported_names(path: Path) -> Iterator[str]:
    """Yield all imported modules and names.

    Also yield the names used from `urllib.parse`.
    """
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if "urllib" in text or "ada_url" in text else ():
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.name for alias in node.names)
            yield (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("urllib.parse", "parse"):
            yield node.attr
