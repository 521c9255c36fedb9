"""Type of responses of Django's test client, which have additional methods such as `json()`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    # The name is that of the stubs: Django adds the methods to its own class.
    from django.test.client import _MonkeyPatchedWSGIResponse

ClientResponse: TypeAlias = "_MonkeyPatchedWSGIResponse"
