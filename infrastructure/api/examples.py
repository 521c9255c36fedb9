"""Examples in openapi.yaml, taken from the documents in docs/, whose examples the tests send to the API.

Used only when openapi.yaml is generated; the running service serves that file.
"""

from __future__ import annotations

import json
import re
import shlex
import string
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[2] / "docs"
DOCUMENTS = ("api.md", "webhooks.md", "mutes.md", "audits.md", "monitors.md", "lists.md")
LINES = r"[^\n]*\n(?:(?!```)[^\n]*\n)*+"
EXCHANGE = re.compile(rf"^```bash\n(curl {LINES})```\n++```http\nHTTP/1\.1 (\d++) ({LINES})```$", re.M)
EVENT = re.compile(r'^\{\n  "event": "[a-z.]+",\n  "timestamp": .*\n(?: .*\n)*\}$', re.M)
MEDIA_TYPE = re.compile(r"^Content-Type: ([^;\n]+)", re.M)
# A document declares its variables at its beginning: `export ID=scan_...`.
VARIABLE = re.compile(r"^export (\w+)=([a-z]+)_\.\.\.", re.M)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its response. A body is None if there is none, and text if it is not JSON."""

    method: str
    path: str
    sent: Any
    status: str
    media_type: str
    received: Any


def with_examples(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Add the documents' examples to the schema: of events, and the first of each operation and status. A hook."""
    for exchange in exchanges():
        operation = _operation(result["paths"], exchange)
        if isinstance(exchange.sent, dict) and exchange.status < "400":
            operation["requestBody"]["content"]["application/json"].setdefault("example", exchange.sent)
        for status, response in operation["responses"].items():
            # The 200 for an object that exists already has the same body as the 201.
            if status == exchange.status or status < "300" > exchange.status:
                content = response.get("content", {}).get(exchange.media_type)
                if content is not None:
                    content.setdefault("example", exchange.received)
    for event in EVENT.findall(_documents()):
        body = json.loads(event)
        result["webhooks"][body["event"]]["post"]["requestBody"]["content"]["application/json"]["example"] = body
    return result


def exchanges() -> Iterator[Exchange]:
    """Yield all requests to the API that the documents show."""
    text = _documents()
    variables = {"BASE": "", "KEY": ""}
    for name, prefix in VARIABLE.findall(text):
        known = re.search(rf"\b{prefix}_[0-9A-Za-z]{{22}}\b", text)
        variables[name] = known[0] if known else f"{prefix}_..."
    for command, status, answer in EXCHANGE.findall(text):
        words = shlex.split(string.Template(command.replace("\\\n", " ")).safe_substitute(variables))
        path = next(word for word in words if word.startswith(("/v1/", "/api/", "/readyz"))).partition("?")[0]
        if path == "/readyz":
            continue
        method = words[words.index("-X") + 1] if "-X" in words else "GET"
        sent = _body(words[words.index("-d") + 1]) if "-d" in words else None
        head, _, received = answer.partition("\n\n")
        media_type = MEDIA_TYPE.search(head)
        kind = media_type[1] if media_type else ""
        shown = _body(received) if kind.endswith("json") else received or None
        yield Exchange(method.lower(), path, sent, status, kind, shown)


def _documents() -> str:
    return "\n".join((DOCS / name).read_text(encoding="utf-8") for name in DOCUMENTS)


def _operation(paths: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
    for path, methods in paths.items():
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))
        if exchange.method in methods and re.fullmatch(pattern, exchange.path):
            found: dict[str, Any] = methods[exchange.method]
            return found
    raise ValueError(f"no operation is at {exchange.method} {exchange.path}")


def _body(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text or None
