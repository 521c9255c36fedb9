"""Tests for Slack and Teams messages."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import Member, attempt_deliveries, finished_scan, make_due, register_webhook
from tests.targets.server import Answer, Site
from webhooks.delivery.formats import (
    MAX_SLACK_HEADER_CHARACTERS,
    MAX_SLACK_TEXT_CHARACTERS,
    MAX_TEAMS_BYTES,
    message_content,
    sent_body,
)
from webhooks.examples import example
from webhooks.models import EventKind, Webhook

NOW = datetime(2026, 11, 21, 7, 15, tzinfo=UTC)
CHAT = ("slack", "teams")
HOSTILE = (
    "<!channel> <https://evil.example|click> [click](https://evil.example) *b* _i_ `c` & <at>all</at> \u202e\x1b[31m"
)


def example_event(kind: EventKind) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(example(kind, NOW))
    return event


def sent_message(body_format: str, event: dict[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(sent_body(body_format, json.dumps(event).encode()))
    return body


def visible_lines(message: dict[str, Any]) -> list[str]:
    """Return the visible lines of a message for Slack or Teams."""
    if "blocks" in message:
        return [line for block in message["blocks"] for line in slack_text(block).split("\n") if line]
    (attachment,) = message["attachments"]
    return ["".join(run["text"] for run in block["inlines"]) for block in attachment["content"]["body"]]


def slack_text(block: dict[str, Any]) -> str:
    if block["type"] == "rich_text":
        return "".join(element["text"] for section in block["elements"] for element in section["elements"])
    text: str = block["text"]["text"]
    return text


def links_in_lines(message: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the text and URL of each link within the lines of a message."""
    if "blocks" in message:
        blocks = [block for block in message["blocks"] if block["type"] == "rich_text"]
        elements = [element for block in blocks for section in block["elements"] for element in section["elements"]]
        return [(element["text"], element["url"]) for element in elements if element["type"] == "link"]
    (attachment,) = message["attachments"]
    runs = [run for block in attachment["content"]["body"] for run in block["inlines"]]
    return [(run["text"], run["selectAction"]["url"]) for run in runs if "selectAction" in run]


def changed_event(**data: Any) -> dict[str, Any]:
    event = example_event(EventKind.MONITOR_CHANGED)
    return event | {"data": event["data"] | data}


def finding(title: str = "A finding", **fields: Any) -> dict[str, Any]:
    defaults: dict[str, Any] = example_event(EventKind.MONITOR_CHANGED)["data"]["new"][0]
    return defaults | {"title": title} | fields


@pytest.mark.parametrize("kind", EventKind)
def test_standard_format_sends_the_stored_body(kind: EventKind) -> None:
    body = example(kind, NOW)
    assert sent_body("standard", body) is body


@pytest.mark.parametrize("kind", EventKind)
@pytest.mark.parametrize("body_format", CHAT)
def test_every_event_has_a_message(kind: EventKind, body_format: str) -> None:
    body = example(kind, NOW)
    message = sent_body(body_format, body)
    assert message == sent_body(body_format, body), "every attempt sends the same body"
    first, *lines = visible_lines(json.loads(message))
    assert first.startswith("Test: ")
    # The message names no sites of the list, because there may be many.
    assert any("example.com" in line for line in lines) == (kind is not EventKind.LIST_COMPLETED)
    # A failed scan has no report to link to.
    assert (b"http://localhost:8000/" in message) == (kind is not EventKind.SCAN_FAILED)


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        (EventKind.SCAN_COMPLETED, ["Security scan: 87 of 100 (B)", "https://example.com/", "5 findings"]),
        (
            EventKind.SCAN_FAILED,
            ["Security scan failed", "https://example.com/", "example.com can't be reached on port 443."],
        ),
        (
            EventKind.AUDIT_COMPLETED,
            [
                "Audit completed",
                "https://example.com/",
                "12 of 12 pages checked",
                "Security: 87 of 100 (B)",
                "SEO: 87 of 100 (B)",
            ],
        ),
        (
            EventKind.MONITOR_CHANGED,
            [
                "Shop: 1 new problem",
                "https://example.com/",
                "Security: 92 → 80 (B)",
                "New:",
                "Critical: Git repository is public (Security)",
                "on https://example.com/ (report)",
            ],
        ),
        (
            EventKind.MONITOR_RECOVERED,
            [
                "Shop: reachable again",
                "https://example.com/",
                "It was unreachable since 2026-11-21 05:15 UTC.",
            ],
        ),
    ],
)
def test_message_has_the_expected_lines(kind: EventKind, lines: list[str]) -> None:
    content = message_content(example_event(kind) | {"test": False})
    note_lines = ["".join(run.text for run in line) for paragraph in content.paragraphs for line in paragraph]
    assert [content.headline, *note_lines] == lines


