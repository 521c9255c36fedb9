"""Tests for sending e-mails to a real SMTP server."""

from __future__ import annotations

import gc
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from urllib.parse import urlsplit, urlunsplit

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from accounts.mailing import claims, sending
from accounts.mailing.sending import send_due
from accounts.mailing.topics import Subscription, find_subscription
from accounts.models import Mail, Membership, User
from tests import command_line
from tests.accounts.mailing.conftest import Post
from tests.factories import Member, person_of
from tests.targets.mail_server import REPLIES, MailServer

SECURITY = {"happened": "x", "at": timezone.now(), "address": "", "browser": "", "page_url": "https://x.test/"}

Smtp = Callable[[MailServer], MailServer]
WAIT_TIMEOUT_S = 60


def make_due() -> None:
    """Make all unsent e-mails due, and end the pause after a failure of the mail server."""
    Mail.objects.filter(sent_at=None).update(next_attempt_at=timezone.now(), lease_expires_at=None)
    cache.delete(sending.OUTAGE)


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + WAIT_TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)


def test_mail_is_sent_once_with_standard_headers(ann: User, post: Post, smtp: Smtp) -> None:
    post(ann, subject="Grüße! A long subject that has to be folded, as it is longer than what fits into one line")
    with smtp(MailServer()) as server:
        assert not send_due()
        assert not send_due()
    (message,) = server.mails
    mail = Mail.objects.get()
    assert mail.sent_at is not None
    assert message["To"] == "ann@home.test"
    assert message["Subject"].strip() == mail.subject
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Message-ID"] == f"<{mail.id}@localhost>"
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    # Mail services need the header's link in one piece, without line folding.
    (link,) = re.findall(rb"^List-Unsubscribe:\s+<([^>\s]+)>\r\n", server.raw[0], re.MULTILINE)
    assert max(map(len, server.raw[0].split(b"\r\n"))) < 998
    subscription = find_subscription(link.decode().rpartition("/")[2])
    assert subscription is not None
    assert (subscription.user, subscription.topic) == (ann, mail.topic)
    assert [part.get_content_type() for part in message.walk()] == ["multipart/alternative", "text/plain", "text/html"]
    for part in message.iter_parts():
        assert f"{link.decode()}" in part.get_content()
    assert not re.search(r"<img|<link|src=|url\(|@import|@font-face", mail.html), "nothing to load, nothing to track"


def test_batch_of_mails_uses_one_connection(home: Member, post: Post, smtp: Smtp) -> None:
    post([person_of(home, "member", f"m{n}@home.test") for n in range(5)])
    with smtp(MailServer()) as server:
        send_due()
    assert (len(server.mails), server.connections) == (5, 1)


def test_task_sends_one_batch_of_mails(home: Member, post: Post, smtp: Smtp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "BATCH", 2)
    post([person_of(home, "member", f"m{n}@home.test") for n in range(3)])
    with smtp(MailServer()) as server:
        assert send_due(), "there may be more"
        assert len(server.mails) == 2
        assert not send_due()
    assert len(server.mails) == 3


def test_due_mails_of_organizations_take_turns(home: Member, stranger: Member, post: Post) -> None:
    post([person_of(home, "member", f"m{n}@home.test") for n in range(5)])
    other = person_of(stranger, "owner", "other@stranger.test")
    post(other, organization=stranger.organization, topic=f"webhooks:{stranger.organization.pk}")
    claimed = claims.claim(limit=2, now=timezone.now())
    assert {claim.mail.organization_id for claim in claimed} == {home.organization.pk, stranger.organization.pk}


def test_mails_per_person_and_hour_are_limited(
    home: Member, stranger: Member, ann: User, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "MAX_MAILS_PER_PERSON_AND_HOUR", 3)
    Membership.objects.create(organization=stranger.organization, user=ann, role="owner")
    mail_for_stranger = {"organization": stranger.organization, "topic": f"webhooks:{stranger.organization.pk}"}
    for _ in range(3):
        post(ann)
        post(ann, **mail_for_stranger)
    ben = person_of(home, "admin", "ben@home.test")
    post(ben)
    post(ann, template="security", topic="security", organization=None, context=SECURITY)
    now = timezone.now()
    first = claims.claim(limit=50, now=now)
    assert sorted((claim.mail.user_id, claim.mail.topic == "security") for claim in first) == [
        *[(ann.pk, False)] * 3,
        (ann.pk, True),
        (ben.pk, False),
    ]
    for claim in first:
        claims.record_sent(claim, now)
    assert claims.claim(limit=50, now=now) == []
    later = claims.claim(limit=50, now=now + timedelta(hours=1, seconds=1))
    assert [claim.mail.user_id for claim in later] == [ann.pk] * 3


