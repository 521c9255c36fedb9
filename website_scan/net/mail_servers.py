"""Test of one address of a mail server: does it encrypt, and with which certificate?

Many domains have the same mail servers, so each process caches results for a short time.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections.abc import Hashable

from msgspec import Struct
from msgspec.structs import replace

from website_scan.net.client import Network
from website_scan.net.deadline import GuardedSocket
from website_scan.net.errors import Blocked, BudgetExceeded, NetError, TimedOut, TlsFailed
from website_scan.net.smtp import FAREWELL, Closed, Conversation, MailState, NotSmtp
from website_scan.net.tls.trust import Handshake

# RFC 5321, section 4.5.3.2, lets servers take minutes, so a slow server has no fault. Common delays against spam before
# the greeting are six seconds or less.
DIALOG_TIMEOUT_S = 15.0
HANDSHAKE_TIMEOUT_S = 8.0
RESULT_LIFETIME_S = 600.0
MAX_RESULTS = 1_000
UNCERTAIN = frozenset({MailState.REFUSED, MailState.NOT_TESTED, MailState.SILENT})


class MailDialog(Struct, frozen=True):
    """Result of a dialog with one address of a mail server.

    `text` is the server's reply or the error that ended the dialog; empty if the server encrypts.
    """

    address: str
    state: MailState
    text: str = ""
    handshake: Handshake | None = None

    @property
    def is_ipv6(self) -> bool:
        return ":" in self.address


class Results:
    """Cache of results for `RESULT_LIFETIME_S` seconds. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._results: dict[Hashable, tuple[float, MailDialog]] = {}

    def find(self, key: Hashable) -> MailDialog | None:
        with self._lock:
            expiry, dialog = self._results.get(key, (0.0, None))
            return dialog if expiry > time.monotonic() else None

    def store(self, key: Hashable, dialog: MailDialog) -> None:
        with self._lock:
            if len(self._results) >= MAX_RESULTS:
                self._results.clear()
            self._results[key] = (time.monotonic() + RESULT_LIFETIME_S, dialog)

    def clear(self) -> None:
        with self._lock:
            self._results.clear()


results = Results()


def contact_mail_server(network: Network, server: str, address: str) -> MailDialog:
    """Connect to one address of a mail server once, and start TLS. Sends no mail.

    Raises TimedOut if the scan has ended.
    """
    key = (network.policy, server, address)
    if (known := results.find(key)) is not None:
        return known
    dialog = replace(_converse(network, server, address), address=address)
    network.mail.refuse_when_closed()
    if dialog.state not in UNCERTAIN:
        results.store(key, dialog)
    return dialog


def _converse(network: Network, server: str, address: str) -> MailDialog:
    try:
        connection = network.mail.open(server, address, DIALOG_TIMEOUT_S)
    except (Blocked, BudgetExceeded) as error:
        return MailDialog(address, MailState.REFUSED, str(error))
    except NetError as error:
        return MailDialog(address, MailState.SILENT, str(error))
    with connection:
        conversation = Conversation(connection)
        try:
            ending = conversation.start_tls(network.policy.mail_name or _address_literal(connection))
        except NotSmtp as error:
            return MailDialog(address, MailState.NOT_SMTP, str(error))
        except BudgetExceeded as error:
            return MailDialog(address, MailState.REFUSED, str(error))
        except TimeoutError:
            return MailDialog(address, MailState.SLOW)
        except (Closed, OSError):
            return MailDialog(address, MailState.REJECTS, "The server closes the connection.")
        if ending is not None:
            return MailDialog(address, ending.state, ending.reply.text if ending.reply else "")
        if conversation.has_unread_text:
            # Somebody may have inserted it, and a client that read it later would take it for encrypted text
            # (https://nostarttls.secvuln.info/, "response injection").
            return MailDialog(address, MailState.TLS_FAILED, "The server sends text before the TLS handshake.")
        return _start_tls(network, server, address, connection)


def _start_tls(network: Network, server: str, address: str, connection: GuardedSocket) -> MailDialog:
    from website_scan.net.tls.handshake import upgrade  # The import is slow, because it loads OpenSSL.

    try:
        handshake = upgrade(network, connection, server, FAREWELL, timeout_s=HANDSHAKE_TIMEOUT_S)
    except BudgetExceeded as error:
        return MailDialog(address, MailState.REFUSED, str(error))
    except TimedOut:
        return MailDialog(address, MailState.SLOW)
    except TlsFailed as error:
        return MailDialog(address, MailState.TLS_FAILED, str(error))
    return MailDialog(address, MailState.ENCRYPTS, handshake=handshake)


def _address_literal(connection: GuardedSocket) -> str:
    """Return this machine's address for EHLO (RFC 5321, section 4.1.3), for a client without a name."""
    address = ipaddress.ip_address(connection.getsockname()[0].partition("%")[0])
    return f"[IPv6:{address}]" if address.version == 6 else f"[{address}]"
