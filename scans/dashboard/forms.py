"""The form for new scans."""

from __future__ import annotations

from typing import Any

from django import forms

from config.web.forms import AddressField, HintedLabel, JudgedForm, TicksField
from scans.models import Scan
from scans.net.credentials import InvalidRequestField

DEFAULT_TYPES = (Scan.Type.SECURITY,)
HINTS = {
    Scan.Type.SECURITY: "TLS, headers, cookies, exposed files",
    Scan.Type.PERFORMANCE: "Loading, weight, caching",
    Scan.Type.ACCESSIBILITY: "WCAG 2.2, names, contrast",
    Scan.Type.SEO: "Indexing, links, structured data",
}


KEY_FIELDS = ("headers", "cookies", "username", "password")
# Neither browsers nor we keep what is entered there.
UNKEPT = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


class _Unshown:
    """A widget that never shows what was entered."""

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


class ScanForm(JudgedForm):
    about = {
        "INVALID_URL": "url",
        "URL_NOT_REACHABLE": "url",
        "DOMAIN_BLOCKED": "url",
        "INVALID_TYPE": "type",
        "INVALID_REQUEST_FIELD": "headers",
    }
    url = AddressField("Address of the page", "https://example.com/", "url")
    type = TicksField(
        [(type, HintedLabel(type.label, hint)) for type, hint in HINTS.items()],
        label="What to look at",
        initial=DEFAULT_TYPES,
    )
    headers = SecretLines("Headers, one a line", "X-Preview-Key: value")
    cookies = SecretLines("Cookies, one a line", "session=value")
    username = SecretField("User name", UnshownInput(attrs=UNKEPT))
    password = SecretField("Password", forms.PasswordInput(attrs=UNKEPT | {"autocomplete": "new-password"}))

    @property
    def request(self) -> dict[str, Any]:
        """What the page is shown, as the API takes it. Raises `InvalidRequestField` where a line is none."""
        given = self.cleaned_data
        request: dict[str, Any] = {"headers": _pairs(given["headers"], ":"), "cookies": _pairs(given["cookies"], "=")}
        if given["username"] or given["password"]:
            request["basic_auth"] = {name: given[name] for name in ("username", "password")}
        return request

    @property
    def key_fields(self) -> list[forms.BoundField]:
        """Those of the part about the key."""
        return [self[each] for each in KEY_FIELDS]

    @property
    def asks_for_key(self) -> bool:
        """Whether the part about the key is open: something was entered there, or is wrong with it."""
        return self.is_bound and any(self.cleaned_data.get(each) or each in self.errors for each in KEY_FIELDS)


def _pairs(text: str, separator: str) -> dict[str, str]:
    """Raises `InvalidRequestField`, which says nothing of a line that is none: it may be a value alone."""
    pairs: dict[str, str] = {}
    for line in filter(str.strip, text.splitlines()):
        name, found, value = (part.strip() for part in line.partition(separator))
        if not found or name in pairs:
            space = " " if separator == ":" else ""
            raise InvalidRequestField(f"Write name{separator}{space}value, one a line, and each name once.")
        pairs[name] = value
    return pairs
