"""Tests for the journeys of `website-scan mcp` with the client of the MCP SDK."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.command_line import ROOT
from tests.targets.server import Site
from tests.website_scan.command.journeys import EXAMPLES, FOLDER, example_site
from tests.website_scan.command.test_mcp import MAX_WAIT_S, SERVE, call_tool, split_marked_text
from website_scan.command.mcp import ServerOptions, parse_options

pytestmark = pytest.mark.slow


def run_with_client(site: Site, use: Callable[[Client], Awaitable[None]], *files: Path, name: str = "account") -> None:
    """Run a coroutine with a client of a server that has these journeys."""
    variables = {"PYTHONPATH": str(ROOT), "SCAN_BROWSER": "auto"}
    variables |= {f"WEBSITE_SCAN_SECRET_{key.upper()}": value for key, value in EXAMPLES[name].secrets.items()}
    options = ["--allow-network", "127.0.0.0/8", "--url", site.url]
    options += [option for file in files for option in ("--journey", str(file))]
    server = StdioServerParameters(command=sys.executable, args=["-c", SERVE, "mcp", *options], env=variables)

    async def run() -> None:
        with anyio.fail_after(MAX_WAIT_S):
            async with Client(stdio_client(server)) as client:
                await use(client)

    anyio.run(run)


def test_agent_lists_and_runs_journeys_and_reads_their_steps() -> None:
    async def use(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"list_journeys", "run_journey", "journey_steps"} <= tools.keys()
        names, _ = split_marked_text((await call_tool(client, "list_journeys"))[0])
        assert names.startswith("- `account`: begins at http://127.0.0.1")
        assert "up to 3 states, secrets: user, password" in names
        before, _ = split_marked_text((await call_tool(client, "journey_steps", name="account"))[0])
        assert "Enter the secret “password” in “Password”." in before
        assert "done" not in before
        text, is_error = await call_tool(client, "run_journey", name="account", types=["security"])
        report, _ = split_marked_text(text)
        assert (is_error, "`session-fixation`" in report) == (False, True)
        after, _ = split_marked_text((await call_tool(client, "journey_steps", name="account"))[0])
        assert after.count("(done, ") == len(before.splitlines())
        results = f"{names}{before}{text}{after}"
        assert not [value for value in EXAMPLES["account"].secrets.values() if value in results]

    with example_site("account", is_faulty=True) as site:
        run_with_client(site, use, FOLDER / "account.txt")


def test_failed_step_is_reported_with_near_matches(tmp_path: Path) -> None:
    steps = tmp_path / "stops.txt"
    steps.write_text("open /\nclick button “Sgn in”\njudge “Account”\n")

    async def use(client: Client) -> None:
        await call_tool(client, "run_journey", name="stops", types=["security"])
        lines, _ = split_marked_text((await call_tool(client, "journey_steps", name="stops"))[0])
        assert "2. Click the button “Sgn in”. (failed, " in lines
        assert "Step 2: no button is named “Sgn in”." in lines
        assert "(not reached, " in lines

    with example_site("account", is_faulty=False) as site:
        run_with_client(site, use, steps)


def test_agent_runs_only_the_journeys_of_the_configuration(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("open /\njudge “A”\n")

    async def use(client: Client) -> None:
        for tool in ("run_journey", "journey_steps"):
            for name in ("other", str(other), "../account", "--help", ""):
                text, is_error = await call_tool(client, tool, name=name)
                assert (is_error, "There is no such journey." in text) == (True, True)

    with example_site("account", is_faulty=False) as site:
        requests = len(site.requests)
        run_with_client(site, use, FOLDER / "account.txt")
        assert len(site.requests) == requests


def test_server_without_journeys_has_no_tools_for_them() -> None:
    async def use(client: Client) -> None:
        assert not [tool.name for tool in (await client.list_tools()).tools if "journey" in tool.name]

    with example_site("account", is_faulty=False) as site:
        run_with_client(site, use)


def test_options_name_journeys_by_their_files(tmp_path: Path) -> None:
    assert parse_options([]) == ServerOptions()
    options = parse_options(["--journey", "a/log-in.txt", "--journey", "cart.json", "--url", "https://example.com/"])
    assert options.journeys == {"log-in": Path("a/log-in.txt"), "cart": Path("cart.json")}
    for wrong in (["--journey", "a/log-in.txt", "--journey", "b/log-in.json"], ["--url=--help"]):
        with pytest.raises(SystemExit):
            parse_options(wrong)
