"""Text alternatives of images, for accessibility and SEO checks."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import has_author_name
from website_scan.accessibility.roles import explicit_role, is_focusable, is_presentational
from website_scan.accessibility.verdicts import Faults
from website_scan.accessibility.wai_aria import NAME_REQUIRED
from website_scan.page.markup import attribute


def find_images_without_alternative(document: AccessibleDocument) -> Faults:
    """Find images without alternative text that are not marked as decorative, as in axe-core."""
    images = (image for image in document.exposed("img") if is_judged_as_image(image))
    return Faults.find(images, lambda image: not _has_alternative(document, image))


def is_judged_as_image(node: LexborNode) -> bool:
    """Return True unless the element has another role that requires no accessible name."""
    role = explicit_role(node)
    return role is None or role == "none" or role in NAME_REQUIRED or is_focusable(node)


def is_named(document: AccessibleDocument, node: LexborNode, *attributes: str) -> bool:
    """Return True if ARIA, a title or one of the given attributes names the element."""
    return has_author_name(document, node) or any((attribute(node, name) or "").strip() for name in attributes)


def _has_alternative(document: AccessibleDocument, image: LexborNode) -> bool:
    alternative = attribute(image, "alt")
    if alternative is not None:
        return alternative == "" or bool(alternative.strip())  # a blank alt marks no decoration
    return is_named(document, image) or is_presentational(image)
