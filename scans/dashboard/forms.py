"""The form for new scans."""

from __future__ import annotations

from config.web.forms import AddressField, HintedLabel, JudgedForm, TicksField
from scans.models import Scan

DEFAULT_TYPES = (Scan.Type.SECURITY,)
HINTS = {
    Scan.Type.SECURITY: "TLS, headers, cookies, exposed files",
    Scan.Type.PERFORMANCE: "Loading, weight, caching",
    Scan.Type.ACCESSIBILITY: "WCAG 2.2, names, contrast",
    Scan.Type.SEO: "Indexing, links, structured data",
}


class ScanForm(JudgedForm):
    about = {"INVALID_URL": "url", "URL_NOT_REACHABLE": "url", "DOMAIN_BLOCKED": "url", "INVALID_TYPE": "type"}
    url = AddressField("Address of the page", "https://example.com/", "url")
    type = TicksField(
        [(type, HintedLabel(type.label, hint)) for type, hint in HINTS.items()],
        label="What to look at",
        initial=DEFAULT_TYPES,
    )
