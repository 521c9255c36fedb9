"""Connect only to checked addresses, to prevent SSRF.

The dialer resolves a name, checks all its addresses, connects to one of them, and verifies the peer.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import weakref
from collections.abc import Callable, Iterator
from ipaddress import ip_address

from website_scan.net import addresses
from website_scan.net.addresses import IPAddress
from website_scan.net.budget import Limits
from website_scan.net.deadline import Deadline, GuardedSocket, GuardedTlsSocket, before_connect, dial_datagrams
from website_scan.net.errors import Blocked, NetError, NotReachable, Refused, TimedOut
from website_scan.net.failures import NoAnswer
from website_scan.net.policy import Policy
from website_scan.net.resolver import Resolver
from website_scan.net.targets import InvalidUrl, refuse_blocklisted

logger = logging.getLogger(__name__)

# All addresses are checked, but only this many are tried.
MAX_ADDRESSES_TRIED = 6

# Name servers and mail servers of domains are contacted on these ports only.
DNS_PORT = 53
SMTP_PORT = 25

Dial = Callable[[str, int, float], socket.socket]


class Dialer:
    """Opener of a scan's connections.

    It stores checked addresses and open connections. Thread-safe.
    """

    def __init__(
        self,
        policy: Policy,
        resolver: Resolver,
        dial: Dial,
        limits: Limits,
        deadline: Deadline,
        datagrams: Dial = dial_datagrams,
    ) -> None:
        self._policy = policy
        self._resolver = resolver
        self._dial = dial
        self._datagrams = datagrams
        self._limits = limits
        self._deadline = deadline
        self._lock = threading.Lock()
        self._resolving: dict[str, threading.Lock] = {}
        self._answers: dict[str, tuple[str, ...] | NetError] = {}
        self._pins: dict[tuple[str, int], tuple[str, ...] | NetError] = {}
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._closed = False
        # Host and address of each refused connection.
        self.refused: list[tuple[str, str]] = []

    def addresses(self, host: str, port: int, deadline: Deadline) -> tuple[str, ...]:
        """Return the host's checked addresses for a port.

        The result never changes, to prevent DNS rebinding. Raises Blocked if ANY address may not be contacted on that
        port, NotReachable if there is none, TimedOut, or InvalidUrl for a port that is not allowed.
        """
        with self._lock:
            resolving = self._resolving.setdefault(host, threading.Lock())
        if not resolving.acquire(timeout=deadline.check()):
            raise TimedOut(f"The name {host} could not be resolved in time.")
        try:
            pinned = self._pins.get((host, port))
            if pinned is None:
                try:
                    pinned = self._check_addresses(host, port, self._resolve_once(host, deadline))
                except NetError as error:
                    if not deadline.remaining_s():
                        raise  # The error is not stored, because more time might have helped.
                    pinned = error
                self._pins[host, port] = pinned
        finally:
            resolving.release()
        if isinstance(pinned, NetError):
            raise type(pinned)(str(pinned))
        self._refuse_disallowed_port(host, port, pinned)
        return pinned

    def known_addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Return the host's addresses that are already checked.

        Empty if none are checked. Does not query name servers.
        """
        pinned = self._pins.get((host, port))
        return pinned if isinstance(pinned, tuple) else ()

    def open(self, host: str, port: int, deadline: Deadline) -> tuple[GuardedSocket, str]:
        """Open a connection to the host.

        Returns the socket and the peer's address; the caller sets the socket's guard. Raises Blocked, NotReachable,
        TimedOut, or InvalidUrl for a port that is not allowed.
        """
        self.refuse_when_closed()
        pinned = self.addresses(host, port, deadline)
        error: OSError | None = None
        candidates = pinned[:MAX_ADDRESSES_TRIED]
        for position, address in enumerate(candidates):
            attempt_timeout_s = deadline.check() / (len(candidates) - position)
            try:
                return self._connect(self._dial, host, address, port, attempt_timeout_s), address
            except OSError as failure:
                self.refuse_when_closed()
                error = failure
        raise _connect_error(host, port, error)

    def open_name_server(self, host: str, address: str, deadline: Deadline, *, over_tcp: bool) -> GuardedSocket:
        """Open a connection to one address of a domain's name server, on port 53.

        The address is checked like those of web servers. Raises Blocked, NotReachable or TimedOut.
        """
        return self._open_address(self._dial if over_tcp else self._datagrams, host, address, DNS_PORT, deadline)

    def open_mail_server(self, host: str, address: str, deadline: Deadline) -> GuardedSocket:
        """Open a connection to one address of a domain's mail server, on port 25.

        The address is checked like those of web servers. Raises Blocked, NotReachable or TimedOut.
        """
        return self._open_address(self._dial, host, address, SMTP_PORT, deadline)

    def _open_address(self, dial: Dial, host: str, address: str, port: int, deadline: Deadline) -> GuardedSocket:
        self.refuse_when_closed()
        refuse_blocklisted(host, self._policy)
        self._check_addresses(host, port, (address,))
        try:
            return self._connect(dial, host, address, port, deadline.check())
        except OSError as error:
            self.refuse_when_closed()
            raise _connect_error(host, port, error) from None

    def _connect(self, dial: Dial, host: str, address: str, port: int, timeout_s: float) -> GuardedSocket:
        """Open a socket to a checked address, and verify both ends. Raises OSError."""
        token = before_connect.set(self._register_socket)
        try:
            connection = dial(address, port, timeout_s)
        finally:
            before_connect.reset(token)
        self._refuse_other_peer(connection, address, host)
        self._refuse_own_machine(connection, address, host, port)
        guarded = GuardedSocket(fileno=connection.detach())
        self.register(guarded)
        return guarded

    def register(self, connection: GuardedSocket | GuardedTlsSocket) -> None:
        """Register a connection, so that `close` ends the connection.

        Raises TimedOut after `close`.
        """
        try:
            self._register_socket(connection)
        except TimedOut:
            connection.close()
            raise

    def _register_socket(self, connection: socket.socket) -> None:
        with self._lock:
            self._sockets.add(connection)
        self.refuse_when_closed()

    def close(self) -> None:
        """End all connections, and refuse new ones.

        Connections of other threads end, too. A thread that waits for a name server continues to wait until the query's
        time limit (`name_servers`).
        """
        with self._lock:
            self._closed = True
            connections = list(self._sockets)
        for connection in connections:
            with contextlib.suppress(OSError):
                # SSLSocket.shutdown would make a reading thread read encrypted data.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)

    @contextlib.contextmanager
    def until_closed(self) -> Iterator[None]:
        """Raise TimedOut if `close` was called before the end of the block.

        Errors and truncated responses may then be due to `close`.
        """
        try:
            yield
        except (NetError, NoAnswer):
            self.refuse_when_closed()
            raise
        self.refuse_when_closed()

    def refuse_when_closed(self) -> None:
        """Raise TimedOut if the dialer is closed."""
        if self._closed:
            raise TimedOut("The scan has ended.")

    def _resolve_once(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        """Resolve a name only once for all ports.

        Returns the stored addresses afterwards.
        """
        answer = self._answers.get(host)
        if answer is None:
            try:
                answer = self._resolver.resolve(host, deadline)
            except NetError as error:
                if not deadline.remaining_s():
                    raise
                answer = error
            self._answers[host] = answer
        if isinstance(answer, NetError):
            raise answer
        return answer

    def _check_addresses(self, host: str, port: int, resolved: tuple[str, ...]) -> tuple[str, ...]:
        if addresses.is_loopback_name(host):
            # Perhaps only one of a loopback name's two addresses is exempted.
            resolved = tuple(text for text in resolved if self._is_exempt(text, host, port)) or resolved
        exempted = self._policy.exempted(host, port)
        own = addresses.own_addresses()
        for text in resolved:
            try:
                address = ip_address(text)
            except ValueError:
                raise Blocked(f"{host} resolves to something that is not an address.") from None
            if reason := addresses.refusal(address, exempted, own, self._policy.denied_networks):
                # Messages for users must not reveal internal DNS records.
                logger.info("egress to %s on port %d is refused: %s", host, port, reason)
                self.refused.append((host, text))
                raise Blocked(f"{host} is not publicly accessible.")
        if not resolved:
            raise NotReachable(f"{host} does not resolve to an address.")
        return resolved

    def _is_exempt(self, address: str, host: str, port: int) -> bool:
        return addresses.is_exempted(ip_address(address), self._policy.exempted(host, port))

    def _refuse_disallowed_port(self, host: str, port: int, pinned: tuple[str, ...]) -> None:
        if port not in self._policy.allowed_ports and not all(
            self._is_exempt(address, host, port) for address in pinned
        ):
            raise InvalidUrl(f"Port {port} is not allowed here.")

    def _refuse_other_peer(self, connection: socket.socket, address: str, host: str) -> None:
        """Raise Blocked if the peer's address is not the checked one."""
        if _endpoint_address(connection, connection.getpeername) != ip_address(address):
            connection.close()
            logger.warning("the connection to %s led elsewhere and was ended", address)
            self.refused.append((host, address))
            raise Blocked("The connection did not lead to the address that was judged.")

    def _refuse_own_machine(self, connection: socket.socket, address: str, host: str, port: int) -> None:
        """Raise Blocked if the peer is an unlisted address of this machine.

        No interface lists the address.
        """
        if _endpoint_address(connection, connection.getsockname) == ip_address(address) and not self._is_exempt(
            address, host, port
        ):
            connection.close()
            logger.info("egress to %s is refused: it is an address of this machine", address)
            self.refused.append((host, address))
            raise Blocked("The connection did not lead to a public address.")


def _endpoint_address(connection: socket.socket, name: Callable[[], tuple[str, int]]) -> IPAddress:
    """Return the address of one end of a connection.

    Raises NotReachable if the connection has ended.
    """
    try:
        return ip_address(name()[0].partition("%")[0])
    except (OSError, ValueError):
        connection.close()
        raise NotReachable("The connection ended at once.") from None


def _connect_error(host: str, port: int, error: OSError | None) -> NetError:
    if isinstance(error, TimeoutError):
        return TimedOut(f"{host} did not accept a connection on port {port} in time.")
    if isinstance(error, ConnectionRefusedError):
        return Refused(f"{host} refuses connections on port {port}.")
    return NotReachable(f"{host} can't be reached on port {port}.")
