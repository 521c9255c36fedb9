"""Tests for the parser of environment files.

It follows the rules of dotenv.

Sources: the README of dotenv ("What rules does the parsing engine follow?") and `LINE` in its lib/main.js. Where others
differ: python-dotenv, Ruby's dotenv and phpdotenv.
"""

from __future__ import annotations

import time

import pytest

from website_scan.security.dotenv import MAX_STATEMENTS, parse_environment_file
from website_scan.security.file_signatures import env_file

PEM = "-----BEGIN PRIVATE KEY-----\nMIIE\nMIIF\nMIIG\nMIIH\nMIII\n-----END PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("A=b", {"A": "b"}, id="basic"),
        pytest.param("A = b", {"A": "b"}, id="spaces around the sign"),
        pytest.param("  A=b", {"A": "b"}, id="spaces before the name"),
        pytest.param("A=", {"A": ""}, id="empty value"),
        pytest.param("A: b", {"A": "b"}, id="colon"),
        pytest.param("A:", {"A": ""}, id="colon at the end"),
        pytest.param("A:b", {}, id="colon without white space"),
        pytest.param("export A=b", {"A": "b"}, id="export"),
        pytest.param("export A: b", {"A": "b"}, id="export with colon"),
        pytest.param("A=b\nexport A", {"A": "b"}, id="export of an earlier variable"),
        pytest.param("app.name-1=b", {"app.name-1": "b"}, id="dot, hyphen and digit in the name"),
        pytest.param("1A=b", {"1A": "b"}, id="digit first"),
        pytest.param("'A'=b", {"A": "b"}, id="name in quotes"),
        pytest.param("A B=c", {}, id="space in the name"),
        pytest.param("A='b c'", {"A": "b c"}, id="single quotes"),
        pytest.param('A="b c"', {"A": "b c"}, id="double quotes"),
        pytest.param("A=`b 'c' \"d\"`", {"A": "b 'c' \"d\""}, id="backticks"),
        pytest.param('A="b\nc"\nD=e', {"A": "b\nc", "D": "e"}, id="lines in double quotes"),
        pytest.param("A='b\nc'\nD=e", {"A": "b\nc", "D": "e"}, id="lines in single quotes"),
        pytest.param("A=`b\nc`\nD=e", {"A": "b\nc", "D": "e"}, id="lines in backticks"),
        pytest.param('A: "b\nc"\nD: e', {"A": "b\nc", "D": "e"}, id="lines after a colon"),
        pytest.param('A="b\n\n# no comment\nc=d"\nE=f', {"A": "b\n\n# no comment\nc=d", "E": "f"}, id="hash in lines"),
        pytest.param('A="b\\"\nc"\nD=e', {"A": 'b\\"\nc', "D": "e"}, id="escaped quote"),
        pytest.param('A="b\nC=d', {"A": '"b', "C": "d"}, id="unclosed quote"),
        pytest.param("A='{\"b\": \"c\"}'", {"A": '{"b": "c"}'}, id="JSON"),
        pytest.param("A={\"b\": 1}", {"A": '{"b": 1}'}, id="JSON without quotes"),
        pytest.param("A=b # c", {"A": "b"}, id="comment after a value"),
        pytest.param("A=# c", {"A": ""}, id="comment in place of a value"),
        pytest.param("A='b # c' # d", {"A": "b # c"}, id="comment after quotes"),
        pytest.param("A='b\n# c' # d\nE=f", {"A": "b\n# c", "E": "f"}, id="comment after lines in quotes"),
        pytest.param("# A=b\n\n  # c\nD=e", {"D": "e"}, id="comments and blank lines"),
        pytest.param("A=b\r\nC='d\r\ne'\r\nF=g\r\n", {"A": "b", "C": "d\ne", "F": "g"}, id="CRLF"),
        pytest.param("A=b\rC=d", {"A": "b", "C": "d"}, id="CR"),
        pytest.param("A=b=c==", {"A": "b=c=="}, id="equals signs in the value"),
        pytest.param("A=it's", {"A": "it's"}, id="apostrophe"),
        pytest.param("A='b' c", {"A": "'b' c"}, id="text after the quotes"),
        pytest.param(f"A={PEM}\nB=c", {"A": "-----BEGIN PRIVATE KEY-----", "B": "c"}, id="PEM without quotes"),
        pytest.param("A", {}, id="name only"),
        pytest.param("=b", {}, id="no name"),
        pytest.param("", {}, id="empty"),
    ],
)  # fmt: skip
def test_assignments_follow_dotenv_grammar(text: str, expected: dict[str, str]) -> None:
    file = parse_environment_file(text)
    assert {assignment.name: assignment.value for assignment in file.assignments} == expected
    assert file.others == (0 if expected or not text else 1)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'DB_PASSWORD=h4rbour\nJWT="{PEM}"\n', id="key of several lines"),
        pytest.param(f"MAIL_PASSWORD='{PEM}'\nA=b\n", id="single quotes"),
        pytest.param(f"A=b\nSSH_PRIVATE_KEY={PEM}\n", id="key without quotes"),
        pytest.param(f'A=b\nJWT_KEY: "{PEM}"\n', id="key after a colon"),
        pytest.param("DB_HOST: db\nDB_PASSWORD: h4rbour\n", id="colons"),
        pytest.param("db.host: db\ndb-password: h4rbour\n", id="names in lower case with dot and hyphen"),
        pytest.param("app-name=Boats\napi-key=h4rbour\n", id="hyphen in the first name"),
        pytest.param("export A=b\nexport APP_KEY=h4rbour\nexport A APP_KEY\n", id="export"),
        pytest.param("# settings\r\n\r\nA=b\r\nAPP_KEY='h4r\r\nbour'\r\n", id="CRLF and comment"),
        pytest.param("A=b\nAPP_KEY=h4rbour\nFOOTER=<p>Boats</p>\n", id="markup in a value"),
        pytest.param("A=b\nAPP_KEY=h4rbour\nFOOTER=\"<div>\n<p>Boats</p>\n</div>\"\n", id="markup in lines"),
        pytest.param("A=b\nDATABASE_URL='postgres://u:p@db/x' # main\n", id="comment after quotes"),
        pytest.param("A=b\nDB_PASSWORD=$ecret\n", id="dollar sign in a password"),
        pytest.param("OPENAI_API_KEY=sk-h4rbour\n", id="one assignment"),
        pytest.param("# production\nexport SECRET_KEY='h4r bo ur'\n", id="one assignment in quotes"),
    ],
)  # fmt: skip
def test_environment_file_is_recognized(text: str) -> None:
    assert env_file(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Password: how to choose one\nNote: use a manager\n", id="sentences after colons"),
        pytest.param("Title: Tokens\nToken: a word of a sentence\n", id="head of an article"),
        pytest.param("DB_PASSWORD: h4rbour\n", id="one assignment after a colon"),
        pytest.param("token=h4rbour\n", id="one assignment in lower case"),
        pytest.param("API_KEY=the key of your account\n", id="one assignment of a sentence"),
        pytest.param("API_KEY=<b>missing</b>\n", id="one assignment of markup"),
        pytest.param("API_KEY=h4rbour\nThe key is wrong.\n", id="one assignment and a sentence"),
        pytest.param("PORT=8080\n", id="one assignment without a secret"),
        pytest.param("Put this into .env:\nA=b\nDB_PASSWORD=c\n", id="introduction"),
        pytest.param("Put this into your file: .env\nA=b\nDB_PASSWORD=c\n", id="introduction with a colon"),
        pytest.param("User-agent: *\nDisallow: /\n", id="robots.txt"),
        pytest.param("A=b<br>\nDB_PASSWORD=c<br>\n", id="page that prints lines"),
        pytest.param("<pre>A=b\nDB_PASSWORD=c\n</pre>", id="page with a code block"),
        pytest.param("DOTENV_PUBLIC_KEY=\"02ab\"\nDB_PASSWORD=\"encrypted:BDqD\"\n", id="encrypted by dotenvx"),
        pytest.param("A=b\nDB_PASSWORD=op://vault/db/password\n", id="reference to a vault"),
        pytest.param("A=b\nDB_PASSWORD=$DB_PASSWORD\n", id="reference to a variable"),
        pytest.param("A=b\nDB_PASSWORD=\"$(pass show db)\"\n", id="command"),
        pytest.param("A=b\nDB_PASSWORD: # not set\n", id="comment in place of a value"),
        pytest.param('A=b\nDB_PASSWORD=""\n', id="empty quotes"),
        pytest.param("A=b\n# DB_PASSWORD=h4rbour\nC=d\n", id="secret in a comment"),
        pytest.param('A=b\nHELP="as in\nDB_PASSWORD=h4rbour\n"\n', id="assignment inside a value"),
        pytest.param('{"A": "b",\n"DB_PASSWORD": "c"}\n', id="JSON"),
        pytest.param("services:\n  db:\n    environment:\n      - DB_PASSWORD=c\n      - A=b\n", id="YAML"),
    ],
)  # fmt: skip
def test_similar_text_is_no_environment_file(text: str) -> None:
    assert env_file(text.encode()) is None


HOSTILE = ('A="', "A='\\", "A=`b\n", 'A="\\"\n', "A=-----BEGIN \n", "export " * 3, " " * 41, "A:", "\n", "A=\"b'c\n")


@pytest.mark.parametrize("piece", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_takes_linear_time(piece: str) -> None:
    started = time.perf_counter()
    file = parse_environment_file(piece * (65536 // len(piece)))
    assert time.perf_counter() - started < 0.5
    assert len(file.assignments) + file.others <= MAX_STATEMENTS
