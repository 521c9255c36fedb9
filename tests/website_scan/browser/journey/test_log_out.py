"""Tests that the server is asked after a log-out whether the session still exists."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.targets.server import Answer, Request, Route, Site
from tests.website_scan.browser.journey.walks import css, named, page, require_done, walk
from tests.website_scan.cast import outcome
from website_scan.browser.journey.judged import journey_states
from website_scan.browser.journey.log_out import MAX_BODY_BYTES
from website_scan.browser.journey.result import Walk
from website_scan.browser.visit import Part
from website_scan.browser.warm import WarmBrowser
from website_scan.journeys.journey import (
    Click,
    Journey,
    Judge,
    KeyDown,
    KeyUp,
    Navigate,
    SetViewport,
    Step,
    WaitForElement,
)
from website_scan.journeys.walk import LogOut, NotTested, PageAnswer
from website_scan.net.budget import Limits
from website_scan.security.checks.log_in import log_out as check

USER = "ada.lovelace"
SESSION = "0123456789abcdef"
SIGNED_IN = f"<p>Signed in as {USER}.</p>"
BUTTON = '<form method=post action="/end"><button>Log out</button></form>'
ACCOUNT = SIGNED_IN + BUTTON
LOG_IN = '<a href="/login">Log in</a>'
DELETION = ("Set-Cookie", "id=; Path=/; Max-Age=0")
LOG_OUT = Click(target=named("Log out"))
JUDGE = Judge(name="After")


class Service(Struct):
    """Site with one session. `ends_session` is True if a log-out ends it on the server."""

    ends_session: bool = True
    private: Callable[[Request], Answer] = lambda _: page(ACCOUNT, "Account")
    public: Callable[[Request], Answer | None] = lambda _: Answer.redirect("/")
    end: Callable[[Request], Answer] = lambda _: Answer(status=303, headers=[("Location", "/"), DELETION])
    has_ended: bool = False

    def routes(self) -> dict[str, Route]:
        return {
            "/": lambda _: page(LOG_IN),
            "/login": self._log_in,
            "/account": self._account,
            "/end": self._end,
        }

    def is_logged_in(self, request: Request) -> bool:
        return f"id={SESSION}" in (request.header("Cookie") or "") and not self.has_ended

    def _log_in(self, _: Request) -> Answer:
        return Answer(status=303, headers=[("Location", "/account"), ("Set-Cookie", f"id={SESSION}; Path=/; HttpOnly")])

    def _account(self, request: Request) -> Answer | None:
        return (self.private if self.is_logged_in(request) else self.public)(request)

    def _end(self, request: Request) -> Answer:
        self.has_ended = self.ends_session
        return self.end(request)


def log_out_of(
    browser: WarmBrowser, site: Site, *steps: Step, options: Mapping[str, Any] | None = None, **others: Any
) -> Walk:
    """Log in, execute the steps, and judge the state after them."""

    def change(request: dict[str, Any]) -> None:
        request |= {"parts": frozenset({Part.LAYOUT}), "tests_log_out": True, **(options or {})}

    secrets = {"user": USER}
    all_steps = steps or (LOG_OUT, JUDGE)
    return walk(browser, f"{site.url}/login", *all_steps, secrets=secrets, change=change, **others)


def result_of(walked: Walk) -> LogOut | None:
    return require_done(walked).states[-1].security.log_out


def verdict(walked: Walk) -> str:
    """Return what the check says about the last state."""
    journey = Journey("Test", (Navigate(url="http://site.example.com/"),) * len(walked.steps))
    return outcome(check(journey_states(journey, require_done(walked))[-1]))


def requests_to(site: Site, path: str = "/account") -> list[str]:
    """Return the header Cookie of each request for a page, in the order of the requests."""
    return [request.header("Cookie") or "" for request in site.requests if request.path == path]


def shell(_: Request) -> Answer:
    """Return an app with scripts. The server sends the same markup to everybody."""
    return page(
        "<div id=app></div><script>document.getElementById('app').innerHTML ="
        " document.cookie.includes('seen') ? '<p>Bye</p>' : '<form method=post action=/end><button>Log '"
        " + 'out</button></form>';</script>"
    )


def test_session_that_ends_on_the_server(browser: WarmBrowser) -> None:
    with Site(Service().routes()) as site:
        walked = log_out_of(browser, site)
    assert verdict(walked) == "pass"
    assert requests_to(site) == [f"id={SESSION}"] * 2  # The answer is clear, so the page is requested only once.
    assert SESSION not in repr(walked)


def test_session_of_which_only_the_cookie_is_deleted(browser: WarmBrowser, caplog: pytest.LogCaptureFixture) -> None:
    with Site(Service(ends_session=False).routes()) as site, caplog.at_level(logging.DEBUG):
        walked = log_out_of(browser, site)
    assert verdict(walked) == "valid"
    assert requests_to(site) == [f"id={SESSION}", f"id={SESSION}", ""]
    assert SESSION not in repr(walked)
    assert USER not in repr(walked)
    assert SESSION not in caplog.text


def test_requests_have_the_user_agent_of_the_browser(browser: WarmBrowser) -> None:
    """Some servers bind a session to the User-Agent."""
    phone = SetViewport(width=412, height=915, scale=1.0, is_mobile=True)
    with Site(Service(ends_session=False).routes()) as site:
        assert verdict(log_out_of(browser, site, phone, LOG_OUT, JUDGE)) == "valid"
    agents = {request.header("User-Agent") for request in site.requests if request.path == "/account"}
    assert len(agents) == 1


def test_second_request_has_the_cookies_that_the_browser_has_now(browser: WarmBrowser) -> None:
    new = ("Set-Cookie", "id=anonymous-1; Path=/; HttpOnly")
    service = Service(ends_session=False, end=lambda _: Answer(status=303, headers=[("Location", "/"), new]))
    with Site(service.routes()) as site:
        assert verdict(log_out_of(browser, site)) == "valid"
    assert requests_to(site) == [f"id={SESSION}", f"id={SESSION}", "id=anonymous-1"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer.redirect("/login"), "pass"),
        (Answer.redirect("/account"), "n/a"),  # The site might renew the session there.
        (Answer("No", status=401), "pass"),
        (Answer("No", status=403), "pass"),
        (page("<form><input type=password></form>"), "pass"),
        (page(LOG_IN), "pass"),
        (Answer("Broken", status=500), "n/a"),
    ],
)
def test_answer_without_the_session(browser: WarmBrowser, answer: Answer, expected: str) -> None:
    with Site(Service(public=lambda _: answer).routes()) as site:
        assert verdict(log_out_of(browser, site)) == expected


def test_public_page_that_shows_its_user_is_judged(browser: WarmBrowser) -> None:
    with Site(Service(ends_session=False, public=lambda _: page(LOG_IN, "Account")).routes()) as site:
        assert verdict(log_out_of(browser, site)) == "valid"


def test_page_that_is_the_same_for_everybody_is_not_applicable(browser: WarmBrowser) -> None:
    with Site(Service(public=lambda _: page(ACCOUNT, "Account")).routes()) as site:
        assert verdict(log_out_of(browser, site)) == "n/a"


def test_markup_by_scripts_is_not_requested_again(browser: WarmBrowser) -> None:
    with Site(Service(private=shell, public=shell).routes()) as site:
        assert result_of(log_out_of(browser, site)) == LogOut(problem=NotTested.NO_SIGN)
    assert len(requests_to(site)) == 1


def test_token_in_storage_is_not_tested(browser: WarmBrowser) -> None:
    body = (
        "<p id=user></p><button onclick=\"localStorage.clear(); location = '/bye'\">Log out</button>"
        "<script>localStorage.token = 'eyJhbGciOiJub25lIn0'</script>"
    )
    routes: dict[str, Route] = {"/login": page(body), "/bye": page(LOG_IN)}
    with Site(routes) as site:
        assert result_of(log_out_of(browser, site)) == LogOut(problem=NotTested.NO_COOKIES)
    assert len(requests_to(site, "/login")) == 1


def test_page_that_a_form_has_opened_is_not_requested_again(browser: WarmBrowser) -> None:
    cookie = ("Set-Cookie", f"id={SESSION}; Path=/")
    content = ("Content-Type", "text/html")
    service = Service(ends_session=False)
    service_routes = service.routes() | {
        "/login": page('<form method=post action="/welcome"><button>Enter</button></form>'),
        "/welcome": Answer(ACCOUNT, headers=[content, cookie]),
    }
    with Site(service_routes) as site:
        walked = log_out_of(browser, site, Click(target=named("Enter")), LOG_OUT, JUDGE)
        assert result_of(walked) == LogOut(problem=NotTested.NOT_REPEATABLE)
    assert len(requests_to(site, "/welcome")) == 1


def test_page_whose_address_logs_out_is_not_requested_again(browser: WarmBrowser) -> None:
    service = Service(ends_session=False, private=lambda _: page(f'{SIGNED_IN}<a href="/logout">Leave</a>', "Account"))
    with Site(service.routes() | {"/logout": page(BUTTON)}) as site:
        walked = log_out_of(browser, site, Click(target=named("Leave")), LOG_OUT, JUDGE)
        assert result_of(walked) == LogOut(problem=NotTested.NOT_REPEATABLE)
    assert len(requests_to(site, "/logout")) == 1


@pytest.mark.parametrize("query", [f"?user={USER}", f"?session={SESSION}"])
def test_address_with_a_secret_or_a_session_is_not_requested_again(browser: WarmBrowser, query: str) -> None:
    service = Service(ends_session=False)
    with Site(service.routes()) as site:
        opens = Navigate(url=f"{site.url}/account{query}")
        walked = log_out_of(browser, site, opens, LOG_OUT, JUDGE)
        assert result_of(walked) == LogOut(problem=NotTested.NOT_REPEATABLE)
    assert len(requests_to(site, f"/account{query}")) == 1


def test_state_that_still_has_a_control_to_log_out(browser: WarmBrowser) -> None:
    answer = page(ACCOUNT, "Account", Set_Cookie="seen=1")
    with Site(Service(ends_session=False, end=lambda _: answer).routes()) as site:
        assert result_of(log_out_of(browser, site)) == LogOut(problem=NotTested.NOT_LOGGED_OUT)
    assert len(requests_to(site)) == 1


def test_question_whether_to_log_out_is_no_log_out(browser: WarmBrowser) -> None:
    answer = page("<p>Are you sure?</p><button>Yes</button>")
    with Site(Service(ends_session=False, end=lambda _: answer).routes()) as site:
        assert result_of(log_out_of(browser, site)) == LogOut(problem=NotTested.NOT_LOGGED_OUT)
    assert len(requests_to(site)) == 1


def test_confirmed_log_out_is_tested_with_the_page_before_both_steps(browser: WarmBrowser) -> None:
    service = Service(ends_session=False)
    routes = service.routes() | {"/logout": page(BUTTON.replace("Log out", "Yes, log out"))}
    service.private = lambda _: page(f'{SIGNED_IN}<a href="/logout">Log out</a>', "Account")
    with Site(routes) as site:
        walked = log_out_of(browser, site, LOG_OUT, Click(target=named("Yes, log out")), JUDGE)
    assert verdict(walked) == "valid"
    assert len(requests_to(site)) == 3


def test_log_out_that_keeps_the_cookie_and_shows_a_log_in_form(browser: WarmBrowser) -> None:
    answer = page("<form><input type=password></form>")
    service = Service(ends_session=False, end=lambda _: answer)
    with Site(service.routes()) as site:
        assert verdict(log_out_of(browser, site)) == "valid"
    assert requests_to(site) == [f"id={SESSION}", f"id={SESSION}", ""]


@pytest.mark.parametrize(
    "steps",
    [
        (Navigate(url="/end-by-address/logout"),),
        (Click(target=css("a.icon")),),
        (Click(target=css("#other")), KeyDown(key="Enter"), KeyUp(key="Enter")),
    ],
)
def test_other_ways_to_log_out(browser: WarmBrowser, steps: tuple[Step, ...]) -> None:
    service = Service(ends_session=False)
    links = '<a class=icon href="/end" aria-label="Log out">x</a><span id=other>User</span>'
    focus = "<script>document.getElementById('other').onclick = () => document.querySelector('.icon').focus()</script>"
    service.private = lambda _: page(SIGNED_IN + links + focus, "Account")
    routes = service.routes() | {"/end-by-address/logout": service.routes()["/end"]}
    with Site(routes) as site:
        opened = tuple(replace(step, url=site.url + step.url) if isinstance(step, Navigate) else step for step in steps)
        waits = WaitForElement(target=named("Log in"))
        assert verdict(log_out_of(browser, site, *opened, waits, JUDGE)) == "valid"


def test_heading_about_log_outs_is_no_control(browser: WarmBrowser) -> None:
    heading = "<h2 id=all>Log out of all devices</h2>"
    service = Service(ends_session=False, end=lambda _: Answer(status=303, headers=[("Location", "/bye"), DELETION]))
    routes = service.routes() | {"/bye": page(LOG_IN + heading)}
    with Site(routes) as site:
        assert verdict(log_out_of(browser, site)) == "valid"


def test_only_the_first_state_after_a_log_out_is_tested(browser: WarmBrowser) -> None:
    with Site(Service(ends_session=False).routes()) as site:
        again = Navigate(url=f"{site.url}/")
        walked = log_out_of(browser, site, LOG_OUT, JUDGE, again, Judge(name="Later"))
    first, second = (state.security.log_out for state in require_done(walked).states)
    assert first is not None
    assert second is None
    assert len(requests_to(site)) == 3


@pytest.mark.parametrize("options", [{"tests_log_out": False}, {"max_states": 0}])
def test_run_without_security_or_states_requests_nothing(browser: WarmBrowser, options: dict[str, Any]) -> None:
    with Site(Service(ends_session=False).routes()) as site:
        require_done(log_out_of(browser, site, options=options))
    assert len(requests_to(site)) == 1


def test_answer_sets_no_cookies_in_the_browser(browser: WarmBrowser) -> None:
    service = Service()
    service.public = lambda _: Answer(status=302, headers=[("Location", "/"), ("Set-Cookie", "trap=1; Path=/")])
    with Site(service.routes()) as site:
        walked = log_out_of(browser, site, LOG_OUT, JUDGE, Navigate(url=f"{site.url}/next"), Judge(name="Later"))
    assert verdict(replace(walked, states=walked.states[:1])) == "pass"
    assert requests_to(site, "/next") == [""]
    assert [state.security.cookies for state in walked.states] == [(), ()]


def test_slow_answer_does_not_delay_the_journey(browser: WarmBrowser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("website_scan.browser.journey.log_out.REQUEST_TIMEOUT_S", 0.5)
    with Site(Service(public=lambda _: Answer("Late", delay_s=60)).routes()) as site:
        assert result_of(log_out_of(browser, site)) == LogOut(problem=NotTested.UNANSWERED)


def test_endless_answer_is_cut(browser: WarmBrowser) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<a href=/login>Log in</a>"

    def send_without_end(request: Request) -> None:
        with contextlib.suppress(OSError):  # The scanner closes the connection.
            request.connection.sendall(head)
            while True:
                request.connection.sendall(b"<p>tea</p>" * 1_000)

    with Site(Service(public=send_without_end).routes()) as site:
        assert verdict(log_out_of(browser, site)) == "pass"


def test_only_the_beginning_of_an_answer_is_read(browser: WarmBrowser) -> None:
    with Site(Service(public=lambda _: page("x" * MAX_BODY_BYTES + LOG_IN)).routes()) as site:
        result = result_of(log_out_of(browser, site))
    assert result is not None
    assert result.old == PageAnswer(200)


def test_cached_answer_is_not_judged(browser: WarmBrowser) -> None:
    service = Service(ends_session=False, private=lambda _: page(ACCOUNT, "Account", Age="30"))
    with Site(service.routes()) as site:
        assert result_of(log_out_of(browser, site)) == LogOut(problem=NotTested.CACHED)


def test_page_on_which_the_journey_may_not_act_is_not_requested(browser: WarmBrowser) -> None:
    allowed_paths = {"/", "/login", "/account", "/logout"}
    service = Service(ends_session=False)

    def forbid_account(executed_steps: int) -> None:
        if executed_steps == 2:
            allowed_paths.discard("/account")

    def is_allowed(address: str) -> bool:
        return urlsplit(address).path in allowed_paths

    options = {"allowed": is_allowed, "report_progress": forbid_account}
    with Site(service.routes() | {"/logout": service.routes()["/end"]}) as site:
        steps = (Judge(name="Before"), Navigate(url=f"{site.url}/logout"), JUDGE)
        walked = log_out_of(browser, site, *steps, options=options)
        assert result_of(walked) == LogOut(problem=NotTested.NOT_REPEATABLE)
    assert len(requests_to(site)) == 1


def test_request_counts_as_one_of_the_journey(browser: WarmBrowser) -> None:
    with Site(Service(ends_session=False).routes()) as site:
        used = log_out_of(browser, site)
        assert verdict(used) == "valid"
        browser_requests = len(site.requests) - 2
    with Site(Service(ends_session=False).routes()) as site:
        limits = Limits(requests=browser_requests, requests_per_host=browser_requests)
        assert result_of(log_out_of(browser, site, limits=limits)) == LogOut(problem=NotTested.UNANSWERED)
    assert len(requests_to(site)) == 1
