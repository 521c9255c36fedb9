"""Process in which the code of one plug-in runs (`python -m website_scan.plugins.host`).

The host imports the plug-in and forks a child for each check and format, so that whatever the child does ends with it.
The scanner writes requests to standard input and reads answers from standard output: one JSON object a line. Children
have no access to both; what they print goes to standard error. A line of a child begins with a character: `?` for a
request to the network, which the scanner answers, and `=` for the result.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import signal
import time
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, NoReturn

from website_scan.net.http.response import Headers
from website_scan.plugins.child import Exchange, render_format, run_check
from website_scan.plugins.collecting import Collection, collect
from website_scan.plugins.errors import describe
from website_scan.plugins.evidence import Document, Page, PageRequest, RenderedPage, Requests
from website_scan.plugins.isolation import Audit, limit_child, limit_host

READ_BYTES = 65_536


class Host:
    """State of the process: the plug-in's declarations, and the evidence of the current page."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
        self._requests = requests
        self._answers = answers
        self._audit = Audit()
        self._collection = Collection()
        self._evidence: dict[type, object] = {}

    def serve(self) -> None:
        """Answer requests until the scanner closes the connection."""
        self._audit.install()
        while line := self._requests.readline():
            request = json.loads(line)
            self._answer(getattr(self, f"_{request['do']}")(request))

    def _answer(self, answer: Mapping[str, Any]) -> None:
        self._answer_line(json.dumps(answer).encode())

    def _answer_line(self, line: bytes) -> None:
        self._answers.write(line + b"\n")
        self._answers.flush()

    def _load(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Import the plug-in, and return its description or the error."""
        try:
            collect(self._collection, request["checks"], request["formats"])
            description = self._collection.description()
            json.dumps(description)
        except BaseException as error:  # noqa: BLE001 -- the module may raise anything, such as SystemExit
            return {"error": describe(error, self._collection.packages)}
        return {"description": description}

    def _page(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Replace the evidence of the previous page; without a page there is none."""
        self._evidence = read_evidence(request) if request["page"] else {}
        return {}

    def _check(self, request: Mapping[str, Any]) -> dict[str, Any]:
        check = self._collection.checks[request["id"]]
        return self._run(lambda exchange: run_check(check, self._collection.probes, self._evidence, exchange), request)

    def _format(self, request: Mapping[str, Any]) -> dict[str, Any]:
        function = self._collection.formats[request["name"]]
        return self._run(lambda _: render_format(function, request["exports"]), request)

    def _run(self, work: Callable[[Exchange], dict[str, Any]], limits: Mapping[str, Any]) -> dict[str, Any]:
        """Run the work in a child, and return its result or the error."""
        from_child, to_host = os.pipe()
        from_host, to_child = os.pipe()
        self._audit.is_paused = True
        try:
            child = os.fork()
            if child == 0:
                self._audit.is_paused = False
                self._become_child(work, Exchange(from_host, to_host), (from_child, to_child), limits["cpu_s"])
            os.close(to_host)
            os.close(from_host)
            try:
                return self._relay(child, from_child, to_child, limits)
            finally:
                _end(child)
        finally:
            self._audit.is_paused = False
            os.close(from_child)
            os.close(to_child)

    def _become_child(
        self, work: Callable[[Exchange], dict[str, Any]], exchange: Exchange, others: tuple[int, ...], cpu_s: int
    ) -> NoReturn:
        try:
            os.setpgid(0, 0)
            for descriptor in (*others, self._requests.fileno(), self._answers.fileno()):
                os.close(descriptor)
            limit_child(cpu_s)
            try:
                result = json.dumps(work(exchange))
            except BaseException as error:  # noqa: BLE001 -- the plug-in may raise anything, such as SystemExit
                result = json.dumps({"error": describe(error, self._collection.packages)})
            exchange.send(b"=", result.encode())
        finally:
            # Handlers of `atexit` and objects of the plug-in must not run.
            os._exit(0)

    def _relay(self, child: int, from_child: int, to_child: int, limits: Mapping[str, Any]) -> dict[str, Any]:
        """Return the child's result. Its network requests are passed to the scanner."""
        ends = time.monotonic() + limits["seconds"]
        received = bytearray()
        while True:
            if not select.select([from_child], [], [], max(0.0, ends - time.monotonic()))[0]:
                return {"error": f"it took longer than {limits['seconds']:g} seconds", "late": True}
            received += (part := os.read(from_child, READ_BYTES))
            if not part:
                return {"error": _ending(child, limits)}
            if len(received) > limits["bytes"]:
                return {"error": f"its result is larger than {limits['bytes']:,} bytes"}
            if not received.endswith(b"\n"):
                continue
            kind, line = received[:1], bytes(received[1:-1])
            received.clear()
            if b"\n" in line:
                return {"error": "its process wrote more than one result"}
            if kind == b"=":
                return {"result": line.decode("utf-8", "replace")}
            self._answer({"request": line.decode("utf-8", "replace")})
            reply = self._requests.readline()
            with contextlib.suppress(BrokenPipeError):
                _write_all(to_child, reply)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _end(child: int) -> None:
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            kill(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)


def _ending(child: int, limits: Mapping[str, Any]) -> str:
    """Return a clause on how the child ended without a result."""
    try:
        _, status = os.waitpid(child, 0)
    except ChildProcessError:
        return "its process ended"
    code = os.waitstatus_to_exitcode(status)
    # At the hard limit, the kernel sends SIGKILL.
    if -code in (signal.SIGXCPU, signal.SIGKILL):
        return f"it used more than {limits['cpu_s']} seconds of processor time or too much memory"
    return f"its process ended with the exit status {code}" if code >= 0 else f"its process ended by signal {-code}"


def read_evidence(request: Mapping[str, Any]) -> dict[type, object]:
    """Return the evidence of a page by its class."""
    sent = request["page"]
    page = Page(
        url=sent["url"],
        requested_url=sent["requested_url"],
        status=sent["status"],
        headers=Headers(tuple((name, value) for name, value in sent["headers"])),
        body=base64.b64decode(sent["body"]),
        encoding=sent["encoding"],
        is_truncated=sent["is_truncated"],
    )
    evidence: dict[type, object] = {Page: page}
    if sent["is_html"]:
        evidence[Document] = Document(page.text)
    if request["requests"] is not None:
        evidence[Requests] = Requests(tuple(PageRequest(*fields) for fields in request["requests"]))
    if request["rendered"] is not None:
        evidence[RenderedPage] = RenderedPage(request["rendered"])
    return evidence


def main() -> None:
    """Separate the connection to the scanner from standard input and output, and serve it."""
    limit_host()
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    Host(requests, answers).serve()


if __name__ == "__main__":
    main()
