"""Tests for the responses that an audit's processes share in Redis."""

from __future__ import annotations

import time
from random import Random

import pytest
from django.core.cache import cache

from infrastructure import redis_client
from scans.visits import audit_store, shared_responses
from scans.visits.shared_responses import MAX_MEMORY_BYTES, SharedAnswers
from tests.redis_commands import counted_redis_commands
from tests.targets.server import Answer, Site
from tests.targets.server import Request as ReceivedRequest
from tests.website_scan.cast import POLICY
from website_scan.net.client import Network
from website_scan.net.credentials import Credentials, OriginCredentials
from website_scan.net.http.answers import KEPT_S, AnswerRequirements, Answers, Key, answer_key
from website_scan.net.http.request import Request, Reuse
from website_scan.net.http.response import Headers, Response
from website_scan.net.targets import parse_target

# The fixture `db` also empties Redis.
pytestmark = pytest.mark.usefixtures("db")

SECRET = "hunter2-of-the-shop"
HTML = Headers((("Content-Type", "text/html"),))


def key(url: str) -> Key:
    return answer_key(Request(parse_target(url, POLICY)))


KEY = key("https://example.com/")


def cache_of_process(audit_id: str = "aud_1") -> Answers:
    """Return a response cache like that of a separate worker process."""
    return Answers(MAX_MEMORY_BYTES, shared=SharedAnswers(audit_id))


def network(answers: Answers, credentials: OriginCredentials | None = None) -> Network:
    return Network(POLICY, answers=answers, credentials=credentials)


def test_audit_processes_request_a_response_once() -> None:
    with Site({"/app.js": Answer("x" * 500)}) as site:
        for _ in range(3):
            with network(cache_of_process()) as visit:
                response = visit.fetch(Request(f"{site.url}/app.js", reuse=Reuse.ALLOWED))
                assert (response.body, response.status) == (b"x" * 500, 200)
        assert len(site.requests) == 1


def test_audits_do_not_share_responses() -> None:
    with Site({"/": Answer("x")}) as site:
        for audit_id in ("aud_1", "aud_2"):
            with network(cache_of_process(audit_id)) as visit:
                visit.fetch(Request(f"{site.url}/", reuse=Reuse.ALLOWED))
        assert len(site.requests) == 2


def test_visit_reuses_a_checked_link() -> None:
    page = "<p>" + "word " * 20_000
    with Site({"/": Answer(page)}) as site:
        with network(cache_of_process()) as visit:
            link_response = visit.fetch(
                Request(f"{site.url}/", max_bytes=1000, reuse=Reuse.ALLOWED, cached_body_bytes=500_000)
            )
            assert (len(link_response.body), link_response.truncated, link_response.is_kept) == (1000, True, False)
        with network(cache_of_process()) as visit:
            page_response = visit.fetch(Request(f"{site.url}/", reuse=Reuse.STORE_ONLY))
            assert (len(page_response.body), page_response.truncated, page_response.is_kept) == (len(page), False, True)
        assert len(site.requests) == 1
        with network(Answers()) as single_scan:
            link_response = single_scan.fetch(
                Request(f"{site.url}/", max_bytes=1000, reuse=Reuse.ALLOWED, cached_body_bytes=500_000)
            )
            assert len(link_response.body) == 1000
            assert not single_scan.fetch(Request(f"{site.url}/", reuse=Reuse.STORE_ONLY)).is_kept, (
                "a single scan always requests its page"
            )


def test_link_check_reuses_a_visited_page() -> None:
    with Site({"/": Answer("x" * 100_000)}) as site:
        with network(cache_of_process()) as visit:
            assert len(visit.fetch(Request(f"{site.url}/", reuse=Reuse.STORE_ONLY)).body) == 100_000
        with network(cache_of_process()) as visit:
            assert (
                len(
                    visit.fetch(
                        Request(f"{site.url}/", max_bytes=1000, reuse=Reuse.ALLOWED, cached_body_bytes=5000)
                    ).body
                )
                == 1000
            )
        assert len(site.requests) == 1