def test_message_names_the_expiry_date() -> None:
    certificate = {"host": "example.com", "expires_at": "2026-12-01T00:00:00Z", "days_left": 10}
    content = message_content(changed_event(certificate=certificate, new=[], scores={}))
    ((run,),) = content.paragraphs[1]
    assert run.text == "The certificate of example.com expires on 2026-12-01 00:00 UTC, in 10 days."


def test_slack_gets_hostile_names_as_plain_text() -> None:
    message = sent_message("slack", changed_event(name=HOSTILE, target=HOSTILE, new=[finding(HOSTILE)]))
    *blocks, links = message["blocks"]
    for block in blocks:
        if block["type"] == "rich_text":
            assert {element["type"] for element in block["elements"][0]["elements"]} == {"text", "link"}
            continue
        assert block["text"]["type"] == "plain_text", "Slack interprets no markup in plain_text"
        assert not set("<>") & set(block["text"]["text"])
    assert all(url.startswith("http://localhost:8000/") for _, url in links_in_lines(message))
    assert not set("<>") & set(message["text"])
    assert links["text"]["text"].count("<") == links["text"]["text"].count("<http://localhost:8000/") == 2
    assert (message["unfurl_links"], message["unfurl_media"]) == (False, False)
    assert "\x1b" not in json.dumps(message)
    assert "202e" not in json.dumps(message)


def test_teams_gets_hostile_names_as_plain_text() -> None:
    message = sent_message("teams", changed_event(name=HOSTILE, target=HOSTILE, new=[finding(HOSTILE)]))
    (attachment,) = message["attachments"]
    card = attachment["content"]
    assert (card["type"], card["version"]) == ("AdaptiveCard", "1.4")
    assert {block["type"] for block in card["body"]} == {"RichTextBlock"}, (
        "Teams interprets no Markdown in a RichTextBlock"
    )
    urls = [action["url"] for action in card["actions"]] + [url for _, url in links_in_lines(message)]
    assert all(url.startswith("http://localhost:8000/") for url in urls)
    assert "msteams" not in card, "nobody is mentioned"


@given(
    title=st.text(alphabet=st.characters(exclude_categories=[]), max_size=400)
    | st.just("&" * 5000)
    | st.just("💥" * 900),
    count=st.integers(0, 60),
    name=st.text(max_size=200) | st.just("<" * 300),
)
def test_messages_respect_chat_limits(title: str, count: int, name: str) -> None:
    findings = [finding(f"{title}{n}") for n in range(count)]
    event = changed_event(
        name=name, target=f"https://example.com/{title}", new=findings, fixed=findings, worse=findings
    )
    body = json.dumps(event).encode()
    slack = json.loads(sent_body("slack", body))
    assert len(slack["blocks"]) <= 50
    for block in slack["blocks"]:
        limit = MAX_SLACK_HEADER_CHARACTERS if block["type"] == "header" else MAX_SLACK_TEXT_CHARACTERS
        assert 1 <= len(slack_text(block)) <= limit
    assert 1 <= len(slack["text"]) <= MAX_SLACK_TEXT_CHARACTERS
    teams = sent_body("teams", body)
    assert len(teams) <= MAX_TEAMS_BYTES
    assert all(visible_lines(json.loads(teams)))


