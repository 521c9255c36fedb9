"""Form for the name and logo on shared reports and prints."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError

from accounts.addresses import without_addresses
from accounts.models import Branding
from accounts.pages.forms import validate_printable
from infrastructure.web.logos import Logo, LogoRefused, read_logo


class BrandingForm(forms.Form):
    """Form for the name and logo on shared reports. The cleaned `logo` is a Logo, or None without a new file."""

    name = forms.CharField(
        label="Prepared by",
        max_length=Branding._meta.get_field("name").max_length,
        required=False,
        validators=[validate_printable, without_addresses],
        help_text="The name on shared reports, scans of sites and lists, and on all prints. Empty: no name.",
    )
    logo = forms.FileField(
        label="Logo",
        required=False,
        help_text="PNG, JPEG or WebP, at most 200 kB and 2,000 by 1,000 pixels.",
        widget=forms.FileInput(attrs={"accept": "image/png,image/jpeg,image/webp"}),
    )
    removes_logo = forms.BooleanField(label="Remove the logo", required=False)

    def clean_logo(self) -> Logo | None:
        """Return the uploaded file as a Logo."""
        file = self.cleaned_data["logo"]
        if file is None:
            return None
        try:
            return read_logo(file.read())
        except LogoRefused as refusal:
            raise ValidationError(str(refusal)) from refusal
