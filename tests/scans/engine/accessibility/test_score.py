"""What faults cost a page on which little else applies, through the engine's one entry."""

from __future__ import annotations

import pytest

from scans.engine.findings import ScanType
from scans.engine.result import Budget
from scans.engine.run import scan
from scans.net.client import Network
from tests.scans.engine.cast import POLICY, head, target
from tests.sites.server import Answer, Site

TEXT = "<main><h1>Bread</h1><p>We bake every morning.</main>"
LINKS = "<a href=/x></a><a href=/y></a><a href=/z></a>"
FORM = "<form><label>Name <input name=n autocomplete=name></label><button>Send</button></form>"
IMAGE = "<img src=/a.png alt=Rolls>"


def points_of(check: str, body: str) -> float:
    page = head("<meta name=viewport content=width=device-width>", body)
    with Site({"/": Answer(page)}) as site, Network(POLICY) as network:
        (result,) = scan(target(f"{site.url}/"), [ScanType.ACCESSIBILITY], network, Budget())
    (found,) = (each for each in result.checks if each.id == check)
    assert found.status == "fail"
    return found.points


@pytest.mark.parametrize("body", [TEXT, TEXT + FORM, TEXT + IMAGE, TEXT + FORM + IMAGE])
def test_three_links_without_a_name_do_not_cost_a_whole_category(body: str) -> None:
    assert 2 < points_of("link-name", body + LINKS) < 12
