"""Move typed passwords out of the steps of a journey.

Chrome's Recorder writes them into the recording as plain text. Afterwards the steps contain only names of secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count
from urllib.parse import unquote, unquote_plus

from msgspec import Struct, field
from msgspec.structs import astuple, replace

from website_scan.journeys.journey import (
    PLACEHOLDER,
    Change,
    ElementTarget,
    ExpectedNavigation,
    Journey,
    JourneyRefused,
    SelectorKind,
    SelectorPart,
    Step,
)
from website_scan.messages import MASK, SHAPED
from website_scan.records import repr_without

# Shorter values, such as "1" or "admin", also occur elsewhere by chance. Words of letters must be longer.
MIN_SECRET_CHARACTERS, MIN_WORD_CHARACTERS = 4, 8
# Only the end of a selector is the name of the field.
MAX_NAME_CHARACTERS = 300
# Words of a field's name that announce a secret, in common languages, and the name of the secret.
WORDS: Mapping[str, tuple[str, ...]] = {
    "password": (
        "password", "passwords", "passwd", "pwd", "pass", "passcode", "passphrase", "passwort", "kennwort",
        "contrasena", "contraseña", "senha", "wachtwoord", "hasło", "haslo", "lösenord", "losenord", "adgangskode",
        "salasana", "heslo", "jelszó", "parola", "şifre", "пароль", "密码", "密碼", "パスワード", "비밀번호",
    ),
    "token": ("token", "jwt", "bearer", "apikey"),
    "secret": ("secret", "geheimnis"),
    "code": ("code", "otp", "totp", "mfa", "2fa"),
    "pin": ("pin",),
    "card-number": ("cardnumber", "cardno", "ccnumber", "ccnum", "creditcard", "kartennummer", "iban"),
    "card-code": ("cvc", "cvv", "csc", "cvc2", "cvv2"),
}  # fmt: skip
NAME_BY_WORD = {word: name for name, words in WORDS.items() for word in words}
PAIRS = {
    ("card", "number"): "card-number", ("cc", "number"): "card-number", ("credit", "card"): "card-number",
    ("api", "key"): "token", ("access", "key"): "token", ("mot", "de"): "password",
}  # fmt: skip
# Codes that everybody may know.
PUBLIC_CODES = frozenset(
    (
        "zip", "post", "postal", "country", "area", "region", "currency", "language", "lang", "promo", "promotion",
        "discount", "coupon", "voucher", "gift", "product", "item", "article", "bar", "qr", "dial", "phone", "airport",
        "station", "editor",
    )
)  # fmt: skip
CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
WORD = re.compile(r"[^\W_]+")
# The last part of a CSS selector or an XPath is the field itself. Parts before are its ancestors.
LAST_OF_CSS = re.compile(r"(?:\[[^\]]*\]|\([^)]*\)|[^\s>+~\[\](),])+\s*$")
LAST_OF_XPATH = re.compile(r"(?:\[[^\]]*\]|\([^)]*\)|[^/\[\]()])+$")
CARD_NUMBER = re.compile(r"(?:[0-9][ -]?){13,19}")
MIN_STRONG_CHARACTERS = 8
STRONG = tuple(re.compile(pattern) for pattern in ("[a-z]", "[A-Z]", "[0-9]", r"[^\w\s]"))
# Values of check boxes, and of lists with this choice.
NOT_TYPED = ("", "true", "false", "on", "off")


class ReadJourney(Struct, frozen=True):
    """Journey that was read, and what its reader changed.

    `secrets` are the values by name that have been moved out of the steps. They have to be stored encrypted. `notes`
    are sentences for the person who wrote or recorded the journey.
    """

    journey: Journey
    notes: tuple[str, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return repr_without(self, "secrets")


def without_passwords(journey: Journey) -> ReadJourney:
    """Replace passwords and other secrets in the values of fields by names such as `{{password}}`.

    Raises JourneyRefused if another part of a step contains the same text, for example the address.
    """
    names: dict[str, str] = {}
    taken = set(journey.secret_names)
    steps: list[Step] = []
    notes: list[str] = []
    for step in journey.steps:
        kind = _kind_of_secret(step) if isinstance(step, Change) else ""
        if kind and isinstance(step, Change):
            if step.value not in names:
                numbered = (f"{kind}-{number}" for number in count(2))
                names[step.value] = next(name for name in chain((kind,), numbered) if name not in taken)
                taken.add(names[step.value])
            name = names[step.value]
            notes.append(
                f"Line {step.line}: The typed text is stored as the secret {{{{{name}}}}}, not in the journey."
            )
            step = replace(step, value=f"{{{{{name}}}}}")
        steps.append(step)
    distinctive = {value: name for value, name in names.items() if _is_distinctive(value)}
    title = journey.title
    for value in distinctive:
        title = title.replace(value, MASK)
    return ReadJourney(
        replace(journey, title=title, steps=tuple(_without(step, names, distinctive) for step in steps)),
        tuple(notes),
        {name: value for value, name in names.items()},
    )


def _kind_of_secret(step: Change) -> str:
    """Return the name for the secret that the step types, or an empty string if it types none."""
    if step.value.strip().lower() in NOT_TYPED or PLACEHOLDER.search(step.value):
        return ""
    for selector in step.target.selectors:
        if kind := _kind_by_name(_name_of_field(selector.parts[-1])):
            return kind
    return _kind_by_value(step.value)


def _name_of_field(part: SelectorPart) -> str:
    if part.kind in (SelectorKind.CSS, SelectorKind.PIERCE):
        match = LAST_OF_CSS.search(part.text[-MAX_NAME_CHARACTERS:])
    elif part.kind is SelectorKind.XPATH:
        match = LAST_OF_XPATH.search(part.text[-MAX_NAME_CHARACTERS:])
    else:
        return part.text
    return match[0] if match else part.text


def _kind_by_name(name: str) -> str:
    words = [word.lower() for word in WORD.findall(CAMEL_CASE.sub(" ", name))]
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        kind = PAIRS.get((before, word)) or NAME_BY_WORD.get(word, "")
        if kind and not (kind == "code" and PUBLIC_CODES.intersection(words)):
            return kind
    return ""


def _kind_by_value(value: str) -> str:
    text = value.strip()
    if CARD_NUMBER.fullmatch(text) and _has_check_digit(re.sub(r"\D", "", text)):
        return "card-number"
    if SHAPED.search(text):
        return "token"
    is_one_word = len(text) >= MIN_STRONG_CHARACTERS and not re.search(r"\s|://|@[\w.-]+\.\w+$", text)
    return "password" if is_one_word and all(pattern.search(text) for pattern in STRONG) else ""


def _has_check_digit(digits: str) -> bool:
    """Return True if the digits satisfy the formula of payment cards (ISO/IEC 7812-1, annex B)."""
    doubled = [int(digit) * 2 for digit in digits[-2::-2]]
    return (sum(map(int, digits[-1::-2])) + sum(value - 9 if value > 9 else value for value in doubled)) % 10 == 0


def _is_distinctive(value: str) -> bool:
    """Return False for a value that may occur elsewhere by chance, such as "admin"."""
    is_long_enough = len(value) >= (MIN_WORD_CHARACTERS if value.isalpha() else MIN_SECRET_CHARACTERS)
    return is_long_enough and value.lower() not in NAME_BY_WORD


def _without(step: Step, names: Mapping[str, str], distinctive: Mapping[str, str]) -> Step:
    """Return the step without secrets, which are names by value."""
    if isinstance(step, Change):
        for value in sorted(distinctive, key=len, reverse=True):
            if not PLACEHOLDER.search(step.value):
                step = replace(step, value=step.value.replace(value, f"{{{{{distinctive[value]}}}}}"))
    expected = step.expected_navigation
    if expected is not None and (_contains(expected, distinctive) or _contains(expected.url.partition("?")[2], names)):
        # A form sends its fields in the address.
        step = replace(step, expected_navigation=ExpectedNavigation())
    target = getattr(step, "target", None)
    if isinstance(target, ElementTarget):
        selectors = tuple(selector for selector in target.selectors if not _contains(selector, distinctive))
        if selectors:
            step = replace(step, target=replace(target, selectors=selectors))
    if _contains(replace(step, value="") if isinstance(step, Change) else step, distinctive):
        raise JourneyRefused(
            f"Line {step.line}: The step contains text that was also typed as a password or another secret. Record the "
            "journey with a password that occurs nowhere else on the site."
        )
    return step


def _contains(item: object, values: Iterable[str]) -> bool:
    """Return True if a text in the record contains one of the values, as it is or escaped as in addresses."""
    forms = {form for text in _texts(item) for form in (text, unquote(text), unquote_plus(text))}
    return any(value in form for form in forms for value in values)


def _texts(item: object) -> Iterator[str]:
    if isinstance(item, str):
        yield item
    elif isinstance(item, tuple):
        for part in item:
            yield from _texts(part)
    elif isinstance(item, Struct):
        for value in astuple(item):
            yield from _texts(value)
