"""Test that the rendering mode of a doctype equals Chromium's."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext

from tests.chromium import chromium
from tests.website_scan.page.test_doctype import CASES
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.proxy import BrowserProxy
from website_scan.page.doctype import Doctype

PARSE = "texts => texts.map((text) => new DOMParser().parseFromString(text, 'text/html').compatMode)"


@pytest.mark.browser
def test_rendering_mode_is_the_same_as_in_chromium() -> None:
    # Browsers remove a byte order mark when they decode the document.
    texts = [text.removeprefix("\ufeff") for text, _ in CASES]

    def parse(context: BrowserContext) -> list[str]:
        modes: list[str] = context.new_page().evaluate(PARSE, texts)
        return modes

    with Network(Policy(), time_limit_s=30.0) as network, BrowserProxy(network) as proxy, chromium() as browser:
        modes = browser.visit(proxy, parse)
    expected = ["CSS1Compat" if kind is Doctype.STANDARD else "BackCompat" for _, kind in CASES]
    assert dict(zip(texts, modes, strict=True)) == dict(zip(texts, expected, strict=True))
