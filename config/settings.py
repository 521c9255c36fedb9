"""Django settings, read from the environment.

`docs/operations.md` explains the variables.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import environ
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.draining import DRAIN_S  # noqa: F401  # imported to validate the setting; config.gunicorn uses it
from config.identity import *  # noqa: F403  # read as `settings.…`
from infrastructure import environment
from infrastructure.api.framework import REST_FRAMEWORK, SPECTACULAR_SETTINGS  # noqa: F401  # read as `settings.…`
from infrastructure.logging import logging_config
from infrastructure.telemetry import tracing
from operations.stack import running
from operations.stack.running import BASE_DIR, DATA_DIR
from website_scan import __version__
from website_scan.environment import Exemption, IPNetwork, boolean, exemptions, instead, networks, positive, read, words
from website_scan.report import templating
from website_scan.settings import (  # noqa: F401  # read as `settings.…`
    SCAN_ALLOWED_NETWORKS,
    SCAN_ALLOWED_PORTS,
    SCAN_BROWSER,
    SCAN_BROWSER_MEMORY_MIB,
    SCAN_BROWSER_SANDBOX,
    SCAN_CA_BUNDLE,
    SCAN_DENIED_NETWORKS,
    SCAN_MAIL_SERVERS,
    SCAN_NAME_SERVERS,
    SCAN_ORIGIN_ZONE,
    SCAN_PLUGINS,
    SCAN_RPKI_URL,
    SCAN_TIME_LIMIT_S,
)
from website_scan.written_urls import split_url

instead.update(running.variables_of(DATA_DIR))
WORKER_HEARTBEAT_FILE = read("WORKER_HEARTBEAT_FILE", Path, None, "A file that a worker may write.")

DEBUG = read("DEBUG", boolean, False, "Set it to 1 or 0.")
SECRET_KEY = read("SECRET_KEY", environment.secret_key, "", environment.KEY_INSTRUCTIONS)
SECRET_KEY_FALLBACKS: list[str] = read(
    "SECRET_KEY_FALLBACKS", environment.secret_keys, [], "Former keys, newest first, each of at least 32 characters."
)
# The first key encrypts secrets. All keys, and Django's secret keys, can decrypt them.
ENCRYPTION_KEYS: list[str] = read(
    "ENCRYPTION_KEYS", environment.secret_keys, [], "Long random strings; `openssl rand -hex 32` makes one."
)

BASE_URL = read(
    "BASE_URL",
    environment.base_url,
    f"http://localhost:{read('PORT', positive, 8000, 'A port number.')}",
    "The address under which people reach the service, such as https://scan.example.com.",
)
ALLOWED_HOSTS = [
    *read("ALLOWED_HOSTS", words, ["localhost", "127.0.0.1", "[::1]"], "Host names."),
    split_url(BASE_URL).hostname or "localhost",
]
CSRF_TRUSTED_ORIGINS = [BASE_URL]
TRUSTED_PROXIES = read(
    "TRUSTED_PROXIES",
    environment.trusted_proxies,
    environment.NO_PROXIES,
    "A number of proxies, or CIDRs separated by commas.",
)

SCAN_VISITS_PER_DOMAIN = read("SCAN_VISITS_PER_DOMAIN", positive, 4, "How many visits, such as 4.")
SCAN_GAP_PER_DOMAIN_S = read("SCAN_GAP_PER_DOMAIN", environment.gap, 1.0, "Seconds from 0 to 300, such as 1 or 0.5.")
SCAN_REQUESTS_TO_OTHER_SITES = read(
    "SCAN_REQUESTS_TO_OTHER_SITES", environment.requests, 6_000, "How many requests in ten minutes, such as 6000."
)
SCAN_QUEUE_LIMIT = read("SCAN_QUEUE_LIMIT", positive, 10_000, "How many scans may wait before new ones get a 503.")
SCAN_QUEUE_AGE_LIMIT_S = read(
    "SCAN_QUEUE_AGE_LIMIT", positive, 120, "Seconds that a scan may wait for its turn, such as 120."
)
SCAN_JOURNEY_NETWORKS: tuple[Exemption, ...] = read(
    "SCAN_JOURNEY_NETWORKS",
    exemptions,
    (),
    "CIDRs such as 10.20.0.0/16, or with a port 10.0.0.5/32:8080, separated by commas.",
)
SCAN_LEASE_S = 20
MAINTENANCE_MODE = read("MAINTENANCE_MODE", boolean, False, "Set it to 1 or 0.")
MAIL_RETENTION_DAYS = 30

INSTALLED_APPS = [
    "config",
    "infrastructure",
    "operations",
    "operations.stack",
    "documentation",
    # django-allauth is before `accounts`, which removes django-allauth's models from the admin.
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "accounts",
    # The apps receive `scan_ended` in this order, so report and event exist when the audit counts the scan.
    "reports",
    "webhooks",
    "scans",
    "sites",
    "config.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "django_htmx",
]

MIDDLEWARE = [
    "infrastructure.web.proxies.TrustedProxyMiddleware",
    "infrastructure.web.middleware.RequestIdMiddleware",
    "infrastructure.telemetry.middleware.TelemetryMiddleware",
    "infrastructure.web.middleware.PageCompressionMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "infrastructure.web.csp.ContentSecurityPolicyMiddleware",
    "infrastructure.web.middleware.PermissionsPolicyMiddleware",
    "operations.health.probes.HealthMiddleware",
    "operations.metrics.endpoint.MetricsMiddleware",
    "infrastructure.web.middleware.OutageMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "accounts.sessions.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "accounts.identity.requirements.RequirementMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

FILE_UPLOAD_HANDLERS = ["infrastructure.web.uploads.FilesInMemory"]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False

CONTEXT_PROCESSORS = [
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
]
TEMPLATES = [
    # Template engine for all pages and e-mails.
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "templates", templating.TEMPLATES],
        "OPTIONS": {
            "environment": "config.templates.environment",
            "context_processors": [
                *CONTEXT_PROCESSORS,
                "accounts.roles.membership",
                "accounts.drafts.draft_of",
                "config.templates.csrf",
            ],
        },
    },
    # Template engine for the Django admin.
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates" / "django"],
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": ["django.template.context_processors.request", *CONTEXT_PROCESSORS]},
    },
]

DATABASE_URL = read(
    "DATABASE_URL",
    environment.database_url,
    "postgresql:///website_scan_service",
    "postgresql://user:password@host:5432/name",
)
DATABASE = environ.Env.db_url_config(DATABASE_URL)
DATABASES = {
    "default": {
        **DATABASE,
        "ENGINE": "infrastructure.postgresql",
        # Each thread has a persistent connection. The health check of a request detects a broken connection.
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "connect_timeout": 3,
            # A crashed server does not close its connections. These options end such connections after about 30 s
            # without response.
            "tcp_user_timeout": 10_000,
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            # By default, Django disables prepared statements; `infrastructure.postgresql.statements` uses them.
            "prepare_threshold": 5,
            **DATABASE.get("OPTIONS", {}),
        },
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = read(
    "REDIS_URL",
    environment.url_with_scheme("redis", "rediss"),
    "redis://localhost:6379/0",
    "redis://:password@host:6379/0",
)
REDIS_TIMEOUTS: dict[str, Any] = {
    "socket_timeout": 0.5,
    "socket_connect_timeout": 0.5,
    "retry": Retry(NoBackoff(), 0),  # Without Redis, callers fail fast instead of waiting.
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": REDIS_TIMEOUTS | {"serializer": "infrastructure.cache.JsonSerializer"},
    },
}

AUTH_USER_MODEL = "accounts.User"
# scrypt takes half of PBKDF2's time for a login, but each guess at a stolen hash needs 16 MiB. Django replaces a PBKDF2
# hash at the next login.
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
# If closed, people need an invitation, and only operators create organizations.
SIGN_UP_OPEN = read("SIGN_UP", environment.one_of("open", "closed"), "open", "Set it to open or closed.") == "open"
PASSWORD_RESET_TIMEOUT = 3600
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/dashboard/"
LOGOUT_REDIRECT_URL = "/"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
FORMAT_MODULE_PATH = "infrastructure.web.formats"
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static", templating.STATIC]
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
# Fonts and images are compressed formats, and browsers rarely load source maps.
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = [
    *("jpg", "jpeg", "png", "gif", "webp", "zip", "gz", "br"),
    *("woff", "woff2", "ttf", "eot", "svg", "map"),
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

EMAIL_CONFIG = environ.Env.email_url_config(
    read(
        "EMAIL_URL",
        environment.url_with_scheme("smtp", "smtps", "smtp+tls", "smtp+ssl", "consolemail"),
        "consolemail://",
        "smtp+tls://user:password@host:587",
    )
)
vars().update(EMAIL_CONFIG)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = read(
    "EMAIL_FROM",
    environment.mailbox,
    f"noreply@{split_url(BASE_URL).hostname}",
    "The sender, such as noreply@scan.example.com.",
)

SOURCE_URL = read(
    "SOURCE_URL",
    environment.url_with_scheme("https", "http"),
    "",
    "https://git.example.com/scan, where your changed code is, or the original's.",
)
SECURITY_CONTACT = read(
    "SECURITY_CONTACT", environment.contact, "", "security@example.com, or the https address of a page."
)

SCAN_CONTACT = read("SCAN_CONTACT", environment.contact, "", "abuse@example.com, or the https address of a page.")
SCAN_SOURCE_ADDRESSES: tuple[IPNetwork, ...] = read(
    "SCAN_SOURCE_ADDRESSES", networks, (), "Addresses or CIDRs such as 203.0.113.7, separated by commas."
)

SECURE = BASE_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE
SESSION_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "accounts.pages.login.csrf_failure"
SECURE_HSTS_SECONDS = 31_536_000 if SECURE else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SECURE else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# `manage.py site_docs` sets STATIC_SITE while it renders the public pages as static files.
STATIC_SITE = False

# The pages use no device features except the clipboard.
PERMISSIONS_POLICY = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
# No page has inline scripts or styles.
SECURE_CSP = {
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    "style-src": ["'self'"],
    "img-src": ["'self'"],
    "font-src": ["'self'"],
    "connect-src": ["'self'"],
    "manifest-src": ["'self'"],
    "form-action": ["'self'"],
    "base-uri": ["'none'"],
    "frame-ancestors": ["'none'"],
}

LOG_FORMAT = read("LOG_FORMAT", str, "text", "text or json")
ACCESS_LOG = read("ACCESS_LOG", boolean, True, "Set it to 1 or 0.")
LOGGING = logging_config(LOG_FORMAT)
# Without a token, the service responds to /metrics with 404.
METRICS_TOKEN = read("METRICS_TOKEN", environment.secret_key, "", "A long random string for whoever may read /metrics.")

OTEL_EXPORTER_OTLP_ENDPOINT = read(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    environment.collector,
    "",
    "http://collector:4318, with the packages of the extra `otel` installed.",
)
if OTEL_EXPORTER_OTLP_ENDPOINT:
    tracing.start("website-scan-service", __version__)

SENTRY_DSN = read("SENTRY_DSN", environment.base_url, "", "https://key@host/project")
if SENTRY_DSN:
    import sentry_sdk

    # Request bodies and local variables contain secrets: passwords, API keys, credentials for scanned sites.
    sentry_sdk.init(
        dsn=SENTRY_DSN, send_default_pii=False, max_request_body_size="never", include_local_variables=False
    )
