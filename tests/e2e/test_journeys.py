"""Browser tests for user journeys with the real service.

They run with and without JavaScript.
"""

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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import requests
from msgspec import Struct
from playwright.sync_api import Browser, Page, expect
from standardwebhooks import Webhook as Verifier

from tests.e2e.conftest import RunningService
from tests.e2e.pages import Window
from tests.operations.stack.processes import wait_until
from tests.targets.sample import PAGE
from tests.targets.server import Answer, Request, Site

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

PASSWORD = "correct horse 9"
ORGANIZATION = "Larkspur"
EXPECT_TIMEOUT_MS = 15_000
MAIL_TIMEOUT_S = 10
SCAN_TIMEOUT_S = 60
NUMBERS = itertools.count(1)


class Person(Struct):
    """User with a browser context and an e-mail address."""

    page: Page
    service: RunningService
    has_javascript: bool
    email: str = ""

    @property
    def base(self) -> str:
        """Return the base URL with the host of links in e-mails.

        A session is valid for only one host.
        """
        return f"http://localhost:{self.service.service.port}"

    def open(self, path: str) -> None:
        self.page.goto(self.base + path)

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def follow_link(self, name: str) -> None:
        self.page.get_by_role("link", name=name, exact=True).first.click()

    def open_section(self, name: str) -> None:
        self.page.get_by_role("navigation", name="Dashboard").get_by_role("link", name=name, exact=True).click()

    def expect_text(self, text: str) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible()


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def has_javascript(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


Journey = Callable[[Callable[[], Person]], None]


@pytest.fixture
def run_journey(running: RunningService, browser: Window, has_javascript: bool) -> Callable[[Journey], None]:
    """Return a function that runs a journey.

    It passes the journey a function that creates people.
    """

    def start_journey(journey: Journey) -> None:
        def run_in_browser(chromium: Browser) -> None:
            with people_with_browsers(chromium, running, has_javascript) as person:
                journey(person)

        browser.do(run_in_browser)

    return start_journey


@contextmanager
def people_with_browsers(
    chromium: Browser, running: RunningService, has_javascript: bool
) -> Iterator[Callable[[], Person]]:
    contexts, complaints = [], []

    def add_person() -> Person:
        number = next(NUMBERS)
        context = chromium.new_context(
            java_script_enabled=has_javascript,
            viewport={"width": 1280, "height": 900},
            # Rate limits are per address, so people have different IP addresses.
            extra_http_headers={"X-Forwarded-For": f"198.51.100.{number % 250}"},
        )
        context.set_default_timeout(EXPECT_TIMEOUT_MS)
        if has_javascript:
            context.grant_permissions(["clipboard-read", "clipboard-write"])
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console", lambda message: complaints.append(message.text) if "Content Security" in message.text else None
        )
        return Person(page, running, has_javascript, f"person-{number}-{uuid.uuid4().hex[:6]}@people.test")

    expect.set_options(timeout=EXPECT_TIMEOUT_MS)
    try:
        yield add_person
        assert complaints == []
    finally:
        for context in contexts:
            context.close()


def mailed_link(person: Person, email: str) -> str:
    """Return the link in the e-mail to this address.

    The e-mail is in the console output.
    """
    links: list[str] = []

    def has_mail_arrived() -> bool:
        output = person.service.service.output
        mails = output[output.rfind(f"To: {email}") :] if f"To: {email}" in output else ""
        links[:] = re.findall(rf"{re.escape(person.base)}(/(?:signup|invite)/\S+)", mails)
        return bool(links)

    wait_until(has_mail_arrived, MAIL_TIMEOUT_S)
    return links[0]


def sign_up(person: Person) -> None:
    person.open("/")
    person.follow_link("Sign up")
    person.page.get_by_label("E-mail address").fill(person.email)
    person.press("Send me the link")
    person.expect_text("link to finish your sign-up")
    person.open(mailed_link(person, person.email))
    person.expect_text(person.email)
    person.page.get_by_label("Name of the organization").fill(ORGANIZATION)
    person.page.get_by_label("Password").fill(PASSWORD)
    person.press("Create the account")
    expect(person.page.get_by_role("heading", name="Overview")).to_be_visible()
    person.expect_text(f"{ORGANIZATION} is ready for its first scan.")


def create_key(person: Person, name: str) -> str:
    person.open_section("API keys")
    person.page.get_by_label("Name").fill(name)
    person.press("Create key")
    key = person.page.locator("#plaintext").inner_text()
    assert key.startswith("wss_")
    return key


def call_api(person: Person, key: str, method: str, path: str, body: object = None) -> requests.Response:
    headers = {"Authorization": f"Bearer {key}"}
    return requests.request(method, person.base + path, json=body, headers=headers, timeout=30)


