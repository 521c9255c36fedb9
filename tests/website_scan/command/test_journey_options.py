"""Tests for the options of journeys, which need no browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command_line import run_here
from website_scan.command import local
from website_scan.command.arguments import parse_arguments
from website_scan.command.errors import WrongUsage
from website_scan.command.journey_options import JourneyOptions

URL = "https://shop.example/"
STEPS = (
    "open /log-in\nfill “E-mail” with {{user}}\nfill “Password” with {{password}}\nclick “Sign in”\njudge “Account”\n"
)
SECRET = "correct horse battery"
SECRETS = ("--secret", "user=ada@shop.example", "--secret", f"password={SECRET}")
RECORDING = """{"title": "Basket", "steps": [
  {"type": "navigate", "url": "https://shop.example/"},
  {"type": "change", "target": "main", "selectors": [["#password"]], "value": "tr0ub4dor&3"}
]}"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("USER", "PASSWORD"):
        monkeypatch.delenv(f"WEBSITE_SCAN_SECRET_{name}", raising=False)
    (tmp_path / "login.txt").write_text(STEPS)
    (tmp_path / "plain.txt").write_text("open http://shop.example/")
    (tmp_path / "basket.json").write_text(RECORDING)
    return tmp_path


def journeys(*arguments: str) -> JourneyOptions:
    options = parse_arguments(arguments).journeys
    assert options is not None
    return options


def refusal(*arguments: str) -> str:
    """Return the message that refuses the arguments. It contains no secret."""
    with pytest.raises(WrongUsage) as refused:
        parse_arguments(arguments)
    assert SECRET not in str(refused.value)
    return str(refused.value)


def test_relative_addresses_start_from_the_url() -> None:
    options = parse_arguments([URL, "--journey", "login.txt", *SECRETS])
    assert options.urls == (URL,)
    assert options.journeys is not None
    (read,) = options.journeys.read("")
    assert (read.journey.title, read.journey.start_url) == ("login", f"{URL}log-in")


def test_relative_addresses_start_from_the_started_server() -> None:
    started = ("--start", "./serve.sh", "--wait-for", "http://localhost:4173/")
    (read,) = journeys("--journey", "login.txt", *SECRETS, *started).read("")
    assert read.journey.start_url == "http://localhost:4173/log-in"


def test_relative_addresses_start_from_the_served_folder() -> None:
    options = journeys("--journey", "login.txt", "--serve", "public", *SECRETS)
    assert options.read("http://localhost:40001")[0].journey.start_url == "http://localhost:40001/log-in"


def test_recording_needs_no_url(folder: Path) -> None:
    options = parse_arguments(["--journey", "basket.json"])
    assert options.urls == (URL,)
    assert options.journeys is not None
    assert options.journeys.secrets == {"password": "tr0ub4dor&3"}
    assert "tr0ub4dor&3" not in repr(options)


def test_several_journeys_share_secrets() -> None:
    options = journeys(URL, "--journey", "login.txt", "--journey", "basket.json", *SECRETS)
    assert options.secrets == {"user": "ada@shop.example", "password": SECRET}
    assert SECRET not in repr(options)


def test_secret_sources_precede_each_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "secrets.txt").write_text(f"# test account\n\nuser = ada@file.example\npassword={SECRET}=\nother=1234\n")
    monkeypatch.setenv("WEBSITE_SCAN_SECRET_USER", "ada@environment.example")
    given = (URL, "--journey", "login.txt", "--secrets", "secrets.txt")
    assert journeys(*given).secrets == {"user": " ada@file.example", "password": f"{SECRET}="}
    assert journeys(*given, "--secret", "user").secrets["user"] == "ada@environment.example"
    assert journeys(*given, "--secret", "user=ada@typed.example").secrets["user"] == "ada@typed.example"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "The journey “login” needs the secret user: use the variable WEBSITE_SCAN_SECRET_USER, --secrets FILE or"),
        (
            ("--secret", SECRET),
            "--secret accepts NAME=VALUE or the NAME of a secret. The journey uses: user, password.",
        ),
        (("--secret", f"pasword={SECRET}"), "The journey uses: user, password."),
        (("--secret", "password"), "--secret password: WEBSITE_SCAN_SECRET_PASSWORD is not set."),
        (("--secret", "password="), "--secret password: the value is empty."),
        (("--secrets", "missing.txt"), "--secrets: missing.txt can't be read: No such file or directory."),
        (("--secrets", "broken.txt"), "--secrets: line 2 of broken.txt is not NAME=VALUE, with each name only once."),
    ],
)
def test_wrong_secret_is_refused_without_its_value(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    (folder / "broken.txt").write_text(f"user=ada\n{SECRET}\n")
    assert words in refusal(URL, "--journey", "login.txt", *arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--journey", "login.txt", *SECRETS], "login.txt: Line 1: “open /log-in”: The first address must be whole."),
        (
            ["--journey", "login.txt", *SECRETS],
            "For relative addresses, write the URL of the site on the command line.",
        ),
        ([URL, f"{URL}b", "--journey", "login.txt", *SECRETS], "With journeys, write one URL"),
        ([URL, "--journey", "missing.txt"], "--journey: missing.txt can't be read: No such file or directory."),
        ([URL, "--journey", "login.md"], "--journey: login.md is neither a recording of Chrome's Recorder (.json)"),
        (["--site", URL, "--journey", "login.txt"], "Use --journey or --site, not both."),
        ([URL, "--secret", "user=ada"], "--secret works only with --journey."),
        ([URL, "--dry-run"], "--dry-run works only with --journey."),
        ([URL, "--journey", "login.txt", *SECRETS, "--server", URL], "--server runs no journeys of files."),
        ([URL, "--journey", "basket.json", "--journey", "basket.json"], "Two journeys have the name “Basket”"),
        (
            ["https://other.example/", "--journey", "basket.json"],
            "basket.json: The journey begins at https://shop.example/, which is not on the site of https://other.ex",
        ),
        (
            ["https://shop.example/", "--journey", "plain.txt"],
            "plain.txt: The journey begins at http://shop.example/, which is not encrypted as https://shop.example/",
        ),
        (["--serve", "public", "--journey", "basket.json"], "write its steps as text, with paths such as “open /”"),
    ],
)
def test_contradictory_options_of_journeys_are_refused(arguments: list[str], words: str) -> None:
    assert words in refusal(*arguments)


