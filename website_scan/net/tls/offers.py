"""Exchange hellos over a guarded connection.

The function sends a ClientHello and reads the server's response.

Offers connect only through `Network.connect`, so that the network guard applies.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Sequence

from website_scan.net.client import Network
from website_scan.net.errors import TimedOut
from website_scan.net.tls.ciphers import TlsVersion
from website_scan.net.tls.hello import Alert, ServerHello, client_hello, read_answer

OFFER_TIMEOUT_S = 3.0
RECEIVE_CHUNK_BYTES = 16 * 1024


def server_name(host: str) -> str | None:
    """Return the host name for SNI.

    None for an address (RFC 6066, section 3).
    """
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host.rstrip(".")
    return None


def offer(
    network: Network,
    host: str,
    port: int,
    version: TlsVersion,
    ciphers: Sequence[int],
    *,
    timeout_s: float = OFFER_TIMEOUT_S,
) -> ServerHello | Alert | None:
    """Send a ClientHello, and return the server's response.

    None if the server closed the connection.

    Raises `NotReachable`, `TimedOut`, `Blocked` or another `NetError` of the connection, `NotTls`.
    """
    deadline = time.monotonic() + timeout_s
    with network.connect(host, port, timeout_s=timeout_s) as connection:
        flight = b""
        try:
            connection.settimeout(seconds_until(deadline))
            connection.sendall(client_hello(version, ciphers, server_name(host)))
            while (answer := read_answer(flight)) is None:
                connection.settimeout(seconds_until(deadline))
                received = connection.recv(RECEIVE_CHUNK_BYTES)
                if not received:
                    return None
                flight += received
        except TimeoutError as error:
            raise TimedOut(f"{host}:{port} did not answer the TLS hello in {timeout_s:g} s.") from error
        except OSError:
            return None  # Many servers refuse an offer by resetting the connection.
        return answer


def seconds_until(deadline: float) -> float:
    """Return the seconds until a deadline on the monotonic clock.

    Raises TimeoutError after the deadline.
    """
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