class Gate:
    """Page that responds only after the test opens the gate."""

    def __init__(self, site: Site) -> None:
        self.path = f"/gate-{uuid.uuid4().hex}"
        self.url = site.url_as("localhost") + self.path
        self._opened = threading.Event()
        site.routes[self.path] = self._answer_after_opening

    def open(self) -> None:
        self._opened.set()

    def _answer_after_opening(self, _: Request) -> Answer:
        self._opened.wait(SCAN_TIMEOUT_S)
        return Answer(PAGE)


def test_new_user_signs_up_and_scans(running: RunningService, run_journey: Callable[[Journey], None]) -> None:
    gate = Gate(running.site)

    def journey(new_person: Callable[[], Person]) -> None:
        ada = new_person()
        sign_up(ada)
        key = create_key(ada, "Nightly build")
        if ada.has_javascript:
            ada.page.get_by_role("button", name="Copy").first.click()
            ada.expect_text("Copied")
            assert ada.page.evaluate("navigator.clipboard.readText()") == key
        else:
            expect(ada.page.get_by_role("button", name="Copy")).to_have_count(0)
        ada.open_section("API keys")
        row = ada.page.get_by_role("row", name="Nightly build")
        expect(row).to_be_visible()
        assert key not in ada.page.content(), "shown once"

        created = call_api(ada, key, "POST", "/v1/scan", {"url": gate.url, "type": "seo"})
        assert created.status_code == 201, created.text
        scan = created.json()
        assert scan["report_url"] == f"{ada.base}/report/{scan['id']}"
        check_progress(ada, scan["report_url"], gate)
        ada.open_section("API keys")
        expect(row).to_contain_text(f"{datetime.now(UTC):%Y-%m-%d} ")
        read_report(ada, scan)
        export_report(ada, scan)
        share_report(ada, new_person(), scan)

    run_journey(journey)


def check_progress(person: Person, address: str, gate: Gate) -> None:
    """Check that the page displays the scan's progress and its report.

    The report appears without a reload by the user.
    """
    person.page.goto(address)
    expect(person.page.get_by_role("progressbar", name="Progress of the scan")).to_be_visible()
    gate.open()
    expect(person.page.get_by_role("heading", name="Fix first")).to_be_visible(timeout=1000 * SCAN_TIMEOUT_S)
    assert person.page.url == address


def read_report(person: Person, scan: dict[str, Any]) -> None:
    person.open_section("Scans")
    person.page.get_by_role("main").get_by_role("link").filter(has_text=scan["url"]).first.click()
    assert person.page.url == scan["report_url"]
    report = person.page.get_by_role("article")
    expect(report).to_contain_text("/ 100")
    expect(report).to_contain_text("Fix:")
    report.locator(".first a").first.click()  # This link leads from "Fix first" to the check.
    assert "#" in person.page.url


def export_report(person: Person, scan: dict[str, Any]) -> None:
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


def share_report(person: Person, visitor: Person, scan: dict[str, Any]) -> None:
    """Check that anonymous visitors see the report only while it is shared."""
    address = scan["report_url"]

    def is_report_visible() -> bool:
        visitor.page.goto(address)
        is_report_page: bool = visitor.page.url == address
        assert is_report_page == visitor.page.get_by_role("heading", name="Fix first").is_visible()
        assert is_report_page or visitor.page.url.startswith(f"{visitor.base}/login/?next=/report/")
        return is_report_page

    person.page.goto(address)
    assert not is_report_visible()
    person.page.locator(".toolbar summary", has_text="Share").click()
    person.press("Share with a link")
    person.expect_text("Anyone with the link can now read this report.")
    assert is_report_visible()
    assert ORGANIZATION not in visitor.page.content()
    # The sharing panel is open because it displays the link.
    person.press("Stop sharing")
    person.expect_text("Only members can now read this report.")
    assert not is_report_visible()


def test_colleague_accepts_an_invitation(run_journey: Callable[[Journey], None]) -> None:
    def journey(new_person: Callable[[], Person]) -> None:
        ada, bert = new_person(), new_person()
        sign_up(ada)
        ada.open_section("Members")
        ada.page.get_by_label("E-mail address").fill(bert.email)
        ada.page.get_by_label("Role", exact=True).select_option("viewer")
        ada.press("Send invitation")
        ada.expect_text(f"{bert.email} has been invited.")

        bert.open(mailed_link(bert, bert.email))
        expect(bert.page.get_by_role("heading", name=f"Join {ORGANIZATION}")).to_be_visible()
        bert.page.get_by_label("Password").fill(PASSWORD)
        bert.press("Create an account and join")
        bert.expect_text(f"Welcome to {ORGANIZATION}.")
        assert bert.page.get_by_role("link", name="API keys").count() == 0, "a viewer looks"
        bert.page.goto(f"{bert.page.url}keys/")
        bert.expect_text("Your role does not allow this.")

        ada.open_section("Members")
        expect(ada.page.get_by_role("row", name=bert.email)).to_contain_text("Viewer")
        ada.page.get_by_role("link", name=f"Remove {bert.email}").click()
        ada.page.get_by_role("main").get_by_role("button").click()
        ada.expect_text(f"{bert.email} is no longer a member.")
        bert.open("/dashboard/")
        assert bert.page.url == f"{bert.base}/organizations/new"

    run_journey(journey)


