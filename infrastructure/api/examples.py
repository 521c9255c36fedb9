"""Examples in openapi.yaml, read from the Markdown files in docs/. Tests send the examples to the API.

Used only when openapi.yaml is generated; the running service serves that file.
"""

from __future__ import annotations

import json
import re
import shlex
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

DOCS = Path(__file__).resolve().parents[2] / "docs"
DOCUMENTS = (
    *("api.md", "webhooks.md", "mutes.md", "audits.md", "monitors.md", "lists.md", "assessments.md", "journeys.md"),
)
LINES = r"[^\n]*\n(?:(?!```)[^\n]*\n)*+"
EXCHANGE = re.compile(rf"^```bash\n(curl {LINES})```\n++```http\nHTTP/1\.1 (\d++) ({LINES})```$", re.M)
EVENT = re.compile(r'^\{\n  "event": "[a-z.]+",\n  "timestamp": .*\n(?: .*\n)*\}$', re.M)
MEDIA_TYPE = re.compile(r"^Content-Type: ([^;\n]+)", re.M)
# A Markdown file declares the variables of its commands at its beginning: `export ID=scan_...`.
VARIABLE = re.compile(r"^export (\w+)=([a-z]+)_\.\.\.", re.M)


class Exchange(Struct, frozen=True):
    """An example request and its response. A body is parsed JSON, other text, or None."""

    method: str
    path: str
    request_body: Any
    status: str
    media_type: str
    response_body: Any


def add_examples(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Add the examples in docs/ to openapi.yaml.

    These are all events, and the first example for each operation and status.

    A response without a body in docs/ gets the last example of the same component. Postprocessing hook of
    drf-spectacular.
    """
    last_bodies: dict[str | None, Any] = {}
    for exchange in exchanges():
        operation = _operation(result["paths"], exchange)
        if isinstance(exchange.request_body, dict) and exchange.status < "400":
            operation["requestBody"]["content"]["application/json"].setdefault("example", exchange.request_body)
        for status, response in operation["responses"].items():
            # A 200 for an object that already exists has the same body as the 201 that created it.
            if status == exchange.status or status < "300" > exchange.status:
                content = response.get("content", {}).get(exchange.media_type)
                if content is not None:
                    component = content["schema"].get("$ref")
                    body = exchange.response_body or last_bodies.get(component)
                    if component:
                        last_bodies[component] = body
                    if body:
                        content.setdefault("example", body)
    for event in EVENT.findall(_documentation()):
        body = json.loads(event)
        result["webhooks"][body["event"]]["post"]["requestBody"]["content"]["application/json"]["example"] = body
    return result


def exchanges() -> Iterator[Exchange]:
    """Yield all example requests to the API in docs/, with their responses."""
    text = _documentation()
    variables = {"BASE": "", "KEY": ""}
    for name, prefix in VARIABLE.findall(text):
        id_match = re.search(rf"\b{prefix}_[0-9A-Za-z]{{22}}\b", text)
        variables[name] = id_match[0] if id_match else f"{prefix}_..."
    for command, status, response in EXCHANGE.findall(text):
        words = shlex.split(string.Template(command.replace("\\\n", " ")).safe_substitute(variables))
        path = next(word for word in words if word.startswith(("/v1/", "/api/", "/readyz"))).partition("?")[0]
        if path == "/readyz":
            continue
        method = words[words.index("-X") + 1] if "-X" in words else "GET"
        request_body = _parsed_body(words[words.index("-d") + 1]) if "-d" in words else None
        head, _, response_text = response.partition("\n\n")
        media_type_match = MEDIA_TYPE.search(head)
        media_type = media_type_match[1] if media_type_match else ""
        response_body = _parsed_body(response_text) if media_type.endswith("json") else response_text or None
        yield Exchange(method.lower(), path, request_body, status, media_type, response_body)


def _documentation() -> str:
    return "\n".join((DOCS / name).read_text(encoding="utf-8") for name in DOCUMENTS)


def _operation(paths: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
    for path, methods in paths.items():
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))
        if exchange.method in methods and re.fullmatch(pattern, exchange.path):
            operation: dict[str, Any] = methods[exchange.method]
            return operation
    raise ValueError(f"no operation is at {exchange.method} {exchange.path}")


def _parsed_body(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text or None
