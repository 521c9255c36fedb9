"""Test that a typed loopback URL needs no option.

Other private addresses need one.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import run, run_here
from tests.project import PACKAGES, ROOT
from tests.targets.canary import Canary
from tests.targets.server import Answer, Site
from website_scan.command import local
from website_scan.command.access import network_policy
from website_scan.command.arguments import parse_arguments
from website_scan.net.browser import find_browser

# pytest-socket allows these hosts, so only the network guard can refuse them.
pytestmark = pytest.mark.allow_hosts(["127.0.0.1", "127.0.0.2", "::1"])
HEAD = "<!doctype html><html lang=en><head><meta charset=utf-8><title>A bakery in the old town</title></head><h1>Bread"


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"/": Answer(HEAD)}) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(local, "browser", lambda: None)
    return tmp_path


def scan(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_here("scan", *arguments, "--type", "seo")


def report_error(ran: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(ran.stdout)["error"]["code"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "app.localhost"])
def test_typed_loopback_page_needs_no_option(site: Site, folder: Path, host: str) -> None:
    ran = scan(f"http://{host}:{site.port}/")
    assert (ran.returncode, ran.stderr) == (0, "Done: 1 report of 1 page.\n")
    assert "/100" in ran.stdout


def test_loopback_page_from_the_file_is_refused(site: Site, folder: Path) -> None:
    """An outside contributor's pull request may change the file."""
    urls = [f"http://localhost:{site.port}/", f"http://localhost:{site.port}/shop"]
    Path("website-scan.toml").write_text(f"urls = {urls}")
    ran = scan("--type", "security")
    assert ran.returncode == 3
    assert site.connections == 0
    option = f"--allow-network 127.0.0.1/32:{site.port}"
    assert ran.stderr.count(option) == 1
    assert "type its URL on the command line" in ran.stderr
    assert scan(*option.split()).returncode == 0
    # A typed URL also allows the file's URLs at the same address.
    assert scan("--config", "website-scan.toml", urls[0]).returncode == 0


@pytest.mark.parametrize(
    ("url", "option"),
    [
        ("http://192.168.1.5:8000/", "--allow-network 192.168.1.5/32:8000"),
        ("http://10.0.0.1/", "--allow-network 10.0.0.1/32:80"),
        ("https://[fd00::1]/", "--allow-network '[fd00::1/128]:443'"),
        ("http://0.0.0.0:3000/a", "did you mean http://localhost:3000/a?"),
    ],
)
def test_refusal_suggests_what_to_type(folder: Path, url: str, option: str) -> None:
    ran = run_here("scan", url, "--format", "json")
    assert ran.returncode == 3
    assert ran.stderr.count(option) == 1
    assert ran.stderr.count("\n") == 1


def test_refusal_is_printed_once_for_all_scan_types(folder: Path) -> None:
    ran = run_here("scan", "http://10.0.0.1/", "http://10.0.0.2/")
    assert ran.returncode == 3
    assert ran.stdout == (
        "http://10.0.0.1/  security, performance, accessibility, seo  not scanned\n"
        "  The target is not publicly accessible: 10.0.0.1 is private (RFC 1918).\n"
        "\n"
        "http://10.0.0.2/  security, performance, accessibility, seo  not scanned\n"
        "  The target is not publicly accessible: 10.0.0.2 is private (RFC 1918).\n"
    )
    assert len(json.loads(run_here("scan", "http://10.0.0.1/", "--format", "json").stdout)["reports"]) == 4