# Submits the form four times, and reports what the browser would have sent.
SUBMITS = """() => {
  const form = document.getElementById("new-scan");
  const submit = () => form.dispatchEvent(new Event("submit", {bubbles: true, cancelable: true}));
  const come_back = () => dispatchEvent(new PageTransitionEvent("pageshow", {persisted: true}));
  return [submit(), submit(), come_back() && submit(), come_back() && submit()];
}"""


def test_double_click_starts_one_scan(running: RunningService, browser: Window) -> None:
    def run_in_browser(chromium: Browser) -> None:
        with people_with_browsers(chromium, running, has_javascript=True) as new_person:
            ada = new_person()
            sign_up(ada)
            ada.page.goto(f"{ada.page.url}scans/new")
            assert ada.page.evaluate(SUBMITS) == [True, False, True, True]

            ada.page.reload()
            ada.page.get_by_label("Address", exact=True).fill(running.site.url_as("localhost") + "/")
            ada.page.get_by_role("button", name="Start scan").dblclick()
            expect(ada.page.get_by_role("heading", name="Fix first")).to_be_visible(timeout=1000 * SCAN_TIMEOUT_S)
            ada.open_section("Scans")
            expect(ada.page.get_by_role("main").get_by_role("rowheader")).to_have_count(1)

    browser.do(run_in_browser)


def test_webhook_receives_a_signed_event(running: RunningService, run_journey: Callable[[Journey], None]) -> None:
    def journey(new_person: Callable[[], Person]) -> None:
        ada = new_person()
        sign_up(ada)
        ada.open_section("Webhooks")
        ada.page.get_by_role("link", name="Your own receiver").click()
        ada.page.get_by_label("Address", exact=True).fill(f"{receiver.url}/hook")
        ada.page.get_by_label("Name", exact=True).fill("Receiver")
        ada.press("Add webhook")
        secret = ada.page.locator("#plaintext").inner_text()
        ada.follow_link("I have copied it")
        assert secret not in ada.page.content()

        ada.open_section("Scans")
        ada.follow_link("New scan")
        ada.page.get_by_label("Address", exact=True).fill(running.site.url_as("localhost") + "/")
        for other in ("Performance", "Accessibility", "SEO"):
            ada.page.get_by_label(other).uncheck()
        ada.press("Start scan")
        expect(ada.page.get_by_role("heading", name="Fix first")).to_be_visible(timeout=1000 * SCAN_TIMEOUT_S)
        ada.follow_link("The whole security report")
        scan_id = ada.page.url.rpartition("/")[2]
        wait_until(lambda: len(receiver.requests) == 1, SCAN_TIMEOUT_S)
        event = verify_event(receiver.requests[0], secret)
        assert event["event"] == "scan.completed"
        assert (event["data"]["scan_id"], event["data"]["report_url"]) == (scan_id, ada.page.url)

        ada.open_section("Webhooks")
        ada.follow_link("Receiver")
        send_again = ada.page.get_by_role("button", name=re.compile("^Send again: scan.completed"))
        ada.page.wait_for_load_state()
        wait_until(lambda: bool(ada.page.reload()) and send_again.count() == 1, SCAN_TIMEOUT_S, poll_s=0.2)
        send_again.click()
        ada.expect_text("The delivery is being sent again.")
        wait_until(lambda: len(receiver.requests) == 2, SCAN_TIMEOUT_S)
        first, second = receiver.requests
        assert verify_event(second, secret) == event
        assert (first.body, first.header("webhook-id")) == (second.body, second.header("webhook-id"))

    with Site({"/hook": Answer("ok")}) as receiver:
        run_journey(journey)


def verify_event(request: Request, secret: str) -> dict[str, Any]:
    """Verify both signatures of a delivery and return its event."""
    digest = hmac.new(secret.encode(), request.body, hashlib.sha256).hexdigest()
    assert request.header("X-Service-Signature") == f"sha256={digest}"
    Verifier(secret).verify(request.body, {name.lower(): value for name, value in request.headers})
    event: dict[str, Any] = json.loads(request.body)
    return event
