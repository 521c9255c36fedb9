"""Site that sends an outdated intermediate certificate.

The site's own certificate is from a new intermediate. The site also sends the trusted root.
"""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path

from tests.targets import server
from tests.targets.server import Answer, Route, Site


def routes(site: Site) -> dict[str, Route]:
    root = server._root_identity()
    before, now = root.issue_authority("Tides CA 1"), root.issue_authority("Tides CA 2")
    leaf = now.issue("localhost")
    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder, "site.pem")
        bundle.write_bytes(leaf.key_pem + leaf.pem + before.pem + root.pem)
        site._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        site._context.load_cert_chain(bundle)
    return {"/": Answer("<!doctype html><title>Tides</title><h1>Tides</h1>")}
