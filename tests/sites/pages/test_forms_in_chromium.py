"""Forms of the dashboard in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from accounts.models import Tier
from tests.e2e.pages import Rendering, Shown, ask
from tests.factories import Member, person_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.e2e.pages import Window


def test_estimate_changes_with_the_entered_values(home: Member, browser: Window) -> None:
    Tier.objects.filter(name="free").update(scans_per_month=2000)
    person = person_of(home, "member", "ada@people.test")
    pages = {
        "scan": ask(Shown("/o/home/scans/new"), person, {}),
        "monitor": ask(Shown("/o/home/monitors/new"), person, {}),
    }
    rendering = Rendering(pages, {})

    def shown(page: Page) -> str:
        said = re.sub(r"\s+", " ", page.locator("#estimate").inner_text()).strip()
        return said.replace("\N{MULTIPLICATION SIGN}", "x")

    def scan(page: Page) -> None:
        assert shown(page) == "This uses 4 scans: 1 page x 4 types. 2,000 of 2,000 are left this month."
        page.get_by_label("The whole site").check()
        page.get_by_text("Pages to include").click()
        page.get_by_label("Maximum number of pages").fill("3")
        page.get_by_label("SEO").uncheck()
        assert shown(page).startswith("This uses up to 9 scans: 3 pages x 3 types.")
        page.get_by_label("Maximum number of pages").fill("9999")
        assert shown(page).startswith("This uses up to 30 scans: 10 pages x 3 types.")
        page.get_by_label("Maximum number of pages").fill("")
        assert shown(page).startswith("This uses up to 30 scans: 10 pages x 3 types.")

    def monitor(page: Page) -> None:
        page.get_by_label("A list of pages").check()
        page.get_by_label("Pages, one per line").fill("https://a.test/\n\nb.test\n")
        assert shown(page).startswith("Each run uses 8 scans: 2 pages x 4 types. A month of runs uses 248.")
        page.get_by_label("Every week").check()
        assert "A month of runs uses 40." in shown(page)

    browser.look(rendering, "scan", scan)
    browser.look(rendering, "monitor", monitor)
