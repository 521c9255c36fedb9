from __future__ import annotations

import pytest

from website_scan.page.session_signs import (
    SessionSigns,
    has_log_out_address,
    names_log_in,
    names_log_out,
    session_signs,
)
from website_scan.urls import Url

URL = "https://site.example.com/account"


@pytest.mark.parametrize(
    "name",
    [
        *("Log out", "Logout", "LOG OUT", "log-out", " Sign\n out ", "Sign off", "Log out of all devices"),
        *("Yes, log out", "logout Log out"),  # The second one begins with the name of an icon.
        *("Abmelden", "Ausloggen", "Déconnexion", "Se déconnecter", "Cerrar sesión", "Terminar sessão", "Esci"),
        *("Salir", "Sair", "Uitloggen", "Afmelden", "Logga ut", "Log ud", "Logg ut", "Odhlásit se", "Wyloguj się"),
    ],
)
def test_names_of_controls_that_log_out(name: str) -> None:
    assert names_log_out(name)
    assert not names_log_in(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", "Log in", "Sign in", "Out", "Check out", "Blog output", "Log", "Loans", "Salir de compras"),
        "Read here how you can log out of your account on all of your devices",
        "Log out " * 100,
    ],
)
def test_names_of_controls_that_do_not_log_out(name: str) -> None:
    assert not names_log_out(name)


@pytest.mark.parametrize(
    "name", ["Log in", "Sign in", "Sign in to continue", "Anmelden", "Se connecter", "Iniciar sesión", "Přihlášení"]
)
def test_names_of_controls_that_log_in(name: str) -> None:
    assert names_log_in(name)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        *(("/logout", True), ("/users/sign_out", True), ("/log-out/", True), ("/LogOut.php", True)),
        *(("/wp-login.php?action=logout&nonce=1", True), ("/de/abmelden", True), ("/d%C3%A9connexion", False)),
        *(("/login", False), ("/account", False), ("/account?next=/login", False), ("/checkout", False)),
    ],
)
def test_addresses_that_log_out(path: str, expected: bool) -> None:
    assert has_log_out_address(Url.of(f"https://site.example.com{path}")) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<button>Log out</button>", SessionSigns(True, False, False)),
        ("<a href=/x><svg></svg> <span>Sign out</span></a>", SessionSigns(True, False, False)),
        ('<a href="/x" aria-label="Log out"><svg></svg></a>', SessionSigns(True, False, False)),
        ('<a href="/x"><img src=o.png alt="Log out"></a>', SessionSigns(True, False, False)),
        ('<input type=submit value="Log out">', SessionSigns(True, False, False)),
        ("<div role=menuitem>Log out</div>", SessionSigns(True, False, False)),
        ('<a href="logout"><svg></svg></a>', SessionSigns(True, False, False)),
        ('<form method=post action="/session/logout"><button>Go</button></form>', SessionSigns(True, False, False)),
        ("<div hidden><a href=/x>Log out</a></div>", SessionSigns(True, False, False)),  # In a closed menu.
        ("<h2>Log out of all devices</h2><p>Log out</p>", SessionSigns(False, False, False)),
        ("<script>'<button>Log out</button>'</script>", SessionSigns(False, False, False)),
        ("<template><button>Log out</button></template>", SessionSigns(False, False, False)),
        ("<a href=/login>Log in</a>", SessionSigns(False, True, False)),
        ("<input type=password>", SessionSigns(False, False, True)),
        ('<div style="display:none"><input type=password></div>', SessionSigns(False, False, False)),
        ("", SessionSigns(False, False, False)),
        ('<a href="http://[">x</a>', SessionSigns(False, False, False)),
    ],
)
def test_signs_in_markup(body: str, expected: SessionSigns) -> None:
    assert session_signs(f"<!doctype html><html><body>{body}</body></html>", URL) == expected
