"""Tests for the options of `website-scan`.

They are on the command line or in website-scan.toml.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from website_scan import catalogue
from website_scan import settings as scanning
from website_scan.command.access import network_policy
from website_scan.command.arguments import Options, parse_arguments
from website_scan.command.configuration import KEYS, ON_COMMAND_LINE_ONLY, fail_under
from website_scan.command.errors import WrongUsage
from website_scan.command.site_options import SitemapFile, SiteOptions
from website_scan.findings import ScanType, Severity
from website_scan.local_scans import policy_of_settings

URL = "https://example.com/"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for variable in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def test_url_alone_scans_all_types() -> None:
    assert parse_arguments([URL]) == Options(urls=(URL,), typed=(URL,), types=tuple(ScanType))


def test_urls_and_options_may_be_mixed() -> None:
    options = parse_arguments([URL, "--type", "seo", "https://example.com/a", "--quiet", URL])
    assert options.urls == (URL, "https://example.com/a")
    assert options.types == (ScanType.SEO,)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("80", {"": 80}),
        ("security=90,seo=70", {"security": 90, "seo": 70}),
        (" 60 , seo = 100", {"": 60, "seo": 100}),
        (75, {"": 75}),
        ({"security": 90}, {"security": 90}),
    ],
)
def test_minimum_scores_are_parsed(raw: object, expected: dict[str, int]) -> None:
    assert fail_under(raw) == expected


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("99.5", "99.5 is not a whole number"),
        ("seo=99.5", "99.5 is not a whole number"),
        ("abc", "'abc' is not a score between 0 and 100; use 80, or by type security=90,seo=70"),
        ("101", "a score must be between 0 and 100, and 101 is not"),
        ("speed=80", "'speed' is none of security"),
    ],
)
def test_invalid_minimum_score_is_refused(raw: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        fail_under(raw)


def test_minimum_of_an_unselected_type_is_refused(folder: Path) -> None:
    for arguments in (["--fail-under", "security=90"], ["--fail-under", "80,security=90"]):
        with pytest.raises(WrongUsage, match="--fail-under security: it has no effect"):
            parse_arguments([URL, "--type", "seo", *arguments])
    assert parse_arguments([URL, "--type", "seo", "--fail-under", "80,seo=90"]).under == {"": 80, "seo": 90}
    (folder / "website-scan.toml").write_text("fail-under = {security = 90}\n")
    # The file may have minimum scores for unselected scan types.
    assert parse_arguments([URL, "--type", "seo"]).under == {"security": 90}
    (folder / "website-scan.toml").write_text('types = "seo"\nfail-under = {security = 90}\n')
    with pytest.raises(WrongUsage, match="it has no effect"):
        parse_arguments([URL])


@pytest.mark.parametrize("raw", ["", "101", "-1", "speed=80", "seo=", "seo=80,seo=90", "80,90", True, 7.5, None, [80]])
def test_invalid_minimum_scores_raise_an_error(raw: object) -> None:
    with pytest.raises(ValueError):
        fail_under(raw)


def test_command_line_overrides_options_of_the_file(folder: Path) -> None:
    (folder / "website-scan.toml").write_text(
        f'urls = ["{URL}"]\ntypes = ["security", "seo"]\nfail-on = "high"\nbaseline = "known.json"\n'
        "[fail-under]\nsecurity = 90\nseo = 70\n"
    )
    options = parse_arguments([])
    assert options == Options(
        urls=(URL,),
        types=(ScanType.SECURITY, ScanType.SEO),
        under={"security": 90, "seo": 70},
        fail_on=Severity.HIGH,
        baseline=Path("known.json"),
    )
    options = parse_arguments(["https://other.example/", "--type", "seo", "--fail-under", "50"])
    assert (options.urls, options.types, options.under) == (("https://other.example/",), (ScanType.SEO,), {"": 50})


def test_paths_are_relative_to_the_configuration_file(folder: Path) -> None:
    (folder / "ci").mkdir()
    (folder / "ci" / "gate.toml").write_text(f'urls = "{URL}"\nbaseline = "known.json"\n')
    assert parse_arguments(["--config", "ci/gate.toml"]).baseline == Path("ci/known.json")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("fail_under = 80", "Did you mean fail-under?"),
        ("surprise = 1", "surprise is unknown."),
        ("fail-under = 101", "fail-under: a score must be between 0 and 100"),
        ('types = ["speed"]', "types: must be one of security"),
        ("types = []", "types: must be a string"),
        ('fail-on = "bad"', "fail-on: must be one of critical"),
        ("urls = 5", "urls: must be a string"),
        ("accept = []", "accept: must be a string, or a list of strings"),
        ("fail-on-outcome = 5", "fail-on-outcome: must be a string, or a list of strings"),
        ("urls = [", "website-scan.toml: "),
        ("\xff", "website-scan.toml: "),
    ],
)
def test_fault_in_the_file_is_reported_with_its_key(folder: Path, content: str, complaint: str) -> None:
    (folder / "website-scan.toml").write_bytes(content.encode("latin-1"))
    with pytest.raises(WrongUsage, match=re.escape(complaint)):
        parse_arguments([URL])


def test_outcomes_are_read_from_the_file(folder: Path) -> None:
    options = parse_arguments([URL, "--accept", "hsts.short", "--accept", "csp-present.missing"])
    assert options.accept == {"hsts.short", "csp-present.missing"}
    assert parse_arguments([URL, "--fail-on-outcome", "hsts.short"]).fail_on_outcome == {"hsts.short"}
    (folder / "website-scan.toml").write_text('accept = "hsts.off"\nfail-on-outcome = ["hsts.short", "hsts.missing"]\n')
    options = parse_arguments([URL])
    assert options.accept == {"hsts.off"}
    assert options.fail_on_outcome == {"hsts.short", "hsts.missing"}
    assert parse_arguments([URL, "--accept", "csp-present.missing"]).accept == {"csp-present.missing"}


@pytest.mark.parametrize("option", ["accept", "fail-on-outcome"])
@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("hsts.shrt", "hsts.shrt is not an outcome: hsts has missing, "),
        ("hsts", "hsts is not an outcome: hsts has missing, "),
        ("hsts.", "hsts. is not an outcome: hsts has missing, "),
        ("hst.short", "hst.short is not an outcome: there is no check hst."),
        ("", " is not an outcome"),
    ],
)
def test_unknown_outcome_is_refused(folder: Path, option: str, name: str, complaint: str) -> None:
    with pytest.raises(WrongUsage, match=re.escape(complaint)):
        parse_arguments([URL, f"--{option}", name])
    (folder / "website-scan.toml").write_text(f'{option} = ["{name}"]\n')
    with pytest.raises(WrongUsage, match=re.escape(complaint)):
        parse_arguments([URL])


def test_unknown_outcome_lists_valid_outcomes() -> None:
    (check,) = (check for check in catalogue.checks(ScanType.SECURITY) if check.id == "hsts")
    with pytest.raises(WrongUsage, match=f"hsts has {', '.join(check.outcomes)}\\."):
        parse_arguments([URL, "--accept", "hsts.shrt"])


def test_accepted_outcome_cannot_also_fail(folder: Path) -> None:
    with pytest.raises(WrongUsage, match=r"hsts\.short is in --accept and in --fail-on-outcome"):
        parse_arguments([URL, "--accept", "hsts.short", "--fail-on-outcome", "hsts.short"])
    (folder / "website-scan.toml").write_text('accept = "hsts.short"\n')
    with pytest.raises(WrongUsage, match=r"hsts\.short is in --accept and in --fail-on-outcome"):
        parse_arguments([URL, "--fail-on-outcome", "hsts.short"])


@pytest.mark.parametrize("key", sorted(ON_COMMAND_LINE_ONLY))
def test_file_cannot_grant_access(folder: Path, key: str) -> None:
    """Otherwise, a stranger's pull request could send a secret to another server or overwrite a file."""
    (folder / "website-scan.toml").write_text(f'{key} = "$SECRET"\n')
    with pytest.raises(WrongUsage, match=f"{key} can only be set on the command line"):
        parse_arguments([URL])
    assert key not in KEYS


