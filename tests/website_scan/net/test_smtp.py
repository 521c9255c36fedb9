"""Tests for the dialog with mail servers, with servers that send anything."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from website_scan.net.budget import ConnectionGuard, Limits, Meter
from website_scan.net.deadline import Deadline, GuardedSocket
from website_scan.net.errors import BudgetExceeded
from website_scan.net.smtp import MAX_LINE_BYTES, MAX_LINES, Closed, Conversation, Ending, MailState, NotSmtp

GREETING, EHLO = b"220 mail.test ready\r\n", b"250-mail.test\r\n250 STARTTLS\r\n"
READY = b"220 go ahead\r\n"


@contextlib.contextmanager
def conversation(sent: bytes, *, seconds: float = 10.0, meter: Meter | None = None) -> Iterator[Conversation]:
    """Return a dialog with a server that sends these bytes at once, and then closes the connection."""
    client, server = socket.socketpair()
    thread = threading.Thread(target=_send, args=(server, sent), daemon=True)
    thread.start()
    guarded = GuardedSocket(fileno=client.detach())
    guarded.guard = ConnectionGuard(Deadline(seconds), meter or Meter(Limits()))
    with guarded:
        yield Conversation(guarded)
    thread.join(10)


def _send(server: socket.socket, sent: bytes) -> None:
    with server, contextlib.suppress(OSError):
        server.sendall(sent)
        server.shutdown(socket.SHUT_WR)
        while server.recv(4096):
            pass


def ending_of(*parts: bytes) -> Ending | None:
    with conversation(b"".join(parts)) as dialog:
        return dialog.start_tls("scanner.example.com")


def test_server_that_agrees_expects_a_handshake() -> None:
    assert ending_of(GREETING, EHLO, READY) is None


def test_lines_may_end_with_LF_only() -> None:
    assert ending_of(GREETING.replace(b"\r", b""), EHLO.replace(b"\r", b""), READY.replace(b"\r", b"")) is None


def test_text_after_the_agreement_is_noticed() -> None:
    """The next TLS session must not take this text for encrypted text."""
    with conversation(GREETING + EHLO + READY + b"250 injected\r\n") as dialog:
        assert dialog.start_tls("scanner.example.com") is None
        assert dialog.has_unread_text


@pytest.mark.parametrize(
    ("parts", "state", "text"),
    [
        ((b"554 5.7.1 blocked\r\n",), MailState.REJECTS, "554 5.7.1 blocked"),
        ((b"421\r\n",), MailState.REJECTS, "421"),
        ((GREETING, b"250 mail.test\r\n"), MailState.NO_STARTTLS, "250 mail.test"),
        ((GREETING, b"500 what?\r\n"), MailState.NO_STARTTLS, "500 what?"),
        ((GREETING, EHLO, b"454 later\r\n"), MailState.NOT_AVAILABLE, "454 later"),
        ((GREETING, EHLO, b"250 what?\r\n"), MailState.NOT_AVAILABLE, "250 what?"),
    ],
)
def test_reply_decides_how_the_dialog_ends(parts: tuple[bytes, ...], state: MailState, text: str) -> None:
    ending = ending_of(*parts)
    assert ending is not None
    assert ending.reply is not None
    assert (ending.state, ending.reply.text) == (state, text)


@pytest.mark.parametrize(
    "parts",
    [
        (b"HTTP/1.1 200 OK\r\n",),
        (b"\x15\x03\x03\x00\x02\x02\x28\n",),
        (b"220-a\r\n221 b\r\n",),
        (b"2200 ready\r\n",),
        (b"120 wait\r\n",),
        (b"220 " + b"x" * MAX_LINE_BYTES + b"\r\n",),
        (b"220-x\r\n" * (MAX_LINES + 1),),
    ],
)
def test_other_text_is_no_smtp(parts: tuple[bytes, ...]) -> None:
    with pytest.raises(NotSmtp):
        ending_of(*parts)


def test_longest_line_of_the_RFC_is_read() -> None:
    line = b"220 " + b"x" * (MAX_LINE_BYTES - 6) + b"\r\n"
    assert len(line) == MAX_LINE_BYTES
    assert ending_of(line, EHLO, READY) is None


def test_closed_connection_ends_the_dialog() -> None:
    with pytest.raises(Closed):
        ending_of(b"220-mail.te")


def test_silent_server_ends_at_the_deadline() -> None:
    client, server = socket.socketpair()
    guarded = GuardedSocket(fileno=client.detach())
    guarded.guard = ConnectionGuard(Deadline(0.2), Meter(Limits()))
    begin = time.monotonic()
    with guarded, server, pytest.raises(TimeoutError):
        Conversation(guarded).start_tls("scanner.example.com")
    assert time.monotonic() - begin < 5


def test_received_bytes_count_in_the_budget_of_the_scan() -> None:
    with (
        conversation(b"220-x\r\n" * 500, meter=Meter(Limits(total_bytes=1000))) as dialog,
        pytest.raises(BudgetExceeded),
    ):
        dialog.start_tls("scanner.example.com")


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(st.binary(max_size=40), st.sampled_from([GREETING, EHLO, READY, b"250-", b"\r\n", b"220 "])),
        max_size=8,
    )
)
def test_any_bytes_end_the_dialog_in_a_known_way(parts: list[bytes]) -> None:
    with contextlib.suppress(NotSmtp, Closed, OSError):
        ending = ending_of(*parts)
        assert ending is None or ending.state in MailState
