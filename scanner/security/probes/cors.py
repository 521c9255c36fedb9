"""CORS probe: the permissions that the site gives to foreign origins."""

from __future__ import annotations

import re
import secrets

from scanner.catalogue import probe
from scanner.net.client import Network
from scanner.net.http.response import Response
from scanner.page.evidence import Page
from scanner.page.fetch import ACCEPT, raise_if_rate_limited
from scanner.security.evidence import Cors, CorsAnswer

MAX_BYTES = 64 * 1024


@probe()
def cors(page: Page, network: Network) -> Cors:
    """Fetch the page with a random `Origin`; if the server looks at it, also with `null`, which sandboxed frames send.

    Raises `SiteProtected` if the site refuses further requests.
    """
    origin = f"https://{secrets.token_hex(8)}.example"
    response = _ask(page, network, origin)
    answers = [_answer(origin, response)]
    if _looks_at_origins(response, page):
        answers.append(_answer("null", _ask(page, network, "null")))
    return Cors(tuple(answers))


def _ask(page: Page, network: Network, origin: str) -> Response:
    response = network.fetch(page.target, headers={**ACCEPT, "Origin": origin}, max_bytes=MAX_BYTES, verify=False)
    raise_if_rate_limited(response)
    return response


def _answer(origin: str, response: Response) -> CorsAnswer:
    fields = response.headers
    return CorsAnswer(origin, fields.all("Access-Control-Allow-Origin"), fields.all("Access-Control-Allow-Credentials"))


def _looks_at_origins(response: Response, page: Page) -> bool:
    """Return True if the server has a rule for foreign origins.

    It then names what it allows, says that responses vary by `Origin` (Fetch, "CORS protocol and HTTP caches"), or
    refuses the foreign one.
    """
    if response.status != page.response.status:
        return True
    vary = (response.headers.get("Vary") or "").lower()
    return "origin" in re.split(r"[\s,]+", vary) or any(
        name.lower().startswith("access-control-") for name, _ in (*response.headers, *page.response.headers)
    )
