"""Server at an address that the network guard must refuse.

It counts the connections that it receives.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Self

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret"
TIMEOUT_S = 5.0


class Canary:
    """Server thread that answers each connection with a short page.

    It stops when the context ends.
    """

    def __init__(self, address: str = "127.0.0.2", port: int = 0) -> None:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listener = socket.create_server((address, port), family=family, backlog=128)
        self.address = address
        self.port: int = self._listener.getsockname()[1]
        self._changed = threading.Condition()
        self._peers: list[tuple[str, int]] = []
        self.paths: list[str] = []  # Paths of the received HTTP requests.
        self._thread = threading.Thread(target=self._accept, name="canary", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(TIMEOUT_S)
        self._listener.close()

    def count(self) -> int:
        """Return the number of connections so far.

        It includes those that the thread has not accepted yet.

        The kernel queues connections. When our own connection comes out of the queue, all earlier ones are out.
        """
        with socket.create_connection((self.address, self.port)) as own_connection, self._changed:
            name = own_connection.getsockname()[:2]
            assert self._changed.wait_for(lambda: name in self._peers, TIMEOUT_S)
            self._peers.remove(name)
            return len(self._peers)

    def _accept(self) -> None:
        while True:
            try:
                connection, peer = self._listener.accept()
            except OSError:
                return
            with self._changed:
                self._peers.append(peer[:2])
                self._changed.notify_all()
            with connection, contextlib.suppress(OSError):
                connection.settimeout(TIMEOUT_S)
                words = connection.recv(65536).split(b" ", 2)
                if len(words) == 3:
                    self.paths.append(words[1].decode("latin-1"))
                connection.sendall(ANSWER)
