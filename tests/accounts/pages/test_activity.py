"""Tests for the activity log."""

from __future__ import annotations

import ast

import pytest
from django.conf import settings

from accounts import activity
from accounts.activity import ACTIONS
from accounts.models import User
from accounts.pages.activity_sentences import action_label, log_line
from tests.factories import Member, browser_of, person_of
from tests.page_reading import page_of

APPS = ("accounts", "scans", "reports", "webhooks")


def render_event(home: Member, action: str, target: str = "", actor: User | None = None, **details: object) -> str:
    """Return the event's sentence with its actor, followed by the remaining details, separated by "|"."""
    line = log_line(activity.record(home.organization, actor, action, target, **details))
    sentence = f"{line.actor} {''.join(part.text for part in line.parts)}"
    return " | ".join((sentence, *line.rest))


@pytest.fixture
def ann(home: Member) -> User:
    return person_of(home, "admin", "ann@people.test")


def test_activity_events_are_rendered_as_sentences(home: Member, ann: User) -> None:
    assert render_event(home, "key.created", "CI (wss_abc…)", ann, scope="read", ends="never") == (
        "ann@people.test created the API key CI (wss_abc…) (read), which expires: never"
    )
    assert render_event(
        home, "member.role_changed", "bob@people.test", ann, role={"from": "viewer", "to": "admin"}
    ) == ("ann@people.test changed the role of bob@people.test from viewer to admin")
    assert (
        render_event(home, "member.role_changed", "bob@people.test")
        == "The service changed the role of bob@people.test"
    )
    assert render_event(home, "organization.changed", "Bakery", ann, shares_reports={"from": True, "to": False}) == (
        "ann@people.test changed the settings of Bakery | shares reports: off, before: on"
    )
    assert render_event(home, "mute.created", "hsts on example.com", api_key="CI", path="/shop", reason="Known") == (
        "The API key CI muted hsts on example.com below /shop: Known"
    )
    assert render_event(home, "scan.created", "https://example.com/", ann, scan="scan_x", type="seo") == (
        "ann@people.test started a scan of https://example.com/ (seo)"
    )
    assert (
        render_event(home, "no.longer.known", "x", ann, more=[1, 2]) == "ann@people.test no.longer.known x | more: 1, 2"
    )


@pytest.mark.parametrize("action", ACTIONS)
def test_each_action_has_a_sentence_and_a_label(home: Member, action: str) -> None:
    sentence = render_event(home, action, "TARGET")
    assert sentence.startswith("The service ")
    assert "{" not in sentence
    assert not sentence.endswith((" ", ":", ","))
    assert action_label(action)[0].isupper()
    assert "{" not in action_label(action)
    # Labels are unique in the filter's list, except that an audit and its scan have the same labels.
    actions_with_shared_label = [other for other in ACTIONS if action_label(other) == action_label(action)]
    assert len(actions_with_shared_label) == 1 or {other.partition(".")[0] for other in actions_with_shared_label} == {
        "scan",
        "audit",
    }


def test_each_recorded_action_is_in_ACTIONS() -> None:
    """The test finds actions in the source code by their prefixes, such as "scan."."""
    prefixes = {action.partition(".")[0] for action in ACTIONS}
    events = {"scan.completed", "scan.failed", "scan.partial", "audit.completed", "audit.failed"}
    events |= {"monitor.changed", "monitor.failed", "monitor.recovered"}
    strings = set()
    for path in (path for app in APPS for path in (settings.BASE_DIR / app).rglob("*.py")):
        for call in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in (
                "record",
                "record_by_member",
                "record_by_caller",
                "_record",
                "_note",
                "record_membership_change",
            ):
                strings |= {
                    argument.value
                    for argument in call.args
                    if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
                }
    recorded = {name for name in strings if name.partition(".")[0] in prefixes and "." in name} - events
    assert len(recorded) > 25
    assert recorded <= set(ACTIONS)


def test_hostile_name_is_escaped_in_the_activity_log(home: Member, ann: User) -> None:
    activity.record(home.organization, ann, "key.created", "<script>alert(1)</script>", scope="<b>x</b>", ends="never")
    activity.record(home.organization, ann, "scan.created", "https://example.com/", scan="scan_abc")
    page = page_of(browser_of(ann).get(f"/o/{home.organization.slug}/activity/"))
    (log,) = page.xpath("//ol[contains(@class, 'activity-log')]")
    assert "<script>alert(1)</script>" in log.text_content()
    assert log.xpath(".//script | .//b") == []
    assert set(log.xpath(".//a/@href")) == {"?person=ann%40people.test", "/report/scan_abc"}
