"""The places that a report keeps when there are many, in a real Chromium."""

from __future__ import annotations

from tests.scanner.accessibility.in_chromium import axe_reports

FAINT = '<p style="color:#949494">Faint {}</p>'
PAGE = (
    "<!doctype html><html lang=en><title>Prices</title><main><h1>Prices</h1>{}"
    '<p id="fainter" style="color:#bbb">Fainter</p><p id="faintest" style="color:#eee">Faintest</p></main>'
)


def test_of_many_contrasts_the_worst_are_kept_and_come_first() -> None:
    page = PAGE.format("".join(FAINT.format(number) for number in range(30)))
    rule = axe_reports({"prices": page}, {})["prices"].violations["color-contrast"]
    assert rule.count == 32
    first, second, *others = [node.selector for node in rule.nodes]
    assert (first, second) == ("#faintest", "#fainter")
    # The others stay in the page's order.
    numbers = [int(selector.partition("nth-child(")[2].rstrip(")")) for selector in others]
    assert numbers == sorted(numbers)
