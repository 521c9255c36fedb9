"""Realistic files that must not be in a web root, by the check that finds them."""

from __future__ import annotations

import functools
import io
import json
import sqlite3
import tarfile
import tempfile
import zipfile
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

SECRET = "k9Tz-hunter2-QxW4"  # Text files with secrets contain this one, which must not appear in evidence.


@functools.cache
def make_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("index.php", f"<?php $password = '{SECRET}';" * 50)
    return buffer.getvalue()


@functools.cache
def make_tar(mode: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        info = tarfile.TarInfo("www/index.php")
        info.size = 5
        archive.addfile(info, io.BytesIO(b"<?php"))
    return buffer.getvalue()


@functools.cache
def make_database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "db.sqlite3")
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE users (name TEXT, password TEXT)")
        connection.execute("INSERT INTO users VALUES ('alice', ?)", (SECRET,))
        connection.commit()
        connection.close()
        return path.read_bytes()


@functools.cache
def make_key(kind: str) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1()) if kind == "ec" else rsa.generate_private_key(65537, 2048)
    form = serialization.PrivateFormat.OpenSSH if kind == "ec" else serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


COMMIT = "9f2c" * 10
GIT_CONFIG = f"""[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
[remote "origin"]
\turl = https://deploy:{SECRET}@git.example.com/shop.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
\tremote = origin
"""
ENV = f"""# Production
APP_ENV=production
APP_KEY=base64:{SECRET}
export DB_HOST="db"

DB_PASSWORD={SECRET}
PRIVATE_KEY="-----BEGIN PRIVATE KEY-----
"
"""
MYSQL_DUMP = f"""-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
--
-- Host: localhost    Database: shop
-- ------------------------------------------------------
/*!40101 SET NAMES utf8 */;

DROP TABLE IF EXISTS `users`;
CREATE TABLE `users` (
  `id` int NOT NULL,
  `password` varchar(255)
) ENGINE=InnoDB;
INSERT INTO `users` VALUES (1,'{SECRET}');
"""
SQL_SERVER_DUMP = "USE [shop]\r\nGO\r\nCREATE TABLE [dbo].[Users](\r\n[Id] [int] NOT NULL)\r\nGO\r\n"
POSTGRES_DUMP = """--
-- PostgreSQL database dump
--

SET statement_timeout = 0;
CREATE TABLE public.users (
    id integer NOT NULL
);
"""
WP_CONFIG = f"""<?php
/** The base configuration for WordPress */
define( 'DB_NAME', 'shop' );
define( 'DB_PASSWORD', '{SECRET}' );
"""
CONFIG_PHP = f"<?php\n$db['host'] = 'localhost';\n$db['password'] = '{SECRET}';\n"
PHPINFO = """<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>PHP 8.2.7 - phpinfo()</title></head>
<body><div class="center"><table><tr class="h"><td><h1 class="p">PHP Version 8.2.7</h1></td></tr></table>
<table><tr><td class="e">System </td><td class="v">Linux web 6.1 </td></tr>
<tr><td class="e">PHP Extension </td><td class="v">20220829 </td></tr></table></div></body></html>"""
SERVER_STATUS = """<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">
<html><head><title>Apache Status</title></head><body>
<h1>Apache Server Status for site.example.com (via 10.0.0.7)</h1>
<dl><dt>Server Version: Apache/2.4.57 (Debian)</dt><dt>Server MPM: event</dt></dl></body></html>"""
SERVER_INFO = """<!DOCTYPE html><html><head><title>Server Information</title></head><body>
<h1>Apache Server Information</h1><dl><dt><strong>Server Version:</strong> <tt>Apache/2.4</tt></dt></dl></html>"""
ACTUATOR = {"_links": {"self": {"href": "http://site/actuator"}, "env": {"href": "http://site/actuator/env"}}}
ACTUATOR_ENV = {"activeProfiles": ["prod"], "propertySources": [{"name": "x", "properties": {"p": {"value": SECRET}}}]}
COMPOSE = f"""# The shop
version: "3.8"

services:

  # The database
  db:
    image: postgres:16
    environment:
      POSTGRES_PASSWORD: {SECRET}
volumes:
  data: {{}}
"""
LARAVEL_LOG = f"""[2026-11-20 09:12:44] production.ERROR: SQLSTATE (using password: {SECRET}) {{"exception":"[object]
[stacktrace]
#0 /var/www/vendor/laravel/framework/src/Connection.php(760): PDO->__construct()
#1 {{main}}
"}}
[2026-11-20 09:12:45] production.INFO: done
"""
PHP_LOG = "[20-Nov-2026 09:12:44 UTC] PHP Warning:  Undefined variable $x in /var/www/html/index.php on line 3\n"
NGINX_LOG = '2026/11/20 09:12:44 [error] 7#7: *1 open() "/var/www/x" failed (2: No such file or directory)\n'
ACCESS_LOG = '192.0.2.1 - alice [20/Nov/2026:09:12:44 +0000] "GET /?token=abc HTTP/1.1" 200 12\n' * 3
JAVA_LOG = """2026-11-20 09:12:44.120 ERROR 1 --- [main] o.s.boot.SpringApplication : failed
java.lang.IllegalStateException: no
\tat com.example.Shop.run(Shop.java:12)
Caused by: java.lang.NullPointerException
\t... 3 more
"""
OPENAPI = {"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "paths": {"/orders": {}}}
SWAGGER = {"swagger": "2.0", "info": {}, "paths": {"/orders": {}}}
GRAPHQL = {"data": {"__schema": {"queryType": {"name": "Query"}}}}
SOURCE_MAP = {"version": 3, "file": "app.js", "mappings": "AAAA,SAASA", "sources": ["../src/app.ts"], "names": []}


def _to_json(value: object) -> bytes:
    return json.dumps(value).encode()


def files() -> dict[str, dict[str, bytes]]:
    """Return the exposed files by check ID and path.

    A scan of localhost requests all these paths.
    """
    return {
        "exposed-git": {
            "/.git/config": GIT_CONFIG.encode(),
            "/.git/HEAD": b"ref: refs/heads/main\n",
            "/.git/index": b"DIRC\0\0\0\2\0\0\0\1" + bytes(72),
            "/.git/logs/HEAD": f"{'0' * 40} {COMMIT} Alice <alice@example.com> 1700000000 +0100\tclone: x\n".encode(),
            "/.git/packed-refs": f"# pack-refs with: peeled fully-peeled sorted \n{COMMIT} refs/heads/main\n".encode(),
            "/.git/FETCH_HEAD": f"{COMMIT}\t\tbranch 'main' of https://git.example.com/shop\n".encode(),
            "/.git/info/exclude": b"# git ls-files --others --exclude-from=.git/info/exclude\n*.log\n",
        },
        "exposed-svn-hg": {
            "/.svn/entries": b"12\n",
            "/.svn/wc.db": make_database(),
            "/.hg/requires": b"dotencode\nfncache\ngeneraldelta\nrevlogv1\nsparserevlog\nstore\n",
        },
        "exposed-env": dict.fromkeys(("/.env", "/.env.local", "/.env.production", "/.env.bak"), ENV.encode()),
        "exposed-credentials": {
            "/.aws/credentials": f"[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\n"
            f"aws_secret_access_key = {SECRET}wJalrXUtnFEMI\n".encode(),
            "/.npmrc": f"registry=https://npm.example.com/\n//npm.example.com/:_authToken={SECRET}\n".encode(),
            "/.htpasswd": b"alice:$apr1$mBlXAbcd$Yg4b9Eo1zXH7hQ2uV0s9T/\nbob:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n",
            "/id_rsa": make_key("rsa"),
            "/.ssh/id_rsa": make_key("rsa"),
            "/.ssh/id_ed25519": make_key("ec"),
            "/.git-credentials": f"https://alice:{SECRET}@git.example.com\n".encode(),
        },
        "exposed-backup": {
            "/backup.zip": make_zip(),
            "/localhost.zip": make_zip(),
            "/www.zip": make_zip(),
            "/backup.tar.gz": make_tar("w:gz"),
            "/localhost.tar.gz": make_tar("w"),
        },
        "exposed-sql-dump": {
            "/dump.sql": MYSQL_DUMP.encode(),
            "/backup.sql": POSTGRES_DUMP.encode(),
            "/database.sql": SQL_SERVER_DUMP.encode("utf-16"),
            "/db.sql": b"INSERT INTO users (id) VALUES (1);\n",
        },
        "exposed-sqlite": dict.fromkeys(("/db.sqlite3", "/database.sqlite", "/database.db"), make_database()),
        "exposed-source-backup": {
            "/wp-config.php.bak": WP_CONFIG.encode(),
            "/wp-config.php~": WP_CONFIG.encode(),
            "/wp-config.php.swp": b"b0VIM 9.0\0\0\0\0" + bytes(4000) + WP_CONFIG.encode(),
            "/.wp-config.php.swp": b"b0VIM 8.2\0\0\0\0" + bytes(4000) + WP_CONFIG.encode(),
            "/config.php.bak": CONFIG_PHP.encode(),
        },
        "exposed-phpinfo": {"/phpinfo.php": PHPINFO.encode(), "/info.php": PHPINFO.encode()},
        "exposed-server-status": {"/server-status": SERVER_STATUS.encode(), "/server-info": SERVER_INFO.encode()},
        "exposed-actuator": {"/actuator/env": _to_json(ACTUATOR_ENV), "/actuator": _to_json(ACTUATOR)},
        "exposed-compose": {
            "/docker-compose.yml": COMPOSE.encode(),
            "/compose.yaml": COMPOSE.replace("\n", "\r\n").encode(),
            "/compose.yml": b"services:\n  web:\n    build: .\n",
        },
        "exposed-ds-store": {"/.DS_Store": b"\0\0\0\1Bud1" + bytes(600)},
        "exposed-logs": {
            "/debug.log": JAVA_LOG.encode(),
            "/error.log": NGINX_LOG.encode(),
            "/error_log": PHP_LOG.encode(),
            "/storage/logs/laravel.log": LARAVEL_LOG.encode(),
            "/wp-content/debug.log": ACCESS_LOG.encode(),
        },
        "exposed-api-docs": {
            "/swagger.json": _to_json(SWAGGER),
            "/openapi.json": _to_json(OPENAPI),
            "/v2/api-docs": _to_json(SWAGGER),
            "/v3/api-docs": _to_json(OPENAPI),
            "/graphql": _to_json(GRAPHQL),
        },
        "exposed-source-maps": {"/js/app.js.map": _to_json(SOURCE_MAP)},
    }
