"""Tests for the HTTP response cache of a scan."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.targets.server import Answer, Certificate, Site
from tests.targets.server import Request as ReceivedRequest
from tests.website_scan.cast import POLICY
from website_scan.net.client import Network
from website_scan.net.errors import NetError, TimedOut, Untrusted
from website_scan.net.http.answers import AnswerRequirements, Answers, Key, answer_key
from website_scan.net.http.request import Request, Reuse
from website_scan.net.http.response import Headers, Response
from website_scan.net.targets import parse_target

URL = "https://example.com/app.js"
UNTRUSTED_WISH = AnswerRequirements(1000, verify=False)


def request_key(url: str = URL, **headers: str) -> Key:
    return answer_key(Request(parse_target(url, POLICY), headers=headers))


def cached_response(
    answers: Answers, requirements: AnswerRequirements = UNTRUSTED_WISH, **headers: str
) -> Response | None:
    """Return the cached response, or None."""
    try:
        return answers.answer(request_key(**headers), requirements, _raise_lookup_error, 0.0)
    except LookupError:
        return None


def _raise_lookup_error() -> Response:
    raise LookupError


def test_same_request_is_sent_once() -> None:
    with Site({"/": Answer("x" * 500)}) as site, Network(POLICY) as network:
        for _ in range(3):
            assert network.fetch(Request(f"{site.url}/", reuse=Reuse.ALLOWED)).body == b"x" * 500
        assert network.requests == len(site.requests) == 1
        assert network.fetch(f"{site.url}/").status == 200
        assert len(site.requests) == 2, "who does not allow it gets a fresh answer"


def test_cached_body_is_reused() -> None:
    with Site({"/": Answer("x" * 500)}) as site, Network(POLICY) as network:
        for max_bytes, requests in ((100, 1), (50, 1), (300, 2), (500, 3), (10, 3), (10_000, 3)):
            response = network.fetch(Request(f"{site.url}/", max_bytes=max_bytes, reuse=Reuse.ALLOWED))
            assert (len(response.body), response.truncated) == (min(max_bytes, 500), max_bytes < 500)
            assert len(site.requests) == requests


def test_redirects_are_cached_hop_by_hop() -> None:
    with Site({"/": Answer.redirect("/there"), "/there": Answer("here")}) as site, Network(POLICY) as network:
        for _ in range(2):
            assert [response.status for response in network.follow(Request(f"{site.url}/", reuse=Reuse.ALLOWED))] == [
                302,
                200,
            ]
        assert site.paths() == ["/", "/there"]


def test_request_with_another_cookie_is_sent() -> None:
    def require_cookie(request: ReceivedRequest) -> Answer:
        if request.header("Cookie"):
            return Answer("in")
        return Answer.redirect("/", Set_Cookie="seen=1")

    with Site({"/": require_cookie}) as site, Network(POLICY) as network:
        for _ in range(2):
            assert network.follow(Request(f"{site.url}/", reuse=Reuse.ALLOWED))[-1].body == b"in"
        assert len(site.requests) == 2


@pytest.mark.parametrize("status", [403, 429, 500, 503])
def test_error_response_is_not_cached(status: int) -> None:
    with Site({"/": Answer("no", status=status)}) as site, Network(POLICY) as network:
        for _ in range(2):
            assert network.fetch(Request(f"{site.url}/", reuse=Reuse.ALLOWED)).status == status
        assert len(site.requests) == 2


def test_shorter_body_comes_from_the_cache() -> None:
    with Site({"/": Answer("x" * 50_000)}) as site, Network(POLICY) as network:
        assert len(network.fetch(Request(f"{site.url}/", reuse=Reuse.STORE_ONLY)).body) == 50_000
        assert len(network.fetch(Request(f"{site.url}/", max_bytes=1000, reuse=Reuse.ALLOWED)).body) == 1000
        assert len(site.requests) == 1
        assert len(network.fetch(Request(f"{site.url}/", reuse=Reuse.STORE_ONLY)).body) == 50_000
        assert len(site.requests) == 2


def test_verified_request_ignores_untrusted_responses() -> None:
    with Site({"/": Answer("x")}, certificate=Certificate.EXPIRED) as site, Network(POLICY) as network:
        url = site.url_as("localhost") + "/"
        assert network.fetch(Request(url, verify=False, reuse=Reuse.ALLOWED)).tls is not None
        with pytest.raises(Untrusted):
            network.fetch(Request(url, reuse=Reuse.ALLOWED))


def test_concurrent_equal_requests_wait_for_the_first() -> None:
    asked, go = threading.Event(), threading.Event()

    def slow_route(request: ReceivedRequest) -> Answer:
        asked.set()
        go.wait(10)
        return Answer("x")

    with Site({"/": slow_route}) as site, Network(POLICY) as network, ThreadPoolExecutor(8) as pool:
        first = pool.submit(network.fetch, Request(f"{site.url}/", reuse=Reuse.ALLOWED))
        assert asked.wait(10)
        others = [pool.submit(network.fetch, Request(f"{site.url}/", reuse=Reuse.ALLOWED)) for _ in range(7)]
        go.set()
        assert {future.result().body for future in (first, *others)} == {b"x"}
        assert len(site.requests) == 1


def test_waiting_request_is_sent_after_a_failure() -> None:
    answers, began, go = Answers(), threading.Event(), threading.Event()

    def failing_request() -> Response:
        began.set()
        go.wait(10)
        raise NetError("gone")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(answers.answer, request_key(), UNTRUSTED_WISH, failing_request, 10.0)
        assert began.wait(10)
        second = pool.submit(answers.answer, request_key(), UNTRUSTED_WISH, lambda: Response(URL, 200, headers()), 10.0)
        go.set()
        assert second.result().status == 200
        with pytest.raises(NetError):
            first.result()
    assert cached_response(answers)


def test_waiting_for_a_pending_request_can_time_out() -> None:
    answers, began, go = Answers(), threading.Event(), threading.Event()

    def hanging_request() -> Response:
        began.set()
        go.wait(10)
        return Response(URL, 200, headers())

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(answers.answer, request_key(), UNTRUSTED_WISH, hanging_request, 10.0)
        assert began.wait(10)
        with pytest.raises(TimedOut):
            answers.answer(request_key(), UNTRUSTED_WISH, _raise_lookup_error, 0.01)
        # The pending request may have been aborted, so the next one is sent at once.
        assert answers.answer(request_key(), UNTRUSTED_WISH, lambda: Response(URL, 204, Headers()), 0.01).status == 204
        go.set()
        first.result()


def test_request_with_other_headers_is_sent() -> None:
    answers = Answers()
    answers.keep(request_key(Accept="*/*", Referer="https://example.com/a"), Response(URL, 200, headers()))
    assert cached_response(answers, Referer="https://example.com/b"), "pages of a site refer to their files alike"
    assert not cached_response(answers)
    assert not cached_response(answers, Referer="https://other.example.com/a")
    assert not cached_response(answers, Referer="https://example.com/a", Accept="image/*")
    assert not cached_response(answers, Referer="https://example.com/a", Cookie="a=1")


def test_cached_response_expires() -> None:
    now = [0.0]
    answers = Answers(lifetime_s=300, clock=lambda: now[0])
    answers.keep(request_key(), Response(URL, 200, headers()))
    now[0] = 299
    assert cached_response(answers)
    now[0] = 300
    assert not cached_response(answers)
    assert answers.cached_bytes == 0


def test_cache_keeps_recently_used_responses() -> None:
    answers = Answers(limit_bytes=50_000)
    names = [f"https://example.com/{number}" for number in range(100)]
    for name in names:
        answers.keep(request_key(name), Response(name, 200, headers(), b"x" * 9000))
        answers.answer(request_key(names[0]), UNTRUSTED_WISH, lambda: Response(URL, 200, headers()), 0.0)
        assert answers.cached_bytes <= 50_000
    assert answers.answer(request_key(names[0]), UNTRUSTED_WISH, _raise_lookup_error, 0.0).url == names[0]
    answers.keep(request_key(), Response(URL, 200, headers(), b"x" * 49_500))
    assert not cached_response(answers), "one that leaves no room for others"


def headers() -> Headers:
    return Headers()
