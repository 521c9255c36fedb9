"""Text alternatives of images, for accessibility and SEO checks."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import has_author_name
from website_scan.accessibility.roles import explicit_role, is_focusable, is_presentational
from website_scan.accessibility.verdicts import Faults
from website_scan.accessibility.wai_aria import ROLES_THAT_REQUIRE_NAMES
from website_scan.page.markup import attribute


def find_images_without_alternative(document: AccessibleDocument) -> Faults:
    """Find images without alternative text.

    Images that are marked as decorative need none. As in axe-core.
    """
    images = (image for image in document.exposed("img") if is_judged_as_image(image))
    return Faults.find(images, lambda image: not _has_alternative_text(document, image))


def is_judged_as_image(node: LexborNode) -> bool:
    """Return True if the element is judged as an image.

    Some roles other than img require no accessible name.
    """
    role = explicit_role(node)
    return role is None or role == "none" or role in ROLES_THAT_REQUIRE_NAMES or is_focusable(node)


def is_named(document: AccessibleDocument, node: LexborNode, *attributes: str) -> bool:
    """Return True if ARIA, the title or an attribute names the element."""
    return has_author_name(document, node) or any((attribute(node, name) or "").strip() for name in attributes)


def _has_alternative_text(document: AccessibleDocument, image: LexborNode) -> bool:
    alternative = attribute(image, "alt")
    if alternative is not None:
        # Only an empty alt marks an image as decorative, not an alt of spaces.
        return alternative == "" or bool(alternative.strip())
    return is_named(document, image) or is_presentational(image)