@pytest.mark.parametrize(
    ("arguments", "variables", "may_color"),
    [([], {}, True), (["--no-color"], {}, False), ([], {"NO_COLOR": "1"}, False), ([], {"TERM": "dumb"}, False)],
)
def test_colors_can_be_disabled(
    arguments: list[str], variables: dict[str, str], may_color: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert parse_arguments([URL, *arguments]).may_color is may_color


def test_missing_url_is_a_usage_error() -> None:
    with pytest.raises(WrongUsage, match="Specify a URL or --site"):
        parse_arguments(["--type", "seo"])


def test_allow_network_with_a_server_is_refused() -> None:
    with pytest.raises(WrongUsage, match="the server decides"):
        parse_arguments([URL, "--server", "https://scan.example.com", "--allow-network", "10.0.0.0/8"])


@pytest.mark.parametrize(("arguments", "expected"), [([], False), (["--mail-servers"], True)])
def test_mail_servers_are_contacted_on_demand_only(arguments: list[str], expected: bool) -> None:
    options = parse_arguments([URL, *arguments])
    assert network_policy(URL, options).contacts_mail_servers is expected


def test_setting_allows_mail_servers_without_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "SCAN_MAIL_SERVERS", True)
    assert network_policy(URL, parse_arguments([URL])).contacts_mail_servers
    assert not policy_of_settings(mail_servers=False).contacts_mail_servers


