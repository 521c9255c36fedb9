"""Tests that the results of a journey contain no secrets: neither texts nor pictures."""

from __future__ import annotations

import base64
import html
import io
import pickle
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from PIL import Image

from tests.targets.server import Answer, Request, Site
from tests.website_scan.browser.journey.walks import css, named, page, require_done, walk, walk_page
from website_scan.browser.visit import Part
from website_scan.browser.warm import WarmBrowser
from website_scan.journeys.journey import Change, Click, Judge, StateRule, WaitForElement
from website_scan.journeys.walk import Picture

SECRET = "Tr0ub4dor & <3>"
USER = "anna.tester@shop.example"
SECRETS = {"user": USER, "password": SECRET}
WELCOME = """<p>Hello <b>anna.tester</b>@shop.example, your password is {escaped}.</p>
<img alt="{escaped}" src="/i?p={quoted}">
<a href="/next?password={quoted}&user={user}#{quoted}">Next</a><input value="{escaped}"><textarea>{escaped}</textarea>
<label>Note <input title="{escaped}" aria-label="{escaped}"></label><p style="color: #ccc">{escaped}</p>
<script>
const secret = {json};
console.error(secret); setTimeout(() => {{ throw new Error(secret) }});
localStorage.password = secret; localStorage[secret] = 1;
sessionStorage.token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.' + btoa('sig');
document.cookie = 'user=' + encodeURIComponent(secret); document.title = secret;
fetch('/api?password=' + encodeURIComponent(secret));
</script><p role="status"></p><button onclick="this.previousElementSibling.textContent = secret">Status</button>
<button id="{escaped}">{escaped}</button>"""
FORM = (
    "<form method=post action=/in><label>E-mail <input name=user type=email></label>"
    "<label>Password <input name=password type=password></label><button>Sign in</button></form>"
)


def welcome(request: Request) -> Answer:
    text = WELCOME.format(
        escaped=html.escape(SECRET), quoted=quote(SECRET, safe=""), user=quote(USER), json='"Tr0ub4dor & \\u003c3>"'
    )
    return page(text, "Account", X_User=quote(SECRET), Set_Cookie="session=0123456789abcdef; HttpOnly; Path=/")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site({"/": page(FORM), "/in": welcome, "/next": page("<p>Next"), "/api": Answer("{}")}) as running:
        yield running


LOG_IN = (
    Change(target=named("E-mail"), value="{{user}}"),
    Change(target=named("Password"), value="{{password}}"),
    Judge(name="Filled"),
    Click(target=named("Sign in")),
    Click(target=named("Status")),
    Judge(name="Account"),
)


def test_result_contains_no_secret_in_any_form(browser: WarmBrowser, site: Site) -> None:
    steps = (*LOG_IN, Click(target=css("a")), Judge(name="Next"), Click(target=css("#none"), timeout_s=1.0))
    result = walk(
        browser,
        f"{site.url}/",
        *steps,
        secrets=SECRETS,
        rule=StateRule.NAVIGATIONS,
        change=lambda options: options.update(parts=frozenset(Part), has_pictures=True),
    )
    data = pickle.dumps(result)
    for secret in SECRETS.values():
        forms = {secret, quote(secret), quote(secret, safe=""), html.escape(secret), secret.lower()}
        forms |= {base64.b64encode(secret.encode()).decode().rstrip("=")[:-1], SECRET[:8]}
        for form in forms:
            at = data.find(form.encode())
            assert at < 0, data[max(0, at - 80) : at + 80]
    assert b"0123456789abcdef" not in data  # the ID of the session
    assert b"c2ln" not in data  # the token in the storage
    names = [state.name for state in result.states]
    assert names == ["Tea shop", "Filled", "{{password}}", "Account", "Next"]
    account = result.states[3]
    assert account.document
    assert "your password is {{password}}." in account.document
    assert "{{password}}" in str(result.states[2].evidence.exceptions)
    assert account.evidence.axe


def test_secrets_in_addresses_and_storage_are_reported(browser: WarmBrowser, site: Site) -> None:
    result = require_done(walk(browser, f"{site.url}/", *LOG_IN, secrets=SECRETS))
    before, account = (state.security for state in result.states)
    assert before.secrets_in_addresses == ()
    assert account.secrets_in_addresses == (
        f"{site.url}/i?p={{{{password}}}}",
        f"{site.url}/api?password={{{{password}}}}",
    )
    kinds = {(entry.area, entry.key): entry.kind for entry in account.storage}
    assert kinds == {
        ("localStorage", "password"): "secret",
        ("localStorage", "{{password}}"): "secret",
        ("sessionStorage", "token"): "token",
    }
    cookies = {cookie.name: cookie for cookie in account.cookies}
    assert (cookies["session"].is_http_only, cookies["session"].is_secure) == (True, False)
    assert (cookies["session"].value_length, cookies["session"].expires_in_s) == (16, None)
    assert cookies["session"].is_host_only
    assert "set-cookie" not in account.document_headers
    assert account.document_headers["x-user"] == "{{password}}"


