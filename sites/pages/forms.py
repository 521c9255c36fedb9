"""Forms for the target and options of a scan."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms

from infrastructure.web.forms import AddressField, HintedLabel, RefusalForm, TicksField
from scans.models import Scan, WithViewing
from scans.policy import scan_policy
from sites.audits.requests import DEFAULT_MAX_PAGES, DISCOVER, MAX_PATTERNS, AuditRequest, targets_of
from sites.models import Audit
from sites.pages.requirement_rows import RequirementsForm
from website_scan.crawl.discovery.patterns import pattern_fault
from website_scan.net.credentials import Credentials, InvalidRequestField
from website_scan.net.credentials import parse as parse_credentials
from website_scan.viewing import COLOR_SCHEMES, MAX_WIDTH, MAX_WIDTHS, MIN_WIDTH, Viewing, are_valid_widths

HINTS = {
    Scan.Type.SECURITY: "TLS, headers, cookies, exposed files",
    Scan.Type.PERFORMANCE: "Loading, weight, caching",
    Scan.Type.ACCESSIBILITY: "WCAG 2.2, names, contrast",
    Scan.Type.SEO: "Indexing, links, structured data",
}
SITEMAP, LINKS = DISCOVER
NONE_CHOSEN = "Choose at least one."


class PatternsField(forms.CharField):
    """Form field with a text area for URL patterns, one per line."""

    def __init__(self, label: str, example: str) -> None:
        attrs = {"rows": 2, "placeholder": example, "autocapitalize": "none", "spellcheck": "false"}
        help_text = "One pattern per line, matched against path and query; * matches any characters."
        super().__init__(
            label=label, help_text=help_text, required=False, max_length=30_000, widget=forms.Textarea(attrs=attrs)
        )

    def clean(self, value: Any) -> Any:
        """Return the entered patterns as a list without duplicates."""
        patterns = list(dict.fromkeys(filter(None, map(str.strip, super().clean(value).splitlines()))))
        if len(patterns) > MAX_PATTERNS:
            raise forms.ValidationError(f"Enter at most {MAX_PATTERNS} patterns.")
        for pattern in patterns:
            if fault := pattern_fault(pattern):
                raise forms.ValidationError(f"{pattern[:100]}: {fault}")
        return patterns


class WidthsField(forms.CharField):
    """Form field for the widths at which accessibility is judged, separated by commas."""

    def __init__(self) -> None:
        super().__init__(
            label="Widths in pixels",
            help_text=f"1 to {MAX_WIDTHS} numbers from {MIN_WIDTH} to {MAX_WIDTH}, separated by commas. Accessibility "
            "is judged at each. The first one is the main one, on a phone if it is below 600.",
            initial=written_widths(Viewing().widths),
            required=False,
            max_length=100,
            widget=forms.TextInput(attrs={"autocomplete": "off"}),
        )

    def clean(self, value: Any) -> Any:
        """Return the entered widths as a tuple, which is empty without any."""
        words = re.split(r"[,;\s]+", super().clean(value).strip())
        if words == [""]:
            return ()
        widths = tuple(int(word) for word in words if re.fullmatch(r"[0-9]{1,5}", word))
        if len(widths) != len(words) or not are_valid_widths(widths):
            raise forms.ValidationError(
                f"Enter 1 to {MAX_WIDTHS} different numbers from {MIN_WIDTH} to {MAX_WIDTH}, separated by commas."
            )
        return widths


def written_widths(widths: Sequence[int]) -> str:
    """Return widths as text of the form's field."""
    return ", ".join(map(str, widths))


def viewing_values_of(row: WithViewing) -> dict[str, str]:
    """Return the initial form values for the widths and the colour scheme of an audit, a monitor or a list."""
    viewing = row.chosen_viewing or Viewing()
    return {"widths": written_widths(viewing.widths), "color_scheme": viewing.color_scheme}


CREDENTIAL_FIELDS = ("headers", "cookies", "username", "password")
# HTML attributes of inputs for secrets, whose values the browser must not store.
NOT_STORED = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


class _HiddenValueMixin:
    """Mixin for widgets that never render the entered value, because the value is secret."""

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context(name, None, attrs)  # type: ignore[misc]  # Method of the widget class.
        return context


class HiddenValueInput(_HiddenValueMixin, forms.TextInput): ...


class HiddenValueTextarea(_HiddenValueMixin, forms.Textarea): ...


class SecretField(forms.CharField):
    def __init__(self, label: str, widget: forms.Widget) -> None:
        super().__init__(label=label, widget=widget, required=False, strip=False)


class SecretLinesField(SecretField):
    def __init__(self, label: str, placeholder: str) -> None:
        super().__init__(label, HiddenValueTextarea(attrs={"rows": 2, "placeholder": placeholder} | NOT_STORED))


class ViewingForm(forms.Form):
    """Fields for the widths and the colour scheme in which pages are judged."""

    widths = WidthsField()
    color_scheme = forms.ChoiceField(
        label="Colour scheme",
        choices=[(scheme, scheme.capitalize()) for scheme in COLOR_SCHEMES],
        initial=Viewing().color_scheme,
        required=False,
    )

    @property
    def viewing(self) -> Viewing | None:
        """Return the entered widths and colour scheme of the valid form, or None for the usual ones."""
        values, usual = self.cleaned_data, Viewing()
        viewing = Viewing(values["widths"] or usual.widths, values["color_scheme"] or usual.color_scheme)
        return None if viewing == usual else viewing

    @property
    def expands_viewing_section(self) -> bool:
        """Return True if the section with widths and colour scheme must be expanded.

        It is expanded if a value is unusual or has an error.
        """
        usual = Viewing()
        values = {"widths": written_widths(usual.widths), "color_scheme": usual.color_scheme}
        return any(name in self.errors or (self[name].value() or value) != value for name, value in values.items())


