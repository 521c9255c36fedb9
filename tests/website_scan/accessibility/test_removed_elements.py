"""Test that elements that a script replaces during axe-core's run are reported one by one."""

from __future__ import annotations

import pytest

from tests.targets.server import Answer
from tests.website_scan.accessibility.in_chromium import axe_reports

pytestmark = [pytest.mark.timeout(120), pytest.mark.xdist_group("differential")]

FRAME = f"<!doctype html><html lang=en><title>Teas</title><main><h1>Teas</h1>{'<p><a href=/>Tea</a>' * 300}</main>"
PAGE = """<!doctype html><html lang=en><head><title>Shop</title></head><body><main><h1>Shop</h1><div id=teas></div>
<iframe title="All teas" src="/frame"></iframe></main><script>setInterval(() => {
teas.innerHTML = ['Green', 'Green', 'Black'].map((tea) => `<p style="color: #999">${tea} tea</p>`).join('');
}, 5);</script></body></html>"""


def test_replaced_elements_are_counted_one_by_one() -> None:
    """axe-core judges the frame before the selectors of the page are computed, and finds none for removed elements."""
    report = axe_reports({"shop": PAGE}, {"/frame": Answer(FRAME)})["shop"]
    rule = report.violations["color-contrast"]
    assert rule.count == 3
    assert {node.selector for node in rule.nodes} == {"p"}
    assert [node.width for node in rule.nodes] == [None] * 3
