"""Server that answers requests with the start of an HTTP/2 connection.

It closes the connection afterwards.
"""

from __future__ import annotations

from tests.targets.server import Request, Route, Site

# HTTP/2 SETTINGS, then GOAWAY with PROTOCOL_ERROR.
FRAMES = bytes.fromhex("00000c0400000000000003000000800005000040000000080700000000000000000000000001")


def routes(site: Site) -> dict[str, Route]:
    assert site._context is not None
    site._context.set_alpn_protocols(["h2"])

    def answer(request: Request) -> None:
        request.connection.sendall(FRAMES)

    return {"*": answer}
