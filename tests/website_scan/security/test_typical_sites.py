from __future__ import annotations

from pathlib import Path

import pytest

from tests.promises import assert_promises_come_true
from tests.targets.typical import SITES, TypicalSite
from tests.website_scan.security.typical_scan import row, scan_typical_site

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "scoring.md"
NEXT_SECTION = "\n## "


def documented_rows() -> list[str]:
    """Return the table rows of typical sites in docs/scoring.md."""
    section = DOCUMENT.read_text(encoding="utf-8").partition("## Twenty typical sites\n")[2].partition(NEXT_SECTION)[0]
    return [line for line in section.splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_typical_site_gets_documented_grade(site: TypicalSite) -> None:
    result = scan_typical_site(site)
    assert row(site, result) == documented_rows()[SITES.index(site)]
    assert_promises_come_true(result)


def test_typical_sites_are_documented() -> None:
    assert len(documented_rows()) == len(SITES) == 20


@pytest.mark.parametrize("line", documented_rows(), ids=lambda line: line.split(" | ")[0].strip("| "))
def test_grade_is_close_to_mdn_observatory(line: str) -> None:
    ours, theirs = (cell.strip("* ").split()[1].rstrip("+-") for cell in line.split("|")[2:4])
    letters = "ABCDF"
    assert abs(letters.index(ours) - letters.index(theirs)) <= 1
