"""Reuse of responses: for the same request only, with as much as was read, never a refusal, and not for long."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.targets.server import Answer, Certificate, Site
from tests.targets.server import Request as ReceivedRequest
from tests.website_scan.cast import POLICY
from website_scan.net.client import Network
from website_scan.net.errors import NetError, TimedOut, Untrusted
from website_scan.net.http.answers import Answers, Key, Wish, key_of
from website_scan.net.http.request import Request, Reuse
from website_scan.net.http.response import Headers, Response
from website_scan.net.targets import parse_target

URL = "https://example.com/app.js"
ALL_OF_IT = Wish(1000, verify=False)


def key(url: str = URL, **headers: str) -> Key:
    return key_of(Request(parse_target(url, POLICY), headers=headers))


def kept(answers: Answers, wish: Wish = ALL_OF_IT, **headers: str) -> Response | None:
    """Return the kept response. None if the request would have to be sent."""
    try:
        return answers.answer(key(**headers), wish, _nobody, 0.0)
    except LookupError:
        return None


def _nobody() -> Response:
    raise LookupError


def test_it_is_asked_for_once() -> None:
    with Site({"/": Answer("x" * 500)}) as site, Network(POLICY) as network:
        for _ in range(3):
            assert network.fetch(Request(f"{site.url}/", reuse=Reuse.ALLOWED)).body == b"x" * 500
        assert network.requests == len(site.requests) == 1
        assert network.fetch(f"{site.url}/").status == 200
        assert len(site.requests) == 2, "who does not allow it gets a fresh answer"


def test_who_wants_less_gets_less_and_who_wants_more_asks() -> None:
    with Site({"/": Answer("x" * 500)}) as site, Network(POLICY) as network:
        for max_bytes, requests in ((100, 1), (50, 1), (300, 2), (500, 3), (10, 3), (10_000, 3)):
            found = network.fetch(Request(f"{site.url}/", max_bytes=max_bytes, reuse=Reuse.ALLOWED))
            assert (len(found.body), found.truncated) == (min(max_bytes, 500), max_bytes < 500)
            assert len(site.requests) == requests


def test_redirects_are_kept_hop_by_hop() -> None:
    with Site({"/": Answer.redirect("/there"), "/there": Answer("here")}) as site, Network(POLICY) as network:
        for _ in range(2):
            assert [each.status for each in network.follow(Request(f"{site.url}/", reuse=Reuse.ALLOWED))] == [302, 200]
        assert site.paths() == ["/", "/there"]


def test_a_cookie_of_an_earlier_hop_makes_it_another_request() -> None:
    def wants_cookie(request: ReceivedRequest) -> Answer:
        if request.header("Cookie"):
            return Answer("in")
        return Answer.redirect("/", Set_Cookie="seen=1")

    with Site({"/": wants_cookie}) as site, Network(POLICY) as network:
        for _ in range(2):
            assert network.follow(Request(f"{site.url}/", reuse=Reuse.ALLOWED))[-1].body == b"in"
        assert len(site.requests) == 2


@pytest.mark.parametrize("status", [403, 429, 500, 503])
def test_a_refusal_is_not_the_last_word(status: int) -> None:
    with Site({"/": Answer("no", status=status)}) as site, Network(POLICY) as network:
        for _ in range(2):
            assert network.fetch(Request(f"{site.url}/", reuse=Reuse.ALLOWED)).status == status
        assert len(site.requests) == 2


def test_a_page_that_was_asked_for_anew_is_known_to_who_asks_for_less() -> None:
    with Site({"/": Answer("x" * 50_000)}) as site, Network(POLICY) as network:
        assert len(network.fetch(Request(f"{site.url}/", reuse=Reuse.FOR_OTHERS)).body) == 50_000
        assert len(network.fetch(Request(f"{site.url}/", max_bytes=1000, reuse=Reuse.ALLOWED)).body) == 1000
        assert len(site.requests) == 1
        assert len(network.fetch(Request(f"{site.url}/", reuse=Reuse.FOR_OTHERS)).body) == 50_000
        assert len(site.requests) == 2


def test_what_an_untrusted_certificate_guards_is_nothing_for_who_wants_trust() -> None:
    with Site({"/": Answer("x")}, certificate=Certificate.EXPIRED) as site, Network(POLICY) as network:
        url = site.url_as("localhost") + "/"
        assert network.fetch(Request(url, verify=False, reuse=Reuse.ALLOWED)).tls is not None
        with pytest.raises(Untrusted):
            network.fetch(Request(url, reuse=Reuse.ALLOWED))


def test_many_at_once_wait_for_one() -> None:
    asked, go = threading.Event(), threading.Event()

    def slow(request: ReceivedRequest) -> Answer:
        asked.set()
        go.wait(10)
        return Answer("x")

    with Site({"/": slow}) as site, Network(POLICY) as network, ThreadPoolExecutor(8) as pool:
        first = pool.submit(network.fetch, Request(f"{site.url}/", reuse=Reuse.ALLOWED))
        assert asked.wait(10)
        others = [pool.submit(network.fetch, Request(f"{site.url}/", reuse=Reuse.ALLOWED)) for _ in range(7)]
        go.set()
        assert {each.result().body for each in (first, *others)} == {b"x"}
        assert len(site.requests) == 1


def test_who_waited_for_one_that_failed_asks_himself() -> None:
    answers, began, go = Answers(), threading.Event(), threading.Event()

    def fails() -> Response:
        began.set()
        go.wait(10)
        raise NetError("gone")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(answers.answer, key(), ALL_OF_IT, fails, 10.0)
        assert began.wait(10)
        second = pool.submit(answers.answer, key(), ALL_OF_IT, lambda: Response(URL, 200, headers()), 10.0)
        go.set()
        assert second.result().status == 200
        with pytest.raises(NetError):
            first.result()
    assert kept(answers)


def test_who_waits_too_long_was_not_answered_in_time() -> None:
    answers, began, go = Answers(), threading.Event(), threading.Event()

    def hangs() -> Response:
        began.set()
        go.wait(10)
        return Response(URL, 200, headers())

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(answers.answer, key(), ALL_OF_IT, hangs, 10.0)
        assert began.wait(10)
        with pytest.raises(TimedOut):
            answers.answer(key(), ALL_OF_IT, _nobody, 0.01)
        # The next one does not wait again for a request that may have been aborted.
        assert answers.answer(key(), ALL_OF_IT, lambda: Response(URL, 204, Headers()), 0.01).status == 204
        go.set()
        first.result()


def test_the_same_address_asked_for_otherwise_is_another_request() -> None:
    answers = Answers()
    answers.keep(key(Accept="*/*", Referer="https://example.com/a"), Response(URL, 200, headers()))
    assert kept(answers, Referer="https://example.com/b"), "pages of a site refer to their files alike"
    assert not kept(answers)
    assert not kept(answers, Referer="https://other.example.com/a")
    assert not kept(answers, Referer="https://example.com/a", Accept="image/*")
    assert not kept(answers, Referer="https://example.com/a", Cookie="a=1")


def test_what_is_old_is_asked_for_again() -> None:
    now = [0.0]
    answers = Answers(lifetime_s=300, clock=lambda: now[0])
    answers.keep(key(), Response(URL, 200, headers()))
    now[0] = 299
    assert kept(answers)
    now[0] = 300
    assert not kept(answers)
    assert answers.held_bytes == 0


def test_memory_is_bounded_and_what_was_used_last_stays() -> None:
    answers = Answers(limit_bytes=50_000)
    names = [f"https://example.com/{number}" for number in range(100)]
    for name in names:
        answers.keep(key(name), Response(name, 200, headers(), b"x" * 9000))
        answers.answer(key(names[0]), ALL_OF_IT, lambda: Response(URL, 200, headers()), 0.0)
        assert answers.held_bytes <= 50_000
    assert answers.answer(key(names[0]), ALL_OF_IT, _nobody, 0.0).url == names[0]
    answers.keep(key(), Response(URL, 200, headers(), b"x" * 49_500))
    assert not kept(answers), "one that leaves no room for others"


def headers() -> Headers:
    return Headers()
