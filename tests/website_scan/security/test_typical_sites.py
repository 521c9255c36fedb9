from __future__ import annotations

from pathlib import Path

import pytest

from tests.targets.typical import SITES, TypicalSite
from tests.website_scan.security.typical_scan import row

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "scoring.md"
FOLLOWS = "\n## "


def documented() -> list[str]:
    """Return the rows of the table of typical sites."""
    section = DOCUMENT.read_text(encoding="utf-8").partition("## Twenty typical sites\n")[2].partition(FOLLOWS)[0]
    return [line for line in section.splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_a_typical_site_has_the_grade_that_the_documentation_says(site: TypicalSite) -> None:
    assert row(site) == documented()[SITES.index(site)]


def test_the_table_has_no_other_sites() -> None:
    assert len(documented()) == len(SITES) == 20


@pytest.mark.parametrize("line", documented(), ids=lambda line: line.split(" | ")[0].strip("| "))
def test_no_grade_is_more_than_one_letter_from_the_observatory(line: str) -> None:
    ours, theirs = (cell.strip("* ").split()[1].rstrip("+-") for cell in line.split("|")[2:4])
    letters = "ABCDF"
    assert abs(letters.index(ours) - letters.index(theirs)) <= 1
