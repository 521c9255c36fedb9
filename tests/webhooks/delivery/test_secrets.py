"""Encrypted secrets: the key ring, its rotation, and the variables for it."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from io import StringIO

import pytest
from cryptography.fernet import InvalidToken
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from infrastructure import encryption
from tests.command_line import ROOT, environment
from tests.factories import Member, attempt_deliveries, finished_scan, register_webhook
from tests.targets.server import Site
from webhooks.delivery.signing import new_secret
from webhooks.models import FormerSecret, Webhook

FIRST, SECOND = "first-key-" * 4, "second-key-" * 4


def test_django_keys_are_the_default_and_stay_readable_behind_a_ring(settings: Settings) -> None:
    before = encryption.encrypt("whsec_x")
    settings.ENCRYPTION_KEYS = [FIRST]
    assert encryption.decrypt(before) == "whsec_x"
    under_first = encryption.encrypt("whsec_y")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-" * 5, []
    assert encryption.decrypt(under_first) == "whsec_y"
    with pytest.raises(InvalidToken):
        encryption.decrypt(before)


def test_a_former_secret_key_among_the_fallbacks_still_decrypts(settings: Settings) -> None:
    before = encryption.encrypt("whsec_x")
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-" * 5
    assert encryption.decrypt(before) == "whsec_x"


def test_the_first_key_encrypts_and_all_decrypt(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [FIRST]
    old = encryption.encrypt("whsec_x")
    settings.ENCRYPTION_KEYS = [SECOND, FIRST]
    assert encryption.decrypt(old) == "whsec_x"
    new = encryption.encrypt("whsec_x")
    settings.ENCRYPTION_KEYS = [SECOND]
    assert encryption.decrypt(new) == "whsec_x"
    with pytest.raises(InvalidToken):
        encryption.decrypt(old)


def reencrypt() -> str:
    output = StringIO()
    call_command("reencrypt_secrets", stdout=output, stderr=output)
    return output.getvalue()


def test_after_reencryption_only_the_first_key_is_needed(home: Member, receiver: Site, settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [FIRST]
    webhook, secret = register_webhook(home, receiver.url)
    FormerSecret.objects.create(
        webhook=webhook, encrypted_secret=encryption.encrypt("whsec_former"), expires_at=timezone.now()
    )
    settings.ENCRYPTION_KEYS = [SECOND, FIRST]
    assert reencrypt() == "2 secrets were encrypted anew.\n"
    assert reencrypt() == "0 secrets were encrypted anew.\n"
    settings.ENCRYPTION_KEYS = [SECOND]
    assert encryption.decrypt(bytes(Webhook.objects.get().encrypted_secret)) == secret
    assert encryption.decrypt(bytes(FormerSecret.objects.get().encrypted_secret)) == "whsec_former"


def test_reencryption_names_what_no_key_fits_and_does_the_rest(
    home: Member, receiver: Site, settings: Settings
) -> None:
    settings.ENCRYPTION_KEYS = [FIRST]
    lost, _ = register_webhook(home, receiver.url)
    settings.ENCRYPTION_KEYS = [SECOND]
    Webhook.objects.filter(id=lost.id).update(encrypted_secret=b"not a token")
    kept, secret = register_webhook(home, receiver.url)
    settings.ENCRYPTION_KEYS = [FIRST, SECOND]
    output = StringIO()
    with pytest.raises(CommandError, match="1 secrets could not be read"):
        call_command("reencrypt_secrets", stdout=StringIO(), stderr=output)
    assert lost.id in output.getvalue()
    settings.ENCRYPTION_KEYS = [FIRST]
    assert encryption.decrypt(bytes(Webhook.objects.get(id=kept.id).encrypted_secret)) == secret


def test_a_secret_that_cannot_be_read_is_our_fault_and_tried_again(
    home: Member, receiver: Site, caplog: pytest.LogCaptureFixture
) -> None:
    webhook, _ = register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    Webhook.objects.update(encrypted_secret=b"not a token")
    (report,) = attempt_deliveries()
    assert (report.error_code, report.blocked) == ("INTERNAL_ERROR", False)
    assert "cannot be decrypted" in caplog.text
    assert receiver.requests == []
    webhook.refresh_from_db()
    assert (webhook.failures, webhook.failing_since) == (0, None)
    assert webhook.deliveries.get().status == "pending"


SHOW = "import json; from config import settings as s; from website_scan import environment as e; "
SHOW += "print(json.dumps([s.ENCRYPTION_KEYS, s.DEFAULT_FROM_EMAIL, s.EMAIL_BACKEND, [str(p) for p in e.problems]]))"


def settings_with(**variables: str) -> list[object]:
    ran = subprocess.run(
        [sys.executable, "-c", SHOW], cwd=ROOT, env=environment(**variables), capture_output=True, text=True, check=True
    )
    shown: list[object] = json.loads(ran.stdout)
    return shown


def test_the_environment_names_the_keys_and_the_sender() -> None:
    keys, sender, backend, problems = settings_with(
        ENCRYPTION_KEYS=f"{FIRST},{SECOND}",
        EMAIL_FROM="Scans <scans@example.com>",
        EMAIL_URL="smtp+tls://u:p@mail.example.com:587",
    )
    assert (keys, sender, problems) == ([FIRST, SECOND], "Scans <scans@example.com>", [])
    assert backend == "django.core.mail.backends.smtp.EmailBackend"
    keys, sender, backend, problems = settings_with(BASE_URL="https://scan.example.com")
    assert (keys, sender, problems) == ([], "noreply@scan.example.com", [])
    assert backend == "django.core.mail.backends.console.EmailBackend"


@pytest.mark.parametrize(
    ("name", "value"),
    [("ENCRYPTION_KEYS", f"{FIRST},short"), ("EMAIL_FROM", "nobody"), ("EMAIL_URL", "pigeon://roof")],
)
def test_a_value_that_cannot_be_used_is_named(name: str, value: str) -> None:
    problems = settings_with(**{name: value})[3]
    assert isinstance(problems, list)
    assert f"environment.{name}" in problems[0]
    assert "short" not in problems[0], "a secret is not repeated"


def test_two_secrets_of_a_rotation_sign_until_the_overlap_ends(home: Member, receiver: Site) -> None:
    webhook, _ = register_webhook(home, f"{receiver.url}/hook")
    FormerSecret.objects.create(
        webhook=webhook,
        encrypted_secret=encryption.encrypt(new_secret()),
        expires_at=timezone.now() + timedelta(seconds=-1),
    )
    finished_scan(home)
    attempt_deliveries()
    assert (receiver.requests[0].header("webhook-signature") or "").count("v1,") == 1
