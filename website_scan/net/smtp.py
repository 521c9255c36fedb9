"""Dialog with a mail server up to STARTTLS, as a client that sends no mail (RFC 5321, RFC 3207).

The client sends EHLO, STARTTLS and QUIT only. A server decides with its first replies whether it talks to strangers, so
a refusal is not a fault of the server.
"""

from __future__ import annotations

import contextlib
import re
from enum import StrEnum

from msgspec import Struct

from website_scan.net.deadline import GuardedSocket
from website_scan.net.errors import NetError

# RFC 5321, section 4.5.3.1.5: length of a reply line with its code and CRLF.
MAX_LINE_BYTES = 512
MAX_LINES = 1000
RECEIVE_CHUNK_BYTES = 4096
MAX_TEXT_CHARACTERS = 200
READY, DONE = 220, 250
# The server does not know EHLO, as before RFC 1869 (RFC 5321, sections 4.1.1.1 and 4.2.4).
UNKNOWN_COMMAND_CODES = frozenset({500, 502})
FAREWELL = b"QUIT\r\n"

_LINE = re.compile(rb"([2-5][0-9]{2})(?:([ -])(.*))?", re.DOTALL)


class MailState(StrEnum):
    """State of one address of a mail server, as text for the report."""

    ENCRYPTS = "encrypts with STARTTLS"
    NO_STARTTLS = "does not offer STARTTLS"
    NOT_AVAILABLE = "offers STARTTLS, but refuses it"
    TLS_FAILED = "offers STARTTLS, but the TLS handshake fails"
    NOT_SMTP = "does not speak SMTP"
    REJECTS = "rejects this scanner"
    SLOW = "answers too slowly to be tested"
    SILENT = "does not answer"
    REFUSED = "may not be contacted"  # The guard or a budget of this installation refuses the connection.
    NOT_TESTED = "not tested"


class NotSmtp(NetError):
    """Raised for a reply that is no reply of SMTP, or too long."""

    code = "BAD_RESPONSE"


class Closed(NetError):
    """Raised if the server closes the connection."""

    code = "BAD_RESPONSE"


class Reply(Struct, frozen=True):
    """Reply of a mail server, with the texts of its lines."""

    code: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return code and text of the first line, shortened."""
        return f"{self.code} {self.lines[0] if self.lines else ''}".strip()[:MAX_TEXT_CHARACTERS]

    @property
    def keywords(self) -> frozenset[str]:
        """Return the keywords of a reply to EHLO, whose first line has the server's name."""
        return frozenset(line.split(maxsplit=1)[0].upper() for line in self.lines[1:] if line.strip())


class Ending(Struct, frozen=True):
    """End of a dialog before TLS. `reply` is the last reply, None after the server has agreed to TLS."""

    state: MailState
    reply: Reply | None


class Conversation:
    """Dialog on an open connection, whose guard limits its time."""

    def __init__(self, connection: GuardedSocket) -> None:
        self._connection = connection
        self._buffer = b""
        self._lines = 0

    @property
    def has_unread_text(self) -> bool:
        """Return True if the server has sent text after its last reply."""
        return bool(self._buffer)

    def start_tls(self, own_name: str) -> Ending | None:
        """Send EHLO and STARTTLS. Returns None if the server now expects a TLS handshake.

        Otherwise, the dialog has ended. Raises NotSmtp, Closed, or OSError, which may be a TimeoutError.
        """
        greeting = self._read_reply()
        if greeting.code != READY:
            return self._end(MailState.REJECTS, greeting)
        hello = self._send(f"EHLO {own_name}\r\n")
        if hello.code in UNKNOWN_COMMAND_CODES:
            return self._end(MailState.NO_STARTTLS, hello)
        if hello.code != DONE:
            return self._end(MailState.REJECTS, hello)
        if "STARTTLS" not in hello.keywords:
            return self._end(MailState.NO_STARTTLS, hello)
        consent = self._send("STARTTLS\r\n")
        return None if consent.code == READY else self._end(MailState.NOT_AVAILABLE, consent)

    def _end(self, state: MailState, reply: Reply) -> Ending:
        """Send QUIT without waiting for the answer, which changes nothing."""
        with contextlib.suppress(OSError):
            self._connection.sendall(FAREWELL)
        return Ending(state, reply)

    def _send(self, command: str) -> Reply:
        self._connection.sendall(command.encode("ascii"))
        return self._read_reply()

    def _read_reply(self) -> Reply:
        """Read a reply of one or several lines, all of which have the same code (RFC 5321, section 4.2.1)."""
        lines: list[str] = []
        code = 0
        while True:
            match = _LINE.fullmatch(self._read_line())
            if match is None or (code and int(match[1]) != code):
                raise NotSmtp("The server does not answer with a reply of SMTP.")
            code = int(match[1])
            lines.append((match[3] or b"").decode("ascii", "replace"))
            if match[2] != b"-":
                return Reply(code, tuple(lines))

    def _read_line(self) -> bytes:
        """Read a line without its end, which should be CRLF; some servers send LF only."""
        self._lines += 1
        if self._lines > MAX_LINES:
            raise NotSmtp(f"The server sends more than {MAX_LINES:,} lines.")
        while (end := self._buffer.find(b"\n", 0, MAX_LINE_BYTES)) < 0:
            if len(self._buffer) >= MAX_LINE_BYTES:
                raise NotSmtp(f"The server sends lines of more than {MAX_LINE_BYTES} bytes.")
            data = self._connection.recv(RECEIVE_CHUNK_BYTES)
            if not data:
                raise Closed("The server closes the connection.")
            self._buffer += data
        line, self._buffer = self._buffer[:end], self._buffer[end + 1 :]
        return line.removesuffix(b"\r")
