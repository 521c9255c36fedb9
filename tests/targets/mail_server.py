"""SMTP server on loopback with a configured reply for each verb.

The server stores the mails that it accepts.

with MailServer({"RCPT": "550 no such person"}) as server:
    ...
    assert server.mails == []
"""

from __future__ import annotations

import contextlib
import email
import email.message
import email.policy
import socketserver
import ssl
import threading
from collections.abc import Callable, Mapping
from typing import Self

# Default replies by verb. `TEXT` follows a mail's last line, and `HELLO` is the greeting.
REPLIES: Mapping[str, str] = {
    "HELLO": "220 ready",
    "EHLO": "250 mail.test",
    "MAIL": "250 fine",
    "RCPT": "250 fine",
    "DATA": "354 go on",
    "TEXT": "250 taken",
    "RSET": "250 fine",
    "QUIT": "221 bye",
}
Reply = str | Callable[[str], str | None]


class MailServer:
    """SMTP server that records what it receives.

    It records accepted `mails`, received `lines` and its number of `connections`.

    A reply may be a function of the line. A reply that begins with "slowly " is sent one byte at a time, `pause_s`
    apart. On a reply of None, the server hangs up. With `tls`, it accepts a TLS handshake after its reply to STARTTLS.
    """

    def __init__(
        self,
        replies: Mapping[str, Reply] = {},
        *,
        pause_s: float = 0.05,
        address: tuple[str, int] = ("127.0.0.1", 0),
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.tls = tls
        self.replies: dict[str, Reply] = {**REPLIES, **replies}
        self.pause_s = pause_s
        self.mails: list[email.message.EmailMessage] = []
        self.raw: list[bytes] = []
        self.lines: list[str] = []
        self.connections = 0
        self.closing = threading.Event()
        self._server = _Server(address, _Handler)
        self._server.owner = self
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def take(self, raw: bytes) -> None:
        message = email.message_from_bytes(raw, policy=email.policy.default)
        assert isinstance(message, email.message.EmailMessage)
        self.raw.append(raw)
        self.mails.append(message)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    owner: MailServer

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect during a dialog.

        Some tests do this.
        """


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        owner = self.server.owner
        owner.connections += 1
        if not self._send_reply("HELLO", ""):
            return
        while line := self.rfile.readline().decode(errors="replace").rstrip("\r\n"):
            owner.lines.append(line)
            verb = line.partition(" ")[0].upper()
            if not self._send_reply(verb, line) or verb == "QUIT":
                return
            if verb == "DATA" and not self._read_text():
                return
            if verb == "STARTTLS" and owner.tls is not None:
                self.request = owner.tls.wrap_socket(self.request, server_side=True)
                self.setup()

    def finish(self) -> None:
        """Close the TLS connection, too, of which the base class does not know."""
        with contextlib.suppress(OSError):
            super().finish()
        if isinstance(self.request, ssl.SSLSocket):
            self.request.close()

    def _read_text(self) -> bool:
        lines: list[bytes] = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        raw = b"".join(lines)
        reply = self.server.owner.replies["TEXT"]
        if not callable(reply) and reply.removeprefix("slowly ").startswith("2"):
            self.server.owner.take(raw)
        return self._send_reply("TEXT", raw.decode())

    def _send_reply(self, verb: str, line: str) -> bool:
        owner = self.server.owner
        reply = owner.replies.get(verb, "502 what?")
        text = reply(line) if callable(reply) else reply
        if text is None:
            return False
        if not text.startswith("slowly "):
            self.wfile.write(f"{text}\r\n".encode())
            return True
        for byte in f"{text.removeprefix('slowly ')}\r\n".encode():
            if owner.closing.wait(owner.pause_s):
                return False
            self.wfile.write(bytes([byte]))
        return True
