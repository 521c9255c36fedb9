"""Tests for the quoting of texts in files and for shells."""

from __future__ import annotations

import os
import subprocess
import tomllib

import pytest
import yaml

from website_scan.command.init.quoting import quoted, shell_word

HOSTILE = (
    "a b",
    "it's",
    'say "x"',
    "$(id) `id` $HOME",
    "two\nlines\t",
    "\x7f\x85\u2028\u202e",
    "\\n",
    "ä\U0001f600\U000e0041",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_quoted_text_is_the_same_in_toml_and_yaml(text: str) -> None:
    assert tomllib.loads(f"key = {quoted(text)}") == {"key": text}
    assert yaml.safe_load(f"key: {quoted(text)}") == {"key": text}
    assert quoted(text).isprintable()


@pytest.mark.parametrize("text", [*HOSTILE, "caf\udce9", "it's\ttwo\\n"])
def test_shell_reads_the_same_word(text: str) -> None:
    word = shell_word(text)
    ran = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True)
    assert (ran.stdout, word.isprintable()) == (os.fsencode(text), True)