def test_mail_servers_with_a_server_are_refused() -> None:
    with pytest.raises(WrongUsage, match="the server decides"):
        parse_arguments([URL, "--server", "https://scan.example.com", "--mail-servers"])


def test_site_is_scanned_instead_of_urls_of_the_file(folder: Path) -> None:
    (folder / "website-scan.toml").write_text(f'urls = ["{URL}"]\n')
    options = parse_arguments(["--site", "shop.example.com", "--max-pages", "5", "--include", "/a*", "--exclude", "*b"])
    assert (options.urls, options.typed) == (("https://shop.example.com/",), ("https://shop.example.com/",))
    assert options.site == SiteOptions(max_pages=5, include=("/a*",), exclude=("*b",))
    (folder / "website-scan.toml").write_text(
        'site = "https://shop.example.com/"\nmax-pages = 7\ninclude = "/a*"\nexclude = ["*b"]\n'
    )
    options = parse_arguments([])
    assert (options.urls, options.typed) == (("https://shop.example.com/",), ())
    assert options.site == SiteOptions(max_pages=7, include=("/a*",), exclude=("*b",))
    assert parse_arguments([URL]).site is None


def test_sitemap_file_is_relative_to_the_configuration_file(folder: Path) -> None:
    (folder / "ci").mkdir()
    (folder / "ci" / "map.txt").write_text("https://shop.example.com/a\n")
    (folder / "ci" / "gate.toml").write_text('sitemap = "map.txt"\n')
    options = parse_arguments(["--config", "ci/gate.toml"])
    assert options.urls == ("https://shop.example.com/",)
    assert options.site == SiteOptions(is_named=False, sitemap=SitemapFile(("https://shop.example.com/a",)))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([URL, "--site", URL], "Use --site for a whole site, or URLs for single pages, not both."),
        ([URL, "--max-pages", "5"], "--max-pages works only with --site or --sitemap."),
        ([URL, "--include", "/a"], "--include works only with --site or --sitemap."),
        (["--site", URL, "--include", "a"], "--include: A pattern must start with / or *"),
        (["--site", URL, "--exclude", "a"], "--exclude: A pattern must start with / or *"),
        (["--sitemap", "gone.xml"], "--sitemap: gone.xml can't be read: No such file or directory."),
        (["--sitemap", "empty.xml"], "--sitemap: empty.xml lists no absolute URL."),
        (["--sitemap", "reserved.txt"], "--sitemap: shop.example is a reserved name"),
        (["--sitemap", "page.html"], "--sitemap: page.html is "),
        (["--site", URL, "--sitemap", URL, "--server", URL], "--server reads the sitemaps of the site itself"),
        (["--site", "ftp://a/"], "ftp://a/: "),
    ],
)
def test_wrong_site_options_are_refused_in_words(folder: Path, arguments: list[str], complaint: str) -> None:
    (folder / "empty.xml").write_text('<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>')
    (folder / "reserved.txt").write_text("https://shop.example/")
    (folder / "page.html").write_text("<!doctype html><title>Page</title>")
    with pytest.raises(WrongUsage, match=re.escape(complaint)):
        parse_arguments(arguments)


@pytest.mark.parametrize("number", ["0", "501", "-1", "x", "1.5"])
def test_number_of_pages_is_validated(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        parse_arguments(["--site", URL, "--max-pages", number])
    assert end.value.code == 2
    assert "is not a number of pages from 1 to 500" in capsys.readouterr().err


def test_missing_configuration_file_is_named_in_words() -> None:
    with pytest.raises(WrongUsage, match=r"^gone\.toml can't be read: No such file or directory\.$"):
        parse_arguments(["--config", "gone.toml"])


def test_file_with_urls_and_site_is_refused(folder: Path) -> None:
    (folder / "website-scan.toml").write_text(f'urls = ["{URL}"]\nsite = "{URL}"\n')
    with pytest.raises(WrongUsage, match=r"website-scan\.toml has urls and a site or sitemap"):
        parse_arguments([])


@pytest.mark.parametrize(("option", "near"), [("--formt", "--format"), ("--sitmap", "--sitemap")])
def test_unknown_option_suggests_a_similar_one(option: str, near: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        parse_arguments([URL, f"{option}=secret"])
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert f"unknown option: {option}. Did you mean {near}?\n" in error
    assert "secret" not in error
