from __future__ import annotations

from tests.targets.server import Answer, Site
from tests.website_scan.cast import target
from tests.website_scan.net.loopback import loopback_network
from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.result import Budget
from website_scan.run import scan


def test_html_checks_skip_pdf() -> None:
    html_only = {check.id for check in checks(ScanType.SECURITY) if check.html}
    assert {"clickjacking", "permissions-policy", "mixed-content", "insecure-form", "security-comments"} <= html_only
    assert {"csp-present", "csp-script-inline", "csp-syntax", "sri-third-party", "link-noopener"} <= html_only
    headers = {"Content-Type": "application/pdf", "Content-Security-Policy": "script-src *"}
    with Site({"/": Answer("%PDF-1.7 <form action=http://x/>", headers=headers)}) as site, loopback_network() as net:
        (result,) = scan(target(f"{site.url}/"), [ScanType.SECURITY], net, Budget(30))
    assert result.status == "completed"
    judged = {check.id for category in result.categories for check in category.checks}
    assert "x-content-type-options" in judged
    assert not judged & html_only
