"""Forms for roles, invitations and the sites of members."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.models import Membership
from accounts.visible_sites import MAX_LIMIT_LENGTH, MAX_LIMITS, InvalidLimit, parse_limits


class RoleForm(forms.Form):
    """Form to choose a role that the actor may grant."""

    role = forms.ChoiceField(label="Role")

    def __init__(self, *args: Any, roles: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["role"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(role, Membership.Role(role).label) for role in roles]


class LimitsForm(forms.Form):
    """Form for the sites that a member is limited to."""

    limits = forms.CharField(
        label="Only these sites",
        required=False,
        max_length=MAX_LIMITS * (MAX_LIMIT_LENGTH + 2),
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "autocapitalize": "none"}),
        help_text="One per line: www.example.org, *.example.org with all of its subdomains, or tag:client for all "
        "sites with this tag in your lists. Whoever edits lists can add sites with this tag. Empty: all sites. Viewers "
        "and members only.",
    )

    def clean_limits(self) -> list[str]:
        try:
            return parse_limits(self.cleaned_data["limits"])
        except InvalidLimit as error:
            raise forms.ValidationError(str(error)) from None


class InvitationForm(RoleForm, LimitsForm):
    field_order = ("email", "role", "limits")
    email = forms.EmailField(
        label="E-mail address", max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "off"})
    )
