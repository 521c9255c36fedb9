"""Connections to the mail servers of domains, on port 25, if the operator allows them."""

from __future__ import annotations

from website_scan.net.budget import ConnectionGuard, Meter, SharedBudget
from website_scan.net.deadline import Deadline, GuardedSocket
from website_scan.net.dialer import SMTP_PORT, Dialer
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy


class MailConnections:
    """Opener of a scan's connections to mail servers. Thread-safe."""

    def __init__(
        self, policy: Policy, dialer: Dialer, meter: Meter, deadline: Deadline, shared: SharedBudget | None
    ) -> None:
        self._policy = policy
        self._dialer = dialer
        self._meter = meter
        self._deadline = deadline
        self._shared = shared

    def refuse_when_closed(self) -> None:
        """Raise TimedOut if the scan has ended, which also ends its connections."""
        self._dialer.refuse_when_closed()
        self._deadline.check()

    def open(self, server: str, address: str, timeout_s: float) -> GuardedSocket:
        """Open a connection to one address of a mail server.

        `timeout_s` limits the opening and all use together. Raises Blocked, NotReachable, TimedOut or BudgetExceeded.
        """
        if not self._policy.contacts_mail_servers:
            raise Blocked("This installation does not connect to mail servers.")
        self._meter.request(server)
        if self._shared is not None:
            self._shared.request(server, SMTP_PORT, [address])
        deadline = self._deadline.within(timeout_s)
        connection = self._dialer.open_mail_server(server, address, deadline)
        connection.guard = ConnectionGuard(deadline, self._meter)
        return connection
