"""Plug-ins in the library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import website_scan
from tests.targets.server import Answer, Site
from tests.website_scan.plugins.distributions import install, module

CHECK = module('@declared("acme-a")\ndef a(page: Page) -> Verdict:\n    return Fail("bad", "It is bad.")')
NAMES = 'def render(exports):\n    return " ".join(export["url"] for export in exports)'
BROKEN = 'def render(exports):\n    raise RuntimeError("no reports")'


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"/": Answer("<!doctype html><title>Shop</title><h1>Tea</h1>")}) as running:
        yield running


def scan(site: Site, *, plug_ins: bool = True) -> website_scan.PageResult:
    options = {"browser": False, "allow_networks": ["127.0.0.0/8"]}
    return website_scan.scan(f"{site.url}/", "seo", plug_ins=plug_ins, **options)  # type: ignore[arg-type]


def test_installed_plug_in_judges_a_page(packages: Path, site: Site) -> None:
    install(packages, {"acme": CHECK})
    page = scan(site)
    (finding,) = [finding for finding in page.findings if finding.check == "acme-a"]
    assert finding.message.startswith("It is bad.")
    (category,) = [category for category in page["seo"].categories if category.plug_in]
    assert category.plug_in is not None
    assert category.plug_in.name == "acme"
    assert website_scan.read(website_scan.document(page, "full")) == (page,)


def test_plug_ins_can_be_left_out(packages: Path, site: Site) -> None:
    install(packages, {"acme": CHECK})
    assert not any(category.plug_in for category in scan(site, plug_ins=False)["seo"].categories)


def test_document_in_the_format_of_a_plug_in(packages: Path, site: Site) -> None:
    install(packages, {"acme": CHECK}, formats={"acme-names": NAMES, "acme-broken": BROKEN})
    page = scan(site)
    assert website_scan.document(page, "acme-names") == f"{site.url}/"
    with pytest.raises(website_scan.InvalidOption, match="acme-broken of the plug-in acme failed"):
        website_scan.document(page, "acme-broken")
    with pytest.raises(website_scan.InvalidOption, match="format must be one of"):
        website_scan.document(page, "acme-missing")