def test_mail_is_sent_to_the_current_address(ann: User, post: Post, smtp: Smtp) -> None:
    post(ann)
    User.objects.filter(pk=ann.pk).update(email="new@home.test")
    with smtp(MailServer()) as server:
        send_due()
    assert server.mails[0]["To"] == "new@home.test"


@pytest.mark.parametrize("change", ["left", "limited", "blocked", "stopped", "closed organization"])
def test_mail_to_former_or_unsubscribed_recipient_is_given_up(
    home: Member, ann: User, post: Post, smtp: Smtp, change: str
) -> None:
    post(ann)
    if change == "left":
        Membership.objects.filter(user=ann).delete()
    elif change == "limited":
        Membership.objects.filter(user=ann).update(limited_to=["www.example.org"])
    elif change == "blocked":
        User.objects.filter(pk=ann.pk).update(is_active=False)
    elif change == "stopped":
        Subscription(ann, f"webhooks:{home.organization.pk}").stop()
    else:
        home.organization.closed_at = timezone.now()
        home.organization.save()
    with smtp(MailServer()) as server:
        send_due()
        make_due()
        send_due()
    assert server.mails == []
    assert Mail.objects.get().given_up_at is not None


@pytest.mark.parametrize("reply", [{"RCPT": "550 no such person"}, {"TEXT": "554 looks like spam"}])
def test_permanently_refused_mail_is_given_up_at_once(
    home: Member, ann: User, post: Post, smtp: Smtp, reply: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    ((verb, text),) = reply.items()
    is_first_recipient = iter([True])
    with smtp(MailServer({verb: lambda _: text if next(is_first_recipient, False) else "250 fine"})):
        post([ann, person_of(home, "admin", "ben@home.test")])
        send_due()
    given_up = Mail.objects.get(given_up_at__isnull=False)
    assert given_up.error == text
    assert f"mail {given_up.id} was given up: {text}" in caplog.text
    assert "ann@home.test" not in caplog.text, "logs name no people"
    assert Mail.objects.filter(sent_at__isnull=False).count() == 1, "the others get theirs"


@pytest.mark.parametrize(
    "reply",
    [{"RCPT": "451 come again"}, {"TEXT": "452 full"}, {"MAIL": "550 not from you"}, {"MAIL": "421 closing"}],
)
def test_temporarily_refused_mail_is_retried_after_a_pause(
    ann: User, post: Post, smtp: Smtp, reply: dict[str, str]
) -> None:
    post(ann)
    with smtp(MailServer(reply)) as server:
        send_due()
        waiting = Mail.objects.get()
        assert (waiting.sent_at, waiting.given_up_at, waiting.attempts) == (None, None, 1)
        assert waiting.error
        assert waiting.next_attempt_at > timezone.now() + timedelta(minutes=1)
        send_due()
        assert Mail.objects.get().attempts == 1
        server.replies = dict(REPLIES)
        make_due()
        send_due()
    assert len(server.mails) == 1
    assert Mail.objects.get().sent_at is not None


def test_mail_is_given_up_after_two_days(ann: User, post: Post, smtp: Smtp, caplog: pytest.LogCaptureFixture) -> None:
    post(ann)
    with smtp(MailServer({"RCPT": "451 come again"})):
        for _ in range(8):
            make_due()
            send_due()
        assert Mail.objects.get().given_up_at is None
        assert Mail.objects.get().next_attempt_at < timezone.now() + timedelta(minutes=61)
        Mail.objects.update(created_at=timezone.now() - timedelta(days=2))
        make_due()
        send_due()
    assert Mail.objects.get().given_up_at is not None
    assert "was given up" in caplog.text


def test_unreachable_mail_server_does_not_count_as_an_attempt(
    ann: User, post: Post, smtp: Smtp, caplog: pytest.LogCaptureFixture
) -> None:
    with smtp(MailServer({"HELLO": lambda _: None})) as server:
        for _ in range(5):
            post(ann)
            assert not send_due()
        assert server.connections == 1
    assert caplog.text.count("mails wait") == 1
    assert not Mail.objects.exclude(attempts=0).exists()


def test_broken_connection_counts_as_an_attempt_for_one_mail_only(home: Member, post: Post, smtp: Smtp) -> None:
    post([person_of(home, "member", f"m{n}@home.test") for n in range(3)])
    with smtp(MailServer({"TEXT": lambda _: None})) as server:
        send_due()
        assert server.connections == 1
    assert sorted(Mail.objects.values_list("attempts", flat=True)) == [0, 0, 1]


@pytest.fixture
def soft_time_limit_by_signal() -> Iterator[None]:
    """Make SIGUSR1 raise SoftTimeLimitExceeded, as Celery does at a task's soft time limit."""

    def interrupt(*_: object) -> None:
        raise SoftTimeLimitExceeded

    before = signal.signal(signal.SIGUSR1, interrupt)
    yield
    signal.signal(signal.SIGUSR1, before)


# smtplib does not close a connection that is interrupted before the greeting, so its warning is ignored.
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.parametrize("verb", ["HELLO", "EHLO", "TEXT"])
def test_slow_mail_server_is_interrupted_by_the_soft_time_limit(
    home: Member, post: Post, smtp: Smtp, verb: str, soft_time_limit_by_signal: None, caplog: pytest.LogCaptureFixture
) -> None:
    post([person_of(home, "member", f"m{n}@home.test") for n in range(3)])

    def trickle(_: str) -> str:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        code = {"HELLO": "220", "EHLO": "250", "TEXT": "450"}[verb]
        return f"slowly {code} {'x' * 100_000}"

    with smtp(MailServer({verb: trickle})) as server:
        assert not send_due()
    gc.collect()
    assert server.mails == []
    assert "it took longer than" in caplog.text
    assert Mail.objects.filter(attempts=0).count() >= 2, "nobody else has lost an attempt"
    make_due()
    with smtp(MailServer()) as server:
        send_due()
    assert len(server.mails) == 3


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_only_one_sender_is_active_and_it_locks_no_rows(ann: User, post: Post, smtp: Smtp) -> None:
    post(ann)
    may_continue = threading.Event()

    def wait(_: str) -> str:
        may_continue.wait(WAIT_TIMEOUT_S)
        return "250 taken"

    def send_and_close() -> None:
        send_due()
        connection.close()

    with smtp(MailServer({"TEXT": wait})) as server:
        other = threading.Thread(target=send_and_close)
        other.start()
        wait_for(lambda: "data" in server.lines)
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '1s'")
            cursor.execute("UPDATE accounts_mail SET error = ''")
            cursor.execute("SET lock_timeout = 0")
        make_due()
        assert not send_due(), "the other is at it"
        assert server.connections == 1
        may_continue.set()
        other.join()


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_mail_of_a_killed_sender_is_resent_with_the_same_message_id(ann: User, post: Post, smtp: Smtp) -> None:
    post(ann)
    url = urlsplit(os.environ["DATABASE_URL"])
    folder = url.path.rpartition("/")[0]
    code = "from accounts.mailing.sending import send_due; send_due()"

    def accept_without_response(raw: str) -> str:
        server.take(raw.encode())
        server.closing.wait(WAIT_TIMEOUT_S)
        return "250 taken"

    with smtp(MailServer({"TEXT": accept_without_response})) as server:
        variables: dict[str, str] = {
            "DATABASE_URL": urlunsplit(url._replace(path=f"{folder}/{connection.settings_dict['NAME']}")),
            "REDIS_URL": settings.REDIS_URL,
            "SECRET_KEY": settings.SECRET_KEY,
            "EMAIL_URL": f"smtp://127.0.0.1:{server.port}",
        }
        with command_line.start("shell", "-c", code, **variables) as sender:
            wait_for(lambda: server.mails or sender.poll() is not None)
            sender.kill()
            output, errors = sender.communicate()
        assert server.mails, output + errors
        lease_expires_at = Mail.objects.get().lease_expires_at
        assert lease_expires_at
        assert lease_expires_at > timezone.now() + timedelta(seconds=60), "it is still the dead one's"
        assert not send_due()
        server.replies["TEXT"] = "250 taken"
        make_due()
        wait_for(lambda: (send_due(), Mail.objects.get().sent_at)[1])
    first, second = server.mails
    assert first["Message-ID"] == second["Message-ID"]
    assert first["Date"] == second["Date"]


def test_sender_with_expired_lease_cannot_record_a_result(ann: User, post: Post) -> None:
    post(ann)
    (dead,) = claims.claim(limit=1, now=timezone.now())
    make_due()
    (other,) = claims.claim(limit=1, now=timezone.now())
    assert not claims.record_failure(dead, timezone.now(), "late", for_good=True)
    assert Mail.objects.get().given_up_at is None
    claims.record_sent(other, timezone.now())
    assert Mail.objects.get().sent_at is not None
