"""gunicorn worker under slow clients, in a process with two threads, partly with short deadlines."""

from __future__ import annotations

import http.client
import json
import os
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

def application(environ, start_response):
    path = environ["PATH_INFO"]
    if path == "/hold":
        held.acquire(timeout=3)
    body = environ["wsgi.input"].read()
    answer = b"x" * LENGTHS.get(path, 0) or b"%s %d" % (environ["REQUEST_METHOD"].encode(), len(body))
    if path == "/reads":
        answer = b"%d" % len(reads_of_threads)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(answer)))])
    return [answer]
"""


class Server:
    """Running worker with at most `connections` connections, which drains for `drain_s` seconds after SIGTERM."""

    def __init__(
        self, folder: Path, deadlines: str, connections: int = 1000, drain_s: int = 0, graceful_timeout_s: int = 30
    ) -> None:
        (folder / "patient.py").write_text(APPLICATION.format(deadlines=deadlines))
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)  # a small buffer in the kernel
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


def started(folder: Path, deadlines: str, connections: int = 1000) -> Iterator[Server]:
    server = Server(folder, deadlines, connections)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait(TIMEOUT_S)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    yield from started(tmp_path, "60, 60, 60")


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from started(tmp_path_factory.mktemp("quick"), "0.2, 0.2, 0.2", connections=40)


def received(connection: socket.socket) -> bytes:
    """Return all data until the server closes the connection."""
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
def test_many_unfinished_requests_occupy_no_thread(server: Server, connections: int) -> None:
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
def test_each_kind_of_unfinished_request_occupies_no_thread(server_of_many: Server, begun: bytes) -> None:
    with ExitStack() as cleanup:
        for _ in range(10 * THREADS):
            cleanup.enter_context(server_of_many.send(begun))
        assert server_of_many.get() == (200, b"GET 0")
        assert server_of_many.get("/reads") == (200, b"0")


def test_body_in_one_byte_chunks_needs_little_cpu_time(server_of_many: Server) -> None:
    data = CHUNKED + b"1\r\nx\r\n" * 170_000 + b"0\r\n\r\n"

    def cpu_s() -> float:
        [worker] = psutil.Process(server_of_many.process.pid).children()
        return sum(worker.cpu_times()[:2])

    assert server_of_many.get() == (200, b"GET 0")
    before = cpu_s()
    with server_of_many.send(data.replace(b"Host: a\r\n", b"Host: a\r\nConnection: close\r\n", 1)) as connection:
        assert received(connection).endswith(b"POST 170000")
    assert cpu_s() - before < 3  # seconds: gunicorn's reader needs 0.5, a reader that copies the rest for each chunk 14


def test_healthz_responds_while_all_threads_are_busy(server: Server) -> None:
    with ExitStack() as cleanup:
        for _ in range(THREADS):
            cleanup.enter_context(server.send(b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"))
        status, body = server.get("/healthz")
        assert (status, json.loads(body)) == (200, {"status": "ok"})
        with server.send(b"HEAD /healthz HTTP/1.0\r\n\r\n") as connection:
            assert received(connection).endswith(b"\r\n\r\n")


def test_unfinished_request_is_dropped_at_its_deadline(quick: Server) -> None:
    with ExitStack() as cleanup:
        for connection in [cleanup.enter_context(quick.send(begun)) for begun in UNFINISHED.values()]:
            assert received(connection) == b""


def test_slow_bytes_do_not_extend_the_deadline(quick: Server) -> None:
    with quick.connect() as connection:
        connection.settimeout(0.05)
        deadline = time.monotonic() + TIMEOUT_S
        while not _is_closed(connection):
            assert time.monotonic() < deadline


def _is_closed(connection: socket.socket) -> bool:
    """Send one more byte, and return True if the server has closed the connection."""
    try:
        connection.sendall(b"G")
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def test_unread_response_releases_the_thread_after_the_timeout(quick: Server) -> None:
    with ExitStack() as cleanup:
        for _ in range(3 * THREADS):
            cleanup.enter_context(quick.send(b"GET /long HTTP/1.1\r\nHost: a\r\n\r\n"))
        assert quick.get() == (200, b"GET 0")


def test_unsent_responses_occupy_no_thread_and_arrive(server_of_many: Server) -> None:
    with ExitStack() as cleanup:
        slow = [cleanup.enter_context(server_of_many.send(HEAD.replace(b"/", b"/page", 1) + b"\r\n")) for _ in range(8)]
        assert server_of_many.get() == (200, b"GET 0")
        for connection in slow:
            connection.sendall(
                HEAD + b"Connection: close\r\n\r\n"
            )  # The second request waits until the client has received the first response.
        assert server_of_many.get() == (200, b"GET 0")
        for connection in slow:
            answers = received(connection)
            assert answers.count(b"x" * 900_000) == 1
            assert answers.endswith(b"GET 0")


def test_oldest_unsent_response_is_dropped_above_the_limit(server_of_many: Server) -> None:
    page = HEAD.replace(b"/", b"/page", 1) + b"\r\n"
    with ExitStack() as cleanup:
        slow = [cleanup.enter_context(_slow_connection(server_of_many, page)) for _ in range(25)]
        assert server_of_many.get() == (200, b"GET 0")
        assert len(received(slow[0])) < 900_000


def _slow_connection(server: Server, data: bytes) -> socket.socket:
    """Return a connection with a small receive buffer, which does not read the response."""
    connection = socket.socket()
    connection.settimeout(TIMEOUT_S)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(data)
    return connection


def test_clients_that_do_not_close_do_not_block_others(server_of_many: Server) -> None:
    with ExitStack() as cleanup:
        for _ in range(30):
            cleanup.enter_context(server_of_many.send(HEAD + b"Connection: close\r\n\r\n"))
        assert server_of_many.get("/healthz")[0] == 200


@pytest.fixture(scope="module")
def server_of_many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from started(tmp_path_factory.mktemp("many"), "60, 60, 60", connections=40)


def test_longest_waiting_connection_is_dropped_above_the_limit(server_of_many: Server) -> None:
    with ExitStack() as cleanup:
        first = cleanup.enter_context(server_of_many.connect())
        for _ in range(60):
            cleanup.enter_context(server_of_many.connect())
        assert received(first) == b""
        assert server_of_many.get() == (200, b"GET 0")


def test_persistent_connection_serves_pipelined_requests(server_of_many: Server) -> None:
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
    with server_of_many.send(requests[:50], requests[50:]) as connection:
        answers = received(connection)
    assert [line for line in answers.split(b"\r\n") if b"GET" in line or b"POST" in line]
    assert answers.count(b"200 OK") == 4
    assert b"POST 3" in answers
    assert b"POST 2" in answers


def test_expect_header_gets_100_continue(server_of_many: Server) -> None:
    head = POST + b"Content-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    with server_of_many.send(head) as connection:
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"abc")
        answer = received(connection)
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.endswith(b"POST 3")


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        (POST + b"Content-Length: 1048577\r\n\r\n", 413, "PAYLOAD_TOO_LARGE"),
        (POST + b"Content-Length: 9999999999999999999\r\n\r\n", 413, "PAYLOAD_TOO_LARGE"),
        (CHUNKED + b"fffffff\r\n", 413, "PAYLOAD_TOO_LARGE"),
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
def test_invalid_or_too_large_request_gets_a_json_error(
    server_of_many: Server, request_bytes: bytes, status: int, code: str
) -> None:
    with server_of_many.send(request_bytes) as connection:
        head, _, body = received(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert json.loads(body)["code"] == code


@contextmanager
def draining(folder: Path, graceful_timeout_s: int) -> Iterator[Server]:
    """Context with a worker that got SIGTERM and drains for half of `graceful_timeout_s`."""
    server = Server(folder, "60, 60, 60", drain_s=600, graceful_timeout_s=graceful_timeout_s)
    try:
        assert server.get("/readyz")[0] == 200
        server.process.terminate()
        wait_until(lambda: server.get("/readyz")[0] == 503, TIMEOUT_S)
        yield server
    finally:
        server.process.kill()
        server.process.wait(TIMEOUT_S)


def test_draining_worker_reports_not_ready_and_serves_requests(tmp_path: Path) -> None:
    with draining(tmp_path, graceful_timeout_s=600) as server, ExitStack() as cleanup:
        status, body = server.get("/readyz")
        assert (status, json.loads(body)["status"]) == (503, "draining")
        assert server.get("/healthz")[0] == 200
        answer = received(cleanup.enter_context(server.send(HEAD + b"\r\n")))  # The server closes the connection.
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert b"\r\nConnection: close\r\n" in answer
        for _ in range(THREADS):
            cleanup.enter_context(server.send(b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"))
        assert server.get("/readyz")[0] == 503


def test_draining_ends_within_the_graceful_timeout(tmp_path: Path) -> None:
    with draining(tmp_path, graceful_timeout_s=4) as server:
        assert server.process.wait(TIMEOUT_S) == 0
