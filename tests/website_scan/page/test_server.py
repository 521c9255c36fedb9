from __future__ import annotations

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY, head, target
from website_scan.catalogue import checks
from website_scan.findings import ScanType, Server
from website_scan.net.client import Network
from website_scan.net.http.response import Headers
from website_scan.outcomes import Fix, Language
from website_scan.page.server import server_of
from website_scan.result import Budget
from website_scan.run import scan
from website_scan.wording import catalogue_fix, fix

SNIPPETS: dict[Server | Language, str] = {Server.NGINX: "a off;", Server.IIS: "<a/>", Language.HTML: "<b>"}
FIX = Fix("Switch it off.", SNIPPETS)


@pytest.mark.parametrize(
    ("headers", "server"),
    [
        ({"Server": "nginx/1.25.3"}, Server.NGINX),
        ({"Server": "openresty"}, Server.NGINX),
        ({"Server": "Apache/2.4.57 (Debian)"}, Server.APACHE),
        ({"Server": "LiteSpeed"}, Server.APACHE),
        ({"Server": "Microsoft-IIS/10.0", "X-Powered-By": "ASP.NET"}, Server.IIS),
        ({"X-Powered-By": "ASP.NET"}, Server.IIS),
        ({"Server": "nginx", "X-Powered-By": "ASP.NET"}, Server.NGINX),
        ({"Server": "GitHub.com"}, Server.STATIC),
        ({"Server": "AmazonS3"}, Server.STATIC),
        ({"Server": "Caddy"}, Server.CADDY),
        ({"Server": "cloudflare"}, None),
        ({"Server": "Apache-Coyote/1.1"}, None),  # Tomcat sends this Server header.
        ({"Server": "not nginx"}, None),
        ({}, None),
    ],
)
def test_server_is_detected_from_headers(headers: dict[str, str], server: Server | None) -> None:
    assert server_of(Headers(tuple(headers.items()))) is server


def test_report_names_detected_server() -> None:
    with Site({"/": Answer("<h1>Hello</h1>", headers={"Server": "Caddy"})}) as site, Network(POLICY) as network:
        (result,) = scan(target(site.url + "/"), [ScanType.SECURITY], network, Budget())
    assert result.facts["server"] == "Caddy"


def test_fix_shows_snippets_for_server() -> None:
    everything = {"nginx": "a off;", "IIS": "<a/>", "HTML": "<b>"}
    assert FIX.snippets_for(Server.IIS) == {"IIS": "<a/>", "HTML": "<b>"}
    assert FIX.snippets_for(Server.APACHE) == FIX.snippets_for(None) == everything
    assert catalogue_fix(FIX) == "Switch it off. nginx: `a off;` · IIS: `<a/>` · HTML: `<b>`"


@pytest.mark.parametrize("server", [Server.APACHE, Server.IIS, Server.STATIC])
def test_fix_hides_snippets_for_other_servers(server: Server) -> None:
    others = {str(other) for other in Server} - {str(server)}
    for check in checks(ScanType.SECURITY):
        if (shown := check.own_fix.snippets_for(server)) != check.own_fix.snippets_for(None):
            assert shown.keys().isdisjoint(others), (check.id, shown)


def test_report_on_IIS_has_IIS_snippets() -> None:
    answer = Answer(head("", "<h1>Hello</h1>"), headers={"Server": "Microsoft-IIS/10.0"})
    with Site({"/": answer}) as site, Network(POLICY) as network:
        (result,) = scan(target(f"{site.url}/"), [ScanType.SECURITY], network, Budget())
    (how,) = (check.how_to_fix for check in result.checks if check.id == "server-version")
    assert how is not None
    setting = '<requestFiltering removeServerHeader="true"/>'
    assert fix(how) == f"Send the `Server` header without versions. IIS: `{setting}`"
