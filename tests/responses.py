"""The type of what Django's test client returns: a response with what the client adds, such as `json()`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse  # the stubs' name: Django adds to its own class

ClientResponse: TypeAlias = "_MonkeyPatchedWSGIResponse"
