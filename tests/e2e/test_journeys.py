"""User journeys in a real browser with the real service, with scripts and without."""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
import itertools
import json
import re
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import requests
from playwright.sync_api import Browser, Page, expect
from standardwebhooks import Webhook as Verifier

from tests.e2e.conftest import Running
from tests.e2e.pages import Window
from tests.operations.stack.processes import wait_until
from tests.targets.sample import PAGE
from tests.targets.server import Answer, Request, Site

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

PASSWORD = "correct horse 9"
ORGANIZATION = "Larkspur"
PATIENCE_MS = 15_000
MAIL_S = 10
SCAN_S = 60
NUMBERS = itertools.count(1)


@dataclass
class Person:
    """Person with a browser of their own. Errors in the page's console fail the test."""

    page: Page
    service: Running
    with_scripts: bool
    email: str = ""

    @property
    def base(self) -> str:
        """Return the service's base URL as in its e-mails: a session is valid for one host only."""
        return f"http://localhost:{self.service.service.port}"

    def open(self, path: str) -> None:
        self.page.goto(self.base + path)

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def go(self, name: str) -> None:
        self.page.get_by_role("link", name=name, exact=True).first.click()

    def section(self, name: str) -> None:
        self.page.get_by_role("navigation", name="Dashboard").get_by_role("link", name=name, exact=True).click()

    def told(self, text: str) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible()


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def with_scripts(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


Journey = Callable[[Callable[[], Person]], None]


@pytest.fixture
def travel(running: Running, browser: Window, with_scripts: bool) -> Callable[[Journey], None]:
    """Return a function that runs a journey; the journey gets a function that adds one more person."""

    def run(journey: Journey) -> None:
        def act(chromium: Browser) -> None:
            with people(chromium, running, with_scripts) as person:
                journey(person)

        browser.do(act)

    return run


@contextmanager
def people(chromium: Browser, running: Running, with_scripts: bool) -> Iterator[Callable[[], Person]]:
    contexts, complaints = [], []

    def person() -> Person:
        number = next(NUMBERS)
        context = chromium.new_context(
            java_script_enabled=with_scripts,
            viewport={"width": 1280, "height": 900},
            # Each person has an own IP address, because of the rate limits per address.
            extra_http_headers={"X-Forwarded-For": f"198.51.100.{number % 250}"},
        )
        context.set_default_timeout(PATIENCE_MS)
        if with_scripts:
            context.grant_permissions(["clipboard-read", "clipboard-write"])
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console", lambda message: complaints.append(message.text) if "Content Security" in message.text else None
        )
        return Person(page, running, with_scripts, f"person-{number}-{uuid.uuid4().hex[:6]}@people.test")

    expect.set_options(timeout=PATIENCE_MS)
    try:
        yield person
        assert complaints == []
    finally:
        for context in contexts:
            context.close()


def mailed_link(person: Person, email: str) -> str:
    """Return the link in the e-mail to this address, read from the service's console output."""
    found: list[str] = []

    def arrived() -> bool:
        output = person.service.service.output
        mails = output[output.rfind(f"To: {email}") :] if f"To: {email}" in output else ""
        found[:] = re.findall(rf"{re.escape(person.base)}(/(?:signup|invite)/\S+)", mails)
        return bool(found)

    wait_until(arrived, MAIL_S)
    return found[0]


def sign_up(person: Person) -> None:
    person.open("/")
    person.go("Sign up")
    person.page.get_by_label("E-mail address").fill(person.email)
    person.press("Send me the link")
    person.told("link to finish your sign-up")
    person.open(mailed_link(person, person.email))
    person.told(person.email)
    person.page.get_by_label("Name of the organization").fill(ORGANIZATION)
    person.page.get_by_label("Password").fill(PASSWORD)
    person.press("Create the account")
    expect(person.page.get_by_role("heading", name="Overview")).to_be_visible()
    person.told(f"{ORGANIZATION} is ready for its first scan.")


def create_key(person: Person, name: str) -> str:
    person.section("API keys")
    person.page.get_by_label("Name").fill(name)
    person.press("Create key")
    key = person.page.locator("#plaintext").inner_text()
    assert key.startswith("wss_")
    return key


def api(person: Person, key: str, method: str, path: str, body: object = None) -> requests.Response:
    headers = {"Authorization": f"Bearer {key}"}
    return requests.request(method, person.base + path, json=body, headers=headers, timeout=30)


class Gate:
    """Page of the site whose response waits until the test opens the gate."""

    def __init__(self, site: Site) -> None:
        self.path = f"/gate-{uuid.uuid4().hex}"
        self.url = site.url_as("localhost") + self.path
        self._opened = threading.Event()
        site.routes[self.path] = self._answer

    def open(self) -> None:
        self._opened.set()

    def _answer(self, _: Request) -> Answer:
        self._opened.wait(SCAN_S)
        return Answer(PAGE)


