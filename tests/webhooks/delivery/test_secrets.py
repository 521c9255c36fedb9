"""Tests for encrypting secrets and rotating keys."""

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


def test_SECRET_KEY_still_decrypts_with_a_key_ring(settings: Settings) -> None:
    before = encryption.encrypt("whsec_x")
    settings.ENCRYPTION_KEYS = [FIRST]
    assert encryption.decrypt(before) == "whsec_x"
    encrypted_with_first_key = encryption.encrypt("whsec_y")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-" * 5, []
    assert encryption.decrypt(encrypted_with_first_key) == "whsec_y"
    with pytest.raises(InvalidToken):
        encryption.decrypt(before)


def test_SECRET_KEY_FALLBACKS_decrypt_old_secrets(settings: Settings) -> None:
    before = encryption.encrypt("whsec_x")
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-" * 5
    assert encryption.decrypt(before) == "whsec_x"


def test_first_key_of_the_ring_encrypts(settings: Settings) -> None:
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


def test_reencrypt_secrets_retires_old_keys(home: Member, receiver: Site, settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [FIRST]
    webhook, secret = register_webhook(home, receiver.url)
    FormerSecret.objects.create(
        webhook=webhook, encrypted_secret=encryption.encrypt("whsec_former"), expires_at=timezone.now()
    )
    settings.ENCRYPTION_KEYS = [SECOND, FIRST]
    assert reencrypt() == "2 secrets were re-encrypted.\n"
    assert reencrypt() == "0 secrets were re-encrypted.\n"
    settings.ENCRYPTION_KEYS = [SECOND]
    assert encryption.decrypt(bytes(Webhook.objects.get().encrypted_secret)) == secret
    assert encryption.decrypt(bytes(FormerSecret.objects.get().encrypted_secret)) == "whsec_former"


def test_reencrypt_secrets_continues_after_errors(home: Member, receiver: Site, settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [FIRST]
    lost, _ = register_webhook(home, receiver.url)
    settings.ENCRYPTION_KEYS = [SECOND]
    Webhook.objects.filter(id=lost.id).update(encrypted_secret=b"not a token")
    readable, secret = register_webhook(home, receiver.url)
    settings.ENCRYPTION_KEYS = [FIRST, SECOND]
    output = StringIO()
    with pytest.raises(CommandError, match="1 secrets could not be read"):
        call_command("reencrypt_secrets", stdout=StringIO(), stderr=output)
    assert lost.id in output.getvalue()
    settings.ENCRYPTION_KEYS = [FIRST]
    assert encryption.decrypt(bytes(Webhook.objects.get(id=readable.id).encrypted_secret)) == secret


def test_undecryptable_secret_keeps_the_delivery(
    home: Member, receiver: Site, caplog: pytest.LogCaptureFixture
) -> None:
    webhook, _ = register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    Webhook.objects.update(encrypted_secret=b"not a token")
    (result,) = attempt_deliveries()
    assert (result.error_code, result.blocked) == ("INTERNAL_ERROR", False)
    assert "cannot be decrypted" in caplog.text
    assert receiver.requests == []
    webhook.refresh_from_db()
    assert (webhook.failures, webhook.failing_since) == (0, None)
    assert webhook.deliveries.get().status == "pending"


PRINT_SETTINGS = "import json; from config import settings as s; from website_scan import environment as e; "
PRINT_SETTINGS += (
    "print(json.dumps([s.ENCRYPTION_KEYS, s.DEFAULT_FROM_EMAIL, s.EMAIL_BACKEND, [str(p) for p in e.problems]]))"
)


def print_settings_with(**variables: str) -> list[object]:
    command = [sys.executable, "-c", PRINT_SETTINGS]
    process = subprocess.run(
        command, cwd=ROOT, env=environment(**variables), capture_output=True, text=True, check=True
    )
    settings: list[object] = json.loads(process.stdout)
    return settings


def test_environment_sets_the_encryption_keys() -> None:
    keys, sender, backend, problems = print_settings_with(
        ENCRYPTION_KEYS=f"{FIRST},{SECOND}",
        EMAIL_FROM="Scans <scans@example.com>",
        EMAIL_URL="smtp+tls://u:p@mail.example.com:587",
    )
    assert (keys, sender, problems) == ([FIRST, SECOND], "Scans <scans@example.com>", [])
    assert backend == "django.core.mail.backends.smtp.EmailBackend"
    keys, sender, backend, problems = print_settings_with(BASE_URL="https://scan.example.com")
    assert (keys, sender, problems) == ([], "noreply@scan.example.com", [])
    assert backend == "django.core.mail.backends.console.EmailBackend"


@pytest.mark.parametrize(
    ("name", "value"),
    [("ENCRYPTION_KEYS", f"{FIRST},short"), ("EMAIL_FROM", "nobody"), ("EMAIL_URL", "pigeon://roof")],
)
def test_error_hides_the_value_of_a_variable(name: str, value: str) -> None:
    problems = print_settings_with(**{name: value})[3]
    assert isinstance(problems, list)
    assert f"environment.{name}" in problems[0]
    assert "short" not in problems[0], "the message does not contain the secret"


def test_expired_former_secret_does_not_sign(home: Member, receiver: Site) -> None:
    webhook, _ = register_webhook(home, f"{receiver.url}/hook")
    FormerSecret.objects.create(
        webhook=webhook,
        encrypted_secret=encryption.encrypt(new_secret()),
        expires_at=timezone.now() + timedelta(seconds=-1),
    )
    finished_scan(home)
    attempt_deliveries()
    assert (receiver.requests[0].header("webhook-signature") or "").count("v1,") == 1
