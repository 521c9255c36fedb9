"""Types and scripts for test pages that axe-core alone misjudges."""

from __future__ import annotations

# HTML bodies of test pages, by axe-core rule and by name.
Pages = dict[tuple[str, str], str]


def element(
    name: str, internals: str = "", *, shadow: str = "", fields: str = "", more: str = "", mode: str = "open"
) -> str:
    """Return a script that defines a custom element.

    `internals` are statements that can use its ElementInternals as `i`.
    """
    attach = f"this.attachShadow({{mode: '{mode}'}}).innerHTML = `{shadow}`;" if shadow else ""
    own = f"const i = this.#i = this.attachInternals(); {internals}" if internals else ""
    return (
        f"<script>customElements.define('{name}', class extends HTMLElement {{ {fields} #i; {more} "
        f"constructor() {{ super(); {attach} {own} }} }})</script>"
    )
