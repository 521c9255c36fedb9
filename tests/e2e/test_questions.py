"""Tests that the first screen of a page answers site owners' questions."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.e2e.test_axe_of_pages import PageBrowser, page_browser, rendered_pages  # noqa: F401 -- fixtures

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("pages")]

SCREENS = ((1440, 900), (390, 844))
# Page, selector of the answer, and pattern of the answer, by question.
QUESTIONS = {
    "Is my site hacked?": ("report", ".verdict .hint", r"how an attacker could get in, not whether anyone has"),
    "How bad is it?": ("report", ".verdict .meaning", r"^Fair: some protections"),
    "What do I tell my developer first?": ("report", ".first li:first-child", r"No Content Security Policy"),
    "What do I win if it is fixed?": ("report", ".first li:first-child .points", r"\+\d+\.\d points"),
    "Why did the grade change?": (
        "report",
        ".verdict .since",
        r"1 point higher than in the report of .* \d+ fixed: .* and \d+ more. \d+ new: .* and \d+ more. Compare",
    ),
    "Who can see this?": ("report", ".meta .badge", r"^Private$"),
    "Was everything checked?": ("report-partial", ".verdict .counts li:last-child", r"1 could not run"),
    "Is it better than last time?": ("audit-site", "p.since", r"Since the scan of .*: Security 78 → \d+, .* 78 → 75"),
    "Which pages?": ("audit-site", ".alarm li:first-child", r"On all 12 pages: /, /bread"),
    "Is it better than last week?": ("monitor", ".facts > :has(strong.down)", r"Since .*Security .3, Performance .5"),
    "When is the next scan?": ("monitor", ".facts > :nth-child(3)", r"Next run .* in \d+ hours"),
    "Does my certificate expire soon?": ("monitor", ".facts > :nth-child(4)", r"Certificate .* Expires .* in 1\d days"),
}


@pytest.mark.django_db
@pytest.mark.parametrize("question", QUESTIONS)
def test_first_screen_answers_the_question(page_browser: PageBrowser, question: str) -> None:  # noqa: F811
    name, place, answer = QUESTIONS[question]

    def inspect_page(page: Page) -> list[Any]:
        element = page.locator(f"main {place}").first
        assert re.search(answer, " ".join(element.inner_text().split())), element.inner_text()
        beyond = []
        for width, height in SCREENS:
            page.set_viewport_size({"width": width, "height": height})
            box = element.bounding_box()
            if box is None or box["y"] < 0 or box["y"] + box["height"] > height or box["x"] + box["width"] > width:
                beyond.append((width, box))
        return beyond

    assert page_browser.window.run_on_page(page_browser.rendering, name, inspect_page) == []
