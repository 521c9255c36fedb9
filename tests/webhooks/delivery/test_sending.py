"""Tests for sending a delivery attempt."""

from __future__ import annotations

import itertools
import socket
import time
import uuid
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path

import pytest
from pytest_django import Settings

from infrastructure import encryption
from tests.factories import Member, attempt_deliveries, finished_scan, listening, make_due, register_webhook
from tests.targets.name_server import hosts, name_server
from tests.targets.server import Answer, Certificate, Site
from webhooks.delivery import sending
from webhooks.delivery.claims import DeliveryClaim
from webhooks.delivery.sending import KEPT_BYTES, AttemptResult, send
from webhooks.delivery.signing import new_secret
from webhooks.models import Attempt, Delivery
from website_scan.net import resolver
from website_scan.net.policy import Policy

ALLOWING = Policy(allowed_networks=(ip_network("127.0.0.0/8"),))


def claim_for_url(url: str) -> DeliveryClaim:
    return DeliveryClaim(
        token=uuid.uuid4(),
        delivery_id="dlv_1",
        webhook_id="wh_1",
        attempt=1,
        url=url,
        is_failing=False,
        format="standard",
        event_id="evt_1",
        kind="scan.completed",
        body=b"{}",
        request_id="",
        is_test=False,
        encrypted_secrets=(encryption.encrypt(new_secret()),),
    )


def result_of_sending(answer: Answer) -> AttemptResult:
    with Site({"/": answer}) as site:
        return send(claim_for_url(f"{site.url}/"), ALLOWING)


def test_private_address_at_delivery_is_blocked(
    home: Member, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The name resolves to a private address at delivery.

    At registration, it resolves to a public one (DNS rebinding).
    """
    monkeypatch.setattr(resolver, "HOSTS_FILE", tmp_path / "none")
    with Site({"*": Answer("never")}) as site:
        settings.SCAN_ALLOWED_PORTS = frozenset({site.port})
        with name_server(hosts({"hooks.example.com": ("93.184.215.14",)}), monkeypatch):
            webhook, _ = register_webhook(home, f"http://hooks.example.com:{site.port}/")
        finished_scan(home)
        for private in ("127.0.0.1", "10.0.0.1", "169.254.169.254"):
            with name_server(hosts({"hooks.example.com": (private,)}), monkeypatch):
                make_due()
                (result,) = attempt_deliveries()
            assert (result.blocked, result.error_code, result.status) == (True, "DOMAIN_BLOCKED", None)
        assert site.connections == 0
    logged = list(Attempt.objects.values_list("blocked", "error_code", "response_status"))
    assert logged == [(True, "DOMAIN_BLOCKED", None)] * 3
    assert "hooks.example.com is not publicly accessible." in Attempt.objects.order_by("id")[0].error_message
    assert Delivery.objects.get().status == "pending"
    webhook.refresh_from_db()
    assert webhook.failures == 3


def test_forbidden_port_is_blocked() -> None:
    with listening() as port:
        exempted = Policy(allowed_networks=(ip_network("10.0.0.0/8"),))
        result = send(claim_for_url(f"http://93.184.215.14:{port}/"), exempted)
    assert (result.blocked, result.error_code) == (True, "INVALID_URL")
    assert f"Port {port} is not allowed" in result.error_message


def test_blocklisted_domain_is_blocked() -> None:
    result = send(claim_for_url("http://hooks.example.com/"), Policy(blocked_domains=("example.com",)))
    assert (result.blocked, result.error_code) == (True, "DOMAIN_BLOCKED")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_failures(status: int) -> None:
    with Site({"/": Answer.redirect("/next", status), "/next": Answer("ok")}) as site:
        result = send(claim_for_url(f"{site.url}/"), ALLOWING)
        assert site.paths() == ["/"]
    assert (result.status, result.error_code) == (status, "RECEIVER_STATUS")
    assert "Redirects are not followed" in result.error_message


def never_answering(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def dripping(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in itertools.count():
        connection.sendall(b"x")
        connection.settimeout(0.05)
        try:
            if not connection.recv(1):
                return
        except TimeoutError:
            continue


@pytest.mark.parametrize("converse", [never_answering, dripping])
def test_long_attempt_ends_with_TIMEOUT(
    converse: Callable[[socket.socket], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sending.TIMEOUT_S == 10
    monkeypatch.setattr(sending, "TIMEOUT_S", 0.5)
    with Site(converse=converse) as site:
        began = time.monotonic()
        result = send(claim_for_url(f"{site.url}/"), ALLOWING)
        elapsed_s = time.monotonic() - began
    assert (result.error_code, result.status, result.blocked) == ("TIMEOUT", None, False)
    assert 0.4 < elapsed_s < 2
    assert abs(result.latency_ms / 1000 - elapsed_s) < 0.2


def test_error_code_distinguishes_receivers() -> None:
    with listening() as port:
        pass
    assert send(claim_for_url(f"http://127.0.0.1:{port}/"), ALLOWING).error_code == "URL_NOT_REACHABLE"
    with Site(converse=lambda connection: connection.sendall(b"not HTTP\r\n\r\n")) as site:
        assert send(claim_for_url(f"{site.url}/"), ALLOWING).error_code == "BAD_RESPONSE"
    with Site({"/": Answer("ok")}, certificate=Certificate.SELF_SIGNED) as site:
        result = send(claim_for_url(f"{site.url}/"), ALLOWING)
        assert site.requests == []
    assert result.error_code == "TLS_FAILED"
    assert "not trusted" in result.error_message


def test_first_2_KiB_of_response_are_stored() -> None:
    result = result_of_sending(Answer("y" * 10_000, status=500))
    assert (result.status, result.body) == (500, "y" * KEPT_BYTES)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", ""),
        ("Grüße\n".encode(), "Grüße\n"),
        (b"a\x00b\x1b[31mc\x9b", "a\ufffdb\ufffd[31mc\ufffd"),
        (b"\xff\xfe\xc3", "\ufffd\ufffd\ufffd"),
        (b"x" * 2047 + "ü".encode(), "x" * 2047),
    ],
)
def test_invalid_bytes_are_replaced(home: Member, receiver: Site, body: bytes, expected: str) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    receiver.routes["/hook"] = Answer(body, status=500)
    finished_scan(home)
    attempt_deliveries()
    assert Attempt.objects.get().response_body == expected


def test_compressed_response_is_a_success() -> None:
    with Site({"/": Answer(b"not gzip at all", headers={"Content-Encoding": "gzip"})}) as site:
        result = send(claim_for_url(f"{site.url}/"), ALLOWING)
        assert site.requests[0].header("Accept-Encoding") == "identity"
    assert (result.is_success, result.body) == (True, "")


def test_unexpected_exception_is_an_INTERNAL_ERROR(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(sending, "signature_headers", broken)
    result = send(claim_for_url("http://127.0.0.1/"), ALLOWING)
    assert (result.error_code, result.is_internal_error, result.is_success) == ("INTERNAL_ERROR", True, False)
    assert "delivery dlv_1 failed" in caplog.text
