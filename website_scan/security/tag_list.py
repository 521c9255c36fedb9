"""Parser of tag lists such as `v=DKIM1; k=rsa; p=…`, which records about mail consist of.

RFC 6376, section 3.2.
"""

from __future__ import annotations

SPACE = " \t\r\n"


def read_tags(record: str) -> list[tuple[str, str]]:
    """Return the tags of a record in order, as pairs of name and value. Empty parts are left out."""
    parts = (part.partition("=") for part in record.split(";") if part.strip(SPACE))
    return [(name.strip(SPACE), value.strip(SPACE)) for name, _, value in parts]
