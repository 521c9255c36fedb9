"""Mail server on port 587 with STARTTLS and login.

It writes each e-mail to a file in STATE/mails.
"""

from __future__ import annotations

import base64
import ssl
import sys
from collections.abc import Callable
from pathlib import Path

from tests.targets.mail_server import MailServer

ACCOUNT = base64.b64encode(b"\0user\0password").decode()


def main() -> None:
    state = Path(sys.argv[1])
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(state / "mail.pem")

    def log_in(line: str) -> str:
        return "235 welcome" if line == f"AUTH PLAIN {ACCOUNT}" else "535 wrong user or password"

    replies: dict[str, str | Callable[[str], str | None]] = {
        "EHLO": "250-mail.example.com\r\n250-STARTTLS\r\n250 AUTH PLAIN",
        "STARTTLS": "220 go on",
        "AUTH": log_in,
    }
    with MailServer(replies, address=("0.0.0.0", 587), tls=tls) as server:
        stored = 0
        while not server.closing.wait(0.1):
            for mail in server.mails[stored:]:
                (state / "mails" / f"{stored:03}").write_bytes(mail.as_bytes())
                stored += 1


if __name__ == "__main__":
    main()
