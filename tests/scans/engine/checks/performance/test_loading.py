from __future__ import annotations

from dataclasses import replace

import pytest

from scans.engine.checks.performance import loading as checks
from scans.engine.evidence import Page, Resource, ResourceKind, Resources, Timing
from scans.engine.load_model import estimate
from tests.scans.engine.checks.cast import message, page, verdict

HERE = "https://site.example.com"
SECOND_BYTES = 200_000  # what 1.6 Mbit/s brings in a second


def bare(url: str = f"{HERE}/", via: tuple[tuple[str, int], ...] = ()) -> Page:
    """A page whose document has no bytes, so that only the round trips count."""
    seen = page(url=url, via=via)
    return replace(seen, hops=(*seen.hops[:-1], replace(seen.response, body_wire_bytes=0)))


def resource(wire_bytes: int, *, host: str = HERE, name: str = "a", depth: int = 1, eager: bool = True) -> Resource:
    return Resource(f"{host}/{name}", ResourceKind.IMAGE, eager, depth, 200, wire_bytes=wire_bytes)


def test_a_bare_document_costs_its_set_up_a_request_and_the_servers_time() -> None:
    assert estimate(bare(), (), 0.1).seconds == pytest.approx(0.1 + 4 * 0.15)


def test_without_tls_a_round_trip_less() -> None:
    assert estimate(bare("http://site.example.com/"), (), 0).seconds == pytest.approx(3 * 0.15)


def test_a_redirect_costs_a_request_and_to_another_origin_a_set_up() -> None:
    same = bare(via=((f"{HERE}/old", 301),))
    other = bare(via=(("http://site.example.com/", 301),))
    assert estimate(same, (), 0).seconds == pytest.approx(5 * 0.15)
    assert estimate(other, (), 0).seconds == pytest.approx((3 + 4) * 0.15)


def test_bytes_come_at_the_links_speed() -> None:
    one = estimate(bare(), [resource(SECOND_BYTES)], 0)
    assert one.seconds == pytest.approx(4 * 0.15 + 0.15 + 1)
    assert (one.wire_bytes, one.requests) == (SECOND_BYTES, 2)


def test_six_requests_share_a_round_trip() -> None:
    def rounds(count: int) -> float:
        found = [resource(0, name=str(number)) for number in range(count)]
        return round((estimate(bare(), found, 0).seconds - 4 * 0.15) / 0.15, 6)

    assert [rounds(1), rounds(6), rounds(7), rounds(13)] == [1, 1, 2, 3]


def test_new_origins_are_set_up_at_once() -> None:
    found = [resource(0, host="https://a.example.org"), resource(0, host="https://b.example.org")]
    assert estimate(bare(), found, 0).seconds == pytest.approx((4 + 3 + 1) * 0.15)


def test_what_a_style_sheet_refers_to_comes_after_it() -> None:
    together = [resource(0, name="a"), resource(0, name="b")]
    behind = [resource(0, name="a"), resource(0, name="b", depth=2)]
    assert estimate(bare(), behind, 0).seconds == pytest.approx(estimate(bare(), together, 0).seconds + 0.15)


def test_what_is_lazy_does_not_count() -> None:
    lazy = [resource(10 * SECOND_BYTES, eager=False)]
    assert estimate(bare(), lazy, 0) == estimate(bare(), (), 0)


@pytest.mark.parametrize(("seconds_of_bytes", "expected"), [(4.2, "pass"), (4.3, "warn"), (9.2, "warn"), (9.3, "fail")])
def test_est_load_time(seconds_of_bytes: float, expected: str) -> None:
    found = Resources((resource(int(seconds_of_bytes * SECOND_BYTES)),))
    finding = checks.est_load_time(bare(), found, Timing((0.0,)))
    assert verdict(finding) == expected
    assert "1.6 Mbit/s" in message(finding)


def test_a_page_whose_resources_were_not_all_asked_for_takes_at_least_so_long() -> None:
    finding = checks.est_load_time(bare(), Resources((resource(1000),), left_out=9), Timing((0.1,)))
    assert "at least" in message(finding)


def test_only_an_html_page_is_loaded_so() -> None:
    seen = page("%PDF-1.7", ("Content-Type", "application/pdf"))
    assert verdict(checks.est_load_time(seen, Resources(()), Timing((0.1,)))) == "n/a"
