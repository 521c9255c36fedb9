"""Run one check or format of a plug-in, in a process of its own."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

from website_scan.net.http.response import Headers
from website_scan.plugins.collecting import PROVIDED, CollectedCheck, CollectedProbe, Parameter
from website_scan.plugins.errors import PlainError
from website_scan.plugins.evidence import Answer, Network, NetworkError
from website_scan.plugins.json_checking import WrongData
from website_scan.plugins.verdicts import verdict_json


class Missing(PlainError):
    """Raised if evidence that a check requires could not be gathered. The message is a clause."""


class Exchange:
    """Connection of a child to its host, by two file descriptors."""

    def __init__(self, from_host: int, to_host: int) -> None:
        self._from_host = from_host
        self._to_host = to_host
        self._reader: BinaryIO | None = None

    def send(self, kind: bytes, line: bytes) -> None:
        view = memoryview(kind + line + b"\n")
        while view:
            view = view[os.write(self._to_host, view) :]

    def request(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the scanner's answer to a network request. Raises NetworkError."""
        if self._reader is None:
            self._reader = os.fdopen(self._from_host, "rb")
        self.send(b"?", json.dumps(request).encode())
        answer: Mapping[str, Any] = json.loads(self._reader.readline())
        if "error" in answer:
            raise NetworkError(answer["error"], answer["code"])
        return answer


def run_check(
    check: CollectedCheck,
    probes: Mapping[type, CollectedProbe],
    provided: Mapping[type, object],
    exchange: Exchange,
) -> dict[str, Any]:
    """Return the verdict of a check as JSON. Raises any exception of the plug-in."""
    evidence = {**provided, Network: _network(exchange)}
    values = _arguments(check.parameters, probes, evidence)
    return {"verdict": verdict_json(check.function(**values))}


def render_format(function: Callable[..., object], exports: Sequence[object]) -> dict[str, Any]:
    """Return the text that a format makes of exported reports."""
    text = function(exports)
    if not isinstance(text, str):
        raise WrongData(f"the format returned {type(text).__name__} instead of a text")
    return {"text": text}


def _arguments(
    parameters: Sequence[Parameter], probes: Mapping[type, CollectedProbe], evidence: dict[type, object]
) -> dict[str, object]:
    values: dict[str, object] = {}
    for parameter in parameters:
        try:
            values[parameter.name] = _gather(parameter.evidence, probes, evidence)
        except Exception:
            if not parameter.is_optional:
                raise
            values[parameter.name] = None
    return values


def _gather(kind: type, probes: Mapping[type, CollectedProbe], evidence: dict[type, object]) -> object:
    """Return evidence, and store that of probes. A probe that has failed raises its error again."""
    if kind not in evidence:
        if kind in PROVIDED:
            raise Missing(f"the scan has no {kind.__name__}")
        probe = probes[kind]
        try:
            evidence[kind] = probe.function(**_arguments(probe.parameters, probes, evidence))
        except Exception as error:  # noqa: BLE001 -- stored for the other checks that need the evidence
            evidence[kind] = error
    found = evidence[kind]
    if isinstance(found, Exception):
        raise found
    return found


def _network(exchange: Exchange) -> Network:
    def get(url: str) -> Answer:
        answer = exchange.request({"get": str(url)})
        headers = Headers(tuple((name, value) for name, value in answer["headers"]))
        return Answer(answer["url"], answer["status"], headers, base64.b64decode(answer["body"]))

    def records(name: str, type: str) -> tuple[str, ...]:
        return tuple(exchange.request({"records": [str(name), str(type)]})["records"])

    return Network(get, records)