def test_responses_to_credentials_are_not_shared() -> None:
    def page(request: ReceivedRequest) -> Answer:
        return Answer("secret page" if request.header("Authorization") else "log in")

    with Site({"/": page}) as site:
        credentials = OriginCredentials(parse_target(site.url, POLICY).origin, Credentials(basic_auth=("user", SECRET)))
        with network(cache_of_process(), credentials) as visit:
            response = visit.fetch(Request(f"{site.url}/", reuse=Reuse.ALLOWED, with_credentials=True))
            assert response.body == b"secret page"
            assert (
                visit.fetch(Request(f"{site.url}/", reuse=Reuse.STORE_ONLY, with_credentials=True)).body
                == b"secret page"
            )
        assert stored_keys() == []
        with network(cache_of_process(), credentials) as visit:
            assert visit.fetch(Request(f"{site.url}/", reuse=Reuse.ALLOWED)).body == b"log in"


def stored_keys() -> list[str]:
    keys = [key.decode() for key in redis_client.client.scan_iter("audit:*:answers:*")]
    return [key for key in keys if not key.endswith(":bytes")]


def test_shared_responses_expire() -> None:
    cache_of_process().keep(KEY, Response("https://example.com/", 200, HTML, b"x"))
    (key,) = stored_keys()
    assert 0 < redis_client.client.ttl(key) <= KEPT_S


def test_reading_does_not_extend_the_lifetime(monkeypatch: pytest.MonkeyPatch) -> None:
    cache_of_process().keep(KEY, Response("https://example.com/", 200, HTML, b"x"))
    now = [0.0]
    other_cache = Answers(MAX_MEMORY_BYTES, clock=lambda: now[0], shared=SharedAnswers("aud_1"))
    moment = time.time()
    monkeypatch.setattr(time, "time", lambda: moment + 200)
    assert other_cache.find_from_earlier_visit(KEY, AnswerRequirements(10, verify=False))
    cache.clear()
    now[0] = 99
    assert other_cache.find_from_earlier_visit(KEY, AnswerRequirements(10, verify=False))
    now[0] = 101
    assert other_cache.find_from_earlier_visit(KEY, AnswerRequirements(10, verify=False)) is None


def test_large_responses_cannot_fill_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_responses, "MAX_BYTES_PER_AUDIT", 2000)
    shared = cache_of_process()
    image = Headers((("Content-Type", "image/png"),))
    shared.keep(KEY, Response("https://example.com/", 200, image, b"x" * 33_000))
    assert stored_keys() == [], "the image is too large"
    for number in range(50):
        shared.keep(key(f"https://example.com/{number}"), Response("", 404, HTML))
    assert 0 < len(stored_keys()) < 20


def test_responses_use_all_bytes_of_an_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_responses, "MAX_BYTES_PER_AUDIT", 64 * 1024)
    processes = [cache_of_process() for _ in range(8)]
    for number in range(500):
        processes[number % 8].keep(
            key(f"https://example.com/{number}"), Response("", 200, HTML, Random(number).randbytes(700))
        )
    stored_bytes = sum(redis_client.client.strlen(key) for key in stored_keys())
    signatures_bytes = len(stored_keys()) * audit_store.SIGNATURE_BYTES
    assert 0.8 * 64 * 1024 < stored_bytes - signatures_bytes <= 64 * 1024


def test_reservation_ends_with_the_total_of_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    shared, now = SharedAnswers("aud_1"), time.monotonic()
    shared.keep(KEY, Response("https://example.com/", 200, HTML, b"x"))
    monkeypatch.setattr(time, "monotonic", lambda: now + KEPT_S + 1)
    with counted_redis_commands() as commands:
        shared.keep(key("https://example.com/2"), Response("https://example.com/2", 200, HTML, b"x"))
    assert commands["EVALSHA"] == 1


def test_storing_a_response_needs_one_command() -> None:
    shared = SharedAnswers("aud_1")
    shared.keep(KEY, Response("https://example.com/", 200, HTML, b"x"))
    with counted_redis_commands() as commands:
        for number in range(20):
            shared.keep(key(f"https://example.com/{number}"), Response("", 200, HTML, b"x"))
    assert commands == {"SET": 20}


@pytest.mark.parametrize("status", [403, 429, 500, 503])
def test_server_errors_are_not_shared(status: int) -> None:
    cache_of_process().keep(KEY, Response("https://example.com/", status, HTML))
    assert stored_keys() == []
