from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from website_scan import catalogue
from website_scan.catalogue import CatalogueError
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


def a_check(id: str, name: str, parameters: str = "page: Page") -> str:
    return (
        f'@check("{id}", name="{name}", outcomes={{"missing": "No {name}"}}, severity=LOW, fix="Fix it.",\n'
        '    references=("CWE-1",))\n'
        f'def check_{id.replace("-", "_")}({parameters}) -> Verdict:\n    return Pass("Seen.")\n'
    )


class Planted:
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
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Planted]:
    package = f"planted_{tmp_path.name.replace('-', '_')}"
    root = tmp_path / package
    root.mkdir()
    (root / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(catalogue, "ENGINE", package)
    _forget()
    yield Planted(root)
    _forget()
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]


def _forget() -> None:
    for cached in (catalogue.checks, catalogue.probes, catalogue.caps, catalogue.catalogue_version):
        cached.cache_clear()


def test_checks_are_grouped_by_folder_and_ordered_by_category_weight(planted: Planted) -> None:
    planted.add(
        "security/checks/light.py",
        'CATEGORY = Category("Light", weight=5)\n' + a_check("one", "One"),
    )
    planted.add(
        "security/checks/heavy.py",
        'CATEGORY = Category("Heavy", weight=50)\n'
        + a_check("three", "Three")
        + a_check("two", "Two", "page: Page, document: Document | None"),
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


def test_check_imported_into_another_category_is_listed_once(planted: Planted) -> None:
    planted.add("seo/checks/a.py", 'CATEGORY = Category("A", weight=1)\n' + a_check("one", "One"))
    planted.add(
        "seo/checks/b.py",
        f'CATEGORY = Category("B", weight=1)\nfrom {planted.folder.name}.seo.checks.a import check_one\n',
    )
    assert [check.id for check in catalogue.checks(ScanType.SEO)] == ["one"]


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [(("one", "One"), ("one", "Other"), "id"), (("one", "One"), ("two", "One"), "name")],
)
def test_duplicate_check_id_or_name_in_a_scan_type_is_refused(
    planted: Planted, first: tuple[str, str], second: tuple[str, str], word: str
) -> None:
    planted.add("seo/checks/a.py", 'CATEGORY = Category("A", weight=1)\n' + a_check(*first))
    planted.add("seo/checks/b.py", 'CATEGORY = Category("B", weight=1)\n' + a_check(*second))
    with pytest.raises(CatalogueError, match=word):
        catalogue.checks(ScanType.SEO)


def test_checks_module_without_CATEGORY_is_refused(planted: Planted) -> None:
    planted.add("seo/checks/a.py", a_check("one", "One"))
    with pytest.raises(CatalogueError, match="CATEGORY"):
        catalogue.checks(ScanType.SEO)


@pytest.mark.parametrize("parameters", ["page: Page | Document", "page: 'list[int]'"])
def test_check_parameter_without_a_single_evidence_class_is_refused(planted: Planted, parameters: str) -> None:
    planted.add("seo/checks/a.py", 'CATEGORY = Category("A", weight=1)\n' + a_check("one", "One", parameters))
    with pytest.raises(CatalogueError):
        catalogue.checks(ScanType.SEO)


def test_probes_are_listed_by_the_evidence_class_that_they_return(planted: Planted) -> None:
    planted.add(
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
def test_invalid_probe_declaration_is_refused(planted: Planted, source: str) -> None:
    planted.add("page/probe.py", source)
    with pytest.raises(CatalogueError):
        catalogue.probes()


def test_plan_contains_only_probes_that_its_checks_need(planted: Planted) -> None:
    planted.add(
        "seo/checks/a.py",
        'CATEGORY = Category("A", weight=1)\n' + a_check("one", "One", "document: Document, clock: Clock"),
    )
    planted.add("security/checks/a.py", 'CATEGORY = Category("A", weight=1)\n' + a_check("two", "Two"))
    planted.add(
        "page/probe.py",
        "@probe()\ndef fetch(target: Target) -> Page: ...\n@probe()\ndef parse(page: Page) -> Document: ...\n",
    )
    assert {each.__name__ for each in plan(ScanType.SEO).probes} == {"Page", "Document"}
    assert {each.__name__ for each in plan(ScanType.SECURITY).probes} == {"Page"}


def test_check_that_needs_evidence_without_a_probe_is_refused(planted: Planted) -> None:
    planted.add("seo/checks/a.py", 'CATEGORY = Category("A", weight=1)\n' + a_check("one", "One"))
    planted.add("page/probe.py", "")
    with pytest.raises(CatalogueError, match="Page"):
        plan(ScanType.SEO)


def test_catalogue_version_changes_with_a_check(planted: Planted) -> None:
    category = 'CATEGORY = Category("A", weight=1)\n'
    planted.add("performance/checks/a.py", category + a_check("one", "One"))
    planted.add("security/checks/a.py", category + a_check("one", "One"))
    same = catalogue.catalogue_version(ScanType.PERFORMANCE)
    assert same == catalogue.catalogue_version(ScanType.SECURITY)
    planted.add("seo/checks/a.py", category + a_check("one", "One").replace("Fix it.", "Mend it."))
    planted.add("accessibility/checks/a.py", category.replace("1", "2") + a_check("one", "One"))
    others = {catalogue.catalogue_version(each) for each in (ScanType.SEO, ScanType.ACCESSIBILITY)}
    assert len({same, *others}) == 3


def test_catalogue_version_changes_with_the_scoring_rules(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    planted.add("seo/checks/a.py", 'CATEGORY = Category("A", weight=1)\n' + a_check("one", "One"))
    before = catalogue.catalogue_version(ScanType.SEO)
    monkeypatch.setattr(catalogue, "RULES_VERSION", RULES_VERSION + 1)
    _forget()
    assert catalogue.catalogue_version(ScanType.SEO) != before


# Tests of the real catalogue.


@pytest.mark.parametrize("scan_type", ScanType)
def test_check_ids_from_source_text_equal_those_of_loaded_checks(scan_type: ScanType) -> None:
    assert catalogue.check_ids(scan_type) == {check.id for check in catalogue.checks(scan_type)}


@pytest.mark.parametrize("scan_type", ScanType)
def test_every_check_of_the_catalogue_can_be_planned(scan_type: ScanType) -> None:
    planned = plan(scan_type)
    for each in planned.checks:
        assert each.id == each.id.lower()
        assert each.name
        assert each.fix
        assert each.references
        assert each.category.weight > 0
    if planned.checks:
        assert any(probe.essential for probe in planned.probes.values())
        assert Page in planned.probes
    assert not INITIAL & planned.probes.keys()
    assert catalogue.caps(scan_type)
    assert evidence_order(planned.probes).is_active() is bool(planned.probes)  # `prepare` raises for a cycle
