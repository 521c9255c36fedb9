"""Tests for own requirements in `website-scan mcp`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import stdio_client

from tests.targets.server import Answer, Site
from tests.website_scan.command.test_mcp import ALLOWED, HTML, MAX_WAIT_S, call_tool, program, split_marked_text
from website_scan.command.mcp_checks import KnownChecks, UnknownCheck
from website_scan.findings import ScanType
from website_scan.requirements.reading import read_requirements

RULES: list[dict[str, object]] = [
    {"name": "Imprint is linked", "link": "/imprint", "severity": "high", "pages": ["/shop/*", "/"]},
    {"name": 'Say "no" \\ to ä\U0001f600', "text": "it's", "absent": True},
    {"name": "Page paints early", "metric": "largest-contentful-paint", "at_most": 2500.5},
    {"name": "Scripts are small", "bytes": "script", "at_most": 170_000},
    {"name": "Frames are refused", "header": "X-Frame-Options", "matches": "*deny*"},
]
REQUIREMENTS = read_requirements({"weight": 5, "rules": RULES})


def test_own_requirements_are_listed_and_explained() -> None:
    checks = KnownChecks(REQUIREMENTS, uses_plug_ins=False)
    assert "own-" not in checks.listed(list(ScanType))
    lines = checks.added([ScanType.SEO]).splitlines()
    assert lines[0] == "- `own-imprint-is-linked` (seo, high): Imprint is linked"
    assert len(lines) == 2
    assert checks.added([ScanType.ACCESSIBILITY]) == ""
    explained = checks.explained("own-imprint-is-linked")
    assert explained.startswith("# Imprint is linked\n\nseo, Own requirements, high\n\nRequirement: ")
    (rule,) = (line.partition(": ")[2] for line in explained.splitlines() if line.startswith("Requirement: "))
    assert json.loads(rule) == {**RULES[0], "type": "seo"}
    assert "needs a browser" in checks.explained("own-page-paints-early")
    assert (checks.is_added("own-scripts-are-small"), checks.is_added("image-alt")) == (True, False)
    with pytest.raises(UnknownCheck, match="Did you mean own-imprint-is-linked"):
        checks.explained("own-imprint-is-link")


@pytest.mark.slow
def test_agents_scan_with_the_requirements_of_the_folder(shop: Site, tmp_path: Path) -> None:
    file = tmp_path / "website-scan.toml"
    file.write_text(
        'urls = "https://example.com/"\nbudget = "budget.json"\n'
        '[[requirements.rules]]\nname = "Imprint is linked"\nlink = "/imprint"\n'
    )
    (tmp_path / "budget.json").write_text('[{"resourceCounts": [{"resourceType": "script", "budget": 0}]}]')
    shop.routes["/own"] = Answer("<!doctype html><html lang=en><title>Tea</title><h1>Tea</h1>", headers=HTML)
    url = f"{shop.url_as('localhost')}/own"
    server = program(shop, *ALLOWED)
    server.cwd = tmp_path

    async def use(client: Client) -> None:
        added, _ = split_marked_text((await call_tool(client, "list_checks"))[0])
        assert re.findall(r"`(own-[\w-]+)` \((\w+)", added) == [
            ("own-imprint-is-linked", "seo"),
            ("own-number-of-scripts", "performance"),
        ]
        explained, _ = split_marked_text((await call_tool(client, "explain_check", id="own-imprint-is-linked"))[0])
        assert '"link": "/imprint"' in explained
        report, _ = split_marked_text((await call_tool(client, "scan", url=url, types=["seo"]))[0])
        assert "`own-imprint-is-linked" in report
        # The file is read for each call.
        file.write_text(file.read_text().replace("/imprint", "/tea"))
        shop.routes["/own"] = Answer("<!doctype html><title>Tea</title><a href=/tea>Tea</a>", headers=HTML)
        changes, _ = split_marked_text((await call_tool(client, "diff", url=url))[0])
        assert re.search(r"### Fixed\n(?:.*\n)*?.*`own-imprint-is-linked", changes)
        file.write_text("requirements = 5")
        text, is_error = await call_tool(client, "scan", url=url, types=["seo"])
        assert (is_error, "website-scan.toml: requirements: " in text) == (True, True)

    async def run_with_time_limit() -> None:
        with anyio.fail_after(MAX_WAIT_S):
            async with Client(stdio_client(server)) as client:
                await use(client)

    anyio.run(run_with_time_limit)
