"""Tests for the gunicorn worker with slow clients.

The worker has two threads, and some tests shorten its deadlines.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import cycle
from pathlib import Path

import psutil
import pytest

from tests.operations.stack.processes import wait_until

ROOT = Path(__file__).resolve().parents[2]
THREADS = 2
TIMEOUT_S = 30
APPLICATION = """
import threading
import config.gunicorn
import config.incoming
config.gunicorn.HEAD_S, config.incoming.BODY_S, config.gunicorn.WRITE_S = {deadlines}
config.gunicorn.MAX_ALL_UNSENT_BYTES = 10_000_000
config.gunicorn.MAX_RECEIVED_BYTES = {received_bytes}
Worker = config.gunicorn.Worker
held = threading.Semaphore(0)
reads_of_threads = []

class Watched(config.gunicorn.ClientSocket):
    def recv(self, *arguments):
        if threading.current_thread() is not threading.main_thread():
            reads_of_threads.append(arguments)
        return super().recv(*arguments)

config.gunicorn.ClientSocket = Watched
LENGTHS = {{"/long": 50_000_000, "/page": 900_000}}
closed_streams = []

class Stream:
    def __iter__(self):
        yield from (b"%d" % (number % 10) * 100_000 for number in range(80))

    def close(self):
        closed_streams.append(self)

def admit(environ):
    owner = environ.get("HTTP_AUTHORIZATION")
    if owner is None:
        headers = {{"WWW-Authenticate": "Bearer"}}
        return config.incoming.RefusedBody("401 Unauthorized", headers, b'{{"code": "UNAUTHORIZED"}}')
    return config.incoming.Admission(owner, 5_000_000)

def application(environ, start_response):
    path = environ["PATH_INFO"]
    if path == "/hold":
        held.acquire(timeout=3)
    body = environ["wsgi.input"].read()
    answer = b"x" * LENGTHS.get(path, 0) or b"%s %d" % (environ["REQUEST_METHOD"].encode(), len(body))
    if path == "/reads":
        answer = b"%d" % len(reads_of_threads)
    if path == "/prefix":
        answer = b"without prefix" if not environ["SCRIPT_NAME"] else b"with prefix"
    if path == "/closed-streams":
        answer = b"%d" % len(closed_streams)
    if path == "/stream":
        start_response("200 OK", [("Content-Type", "text/plain")])
        return Stream()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(answer)))])
    return [answer]

