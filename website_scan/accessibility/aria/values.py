"""Validate the values of ARIA attributes as axe-core does.

WAI-ARIA 1.2, section 6.2.4.
"""

from __future__ import annotations

import re
from enum import IntEnum

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.roles import sole_role
from website_scan.accessibility.wai_aria import ATTRIBUTES, ValueType
from website_scan.page.markup import attribute


class Validity(IntEnum):
    """Validity of an ARIA attribute's value.

    A higher number is worse.
    """

    VALID = 0
    UNCERTAIN = 1  # Assistive technologies differ, or a script may make the value valid.
    INVALID = 2


INTEGER = re.compile(r"[-+]?[0-9]+")
NUMBER = re.compile(r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)")
REFERENCES = frozenset({ValueType.ID, ValueType.IDS})
# Browsers use a default value or another name, so a fault does little harm.
HARMLESS_IF_INVALID = frozenset({"aria-current", "aria-describedby", "aria-labelledby"})
MAX_HEADING_LEVEL = 6
LIVE_REGION_VALUES = frozenset({"assertive", "polite"})


def judge_value(document: AccessibleDocument, node: LexborNode, name: str) -> Validity:
    """Judge the value of an element's ARIA attribute.

    An attribute that does not exist in ARIA counts as VALID.
    """
    value = attribute(node, name) or ""
    if name not in ATTRIBUTES:
        return Validity.VALID
    if name == "aria-errormessage":
        return _judge_error_message(document, node, value)
    if _is_valid_value(document, node, name, value):
        return Validity.UNCERTAIN if name == "aria-level" and float(value) > MAX_HEADING_LEVEL else Validity.VALID
    if _may_appear_later(node, name):
        return Validity.VALID
    is_value_missing = value == "" and ATTRIBUTES[name].type is not ValueType.STRING
    return Validity.UNCERTAIN if is_value_missing or name in HARMLESS_IF_INVALID else Validity.INVALID


def is_id_reference(name: str) -> bool:
    """Return True if the attribute's value is an ID or a list of IDs."""
    return name in ATTRIBUTES and ATTRIBUTES[name].type in REFERENCES


def _is_valid_value(document: AccessibleDocument, node: LexborNode, name: str, value: str) -> bool:
    definition = ATTRIBUTES[name]
    if definition.may_be_empty and not value.strip():
        return True
    match definition.type:
        case ValueType.BOOLEAN:
            return value.lower() in ("true", "false")
        case ValueType.TOKEN:
            return value.lower() in definition.tokens
        case ValueType.TOKENS:
            return bool(value.split()) and definition.tokens.issuperset(value.split())
        case ValueType.ID:
            return len(value.split()) == 1 and bool(document.referenced(node, name))
        case ValueType.IDS:
            return bool(document.referenced(node, name))
        case ValueType.INTEGER:
            return INTEGER.fullmatch(value) is not None and float(value) >= definition.least
        case ValueType.NUMBER:
            return NUMBER.fullmatch(value) is not None
        case ValueType.STRING:
            return bool(value.strip())


def _may_appear_later(node: LexborNode, name: str) -> bool:
    """Return True if the referenced element may appear later.

    An example is a pop-up.
    """
    if name not in ("aria-controls", "aria-owns"):
        return False
    if attribute(node, "aria-expanded") == "false":
        return True
    if name == "aria-owns":
        return False
    return attribute(node, "aria-selected") == "false" or attribute(node, "aria-haspopup") not in (None, "false")


def _judge_error_message(document: AccessibleDocument, node: LexborNode, value: str) -> Validity:
    """Judge the value of aria-errormessage.

    The message element must exist, and screen readers must announce it if the input is invalid.
    """
    if attribute(node, "aria-invalid") in (None, "false") or not value.strip():
        return Validity.VALID
    if len(value.split()) > 1:
        return Validity.INVALID
    messages = document.referenced(node, "aria-errormessage")
    if not messages:
        return Validity.UNCERTAIN
    if document.visibility.is_hidden_from_at(messages[0]):
        return Validity.INVALID
    is_live_region = sole_role(messages[0]) == "alert" or attribute(messages[0], "aria-live") in LIVE_REGION_VALUES
    describes_element = value.strip() in (attribute(node, "aria-describedby") or "").split()
    return Validity.VALID if is_live_region or describes_element else Validity.INVALID