def test_new_user_signs_up_scans_by_api_reads_shares_and_exports(
    running: Running, travel: Callable[[Journey], None]
) -> None:
    gate = Gate(running.site)

    def journey(bring: Callable[[], Person]) -> None:
        ada = bring()
        sign_up(ada)
        key = create_key(ada, "Nightly build")
        if ada.with_scripts:
            ada.page.get_by_role("button", name="Copy").first.click()
            ada.told("Copied")
            assert ada.page.evaluate("navigator.clipboard.readText()") == key
        else:
            expect(ada.page.get_by_role("button", name="Copy")).to_have_count(0)
        ada.section("API keys")
        row = ada.page.get_by_role("row", name="Nightly build")
        expect(row).to_be_visible()
        assert key not in ada.page.content(), "shown once"

        created = api(ada, key, "POST", "/v1/scan", {"url": gate.url, "type": "seo"})
        assert created.status_code == 201, created.text
        scan = created.json()
        assert scan["report_url"] == f"{ada.base}/report/{scan['id']}"
        watch(ada, scan["report_url"], gate)
        ada.section("API keys")
        expect(row).to_contain_text(f"{datetime.now(UTC):%Y-%m-%d} ")
        read(ada, scan)
        export(ada, scan)
        share(ada, bring(), scan)

    travel(journey)


def watch(person: Person, address: str, gate: Gate) -> None:
    """Check that the progress is visible, and that the report replaces it automatically."""
    person.page.goto(address)
    expect(person.page.get_by_role("progressbar", name="Progress of the scan")).to_be_visible()
    gate.open()
    expect(person.page.get_by_role("heading", name="Fix first")).to_be_visible(timeout=1000 * SCAN_S)
    assert person.page.url == address


def read(person: Person, scan: dict[str, Any]) -> None:
    person.section("Scans")
    person.page.get_by_role("main").get_by_role("link").filter(has_text=scan["url"]).first.click()
    assert person.page.url == scan["report_url"]
    report = person.page.get_by_role("article")
    expect(report).to_contain_text("/ 100")
    expect(report).to_contain_text("Fix:")
    report.locator(".first a").first.click()  # from "Fix first" to the check
    assert "#" in person.page.url


def export(person: Person, scan: dict[str, Any]) -> None:
    person.page.goto(scan["report_url"])
    texts = {}
    for kind in ("JSON", "SARIF", "CSV"):
        link = person.page.get_by_role("link", name=re.compile(f"^{kind}"))
        if not link.is_visible():
            person.page.locator("summary", has_text="Export").click()
        with person.page.expect_download() as started:
            link.click()
        assert started.value.suggested_filename == f"{scan['id']}.{kind.lower()}"
        texts[kind] = Path(started.value.path()).read_text(encoding="utf-8")
    document = json.loads(texts["JSON"])
    assert (document["id"], document["url"]) == (scan["id"], scan["url"])
    assert json.loads(texts["SARIF"])["version"] == "2.1.0"
    rows = list(csv.DictReader(io.StringIO(texts["CSV"])))
    assert sum(row["status"] != "left out" for row in rows) == document["summary"]["total_checks"]


def share(person: Person, visitor: Person, scan: dict[str, Any]) -> None:
    """Check that an anonymous visitor sees the report while it is shared, but neither before nor afterwards."""
    address = scan["report_url"]

    def is_seen() -> bool:
        visitor.page.goto(address)
        seen: bool = visitor.page.url == address
        assert seen == visitor.page.get_by_role("heading", name="Fix first").is_visible()
        assert seen or visitor.page.url.startswith(f"{visitor.base}/login/?next=/report/")
        return seen

    person.page.goto(address)
    assert not is_seen()
    person.page.locator(".toolbar summary", has_text="Share").click()
    person.press("Share with a link")
    person.told("Anyone with the link can now read this report.")
    assert is_seen()
    assert ORGANIZATION not in visitor.page.content()
    # The panel is open: it shows the link.
    person.press("Stop sharing")
    person.told("Only members can now read this report.")
    assert not is_seen()


