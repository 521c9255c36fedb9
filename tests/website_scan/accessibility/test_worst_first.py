"""Selection of places when a rule reports many elements, in a real Chromium."""

from __future__ import annotations

from tests.website_scan.accessibility.in_chromium import axe_reports
from tests.website_scan.cast import message, rows
from website_scan.accessibility.axe import axe_verdict
from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.outcomes import Fail

FAINT = '<p style="color:#949494">Faint {}</p>'
PAGE = (
    "<!doctype html><html lang=en><title>Prices</title><main><h1>Prices</h1>{}"
    '<p id="fainter" style="color:#bbb">Fainter</p><p id="faintest" style="color:#eee">Faintest</p></main>'
)


def test_worst_contrasts_are_kept_and_come_first() -> None:
    page = PAGE.format("".join(FAINT.format(number) for number in range(30)))
    rule = axe_reports({"prices": page}, {})["prices"].violations["color-contrast"]
    assert rule.count == 32
    first, second, *others = [node.selector for node in rule.nodes]
    assert (first, second) == ("#faintest", "#fainter")
    # The other nodes are in the page's order.
    numbers = [int(selector.partition("nth-child(")[2].rstrip(")")) for selector in others]
    assert numbers == sorted(numbers)


def test_contrast_finding_has_an_example_of_every_pair_of_colours() -> None:
    """44 elements with four pairs of colours need four fixes, so that the places include every pair."""
    grey = '<p style="color:#999999">Grey {}</p>'
    markup = "".join(FAINT.format(number) + grey.format(number) for number in range(21))
    report = axe_reports({"prices": PAGE.format(markup)}, {})["prices"]
    rule = report.violations["color-contrast"]
    assert rule.pairs == (
        ("#eeeeee on #ffffff", 1),
        ("#bbbbbb on #ffffff", 1),
        ("#999999 on #ffffff", 21),
        ("#949494 on #ffffff", 21),
    )
    colours_of_nodes = [node.colours for node in rule.nodes]
    assert len(colours_of_nodes) == 20
    assert list(dict.fromkeys(colours_of_nodes)) == [colours for colours, _ in rule.pairs], (
        "each pair, one after the other"
    )
    (check,) = (check for check in checks(ScanType.ACCESSIBILITY) if check.id == "color-contrast")
    finding = axe_verdict(check, report)
    assert isinstance(finding, Fail)
    assert message(finding) == (
        "44 pieces of text have too little contrast, in 4 pairs of colours (#eeeeee on #ffffff, #bbbbbb on #ffffff, "
        "#999999 on #ffffff 21 times, #949494 on #ffffff 21 times)."
    )
    assert finding.total == 44
    first = rows(finding)[:4]
    assert [row["selector"] for row in first[:2]] == ["#faintest", "#fainter"]
    assert ["#999999" in str(first[2]["snippet"]), "#949494" in str(first[3]["snippet"])] == [True, True]
