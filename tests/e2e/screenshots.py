"""Save screenshots of every page for `make screenshots`.

The folder var/screenshots gets three widths in both themes.

Its file name keeps pytest from collecting it, unless it is named: screenshots alone test nothing.
"""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page

from tests.e2e.pages import PAGES, render_pages, window

FOLDER = Path(__file__).resolve().parents[2] / "var" / "screenshots"
WIDTHS = (390, 768, 1440)
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.mark.timeout(600)
def test_screenshots_of_every_page_are_saved(db: None) -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    rendering = render_pages()

    def take_screenshots(page: Page, name: str) -> None:
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            for theme in THEMES:
                page.emulate_media(color_scheme=theme)
                page.screenshot(path=FOLDER / f"{name}-{width}-{theme}.png", full_page=True, animations="disabled")

    with window() as browser:
        for name in PAGES:
            browser.run_on_page(rendering, name, partial(take_screenshots, name=name))
    assert len(list(FOLDER.iterdir())) == len(PAGES) * len(WIDTHS) * len(THEMES)
