"""Type for responses of Django's test client.

It has methods such as `json()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    # Only the type stubs have this class, because Django adds the methods at run time.
    from django.test.client import _MonkeyPatchedWSGIResponse

ClientResponse: TypeAlias = "_MonkeyPatchedWSGIResponse"
