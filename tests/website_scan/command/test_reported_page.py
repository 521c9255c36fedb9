"""Tests for pages of reports, which are addresses or states of journeys."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.website_scan.command.reports import check_result, judged_report
from website_scan.command.baseline import baseline_text, read_baseline
from website_scan.command.formats.codequality import codequality
from website_scan.command.formats.text import summary
from website_scan.command.gate import CommandReport, CommandResult, Gate
from website_scan.command.reported_page import ReportedPage, count_pages, short_name
from website_scan.command.site_findings import group_findings
from website_scan.findings import ScanType

SHOP = "https://shop.example"
CART = ReportedPage(f"{SHOP}/cart", "order", "Cart")
PAID = ReportedPage(f"{SHOP}/cart", "order", "Paid")


def state_report(page: ReportedPage, *checks: str, type: ScanType = ScanType.SECURITY) -> CommandReport:
    """Return a report of a state in which these checks have failed."""
    report = judged_report(*map(check_result, checks or ("hsts",)), url=page.url, type=type)
    state = {"journey": page.journey, "name": page.state, "step": 1}
    return replace(report, export={**report.export, "state": state})


@pytest.mark.parametrize(
    ("pages", "names"),
    [
        ([ReportedPage(f"{SHOP}/"), ReportedPage(f"{SHOP}/cart")], ["/", "/cart"]),
        ([ReportedPage(f"{SHOP}/"), ReportedPage("https://a.example/")], [f"{SHOP}/", "https://a.example/"]),
        ([CART, PAID], ["Cart (/cart)", "Paid (/cart)"]),
        ([CART, ReportedPage(f"{SHOP}/", "menu", "Open")], ["order: Cart (/cart)", "menu: Open (/)"]),
    ],
)
def test_short_names_leave_out_what_all_pages_share(pages: list[ReportedPage], names: list[str]) -> None:
    assert [short_name(page, pages) for page in pages] == names


def test_page_is_named_by_state_and_address() -> None:
    assert str(state_report(CART).page) == f"order: Cart ({SHOP}/cart)"
    assert str(judged_report(url=SHOP).page) == SHOP
    assert (count_pages([CART, PAID]), count_pages([ReportedPage(SHOP)])) == ("2 states", "1 page")


def test_states_at_one_address_are_grouped_and_complained_about_separately() -> None:
    reports = [state_report(CART), state_report(PAID)]
    (finding,) = group_findings(reports)
    assert finding.pages == (CART, PAID)
    gate = Gate(outcomes=frozenset({f"hsts.{finding.finding['outcome']}"}))
    assert gate.site_complaints(reports) == [
        f"security of 2 states, such as order: Cart ({SHOP}/cart): 1 finding: hsts is wrong."
    ]
    assert [line for line in summary(reports) if line.startswith("order")] == [str(CART), str(PAID)]


def test_report_of_another_state_is_no_duplicate() -> None:
    seo, other = state_report(CART, "title", type=ScanType.SEO), state_report(PAID, "title")
    assert seo.reported_elsewhere([other]) == {}


def test_code_quality_distinguishes_states_at_one_address() -> None:
    text = codequality(CommandResult([state_report(CART), state_report(PAID)], [], requested=0))
    assert text.count('"description": "order: Cart: hsts is wrong') == 1
    assert len({line for line in text.splitlines() if '"fingerprint"' in line}) == 2


def accepted(path: Path, before: list[CommandReport], now: CommandReport) -> bool:
    """Return whether a baseline of earlier reports accepts the finding of a report."""
    path.write_text(baseline_text(before), encoding="utf-8")
    return bool(read_baseline(path).accept(now, [now.url]).accepted)


def test_baseline_distinguishes_states_at_one_address(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    before = [state_report(CART, "title"), state_report(PAID, "hsts")]
    assert accepted(path, before, state_report(CART, "title"))
    assert not accepted(path, before, state_report(PAID, "title"))
    assert not accepted(path, before, judged_report(check_result("title"), url=CART.url))


def test_baseline_recognizes_a_state_whose_address_contains_a_number(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    order, next_order = (ReportedPage(f"{SHOP}/orders/{number}", "order", "Paid") for number in (10481, 10482))
    assert accepted(path, [state_report(order, "title"), state_report(CART, "csp")], state_report(next_order, "title"))
    several = [state_report(order, "title"), state_report(PAID, "csp")]
    assert not accepted(path, several, state_report(next_order, "title"))
