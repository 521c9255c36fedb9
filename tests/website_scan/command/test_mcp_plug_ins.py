"""Tests for plug-ins in `website-scan mcp` with the client of the MCP SDK."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import psutil
import pytest
from mcp.client import Client
from mcp.client.stdio import stdio_client

from tests.command_line import ROOT
from tests.targets.server import Answer, Site
from tests.website_scan.command.test_mcp import ALLOWED, HTML, INJECTION, MAX_WAIT_S, call_tool, program
from tests.website_scan.command.test_mcp import split_marked_text as split
from tests.website_scan.plugins.distributions import install, module

CHECK = module(
    f"""
    @declared("acme-tea", name="Tea is served. {INJECTION}", why="{INJECTION}\u200b.", references=("CWE-1",))
    def tea(page: Page) -> Verdict:
        return Fail("bad", "There is no tea.")
    """
)

pytestmark = pytest.mark.slow


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Return a folder with an installed plug-in."""
    install(tmp_path, {"acme": CHECK})
    return tmp_path


def run_with_plug_in(
    site: Site, packages: Path, use: Callable[[Client], Awaitable[None]], *arguments: str, **variables: str
) -> None:
    """Run a coroutine with a client of a server that has the plug-in."""
    server = program(site, *ALLOWED, *arguments)
    path = os.pathsep.join([str(packages), str(ROOT)])
    server.env = {**(server.env or {}), "PYTHONPATH": path, **variables}

    async def run_with_time_limit() -> None:
        with anyio.fail_after(MAX_WAIT_S):
            async with Client(stdio_client(server)) as client:
                await use(client)

    anyio.run(run_with_time_limit)


def test_checks_of_plug_ins_are_listed_explained_and_run(shop: Site, packages: Path) -> None:
    shop.routes["/tea"] = Answer("<!doctype html><html lang=en><title>Tea</title><h1>Tea</h1>", headers=HTML)

    async def use(client: Client) -> None:
        added, around = split((await call_tool(client, "list_checks", type="seo"))[0])
        assert added.startswith("- `acme-tea` (seo, medium, plug-in acme): Tea is served.")
        assert ("`title`" in around, INJECTION in around) == (True, False)
        assert "acme-tea" not in (await call_tool(client, "list_checks", type="security"))[0]
        explained, around = split((await call_tool(client, "explain_check", id="acme-tea"))[0])
        assert "\n\nseo, Checks of Acme, medium, plug-in acme 1.2\n\nFinds: acme-tea is not fine\n\nWhy: " in explained
        assert INJECTION not in around
        assert all(character.isprintable() or character == "\n" for character in explained)
        text, _ = await call_tool(client, "explain_check", id="acme-teas")
        assert "Did you mean acme-tea" in text
        report, _ = split((await call_tool(client, "scan", url=f"{shop.url_as('localhost')}/tea", types=["seo"]))[0])
        assert "There is no tea." in report

    run_with_plug_in(shop, packages, use)


@pytest.mark.parametrize(("option", "variables"), [(["--no-plugins"], {}), ([], {"SCAN_PLUGINS": ""})])
def test_plug_ins_can_be_switched_off(shop: Site, packages: Path, option: list[str], variables: dict[str, str]) -> None:
    async def use(client: Client) -> None:
        assert "acme-tea" not in (await call_tool(client, "list_checks"))[0]
        assert (await call_tool(client, "explain_check", id="acme-tea"))[1]
        report, _ = split((await call_tool(client, "scan", url=f"{shop.url_as('localhost')}/", types=["seo"]))[0])
        assert "There is no tea." not in report

    run_with_plug_in(shop, packages, use, *option, **variables)


def test_broken_plug_in_leaves_the_tools_working(shop: Site, tmp_path: Path) -> None:
    install(tmp_path, {"acme": "raise SystemExit('no')"})

    async def use(client: Client) -> None:
        text, is_error = await call_tool(client, "list_checks", type="seo")
        assert (is_error, "acme" in text, "`title`" in text) == (False, False, True)

    run_with_plug_in(shop, tmp_path, use)


def test_processes_of_plug_ins_end_with_the_server(shop: Site, packages: Path) -> None:
    hosts: list[psutil.Process] = []

    async def use(client: Client) -> None:
        await call_tool(client, "list_checks")
        children = psutil.Process().children(recursive=True)
        hosts.extend(child for child in children if "website_scan.plugins" in " ".join(child.cmdline()))

    run_with_plug_in(shop, packages, use)
    assert hosts
    assert psutil.wait_procs(hosts, timeout=MAX_WAIT_S)[1] == []
