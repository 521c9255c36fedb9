"""Tests for writing e-mails to the outbox."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from accounts.mailing import outbox
from accounts.mailing.topics import Subscription
from accounts.models import Mail, Membership, User
from accounts.retention import delete_mails
from infrastructure import queue
from tests.accounts.mailing.conftest import CONTEXT, NOW, Post
from tests.factories import Member, person_of


def recipients() -> list[str]:
    return list(Mail.objects.order_by("user__email").values_list("user__email", flat=True))


def test_mail_is_rolled_back_with_its_transaction(ann: User, post: Post) -> None:
    with transaction.atomic():
        assert post(ann) == 1
        transaction.set_rollback(True)
    assert not Mail.objects.exists()


def test_sender_task_is_enqueued_on_commit(
    ann: User,
    post: Post,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(queue, "enqueue", lambda task, row_id: sent.append(task))
    with django_capture_on_commit_callbacks(execute=True):
        post(ann)
        assert sent == []
    assert sent == ["accounts.tasks.send_mails"]


def test_mail_with_the_same_key_is_written_once_per_person(home: Member, ann: User, post: Post) -> None:
    ben = person_of(home, "admin", "ben@home.test")
    assert post(ann, key="run:1") == 1
    assert post([ann, ben], key="run:1") == 1
    assert post([ann, ben], key="run:2") == 2
    assert post(ann) == post(ann) == 1, "without a key nothing is the same"
    assert recipients().count("ben@home.test") == 2


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_concurrent_posts_with_the_same_key_write_one_mail(home: Member, ann: User, post: Post) -> None:
    written: list[int] = []

    def post_concurrently() -> None:
        written.append(post(ann, key="run:1"))
        connection.close()

    threads = [threading.Thread(target=post_concurrently) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(written) == [0, 0, 0, 1]


def test_only_active_subscribed_members_get_a_mail(home: Member, stranger: Member, post: Post) -> None:
    people = [person_of(home, "member", f"{name}@home.test") for name in ("active", "blocked", "closed", "stopped")]
    _, blocked, closed, stopped = people
    outsider = person_of(stranger, "owner", "outsider@stranger.test")
    User.objects.filter(pk=blocked.pk).update(is_active=False)
    User.objects.filter(pk=closed.pk).update(closed_at=timezone.now())
    Subscription(stopped, f"webhooks:{home.organization.pk}").stop()
    assert post([*people, outsider]) == 1
    assert recipients() == ["active@home.test"]
    assert post(stopped, topic=f"digest:{home.organization.pk}") == 1, "another topic"


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("Shop\r\nBcc: all@example.com", "Shop Bcc: all@example.com"),
        ("a\x00b\x1b[31mc\u2028d", "a\ufffdb [31mc d"),
        ("evil \u202egpj.exe", "evil gpj.exe"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ("x" * 500, "x" * 199 + "…"),
        ("Büro 中文 👩‍👩‍👧", "Büro 中文 👩‍👩‍👧"),
    ],
)
def test_subject_is_one_line_without_control_characters(ann: User, post: Post, subject: str, expected: str) -> None:
    post(ann, subject=subject)
    assert Mail.objects.get().subject == expected


def test_untrusted_text_in_mails_is_escaped_and_not_linked(home: Member, ann: User, post: Post) -> None:
    home.organization.name = '<a href="http://evil.example/">x</a> www.evil.example'
    home.organization.save()
    url = "https://example.com/<script>alert(1)</script>\x00\ud800\u202e"
    webhook = {"id": "wh_1", "name": url, "url": url, "disabled_at": NOW}
    post(ann, context={**CONTEXT, "webhook": webhook})
    mail = Mail.objects.get()
    assert "<script" not in mail.html
    assert 'href="http://evil' not in mail.html
    for text in (mail.html, mail.text):
        assert "evil.example" not in text, "a mail program would make a link of it"
        assert "\x00" not in text
        assert "\u202e" not in text


def test_unsent_mails_can_be_withdrawn(home: Member, ann: User, post: Post) -> None:
    post(ann, key="down:1")
    post(ann, key="down:12")
    post(ann, key="down:2")
    Mail.objects.filter(key=f"down:2:{ann.pk}").update(sent_at=timezone.now())
    assert outbox.withdraw("down:1") == 1
    assert outbox.withdraw("down:2") == 0
    assert Mail.objects.count() == 2


def test_deleting_a_person_deletes_their_mails(home: Member, ann: User, post: Post) -> None:
    post(ann)
    Subscription(ann, "monitor:mon_1").stop()
    Membership.objects.filter(user=ann).delete()
    ann.delete()
    assert not Mail.objects.exists()


def test_mails_are_deleted_30_days_after_sending(ann: User, post: Post) -> None:
    now = timezone.now()
    ages = {"sent": (31, 31), "resent": (40, 29), "waiting": (50, None)}
    for key, (created, sent) in ages.items():
        post(ann, key=key)
        Mail.objects.filter(key=f"{key}:{ann.pk}").update(
            created_at=now - timedelta(days=created),
            sent_at=sent and now - timedelta(days=sent),
        )
    assert not delete_mails(lambda: False)
    assert delete_mails()
    assert set(Mail.objects.values_list("key", flat=True)) == {f"resent:{ann.pk}", f"waiting:{ann.pk}"}