def test_message_lists_unreachable_pages() -> None:
    lines = visible_lines(sent_message("slack", changed_event(unreachable_pages=[{"url": "https://example.com/shop"}])))
    assert lines[lines.index("Unreachable:") + 1] == "https://example.com/shop"


def test_message_lists_ten_findings() -> None:
    lines = visible_lines(sent_message("teams", changed_event(new=[finding(f"Finding {n}") for n in range(14)])))
    assert "Critical: Finding 9 (Security)" in lines
    assert "Critical: Finding 10 (Security)" not in lines
    assert "and 4 more" in lines


@pytest.mark.parametrize("body_format", CHAT)
def test_message_shows_three_report_links(body_format: str) -> None:
    pages = [
        {"url": f"https://example.com/{n}", "report_url": f"http://localhost:8000/report/scan_{n}"} for n in range(5)
    ]
    several = finding("Images without alt", type="accessibility", severity="high", pages_affected=17, pages=pages)
    same = finding("Images without alt", type="seo", severity="high", pages=pages[4:], said="1 new place")
    message = sent_message(body_format, changed_event(new=[several], worse=[same]))
    lines = visible_lines(message)
    index = lines.index("High: Images without alt (Accessibility)")
    addresses = (f"https://example.com/{n} (report)" for n in range(3))
    assert lines[index + 1] == f"on {', '.join(addresses)} and 14 more"
    index = lines.index("High: Images without alt (SEO): 1 new place")
    assert lines[index + 1] == "on https://example.com/4 (report)"
    assert links_in_lines(message) == [("report", f"http://localhost:8000/report/scan_{n}") for n in (0, 1, 2, 4)]


@pytest.mark.parametrize("body_format", CHAT)
def test_retried_chat_message_is_identical(home: Member, receiver: Site, body_format: str) -> None:
    webhook, secret = register_webhook(home, f"{receiver.url}/hook")
    assert home.api.patch(f"/api/webhooks/{webhook.id}", {"format": body_format}).json()["format"] == body_format
    receiver.routes["/hook"] = Answer(status=500)
    scan = finished_scan(home)
    attempt_deliveries()
    make_due()
    attempt_deliveries()
    first, second = receiver.requests
    assert first.body == second.body
    message = json.loads(first.body)
    assert ("blocks" in message) == (body_format == "slack")
    assert f"/report/{scan.id}" in first.body.decode()
    expected = hmac.new(secret.encode(), first.body, hashlib.sha256).hexdigest()
    assert dict(first.headers)["X-Service-Signature"] == f"sha256={expected}"


def test_webhook_format_can_be_changed(home: Member, target: str) -> None:
    body = {"url": target, "events": ["scan.completed"]}
    plain = home.api.post("/api/webhooks", body).json()
    assert set(plain) == {"id", "url", "events", "secret", "created_at"}, "the fields of the API's first version"
    assert home.api.get(f"/api/webhooks/{plain['id']}").json()["format"] == "standard"
    chat = home.api.post("/api/webhooks", body | {"format": "slack"}).json()
    assert home.api.get(f"/api/webhooks/{chat['id']}").json()["format"] == "slack"
    formats: tuple[object, ...] = ("Slack", "discord", "", None, 1, ["slack"], {})
    for invalid in formats:
        for answer in (
            home.api.post("/api/webhooks", body | {"format": invalid}),
            home.api.patch(f"/api/webhooks/{chat['id']}", {"format": invalid}),
        ):
            assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_PARAMS")
            assert "standard, slack, teams" in answer.json()["error"]
    assert Webhook.objects.get(id=chat["id"]).format == "slack"
    changed_url = home.api.patch(f"/api/webhooks/{chat['id']}", {"url": target}).json()
    assert changed_url["format"] == "slack"