def test_private_name_is_refused_with_its_address(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("website_scan.net.resolver._look_up_hosts_file", lambda _: ["192.168.1.5"])
    ran = scan("http://intranet.example.com/", "--format", "json")
    assert report_error(ran) == "DOMAIN_BLOCKED"
    assert ran.stderr == "To scan intranet.example.com, add --allow-network 192.168.1.5/32:80\n"


def test_always_refused_address_gets_no_hint(site: Site, folder: Path) -> None:
    assert scan("http://printer.local/").stderr == ""
    site.routes["/"] = Answer.redirect("http://10.0.0.1/")
    assert scan(f"{site.url}/").stderr == ""


def test_only_the_typed_page_may_use_loopback() -> None:
    options = parse_arguments(["https://example.com/", "http://localhost:3000/", "http://127.0.0.5:4000/"])
    allowed = [
        {str(net) + f":{port}" for net, port in network_policy(url, options).typed_loopback} for url in options.urls
    ]
    assert allowed == [set(), {"127.0.0.1/32:3000", "::1/128:3000"}, {"127.0.0.5/32:4000"}]


def test_page_cannot_reach_other_local_servers(site: Site, folder: Path) -> None:
    """Two other servers run on this machine, one on another port and one at another address."""
    with Site({"*": Answer("x")}) as other, Canary("127.0.0.2", site.port) as canary:
        lures = [
            other.url,
            f"http://localhost:{other.port}",
            f"http://127.0.0.2:{site.port}",
            "http://[::ffff:127.0.0.2]",
        ]
        tags = "".join(f'<img src="{url}/i"><script src="{url}/s"></script><a href="{url}/a">a</a>' for url in lures)
        site.routes["/"] = Answer(f"{HEAD}{tags}<link rel=stylesheet href='http://localhost:{site.port}/own.css'>")
        ran = run_here("scan", f"http://127.0.0.1:{site.port}/")
        assert ran.returncode == 0, ran.stdout
        assert (other.connections, canary.count()) == (0, 0)
        assert "/own.css" in site.paths()


@pytest.mark.skipif(find_browser("auto") is None, reason="no Chromium")
def test_browser_cannot_reach_other_local_servers(site: Site) -> None:
    with Site({"*": Answer("x")}) as other, Canary("127.0.0.2", site.port) as canary:
        loads = "".join(
            f"fetch('{address}', {{mode: 'no-cors'}}).catch(() => 0); new Image().src = '{address}';"
            for address in (f"{other.url}/", f"http://localhost:{other.port}/", f"http://127.0.0.2:{site.port}/")
        )
        site.routes["/"] = Answer(f"{HEAD}<script>{loads}; fetch('http://localhost:{site.port}/own')</script>")
        url = f"http://localhost:{site.port}/"
        ran = run("scan", url, "--type", "accessibility", "--format", "json", SCAN_BROWSER="auto")
        assert json.loads(ran.stdout)["browser"], ran.stderr
        assert (other.connections, canary.count()) == (0, 0)
        assert "/own" in site.paths()


def test_only_the_command_allows_typed_addresses() -> None:
    """The service, its workers and its webhooks never set `typed_loopback`."""
    sources = [path for app in PACKAGES for path in (ROOT / app).rglob("*.py")]
    users = {str(path.relative_to(ROOT)) for path in sources if "typed_loopback" in path.read_text(encoding="utf-8")}
    assert users == {
        "website_scan/command/access.py",
        "website_scan/command/pages.py",
        "website_scan/net/policy.py",
    }
    outside = [path for path in sources if ROOT / "website_scan" / "command" not in path.parents]
    importers = [path for path in outside if "website_scan.command.access" in path.read_text(encoding="utf-8")]
    assert importers == []


def test_preview_findings_are_not_in_the_baseline(site: Site, folder: Path) -> None:
    url = f"{site.url}/"
    options = ("--type", "security", "--format", "json")
    report = json.loads(run_here("scan", url, *options).stdout)
    assert set(report["accepted"]) == {"http-to-https-redirect", "https-available"}
    assert report["accepted_score"] > report["score"]
    assert run_here("scan", url, *options, "--fail-on", "critical").returncode == 0
    # The only failure is the missing clickjacking protection.
    assert run_here("scan", url, *options, "--fail-on", "high").returncode == 1
    assert run_here("scan", url, *options, "--write-baseline", "known.json").returncode == 0
    known = {entry["check"] for entry in json.loads(Path("known.json").read_text())["findings"]}
    assert "clickjacking" in known
    assert not known & set(report["accepted"])


@pytest.mark.parametrize(
    ("markup", "is_accepted"),
    [
        ("<form><input type=text></form>", True),
        ("<form action=/login><input type=password></form>", True),
        ("<form action=http://shop.example.com/search><input type=text></form>", False),
        ("<form action=http://127.0.0.1:9/><input type=text></form><form><input type=text></form>", False),
    ],
)
def test_forms_of_a_preview_need_no_https(site: Site, folder: Path, markup: str, is_accepted: bool) -> None:
    """Regression test: a search form failed the gate of a preview, because the local server has no HTTPS."""
    site.routes["/"] = Answer(HEAD + markup)
    ran = run_here("scan", f"{site.url}/", "--type", "security", "--format", "json")
    assert ("insecure-form" in json.loads(ran.stdout)["accepted"]) is is_accepted


def test_origin_is_probed_once_for_all_pages(site: Site, folder: Path) -> None:
    site.routes |= {f"/{name}": Answer(HEAD) for name in "abc"}
    urls = [f"{site.url}/{name}" for name in "abc"]
    ran = run_here("scan", *urls, "--type", "security", "--format", "full")
    assert ran.returncode == 0
    assert site.paths().count("/.git/config") == 1
    has_cached_origin_evidence = [
        report["site_evidence_at"] is not None for report in json.loads(ran.stdout)["reports"]
    ]
    assert has_cached_origin_evidence == [False, True, True]
