"""Serve a site and a webhook receiver outside the stack.

The site is on port 8080. The container is not part of the stack.

`/hook` stores the received requests, and `/received` returns them as JSON: a list of objects with `headers` and `body`.
"""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = b"""<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>A bakery in the old town</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="stylesheet" href="/style.css">
  </head>
  <body><h1>Fresh from the oven</h1><p>We bake every morning.</p><img src="/bread.png"></body>
</html>
"""
FILES = {"/": ("text/html; charset=utf-8", PAGE), "/style.css": ("text/css", b"body { color: #999 }")}
RECEIVED: list[dict[str, object]] = []


class Outside(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        received = {"/received": ("application/json", json.dumps(RECEIVED).encode())}
        kind, body = (FILES | received).get(self.path, ("", b""))
        self._answer(200 if kind else 404, kind or "text/plain", body)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        RECEIVED.append({"headers": dict(self.headers), "body": body.decode()})
        self._answer(200, "text/plain", b"")

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(("", 8080), Outside).serve_forever()
