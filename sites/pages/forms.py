"""Form fields that describe the target of a scan, and the form for new scans of a page or a whole site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms

from infrastructure.web.forms import AddressField, HintedLabel, JudgedForm, TicksField
from scans.models import Scan
from scans.policy import scan_policy
from sites.audits.requests import DISCOVER, MAX_PATTERNS, USUAL_MAX_PAGES, AuditRequest, targets_of
from sites.models import Audit
from website_scan.crawl.discovery.patterns import pattern_fault
from website_scan.net.credentials import Credentials, InvalidRequestField
from website_scan.net.credentials import parse as parse_credentials

HINTS = {
    Scan.Type.SECURITY: "TLS, headers, cookies, exposed files",
    Scan.Type.PERFORMANCE: "Loading, weight, caching",
    Scan.Type.ACCESSIBILITY: "WCAG 2.2, names, contrast",
    Scan.Type.SEO: "Indexing, links, structured data",
}
SITEMAP, LINKS = DISCOVER
NONE_CHOSEN = "Choose at least one."


class PatternsField(forms.CharField):
    """Text area for URL patterns, one per line."""

    def __init__(self, label: str, example: str) -> None:
        attrs = {"rows": 2, "placeholder": example, "autocapitalize": "none", "spellcheck": "false"}
        help_text = "One pattern per line, matched against what follows the host; * stands for anything."
        super().__init__(
            label=label, help_text=help_text, required=False, max_length=30_000, widget=forms.Textarea(attrs=attrs)
        )

    def clean(self, value: Any) -> Any:
        """Return the patterns as a list."""
        patterns = list(dict.fromkeys(filter(None, map(str.strip, super().clean(value).splitlines()))))
        if len(patterns) > MAX_PATTERNS:
            raise forms.ValidationError(f"Enter at most {MAX_PATTERNS} patterns.")
        for each in patterns:
            if fault := pattern_fault(each):
                raise forms.ValidationError(f"{each[:100]}: {fault}")
        return patterns


KEY_FIELDS = ("headers", "cookies", "username", "password")
# Neither the browser nor the service saves these inputs.
UNKEPT = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


class _Unshown:
    """Mixin for widgets that never render the entered value."""

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context(name, None, attrs)  # type: ignore[misc]  # the widget's
        return context


class UnshownInput(_Unshown, forms.TextInput): ...


class UnshownTextarea(_Unshown, forms.Textarea): ...


class SecretField(forms.CharField):
    def __init__(self, label: str, widget: forms.Widget) -> None:
        super().__init__(label=label, widget=widget, required=False, strip=False)


class SecretLines(SecretField):
    def __init__(self, label: str, placeholder: str) -> None:
        super().__init__(label, UnshownTextarea(attrs={"rows": 2, "placeholder": placeholder} | UNKEPT))


class TargetForm(JudgedForm):
    """Form for the target of a scan: address, types, credentials, discovery of pages.

    `pages_per_audit` is the limit of the organization's plan.
    """

    about: ClassVar[Mapping[str, str]] = {
        "page": "url",
        "site": "url",
        "types": "type",
        "INVALID_URL": "url",
        "URL_NOT_REACHABLE": "url",
        "DOMAIN_BLOCKED": "url",
        "INVALID_REQUEST_FIELD": "headers",
    }
    OF_A_SITE = ("max_pages", "discover", "include", "exclude")

    url = AddressField("Address", "example.com", "url")
    type = TicksField(
        [(type, HintedLabel(type.label, hint)) for type, hint in HINTS.items()],
        label="What to check",
        initial=Scan.Type.values,
    )
    headers = SecretLines("Headers, one per line", "X-Preview-Key: value")
    cookies = SecretLines("Cookies, one per line", "session=value")
    username = SecretField("User name", UnshownInput(attrs=UNKEPT))
    password = SecretField("Password", forms.PasswordInput(attrs=UNKEPT | {"autocomplete": "new-password"}))
    max_pages = forms.IntegerField(
        label="Maximum number of pages",
        required=False,
        min_value=1,
        error_messages={"min_value": "Enter at least 1.", "invalid": "Enter a whole number, such as 10."},
    )
    discover = TicksField(
        [
            (SITEMAP, HintedLabel("Sitemaps", "The pages that the site lists for search engines")),
            (LINKS, HintedLabel("Links", "From page to page, as a visitor would")),
        ],
        label="How to find pages",
        initial=DISCOVER,
    )
    include = PatternsField("Only these pages", "/docs/*")
    exclude = PatternsField("Not these pages", "*?page=*")

    def __init__(self, data: Any = None, *, pages_per_audit: int, initial: Mapping[str, Any] | None = None) -> None:
        self.usual_pages = min(USUAL_MAX_PAGES, pages_per_audit)
        super().__init__(data, initial={"max_pages": self.usual_pages} | dict(initial or {}))
        self.pages_per_audit = pages_per_audit
        self.fields["max_pages"].help_text = f"Your plan allows up to {pages_per_audit:,} per scan."
        self.fields["max_pages"].widget.attrs["max"] = pages_per_audit

    @property
    def is_site(self) -> bool:
        """Return True if the form asks for a whole site, so that the fields of OF_A_SITE apply."""
        return bool(self["scope"].value() == Audit.Kind.SITE)

    @property
    def shows_site(self) -> bool:
        """Return True if the section on a site's pages is expanded: it has an error or an entered pattern."""
        return any(name in self.errors for name in self.OF_A_SITE) or any(
            self[name].value() for name in ("include", "exclude")
        )

    def clean_type(self) -> list[str]:
        return self._chosen("type")

    def clean_max_pages(self) -> int | None:
        number: int | None = self.cleaned_data["max_pages"]
        if number is not None and number > self.pages_per_audit and self.is_site:
            raise forms.ValidationError(f"Your plan allows up to {self.pages_per_audit:,} pages per scan.")
        return number

    def clean_discover(self) -> list[str]:
        return self._chosen("discover") if self.is_site else []

    def audit_request(self, urls: Sequence[str]) -> AuditRequest:
        """Return the request for an audit of these addresses. Raises the API's refusals of fields."""
        given = self.cleaned_data
        kind = given["scope"] or Audit.Kind.PAGE
        targets = targets_of(kind, urls, scan_policy(), self.pages_per_audit)
        of_site = {name: given[name] for name in self.OF_A_SITE if given[name]} if self.is_site else {}
        return AuditRequest.of(
            kind, targets, self.pages_per_audit, types=given["type"], credentials=self.credentials, **of_site
        )

    def _chosen(self, name: str) -> list[str]:
        chosen: list[str] = list(dict.fromkeys(self.cleaned_data[name]))
        if not chosen:
            raise forms.ValidationError(NONE_CHOSEN)
        return chosen

    @property
    def has_credentials(self) -> bool:
        """Return True if the valid form has an entered header, cookie, user name or password."""
        return any(self.cleaned_data[name] for name in KEY_FIELDS)

    @property
    def credentials(self) -> Credentials | None:
        """Return the entered headers, cookies and password; None if there are none.

        Raises `InvalidRequestField` if a line has no name and value, or something may not be sent.
        """
        given = self.cleaned_data
        entered: dict[str, Any] = {"headers": _pairs(given["headers"], ":"), "cookies": _pairs(given["cookies"], "=")}
        if given["username"] or given["password"]:
            entered["basic_auth"] = {name: given[name] for name in ("username", "password")}
        return parse_credentials(entered)

    @property
    def key_fields(self) -> list[forms.BoundField]:
        """Return the fields for credentials."""
        return [self[each] for each in KEY_FIELDS]

    @property
    def asks_for_key(self) -> bool:
        """Return True if the section for credentials is expanded: it has an entered value or an error."""
        return self.is_bound and any(self.cleaned_data.get(each) or each in self.errors for each in KEY_FIELDS)


class ScanForm(TargetForm):
    scope = forms.ChoiceField(
        choices=[
            (Audit.Kind.PAGE, HintedLabel("This page", "One page only")),
            (Audit.Kind.SITE, HintedLabel("The whole site", "Finds its pages first")),
        ],
        label="Pages to scan",
        widget=forms.RadioSelect,
        initial=Audit.Kind.PAGE,
        required=False,
    )


def _pairs(text: str, separator: str) -> dict[str, str]:
    """Parse lines of names and values.

    Raises `InvalidRequestField`. The error does not quote the invalid line, which may be a bare secret.
    """
    pairs: dict[str, str] = {}
    for line in filter(str.strip, text.splitlines()):
        name, found, value = (part.strip() for part in line.partition(separator))
        if not found or name in pairs:
            space = " " if separator == ":" else ""
            raise InvalidRequestField(f"Write name{separator}{space}value, one per line, with each name only once.")
        pairs[name] = value
    return pairs