def test_colleague_accepts_an_invitation(travel: Callable[[Journey], None]) -> None:
    def journey(bring: Callable[[], Person]) -> None:
        ada, bert = bring(), bring()
        sign_up(ada)
        ada.section("Members")
        ada.page.get_by_label("E-mail address").fill(bert.email)
        ada.page.get_by_label("Role", exact=True).select_option("viewer")
        ada.press("Send invitation")
        ada.told(f"{bert.email} has been invited.")

        bert.open(mailed_link(bert, bert.email))
        expect(bert.page.get_by_role("heading", name=f"Join {ORGANIZATION}")).to_be_visible()
        bert.page.get_by_label("Password").fill(PASSWORD)
        bert.press("Create an account and join")
        bert.told(f"Welcome to {ORGANIZATION}.")
        assert bert.page.get_by_role("link", name="API keys").count() == 0, "a viewer looks"
        bert.page.goto(f"{bert.page.url}keys/")
        bert.told("Your role does not allow this.")

        ada.section("Members")
        expect(ada.page.get_by_role("row", name=bert.email)).to_contain_text("Viewer")
        ada.page.get_by_role("link", name=f"Remove {bert.email}").click()
        ada.page.get_by_role("main").get_by_role("button").click()
        ada.told(f"{bert.email} is no longer a member.")
        bert.open("/dashboard/")
        assert bert.page.url == f"{bert.base}/organizations/new"

    travel(journey)


# Script that submits the form and tells each time if it would have been sent.
SUBMITS = """() => {
  const form = document.getElementById("new-scan");
  const submit = () => form.dispatchEvent(new Event("submit", {bubbles: true, cancelable: true}));
  const come_back = () => dispatchEvent(new PageTransitionEvent("pageshow", {persisted: true}));
  return [submit(), submit(), come_back() && submit(), come_back() && submit()];
}"""


def test_double_click_starts_one_scan(running: Running, browser: Window) -> None:
    def act(chromium: Browser) -> None:
        with people(chromium, running, with_scripts=True) as bring:
            ada = bring()
            sign_up(ada)
            ada.page.goto(f"{ada.page.url}scans/new")
            assert ada.page.evaluate(SUBMITS) == [True, False, True, True]

            ada.page.reload()
            ada.page.get_by_label("Address", exact=True).fill(running.site.url_as("localhost") + "/")
            ada.page.get_by_role("button", name="Start scan").dblclick()
            expect(ada.page.get_by_role("heading", name="Fix first")).to_be_visible(timeout=1000 * SCAN_S)
            ada.section("Scans")
            expect(ada.page.get_by_role("main").get_by_role("rowheader")).to_have_count(1)

    browser.do(act)


def test_webhook_receives_a_signed_event_and_its_replay(running: Running, travel: Callable[[Journey], None]) -> None:
    def journey(bring: Callable[[], Person]) -> None:
        ada = bring()
        sign_up(ada)
        ada.section("Webhooks")
        ada.page.get_by_label("Address", exact=True).fill(f"{receiver.url}/hook")
        ada.press("Add webhook")
        secret = ada.page.locator("#plaintext").inner_text()
        ada.go("I have copied it")
        assert secret not in ada.page.content()

        ada.section("Scans")
        ada.go("New scan")
        ada.page.get_by_label("Address", exact=True).fill(running.site.url_as("localhost") + "/")
        for other in ("Performance", "Accessibility", "SEO"):
            ada.page.get_by_label(other).uncheck()
        ada.press("Start scan")
        expect(ada.page.get_by_role("heading", name="Fix first")).to_be_visible(timeout=1000 * SCAN_S)
        ada.go("The whole security report")
        scan_id = ada.page.url.rpartition("/")[2]
        wait_until(lambda: len(receiver.requests) == 1, SCAN_S)
        event = verified(receiver.requests[0], secret)
        assert event["event"] == "scan.completed"
        assert (event["data"]["scan_id"], event["data"]["report_url"]) == (scan_id, ada.page.url)

        ada.section("Webhooks")
        ada.go(f"{receiver.url}/hook")
        send_again = ada.page.get_by_role("button", name=re.compile("^Send again: scan.completed"))
        ada.page.wait_for_load_state()
        wait_until(lambda: bool(ada.page.reload()) and send_again.count() == 1, SCAN_S, poll_s=0.2)
        send_again.click()
        ada.told("The delivery is being sent again.")
        wait_until(lambda: len(receiver.requests) == 2, SCAN_S)
        first, second = receiver.requests
        assert verified(second, secret) == event
        assert (first.body, first.header("webhook-id")) == (second.body, second.header("webhook-id"))

    with Site({"/hook": Answer("ok")}) as receiver:
        travel(journey)


def verified(request: Request, secret: str) -> dict[str, Any]:
    """Verify both signatures of a delivery and return its event."""
    digest = hmac.new(secret.encode(), request.body, hashlib.sha256).hexdigest()
    assert request.header("X-Service-Signature") == f"sha256={digest}"
    Verifier(secret).verify(request.body, {name.lower(): value for name, value in request.headers})
    event: dict[str, Any] = json.loads(request.body)
    return event
