"""Site with a log-in, an account and a log-out.

The faulty site blocks pasting of the password, keeps the session of before the log-in, sends the password in an
address, lets caches store the account, has a menu that only a mouse opens, and deletes only the cookie on log-out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from tests.targets.server import Answer, Request, Route

USER, PASSWORD = "ada@example.com", "correct horse battery"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}, River library</title>
<meta name="viewport" content="width=device-width">
<style>body {{ font: 18px sans-serif; color: #111; background: #fff }}
#menu {{ cursor: pointer }}</style></head><body><header><a href="/">River library</a></header>
<main><h1>{title}</h1>{body}</main></body></html>"""
FORM = """<form method="{method}" action="/session">
<p><label>E-mail <input type="email" name="user" autocomplete="username" required></label></p>
<p><label>Password <input type="password" name="password" autocomplete="current-password" required{paste}></label></p>
<p><button>Sign in</button></p></form>"""
HEALTHY_FORM = FORM.format(method="post", paste="")
FAULTY_MENU = """<div id="menu"><span>Loans</span></div><ul id="loans" hidden><li>A book about rivers</li></ul>
<script>document.getElementById("menu").addEventListener("click", () => {
  document.getElementById("loans").hidden = false;
});</script>"""
MENU = """<button id="menu" aria-expanded="false" aria-controls="loans">Loans</button>
<ul id="loans" hidden><li>A book about rivers</li></ul>
<script>document.getElementById("menu").addEventListener("click", (event) => {
  event.target.setAttribute("aria-expanded", "true"); document.getElementById("loans").hidden = false;
});</script>"""
LOG_OUT = '<form method="post" action="/session/end"><button>Sign out</button></form>'


def account_site(*, is_faulty: bool) -> dict[str, Route]:
    """Return the routes of the site."""
    return _Account(is_faulty).routes


class _Account:
    def __init__(self, is_faulty: bool) -> None:
        self._is_faulty = is_faulty
        self._numbers = itertools.count(1)
        self._logged_in: set[str] = set()

    @property
    def routes(self) -> dict[str, Route]:
        return {
            "/": self._form,
            "/session": self._log_in,
            "/account": self._for_members(self._account),
            "/session/end": self._for_members(self._log_out),
        }

    def _new_session(self) -> str:
        return f"session-{next(self._numbers):04}-0123456789abcdef"

    def _set_cookie(self, session: str) -> str:
        return f"sessionid={session}; Path=/; HttpOnly; SameSite=Lax"

    def _form(self, request: Request) -> Answer:
        session = _session_of(request) or self._new_session()
        body = FORM.format(method="get", paste=' onpaste="return false"') if self._is_faulty else HEALTHY_FORM
        return _page("Sign in", body, ("Set-Cookie", self._set_cookie(session)), ("Cache-Control", "no-cache"))

    def _log_in(self, request: Request) -> Answer:
        sent = urlsplit(request.path).query if request.method == "GET" else request.body.decode()
        fields = {name: values[0] for name, values in parse_qs(sent).items()}
        if (fields.get("user"), fields.get("password")) != (USER, PASSWORD):
            return _page("Sign in", "<p role=alert>The password is wrong.</p>" + HEALTHY_FORM)
        session = _session_of(request) if self._is_faulty else ""
        session = session or self._new_session()
        self._logged_in.add(session)
        return Answer(status=303, headers=[("Location", "/account"), ("Set-Cookie", self._set_cookie(session))])

    def _account(self, _session: str) -> Answer:
        body = f"<p>Signed in as {USER}.</p>{FAULTY_MENU if self._is_faulty else MENU}{LOG_OUT}"
        cache = "public, max-age=600" if self._is_faulty else "no-store"
        return _page("Your account", body, ("Cache-Control", cache))

    def _log_out(self, session: str) -> Answer:
        if not self._is_faulty:
            self._logged_in.discard(session)
        return Answer(
            status=303, headers=[("Location", "/"), ("Set-Cookie", "sessionid=; Path=/; Max-Age=0; HttpOnly")]
        )

    def _for_members(self, answer: Callable[[str], Answer]) -> Route:
        def respond(request: Request) -> Answer:
            session = _session_of(request)
            return answer(session) if session in self._logged_in else Answer.redirect("/")

        return respond


def _session_of(request: Request) -> str:
    pairs = (part.strip().partition("=") for part in (request.header("Cookie") or "").split(";"))
    return next((value for name, _, value in pairs if name == "sessionid"), "")


def _page(title: str, body: str, *headers: tuple[str, str]) -> Answer:
    return Answer(PAGE.format(title=title, body=body), headers=[("Content-Type", "text/html; charset=utf-8"), *headers])