application.admit = admit
"""


class Server:
    """Running worker with at most `connections` connections.

    It drains for `drain_s` seconds after SIGTERM.
    """

    def __init__(
        self,
        folder: Path,
        deadlines: str,
        connections: int = 1000,
        drain_s: int = 0,
        graceful_timeout_s: int = 30,
        received_bytes: int = 32 * 1024 * 1024,
    ) -> None:
        (folder / "patient.py").write_text(APPLICATION.format(deadlines=deadlines, received_bytes=received_bytes))
        with socket.socket() as listener:
            # A small kernel buffer makes the worker wait for slow clients.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            listener.set_inheritable(True)
            self.port: int = listener.getsockname()[1]
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "gunicorn", "patient:application", "--bind", f"fd://{listener.fileno()}"),
                    *("--worker-class", "patient.Worker", "--threads", str(THREADS), "--workers", "1"),
                    *("--worker-connections", str(connections), "--keep-alive", "30", "--no-control-socket"),
                    *("--log-level", "warning"),
                    *("--graceful-timeout", str(graceful_timeout_s)),
                ],
                env=os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "DRAIN_S": str(drain_s)},
                pass_fds=(listener.fileno(),),
            )

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), TIMEOUT_S)

    def send(self, *data: bytes) -> socket.socket:
        connection = self.connect()
        for piece in data:
            connection.sendall(piece)
        return connection

    def get(self, path: str = "/") -> tuple[int, bytes]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()


def started_server(folder: Path, deadlines: str, connections: int = 1000, **options: int) -> Iterator[Server]:
    server = Server(folder, deadlines, connections, **options)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait(TIMEOUT_S)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    yield from started_server(tmp_path, "60, 60, 60")


@pytest.fixture(scope="module")
def server_with_short_timeouts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from started_server(tmp_path_factory.mktemp("quick"), "0.2, 0.2, 0.2", connections=40)


def receive_all(connection: socket.socket) -> bytes:
    """Return all data received before the server closes the connection."""
    data = b""
    try:
        while chunk := connection.recv(65536):
            data += chunk
    except ConnectionResetError:
        pass
    return data


HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
UNFINISHED = {
    "nothing": b"",
    "half a head": HEAD + b"X-",
    "half a body": POST + b"Content-Length: 1000\r\n\r\nab",
    "half a chunk": CHUNKED + b"20\r\nab",
    "no last chunk": CHUNKED + b"2\r\nab\r\n",
    "a chunk size of nine digits": CHUNKED + b"000000020\r\nab",
    "half an extension": CHUNKED + b"5;" + b"a" * 900,
    "trailers without end": CHUNKED + b"0\r\n" + b"X: y\r\n" * 90,
    "a length of 19 digits": POST + b"Content-Length: 0000000000000000009\r\n\r\nab",
}


@pytest.mark.parametrize("connections", [24, 500])
def test_unfinished_requests_occupy_no_thread(server: Server, connections: int) -> None:
    with ExitStack() as cleanup:
        begun = [data for data, _ in zip(cycle(UNFINISHED.values()), range(connections), strict=False)]
        waiting = [cleanup.enter_context(server.send(data)) for data in begun]
        for _ in range(3):
            assert server.get() == (200, b"GET 0")
            assert server.get("/healthz")[0] == 200
            for connection in waiting:
                connection.sendall(b"a")
        assert server.get("/reads") == (200, b"0")


@pytest.mark.parametrize("begun", UNFINISHED.values(), ids=UNFINISHED)
def test_unfinished_requests_block_no_thread(server_with_many_connections: Server, begun: bytes) -> None:
    with ExitStack() as cleanup:
        for _ in range(10 * THREADS):
            cleanup.enter_context(server_with_many_connections.send(begun))
        assert server_with_many_connections.get() == (200, b"GET 0")
        assert server_with_many_connections.get("/reads") == (200, b"0")


def test_body_in_tiny_chunks_needs_little_cpu_time(server_with_many_connections: Server) -> None:
    data = CHUNKED + b"1\r\nx\r\n" * 170_000 + b"0\r\n\r\n"

    def cpu_s() -> float:
        [worker] = psutil.Process(server_with_many_connections.process.pid).children()
        return sum(worker.cpu_times()[:2])

    assert server_with_many_connections.get() == (200, b"GET 0")
    before = cpu_s()
    with server_with_many_connections.send(
        data.replace(b"Host: a\r\n", b"Host: a\r\nAuthorization: a\r\nConnection: close\r\n", 1)
    ) as connection:
        assert receive_all(connection).endswith(b"POST 170000")
    # gunicorn's reader takes 0.5 s, and copies for every chunk would take 14 s.
    assert cpu_s() - before < 3


def test_healthz_responds_while_threads_are_busy(server: Server) -> None:
    with ExitStack() as cleanup:
        for _ in range(THREADS):
            cleanup.enter_context(server.send(b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"))
        status, body = server.get("/healthz")
        assert (status, json.loads(body)) == (200, {"status": "ok"})
        with server.send(b"HEAD /healthz HTTP/1.0\r\n\r\n") as connection:
            assert receive_all(connection).endswith(b"\r\n\r\n")


def test_unfinished_request_is_dropped_at_its_deadline(server_with_short_timeouts: Server) -> None:
    with ExitStack() as cleanup:
        for connection in [
            cleanup.enter_context(server_with_short_timeouts.send(begun)) for begun in UNFINISHED.values()
        ]:
            assert receive_all(connection) == b""


def test_slow_bytes_do_not_extend_the_deadline(server_with_short_timeouts: Server) -> None:
    with server_with_short_timeouts.connect() as connection:
        connection.settimeout(0.05)
        deadline = time.monotonic() + TIMEOUT_S
        while not _is_closed(connection):
            assert time.monotonic() < deadline


def _is_closed(connection: socket.socket) -> bool:
    """Send one more byte.

    Returns True if the server has closed the connection.
    """
    try:
        connection.sendall(b"G")
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def test_unread_response_frees_the_thread(server_with_short_timeouts: Server) -> None:
    with ExitStack() as cleanup:
        for _ in range(3 * THREADS):
            cleanup.enter_context(server_with_short_timeouts.send(b"GET /long HTTP/1.1\r\nHost: a\r\n\r\n"))
        assert server_with_short_timeouts.get() == (200, b"GET 0")


def test_unsent_responses_occupy_no_thread(server_with_many_connections: Server) -> None:
    with ExitStack() as cleanup:
        slow = [
            cleanup.enter_context(server_with_many_connections.send(HEAD.replace(b"/", b"/page", 1) + b"\r\n"))
            for _ in range(8)
        ]
        assert server_with_many_connections.get() == (200, b"GET 0")
        for connection in slow:
            connection.sendall(
                HEAD + b"Connection: close\r\n\r\n"
            )  # The second request waits for the client to receive the first response.
        assert server_with_many_connections.get() == (200, b"GET 0")
        for connection in slow:
            answers = receive_all(connection)
            assert answers.count(b"x" * 900_000) == 1
            assert answers.endswith(b"GET 0")


def test_largest_unsent_response_is_dropped(server_with_many_connections: Server) -> None:
    long, page = (HEAD.replace(b"/", path, 1) + b"Connection: close\r\n\r\n" for path in (b"/long", b"/page"))
    with ExitStack() as cleanup:
        short_response = cleanup.enter_context(_slow_connection(server_with_many_connections, page))
        long_response = cleanup.enter_context(_slow_connection(server_with_many_connections, long))
        assert server_with_many_connections.get() == (200, b"GET 0")
        assert len(receive_all(long_response)) < 50_000_000
        assert receive_all(short_response).endswith(b"x" * 900_000)


STREAM = b"GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


def test_slow_stream_readers_occupy_no_thread(server_with_many_connections: Server) -> None:
    with ExitStack() as cleanup:
        slow = [cleanup.enter_context(_slow_connection(server_with_many_connections, STREAM)) for _ in range(8)]
        begin = time.monotonic()
        assert server_with_many_connections.get() == (200, b"GET 0")
        assert time.monotonic() - begin < 5  # The limit is in seconds.
        response = receive_all(slow[-1])
        assert response.count(b"9" * 100_000) == 8
        assert response.endswith(b"\r\n0\r\n\r\n")


def test_stream_is_closed_after_a_disconnect(server_with_short_timeouts: Server) -> None:
    closed = int(server_with_short_timeouts.get("/closed-streams")[1])
    with ExitStack() as cleanup:
        for _ in range(5):
            cleanup.enter_context(_slow_connection(server_with_short_timeouts, STREAM))
        wait_until(lambda: int(server_with_short_timeouts.get("/closed-streams")[1]) == closed + 5, TIMEOUT_S)


def test_script_name_header_is_ignored(server_with_many_connections: Server) -> None:
    with server_with_many_connections.send(
        b"GET /prefix HTTP/1.1\r\nHost: a\r\nSCRIPT_NAME: /prefix\r\nConnection: close\r\n\r\n"
    ) as client:
        assert receive_all(client).endswith(b"\r\nContent-Length: 14\r\n\r\nwithout prefix")


def _slow_connection(server: Server, data: bytes) -> socket.socket:
    """Return a connection that does not read the response.

    Its receive buffer is small.
    """
    connection = socket.socket()
    connection.settimeout(TIMEOUT_S)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(data)
    return connection


def test_open_connections_do_not_block_others(server_with_many_connections: Server) -> None:
    with ExitStack() as cleanup:
        for _ in range(30):
            cleanup.enter_context(server_with_many_connections.send(HEAD + b"Connection: close\r\n\r\n"))
        assert server_with_many_connections.get("/healthz")[0] == 200


@pytest.fixture(scope="module")
def server_with_many_connections(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from started_server(tmp_path_factory.mktemp("many"), "60, 60, 60", connections=40)


def test_longest_waiting_connection_is_dropped(server_with_many_connections: Server) -> None:
    with ExitStack() as cleanup:
        first = cleanup.enter_context(server_with_many_connections.connect())
        for _ in range(60):
            cleanup.enter_context(server_with_many_connections.connect())
        assert receive_all(first) == b""
        assert server_with_many_connections.get() == (200, b"GET 0")


def test_pipelined_requests_are_served(server_with_many_connections: Server) -> None:
    requests = (
        POST
        + b"Content-Length: 3\r\n\r\nabc"
        + CHUNKED
        + b"2\r\nab\r\n0\r\n\r\n"
        + HEAD
        + b"\r\n"
        + HEAD
        + b"Connection: close\r\n\r\n"
    )
    with server_with_many_connections.send(requests[:50], requests[50:]) as connection:
        answers = receive_all(connection)
    assert [line for line in answers.split(b"\r\n") if b"GET" in line or b"POST" in line]
    assert answers.count(b"200 OK") == 4
    assert b"POST 3" in answers
    assert b"POST 2" in answers


def test_expect_header_gets_100_continue(server_with_many_connections: Server) -> None:
    head = POST + b"Content-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    with server_with_many_connections.send(head) as connection:
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"abc")
        answer = receive_all(connection)
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.endswith(b"POST 3")


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        (POST + b"Content-Length: 65537\r\n\r\n", 401, "UNAUTHORIZED"),
        (POST + b"Content-Length: 9999999999999999999\r\n\r\n", 401, "UNAUTHORIZED"),
        (CHUNKED + b"fffffff\r\n", 401, "UNAUTHORIZED"),
        (CHUNKED + b"2\r\nabcd", 400, "INVALID_PARAMS"),
        (CHUNKED + b"5;" + b"a" * 2000, 400, "INVALID_PARAMS"),
        (CHUNKED + b"0\r\n" + b"X: y\r\n" * 2000, 400, "INVALID_PARAMS"),
        (CHUNKED + b"0\r\nContent-Length: 5\r\n\r\n", 400, "INVALID_PARAMS"),
        (CHUNKED.replace(b"Host", b"Content-Length: 5\r\nHost") + b"0\r\n\r\n", 400, "INVALID_PARAMS"),
        (HEAD + b"X: " + b"x" * 70_000, 400, "INVALID_PARAMS"),
        (b"NOT HTTP\r\n\r\n", 400, "INVALID_PARAMS"),
        (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, "INVALID_PARAMS"),
        (POST + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", 400, "INVALID_PARAMS"),
    ],
)
def test_invalid_request_gets_a_json_error(
    server_with_many_connections: Server, request_bytes: bytes, status: int, code: str
) -> None:
    with server_with_many_connections.send(request_bytes) as connection:
        head, _, body = receive_all(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert json.loads(body)["code"] == code


LONG_BODY = 100_000


def long_post(owner: str, length: int = LONG_BODY) -> bytes:
    authorization = f"Authorization: {owner}\r\n" if owner else ""
    return POST + f"{authorization}Content-Length: {length}\r\nConnection: close\r\n\r\n".encode()


CHUNKS = b"8000\r\n" + b"a" * 0x8000 + b"\r\n"


@pytest.mark.parametrize("body", ["length", "chunks"])
def test_long_body_without_credentials_is_refused(server_with_many_connections: Server, body: str) -> None:
    data = long_post("") if body == "length" else CHUNKED + CHUNKS * 3
    with server_with_many_connections.send(data) as connection:
        response = receive_all(connection)
    assert response.startswith(b"HTTP/1.1 401 Unauthorized\r\n")
    assert b"\r\nWWW-Authenticate: Bearer\r\n" in response
    assert response.endswith(b'{"code": "UNAUTHORIZED"}')


@pytest.mark.parametrize("body", ["length", "chunks"])
def test_long_body_of_admitted_client_is_received(server_with_many_connections: Server, body: str) -> None:
    head = (
        long_post("a")
        if body == "length"
        else CHUNKED.replace(b"\r\n\r\n", b"\r\nAuthorization: a\r\nConnection: close\r\n\r\n")
    )
    rest = b"a" * LONG_BODY if body == "length" else CHUNKS * 4 + b"0\r\n\r\n"
    length = LONG_BODY if body == "length" else 4 * 0x8000
    with server_with_many_connections.send(head, rest[:70_000], rest[70_000:]) as connection:
        response = receive_all(connection)
    assert response.startswith(b"HTTP/1.1 200 OK")
    assert response.endswith(b"POST %d" % length)


@pytest.mark.parametrize("length", [5_000_001, 6_000_000])
def test_admitted_client_has_a_body_limit(server_with_many_connections: Server, length: int) -> None:
    with server_with_many_connections.send(long_post("a", length)) as connection:
        assert b'"PAYLOAD_TOO_LARGE"' in receive_all(connection)


def test_strangers_are_refused_before_owners(tmp_path: Path) -> None:
    with (
        contextlib.contextmanager(started_server)(tmp_path, "60, 60, 60", received_bytes=1_000_000) as server,
        ExitStack() as cleanup,
    ):
        small = cleanup.enter_context(server.send(long_post("small"), b"a" * 90_000))
        strangers = [
            cleanup.enter_context(server.send(POST + b"Content-Length: 60000\r\n\r\n" + b"a" * 59_000))
            for _ in range(20)
        ]
        assert sum(connection.recv(65536).startswith(b"HTTP/1.1 503") for connection in strangers[:5]) == 5
        greedy = [cleanup.enter_context(server.send(long_post("greedy"), b"a" * 99_999)) for _ in range(10)]
        refused, _, _ = select.select(greedy, [], [], TIMEOUT_S)
        assert receive_all(refused[0]).startswith(b"HTTP/1.1 503")
        small.sendall(b"a" * 10_000)
        assert receive_all(small).endswith(b"POST 100000")


@contextmanager
def draining_worker(folder: Path, graceful_timeout_s: int) -> Iterator[Server]:
    """Yield a worker that drains after SIGTERM.

    It drains for half of `graceful_timeout_s`.
    """
    server = Server(folder, "60, 60, 60", drain_s=600, graceful_timeout_s=graceful_timeout_s)
    try:
        assert server.get("/readyz")[0] == 200
        server.process.terminate()
        wait_until(lambda: server.get("/readyz")[0] == 503, TIMEOUT_S)
        yield server
    finally:
        server.process.kill()
        server.process.wait(TIMEOUT_S)


def test_draining_worker_serves_requests(tmp_path: Path) -> None:
    with draining_worker(tmp_path, graceful_timeout_s=600) as server, ExitStack() as cleanup:
        status, body = server.get("/readyz")
        assert (status, json.loads(body)["status"]) == (503, "draining")
        assert server.get("/healthz")[0] == 200
        # The server closes this connection after the response.
        answer = receive_all(cleanup.enter_context(server.send(HEAD + b"\r\n")))
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert b"\r\nConnection: close\r\n" in answer
        for _ in range(THREADS):
            cleanup.enter_context(server.send(b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"))
        assert server.get("/readyz")[0] == 503


def test_draining_ends_within_graceful_timeout(tmp_path: Path) -> None:
    with draining_worker(tmp_path, graceful_timeout_s=4) as server:
        assert server.process.wait(TIMEOUT_S) == 0
