"""Test which elements a report keeps if axe-core finds too many."""

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


def test_worst_contrasts_are_kept_and_listed_first() -> None:
    page = PAGE.format("".join(FAINT.format(number) for number in range(30)))
    rule = axe_reports({"prices": page}, {})["prices"].violations["color-contrast"]
    assert rule.count == 32
    first, second, *others = [node.selector for node in rule.nodes]
    assert (first, second) == ("#faintest", "#fainter")
    # The other axe nodes follow in document order.
    numbers = [int(selector.partition("nth-child(")[2].rstrip(")")) for selector in others]
    assert numbers == sorted(numbers)


def test_contrast_finding_has_all_colour_pairs() -> None:
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
    node_colours = [node.colours for node in rule.nodes]
    assert len(node_colours) == 20
    assert list(dict.fromkeys(node_colours)) == [colours for colours, _ in rule.pairs], "each pair, one after the other"
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
