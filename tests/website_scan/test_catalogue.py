from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from website_scan import catalogue
from website_scan.catalogue import CatalogueError
from website_scan.check_ids import check_ids
from website_scan.findings import ScanType, Severity
from website_scan.page.evidence import Page
from website_scan.plan import INITIAL, evidence_order, plan
from website_scan.scoring import RULES_VERSION

HEAD = """
from __future__ import annotations
from website_scan.catalogue import Category, check, probe
from website_scan.page.evidence import Clock, Document, Page
from website_scan.findings import HIGH, LOW
from website_scan.net.targets import Target
from website_scan.outcomes import Verdict, Pass
"""


def build_check(id: str, name: str, parameters: str = "page: Page") -> str:
    return (
        f'@check("{id}", name="{name}", outcomes={{"missing": "No {name}"}}, severity=LOW, fix="Fix it.",\n'
        '    references=("CWE-1",))\n'
        f'def check_{id.replace("-", "_")}({parameters}) -> Verdict:\n    return Pass("Seen.")\n'
    )


class FakeCatalogue:
    """Catalogue of checks in a temporary package."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, path: str, source: str) -> None:
        file = self.folder / path
        for parent in reversed(file.relative_to(self.folder).parents):
            (self.folder / parent).mkdir(exist_ok=True)
            (self.folder / parent / "__init__.py").touch()
        if file.parent.name == "checks":
            (file.parents[1] / "caps.py").write_text("CAPS = ()\n")
        file.write_text(HEAD + source)


@pytest.fixture
def fake_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCatalogue]:
    package = f"planted_{tmp_path.name.replace('-', '_')}"
    root = tmp_path / package
    root.mkdir()
    (root / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(catalogue, "ENGINE", package)
    _forget_modules()
    yield FakeCatalogue(root)
    _forget_modules()
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]


def _forget_modules() -> None:
    for cached in (catalogue.checks, catalogue.probes, catalogue.caps, catalogue.catalogue_version):
        cached.cache_clear()


def test_checks_are_ordered_by_category_weight(fake_catalogue: FakeCatalogue) -> None:
    fake_catalogue.add(
        "security/checks/light.py",
        'CATEGORY = Category("Light", weight=5)\n' + build_check("one", "One"),
    )
    fake_catalogue.add(
        "security/checks/heavy.py",
        'CATEGORY = Category("Heavy", weight=50)\n'
        + build_check("three", "Three")
        + build_check("two", "Two", "page: Page, document: Document | None"),
    )
    listed_checks = catalogue.checks(ScanType.SECURITY)
    assert [(check.category_id, check.id) for check in listed_checks] == [
        ("heavy", "three"),
        ("heavy", "two"),
        ("light", "one"),
    ]
    two = listed_checks[1]
    assert (two.name, two.severity, two.fix, two.references) == ("Two", Severity.LOW, "Fix it.", ("CWE-1",))
    assert two.category.name == "Heavy"
    assert [(need.parameter, need.evidence.__name__, need.optional) for need in two.needs] == [
        ("page", "Page", False),
        ("document", "Document", True),
    ]


def test_imported_check_is_listed_once(fake_catalogue: FakeCatalogue) -> None:
    fake_catalogue.add("seo/checks/a.py", 'CATEGORY = Category("A", weight=1)\n' + build_check("one", "One"))
    fake_catalogue.add(
        "seo/checks/b.py",
        f'CATEGORY = Category("B", weight=1)\nfrom {fake_catalogue.folder.name}.seo.checks.a import check_one\n',
    )
    assert [check.id for check in catalogue.checks(ScanType.SEO)] == ["one"]


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [(("one", "One"), ("one", "Other"), "id"), (("one", "One"), ("two", "One"), "name")],
)
def test_duplicate_check_id_is_refused(
    fake_catalogue: FakeCatalogue, first: tuple[str, str], second: tuple[str, str], word: str
) -> None:
    fake_catalogue.add("seo/checks/a.py", 'CATEGORY = Category("A", weight=1)\n' + build_check(*first))
    fake_catalogue.add("seo/checks/b.py", 'CATEGORY = Category("B", weight=1)\n' + build_check(*second))
    with pytest.raises(CatalogueError, match=word):
        catalogue.checks(ScanType.SEO)


def test_module_without_CATEGORY_is_refused(fake_catalogue: FakeCatalogue) -> None:
    fake_catalogue.add("seo/checks/a.py", build_check("one", "One"))
    with pytest.raises(CatalogueError, match="CATEGORY"):
        catalogue.checks(ScanType.SEO)


@pytest.mark.parametrize("parameters", ["page: Page | Document", "page: 'list[int]'"])
def test_check_parameter_has_one_evidence_class(fake_catalogue: FakeCatalogue, parameters: str) -> None:
    fake_catalogue.add(
        "seo/checks/a.py", 'CATEGORY = Category("A", weight=1)\n' + build_check("one", "One", parameters)
    )
    with pytest.raises(CatalogueError):
        catalogue.checks(ScanType.SEO)


def test_probes_are_listed_by_evidence_class(fake_catalogue: FakeCatalogue) -> None:
    fake_catalogue.add(
        "page/probe.py",
        "@probe(essential=True)\ndef fetch(target: Target) -> Page: ...\n"
        "@probe()\ndef parse(page: Page) -> Document: ...\n",
    )
    probes = catalogue.probes()
    assert {provides.__name__: (probe.name, probe.essential) for provides, probe in probes.items()} == {
        "Page": ("fetch", True),
        "Document": ("parse", False),
    }


@pytest.mark.parametrize(
    "source",
    [
        "@probe()\ndef one(target: Target) -> Page: ...\n@probe()\ndef two(target: Target) -> Page: ...\n",
        "@probe()\ndef one(target: Target) -> Page | None: ...\n",
        "@probe()\ndef one(target: Target): ...\n",
    ],
)
def test_invalid_probe_declaration_is_refused(fake_catalogue: FakeCatalogue, source: str) -> None:
    fake_catalogue.add("page/probe.py", source)
    with pytest.raises(CatalogueError):
        catalogue.probes()


def test_plan_contains_only_needed_probes(fake_catalogue: FakeCatalogue) -> None:
    fake_catalogue.add(
        "seo/checks/a.py",
        'CATEGORY = Category("A", weight=1)\n' + build_check("one", "One", "document: Document, clock: Clock"),
    )
    fake_catalogue.add("security/checks/a.py", 'CATEGORY = Category("A", weight=1)\n' + build_check("two", "Two"))
    fake_catalogue.add(
        "page/probe.py",
        "@probe()\ndef fetch(target: Target) -> Page: ...\n@probe()\ndef parse(page: Page) -> Document: ...\n",
    )
    assert {probe.__name__ for probe in plan(ScanType.SEO).probes} == {"Page", "Document"}
    assert {probe.__name__ for probe in plan(ScanType.SECURITY).probes} == {"Page"}


def test_check_without_probe_is_refused(fake_catalogue: FakeCatalogue) -> None:
    fake_catalogue.add("seo/checks/a.py", 'CATEGORY = Category("A", weight=1)\n' + build_check("one", "One"))
    fake_catalogue.add("page/probe.py", "")
    with pytest.raises(CatalogueError, match="Page"):
        plan(ScanType.SEO)


def test_version_changes_with_a_check(fake_catalogue: FakeCatalogue) -> None:
    category = 'CATEGORY = Category("A", weight=1)\n'
    fake_catalogue.add("performance/checks/a.py", category + build_check("one", "One"))
    fake_catalogue.add("security/checks/a.py", category + build_check("one", "One"))
    same = catalogue.catalogue_version(ScanType.PERFORMANCE)
    assert same == catalogue.catalogue_version(ScanType.SECURITY)
    fake_catalogue.add("seo/checks/a.py", category + build_check("one", "One").replace("Fix it.", "Mend it."))
    fake_catalogue.add("accessibility/checks/a.py", category.replace("1", "2") + build_check("one", "One"))
    others = {catalogue.catalogue_version(scan_type) for scan_type in (ScanType.SEO, ScanType.ACCESSIBILITY)}
    assert len({same, *others}) == 3


def test_version_changes_with_scoring_rules(fake_catalogue: FakeCatalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_catalogue.add("seo/checks/a.py", 'CATEGORY = Category("A", weight=1)\n' + build_check("one", "One"))
    before = catalogue.catalogue_version(ScanType.SEO)
    monkeypatch.setattr(catalogue, "RULES_VERSION", RULES_VERSION + 1)
    _forget_modules()
    assert catalogue.catalogue_version(ScanType.SEO) != before


# These tests use the real catalogue.


@pytest.mark.parametrize("scan_type", ScanType)
def test_source_text_has_loaded_check_ids(scan_type: ScanType) -> None:
    assert check_ids(scan_type) == {check.id for check in catalogue.checks(scan_type)}


@pytest.mark.parametrize("scan_type", ScanType)
def test_every_check_can_be_planned(scan_type: ScanType) -> None:
    planned = plan(scan_type)
    for planned_check in planned.checks:
        assert planned_check.id == planned_check.id.lower()
        assert planned_check.name
        assert planned_check.fix
        assert planned_check.references
        assert planned_check.category.weight > 0
    if planned.checks:
        assert any(probe.essential for probe in planned.probes.values())
        assert Page in planned.probes
    assert not INITIAL & planned.probes.keys()
    assert catalogue.caps(scan_type)
    # The method `prepare` raises an error for a cycle.
    assert evidence_order(planned.probes).is_active() is bool(planned.probes)
