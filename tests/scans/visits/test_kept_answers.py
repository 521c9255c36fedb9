"""Responses that the processes of an audit share in Redis: bounded, for minutes, and none that had credentials."""

from __future__ import annotations

import time

import pytest
from django.core.cache import cache

from scans.visits import kept_answers
from scans.visits.kept_answers import MAX_MEMORY_BYTES, SharedAnswers
from tests.targets.server import Answer, Site
from tests.targets.server import Request as ReceivedRequest
from tests.website_scan.cast import POLICY
from website_scan.net.client import Network
from website_scan.net.credentials import Credentials, OriginCredentials
from website_scan.net.http.answers import KEPT_S, Answers, Key, Wish, key_of
from website_scan.net.http.request import Request, Reuse
from website_scan.net.http.response import Headers, Response
from website_scan.net.targets import parse_target

pytestmark = pytest.mark.usefixtures("db")  # for an empty Redis

SECRET = "hunter2-of-the-shop"
HTML = Headers((("Content-Type", "text/html"),))


def key(url: str) -> Key:
    return key_of(Request(parse_target(url, POLICY)))


KEY = key("https://example.com/")


def process(audit_id: str = "aud_1") -> Answers:
    """Return the answers of another worker process."""
    return Answers(MAX_MEMORY_BYTES, shared=SharedAnswers(audit_id))


def network(answers: Answers, credentials: OriginCredentials | None = None) -> Network:
    return Network(POLICY, answers=answers, credentials=credentials)


def test_what_one_process_has_asked_for_no_other_one_asks_for() -> None:
    with Site({"/app.js": Answer("x" * 500)}) as site:
        for _ in range(3):
            with network(process()) as visit:
                found = visit.fetch(Request(f"{site.url}/app.js", reuse=Reuse.ALLOWED))
                assert (found.body, found.status) == (b"x" * 500, 200)
        assert len(site.requests) == 1


def test_another_audit_asks_for_itself() -> None:
    with Site({"/": Answer("x")}) as site:
        for audit_id in ("aud_1", "aud_2"):
            with network(process(audit_id)) as visit:
                visit.fetch(Request(f"{site.url}/", reuse=Reuse.ALLOWED))
        assert len(site.requests) == 2


def test_a_link_that_was_tested_is_not_requested_again_by_the_visit_of_its_page() -> None:
    page = "<p>" + "word " * 20_000
    with Site({"/": Answer(page)}) as site:
        with network(process()) as visit:
            tested = visit.fetch(Request(f"{site.url}/", max_bytes=1000, reuse=Reuse.ALLOWED, kept_bytes=500_000))
            assert (len(tested.body), tested.truncated, tested.is_kept) == (1000, True, False)
        with network(process()) as visit:
            visited = visit.fetch(Request(f"{site.url}/", reuse=Reuse.FOR_OTHERS))
            assert (len(visited.body), visited.truncated, visited.is_kept) == (len(page), False, True)
        assert len(site.requests) == 1
        with network(Answers()) as single:
            tested = single.fetch(Request(f"{site.url}/", max_bytes=1000, reuse=Reuse.ALLOWED, kept_bytes=500_000))
            assert len(tested.body) == 1000
            assert not single.fetch(Request(f"{site.url}/", reuse=Reuse.FOR_OTHERS)).is_kept, (
                "a single scan reads its page"
            )


def test_a_page_that_was_visited_is_not_requested_again_by_a_link() -> None:
    with Site({"/": Answer("x" * 100_000)}) as site:
        with network(process()) as visit:
            assert len(visit.fetch(Request(f"{site.url}/", reuse=Reuse.FOR_OTHERS)).body) == 100_000
        with network(process()) as visit:
            assert (
                len(visit.fetch(Request(f"{site.url}/", max_bytes=1000, reuse=Reuse.ALLOWED, kept_bytes=5000)).body)
                == 1000
            )
        assert len(site.requests) == 1


def test_answers_to_credentials_stay_in_their_process() -> None:
    def page(request: ReceivedRequest) -> Answer:
        return Answer("secret page" if request.header("Authorization") else "log in")

    with Site({"/": page}) as site:
        given = OriginCredentials(parse_target(site.url, POLICY).origin, Credentials(basic_auth=("user", SECRET)))
        with network(process(), given) as visit:
            shown = visit.fetch(Request(f"{site.url}/", reuse=Reuse.ALLOWED, with_credentials=True))
            assert shown.body == b"secret page"
            assert (
                visit.fetch(Request(f"{site.url}/", reuse=Reuse.FOR_OTHERS, with_credentials=True)).body
                == b"secret page"
            )
        assert stored() == []
        with network(process(), given) as visit:
            assert visit.fetch(Request(f"{site.url}/", reuse=Reuse.ALLOWED)).body == b"log in"


def stored() -> list[str]:
    client = cache._cache.get_client(None)  # type: ignore[attr-defined]  # there is no public way to list keys
    return [key.decode() for key in client.keys("*:answers:response:*")]


def test_shared_responses_expire() -> None:
    process().keep(KEY, Response("https://example.com/", 200, HTML, b"x"))
    (key,) = stored()
    client = cache._cache.get_client(None)  # type: ignore[attr-defined]  # there is no public way to read a lifetime
    assert 0 < client.ttl(key) <= KEPT_S


def test_a_response_is_not_kept_longer_by_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    process().keep(KEY, Response("https://example.com/", 200, HTML, b"x"))
    now = [0.0]
    other = Answers(MAX_MEMORY_BYTES, clock=lambda: now[0], shared=SharedAnswers("aud_1"))
    moment = time.time()
    monkeypatch.setattr(time, "time", lambda: moment + 200)
    assert other.of_earlier_visit(KEY, Wish(10, verify=False))
    cache.clear()
    now[0] = 99
    assert other.of_earlier_visit(KEY, Wish(10, verify=False))
    now[0] = 101
    assert other.of_earlier_visit(KEY, Wish(10, verify=False)) is None


def test_a_site_does_not_fill_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_answers, "MAX_AUDIT_BYTES", 2000)
    shared = process()
    image = Headers((("Content-Type", "image/png"),))
    shared.keep(KEY, Response("https://example.com/", 200, image, b"x" * 33_000))
    assert stored() == [], "an image that is large"
    for number in range(50):
        shared.keep(key(f"https://example.com/{number}"), Response("", 404, HTML))
    assert 0 < len(stored()) < 20


@pytest.mark.parametrize("status", [403, 429, 500, 503])
def test_a_refusal_is_not_shared(status: int) -> None:
    process().keep(KEY, Response("https://example.com/", status, HTML))
    assert stored() == []