def test_journey_may_begin_on_another_host_of_the_site(folder: Path) -> None:
    (folder / "login.txt").write_text(STEPS.replace("/log-in", "https://accounts.example.com/"))
    (read,) = journeys("https://shop.example.com/", "--journey", "login.txt", *SECRETS).read("")
    assert read.journey.start_url == "https://accounts.example.com/"


def configured(folder: Path, extra: str = "") -> None:
    (folder / "website-scan.toml").write_text(f"{extra}\n[[journeys]]\nname = 'Log-in'\nsteps = '''\n{STEPS}'''\n")


def test_configuration_file_has_tables_and_files(folder: Path) -> None:
    configured(folder, "urls = ['https://shop.example/']\njourney = 'basket.json'")
    read = journeys(URL, *SECRETS).read("")
    assert [one.journey.title for one in read] == ["Basket", "Log-in"]


def test_journey_on_the_command_line_replaces_those_of_the_file(folder: Path) -> None:
    configured(folder)
    assert [one.journey.title for one in journeys("--journey", "basket.json").read("")] == ["Basket"]
    assert parse_arguments(["--site", URL]).journeys is None


def test_file_does_not_choose_the_host_of_a_secret(folder: Path) -> None:
    configured(folder, "urls = ['https://collector.example/']")
    assert "is not typed into a host that a file chooses" in refusal(*SECRETS)
    configured(folder, "urls = ['https://shop.example/']")
    assert journeys(URL, *SECRETS).secrets["password"] == SECRET


def test_file_chooses_no_host_for_secrets_of_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBSITE_SCAN_SECRET_USER", "ada@shop.example")
    monkeypatch.setenv("WEBSITE_SCAN_SECRET_PASSWORD", SECRET)
    configured(folder, "urls = ['https://collector.example/']")
    assert "is not typed into a host that a file chooses" in refusal()


def test_file_does_not_choose_the_identity_provider_of_a_secret(folder: Path) -> None:
    configured(folder)
    with (folder / "website-scan.toml").open("a") as file:
        file.write("allow_log_in_at = ['collector.example']\n")
    assert "is not typed into collector.example, which a file chooses" in refusal(URL, *SECRETS)


@pytest.mark.parametrize("option", ["secret = ['user=ada']", "secrets = 'a.txt'", "pictures = 'a'", "dry-run = true"])
def test_configuration_file_has_no_secrets(folder: Path, option: str) -> None:
    configured(folder, option)
    name = option.partition(" ")[0]
    assert f"{name} can only be set on the command line, as --{name}." in refusal(URL)


def test_journey_of_the_file_is_in_its_folder(folder: Path) -> None:
    (folder / "website-scan.toml").write_text("journey = '../../etc/steps.txt'")
    assert "journey: must be a file beside this file, or in a folder below." in refusal(URL)


def test_file_has_no_site_beside_journeys(folder: Path) -> None:
    configured(folder, "site = 'https://shop.example/'")
    assert "website-scan.toml has journeys and a site or sitemap: remove one of them." in refusal()


def test_dry_run_prints_the_steps_without_secrets() -> None:
    ran = run_here("scan", URL, "--journey", "login.txt", "--dry-run")
    assert ran.returncode == 0
    assert ran.stdout == (
        "login  5 steps\n"
        "   1  Open https://shop.example/log-in.\n"
        "   2  Enter the secret “user” in “E-mail”.\n"
        "   3  Enter the secret “password” in “Password”.\n"
        "   4  Click “Sign in”.\n"
        "   5  Judge the page as “Account”.\n"
        "  Only the steps “judge” are judged.\n"
        "  Secrets: user, password.\n"
    )


def test_dry_run_says_that_a_recorded_password_is_a_secret() -> None:
    ran = run_here("scan", "--journey", "basket.json", "--dry-run")
    assert "tr0ub4dor" not in ran.stdout + ran.stderr
    assert re.search(r"The typed text is stored as the secret \{\{password\}\}", ran.stdout)


def test_journey_without_a_browser_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "browser", lambda: None)
    monkeypatch.setattr("website_scan.settings.SCAN_BROWSER", "off")
    ran = run_here("scan", URL, "--journey", "login.txt", *SECRETS)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.endswith("--journey needs a browser. The variable SCAN_BROWSER is off.\n")


def test_short_secret_is_reported() -> None:
    ran = run_here(
        "scan", URL, "--journey", "login.txt", "--secret", "user=ada", *SECRETS[2:], "--pictures", "missing/a"
    )
    assert "Warning: the secret user has fewer than 4 characters" in ran.stderr