def grey_pixels(picture: Image.Image) -> int:
    """Return the number of pixels that are covered."""
    data = picture.convert("RGB").tobytes()
    return sum(all(abs(part - 0x77) < 12 for part in data[at : at + 3]) for at in range(0, len(data), 3))


def grey_share(data: bytes) -> float:
    """Return the part of a picture that is covered, from 0 to 1."""
    picture = Image.open(io.BytesIO(data))
    return grey_pixels(picture) / (picture.width * picture.height)


SHOWN = {
    "password field": ("", "<input id=f type=password>"),
    "text field": ("", "<input id=f>"),
    "text area": ("", "<textarea id=f></textarea>"),
    "repeated text": ("o.textContent = value", "<p id=o></p>"),
    "text in several elements": ("o.innerHTML = `${value.slice(0, 6)}<b>${value.slice(6)}</b>`", "<p id=o></p>"),
    "copied field": ("o.value = value", "<input id=o>"),
    "placeholder": ("o.placeholder = value", "<input id=o>"),
    "content of a style": ("o.dataset.s = value", "<style>#o::before { content: attr(data-s) }</style><p id=o></p>"),
    "shadow tree": (
        "o.shadowRoot.textContent = value",
        "<p id=o><template shadowrootmode=open></template></p>",
    ),
}
BIG = "<style>* { font-size: 40px } #f { opacity: 0 }</style>"


@pytest.mark.parametrize("case", SHOWN)
def test_secret_is_covered_in_pictures(browser: WarmBrowser, case: str) -> None:
    script, body = SHOWN[case]
    style = BIG if script else BIG.replace("#f { opacity: 0 }", "")
    if script:
        body = f'<input id=f type=password oninput="{script}">{body}'
    result = require_done(
        walk_page(
            browser,
            style + body,
            Change(target=css("#f"), value="{{password}}"),
            Judge(name="Filled"),
            secrets={"password": "geheim123"},
            change=lambda options: options.update(has_pictures=True),
        )
    )
    before, after = result.steps[0].picture, result.steps[1].picture
    assert before
    assert after
    assert grey_share(before.data) < 0.001
    minimum = 0.015 if script else 0.005
    assert grey_share(after.data) > minimum
    screen = result.states[0].evidence.first_screen
    assert screen
    assert grey_share(screen.data) > minimum


def test_secret_in_a_frame_is_covered(browser: WarmBrowser) -> None:
    inner = page("<style>* { font-size: 40px }</style><input id=f>")
    with Site({"/": page("<iframe src=/inner style='margin-left: 300px'></iframe>"), "/inner": inner}) as site:
        result = walk(
            browser,
            f"{site.url}/",
            Change(target=css("#f", 0), value="{{password}}"),
            secrets={"password": "geheim123"},
            change=lambda options: options.update(has_pictures=True),
        )
    picture = require_done(result).steps[1].picture
    assert picture
    image = Image.open(io.BytesIO(picture.data))
    assert grey_pixels(image.crop((0, 0, 300, image.height))) < 200
    assert grey_share(picture.data) > 0.005


def picture_of_secret(browser: WarmBrowser, body: str) -> Picture | None:
    """Return the picture after a secret has been typed into the field with the ID f."""
    result = walk_page(
        browser,
        body,
        Change(target=css("#f"), value="{{password}}"),
        secrets={"password": "geheim123"},
        change=lambda options: options.update(has_pictures=True),
    )
    return require_done(result).steps[1].picture


def test_picture_of_a_moving_secret_is_not_taken(browser: WarmBrowser) -> None:
    body = """<input id=f><script>let left = 0; f.oninput = () => requestAnimationFrame(function move() {
    f.style.marginLeft = `${left = (left + 1) % 400}px`; requestAnimationFrame(move) })</script>"""
    assert picture_of_secret(browser, body) is None


def test_animated_secret_is_covered(browser: WarmBrowser) -> None:
    body = """<style>* { font-size: 40px } @keyframes move { to { margin-left: 400px } }</style><input id=f><script>
    f.oninput = () => { f.style.animation = 'move 0.2s linear infinite alternate' }</script>"""
    picture = picture_of_secret(browser, body)
    assert picture
    assert grey_share(picture.data) > 0.005


def test_secret_of_three_characters_is_covered_in_its_field(browser: WarmBrowser) -> None:
    result = walk_page(
        browser,
        "<style>* { font-size: 40px }</style><input id=f>",
        Change(target=css("#f"), value="{{pin}}"),
        WaitForElement(target=css("#f"), properties=(("value", "123"),)),
        secrets={"pin": "123"},
        change=lambda options: options.update(has_pictures=True),
    )
    picture = require_done(result).steps[1].picture
    assert picture
    assert grey_share(picture.data) > 0.005
