"""Test that website-scan.toml cannot reveal secrets or grant access.

A stranger may have changed the file.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line import run_here
from tests.targets.server import Answer, Site
from website_scan.command import local
from website_scan.command.arguments import parse_arguments
from website_scan.command.errors import WrongUsage

SECRET = "3f9a77c1e5d2"
PAGE = "<!doctype html><html lang=en><head><meta charset=utf-8><title>A bakery in the old town</title></head><h1>Bread"
# Options that are refused if website-scan.toml chooses the host, with their error.
ACCESS = {
    "header": (["--header", f"X-Key: {SECRET}"], "--header is not sent"),
    "cookie": (["--cookie", f"sid={SECRET}"], "--cookie is not sent"),
    "basic-auth": (["--basic-auth", f"user:{SECRET}"], "--basic-auth is not sent"),
    "variable": (["--header", "$KEY"], "--header is not sent"),
    "server": (["--server", "https://scan.example.com"], "--server uses your API key"),
    "network": (["--allow-network", "127.0.0.0/8"], "--allow-network does not apply"),
    "all-of-ipv6": (["--allow-network", "::/0"], "--allow-network does not apply"),
    "address-on-all-ports": (["--allow-network", "10.0.0.5/32"], "--allow-network does not apply"),
    "network-on-a-port": (["--allow-network", "10.0.0.0/8:80"], "--allow-network does not apply"),
    "second-network": (
        ["--allow-network", "10.0.0.5/32:80", "--allow-network", "10.0.0.0/8"],
        "--allow-network does not apply",
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(local, "browser", lambda: None)
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "index.html").write_text(PAGE)
    return tmp_path


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"*": Answer(PAGE)}) as running:
        yield running


def scan(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_here("scan", "--type", "seo", *arguments)


@pytest.mark.parametrize("file", ["urls = ['https://evil.example.org/']", "urls = ['/']\nserve = 'public'"])
@pytest.mark.parametrize("option", ACCESS)
def test_access_options_are_refused_for_hosts_from_the_file(folder: Path, option: str, file: str) -> None:
    Path("website-scan.toml").write_text(file)
    arguments, refusal = ACCESS[option]
    with pytest.raises(WrongUsage) as refused:
        parse_arguments(arguments)
    assert str(refused.value).startswith(refusal)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("option", sorted(ACCESS.keys() - {"server"}))
def test_access_options_are_refused_for_hosts_from_a_sitemap(folder: Path, option: str) -> None:
    """A pull request may change a sitemap file of the repository, too."""
    Path("map.txt").write_text("https://evil.example.org/\n")
    arguments, refusal = ACCESS[option]
    with pytest.raises(WrongUsage) as refused:
        parse_arguments(["--sitemap", "map.txt", *arguments])
    assert str(refused.value).startswith(refusal)
    assert parse_arguments(["--sitemap", "https://example.com/map.txt", *arguments]).site
    assert parse_arguments(["--site", "https://example.com/", "--sitemap", "map.txt", *arguments]).site


@pytest.mark.parametrize("option", ACCESS)
def test_access_options_are_allowed_for_typed_urls(folder: Path, option: str) -> None:
    Path("website-scan.toml").write_text("urls = ['https://evil.example.org/']")
    assert parse_arguments([*ACCESS[option][0], "https://example.com/"]).urls == ("https://example.com/",)


@pytest.mark.parametrize(
    ("file", "arguments", "is_refused"),
    [
        ("urls = ['/team']", ["--serve", "public"], False),
        ("urls = ['/team', 'https://evil.example.org/']", ["--serve", "public"], True),
        ("serve = 'public'", [], True),
        ("serve = 'public'", ["/team"], True),
        ("serve = 'public'", ["https://example.com/"], False),
        ("serve = 'other'", ["--serve", "public"], False),
        ("urls = ['https://example.com/']", ["--start", "true", "--wait-for", "https://example.com/"], True),
    ],
    ids=str,
)
def test_only_typed_folders_or_urls_get_a_cookie(
    folder: Path, file: str, arguments: list[str], is_refused: bool
) -> None:
    """A script on a page of the folder could read the cookies and send them away."""
    Path("website-scan.toml").write_text(file)
    if is_refused:
        with pytest.raises(WrongUsage, match="--cookie is not sent"):
            parse_arguments([*arguments, "--cookie", "a=b"])
    else:
        parse_arguments([*arguments, "--cookie", "a=b"])


def test_secret_is_sent_only_to_its_host(site: Site, folder: Path) -> None:
    with Site({"*": Answer(PAGE)}) as other:
        Path("website-scan.toml").write_text(f"urls = ['{site.url}/', '{other.url}/']")
        networks = [f"--allow-network=127.0.0.1/32:{port}" for port in (site.port, other.port)]
        host = f"127.0.0.1:{site.port}"
        secrets = ("--header-for", host, f"X-Key: {SECRET}", "--cookie-for", host, f"sid={SECRET}")
        ran = scan(*networks, *secrets, "--basic-auth-for", f"http://{host}", "u:p")
        assert ran.returncode == 0, ran.stderr
        (page,) = (request for request in site.requests if request.path == "/")
        names = ("X-Key", "Cookie", "Authorization")
        assert [page.header(name) for name in names] == [SECRET, f"sid={SECRET}", "Basic dTpw"]
        assert other.requests
        assert not any(request.header(name) for request in other.requests for name in names)


@pytest.mark.parametrize(
    ("url", "host", "refusal"),
    [
        ("https://evil.example.org/", "staging.example.com", "no page has the origin https://staging.example.com"),
        ("https://staging.example.com.evil.org/", "staging.example.com", "no page has the origin"),
        ("https://sub.staging.example.com/", "staging.example.com", "no page has the origin"),
        ("https://staging.example.com:8443/", "staging.example.com", "no page has the origin"),
        ("https://staging.example.com@evil.example.org/", "staging.example.com", ""),
        ("http://staging.example.com/", "staging.example.com", "no page has the origin https://staging.example.com"),
        ("http://staging.example.com/", "https://staging.example.com", "no page has the origin"),
        ("https://staging.example.com/", "https://staging.example.com/path", "needs a host"),
        ("https://staging.example.com/", f"X-Key: {SECRET}", "needs a host"),
        ("https://staging.example.com/", "ftp://staging.example.com", "needs a host"),
        ("https://staging.example.com/", "", "needs a host"),
    ],
)
def test_host_of_a_secret_must_match_exactly(folder: Path, url: str, host: str, refusal: str) -> None:
    Path("website-scan.toml").write_text(f"urls = ['{url}']")
    ran = scan("--header-for", host, f"X-Key: {SECRET}")
    assert ran.returncode == 2
    assert refusal in ran.stderr
    assert SECRET not in ran.stdout + ran.stderr