class TargetForm(ViewingForm, RequirementsForm, RefusalForm):
    """Form for the target and options of a scan.

    `pages_per_audit` is the limit of the organization's tier.
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
    SITE_FIELDS = ("max_pages", "discover", "include", "exclude")

    url = AddressField("Address", "example.com", "url")
    type = TicksField(
        [(type, HintedLabel(type.label, hint)) for type, hint in HINTS.items()],
        label="What to check",
        initial=Scan.Type.values,
    )
    headers = SecretLinesField("Headers, one per line", "X-Preview-Key: value")
    cookies = SecretLinesField("Cookies, one per line", "session=value")
    username = SecretField("User name", HiddenValueInput(attrs=NOT_STORED))
    password = SecretField("Password", forms.PasswordInput(attrs=NOT_STORED | {"autocomplete": "new-password"}))
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
        self.default_pages = min(DEFAULT_MAX_PAGES, pages_per_audit)
        super().__init__(data, initial={"max_pages": self.default_pages} | dict(initial or {}))
        self.pages_per_audit = pages_per_audit
        self.fields["max_pages"].help_text = f"Your plan allows up to {pages_per_audit:,} per scan."
        self.fields["max_pages"].widget.attrs["max"] = pages_per_audit

    @property
    def is_site(self) -> bool:
        """Return True if the form requests a scan of a whole site.

        SITE_FIELDS apply only to such scans.
        """
        return bool(self["scope"].value() == Audit.Kind.SITE)

    @property
    def expands_site_section(self) -> bool:
        """Return True if the section with SITE_FIELDS must be expanded.

        It is expanded if a field has an error or a pattern was entered.
        """
        return any(name in self.errors for name in self.SITE_FIELDS) or any(
            self[name].value() for name in ("include", "exclude")
        )

    def clean_type(self) -> list[str]:
        return self._choices("type")

    def clean_max_pages(self) -> int | None:
        number: int | None = self.cleaned_data["max_pages"]
        if number is not None and number > self.pages_per_audit and self.is_site:
            raise forms.ValidationError(f"Your plan allows up to {self.pages_per_audit:,} pages per scan.")
        return number

    def clean_discover(self) -> list[str]:
        return self._choices("discover") if self.is_site else []

    def audit_request(self, urls: Sequence[str]) -> AuditRequest:
        """Return the audit request for the URLs with the form's options.

        Raises the same refusals as the API.
        """
        values = self.cleaned_data
        kind = values["scope"] or Audit.Kind.PAGE
        targets = targets_of(kind, urls, scan_policy(), self.pages_per_audit)
        site_values = {name: values[name] for name in self.SITE_FIELDS if values[name]} if self.is_site else {}
        return AuditRequest.of(
            kind,
            targets,
            self.pages_per_audit,
            types=values["type"],
            credentials=self.credentials,
            viewing=self.viewing,
            requirements=self.requirements,
            **site_values,
        )

    def _choices(self, name: str) -> list[str]:
        choices: list[str] = list(dict.fromkeys(self.cleaned_data[name]))
        if not choices:
            raise forms.ValidationError(NONE_CHOSEN)
        return choices

    @property
    def has_credentials(self) -> bool:
        """Return True if the valid form has any credentials."""
        return any(self.cleaned_data[name] for name in CREDENTIAL_FIELDS)

    @property
    def credentials(self) -> Credentials | None:
        """Return the entered headers, cookies and password, or None if nothing was entered.

        Raises `InvalidRequestField` if a line has no name or value, or if HTTP does not allow the value.
        """
        values = self.cleaned_data
        fields: dict[str, Any] = {
            "headers": _parse_pairs(values["headers"], ":"),
            "cookies": _parse_pairs(values["cookies"], "="),
        }
        if values["username"] or values["password"]:
            fields["basic_auth"] = {name: values[name] for name in ("username", "password")}
        return parse_credentials(fields)

    @property
    def credential_fields(self) -> list[forms.BoundField]:
        """Return the form fields for credentials."""
        return [self[name] for name in CREDENTIAL_FIELDS]

    @property
    def expands_credentials_section(self) -> bool:
        """Return True if the credentials section must be expanded.

        It is expanded if a credential was entered or has an error.
        """
        return self.is_bound and any(self.cleaned_data.get(name) or name in self.errors for name in CREDENTIAL_FIELDS)


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


def _parse_pairs(text: str, separator: str) -> dict[str, str]:
    """Parse lines such as "name: value" into a dict.

    Raises `InvalidRequestField`, whose message does not quote the invalid line, because the line may be a secret.
    """
    pairs: dict[str, str] = {}
    for line in filter(str.strip, text.splitlines()):
        name, found_separator, value = (part.strip() for part in line.partition(separator))
        if not found_separator or name in pairs:
            space = " " if separator == ":" else ""
            raise InvalidRequestField(f"Write name{separator}{space}value, one per line, with each name only once.")
        pairs[name] = value
    return pairs
