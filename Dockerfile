# One image for web, workers and scheduler, and the same with Chromium for the worker that needs it; compose.yaml says
# which command each of them runs.
FROM python:3.12-slim-bookworm AS service

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=config.settings \
    DATA_DIR=/data \
    LOG_FORMAT=json

WORKDIR /app

COPY requirements.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements.txt

COPY manage.py openapi.yaml ./
COPY accounts/ accounts/
COPY config/ config/
COPY dashboard/ dashboard/
COPY docs/ docs/
COPY documentation/ documentation/
COPY infrastructure/ infrastructure/
COPY operations/ operations/
COPY reports/ reports/
COPY scanner/ scanner/
COPY scans/ scans/
COPY static/ static/
COPY templates/ templates/
COPY sites/ sites/
COPY webhooks/ webhooks/

# Owns only what it writes: the static files now, the scheduler's file later.
RUN useradd --system --uid 10001 --no-create-home app && mkdir /data && chown app /data
USER app
RUN python manage.py collectstatic --noinput

EXPOSE 8000
CMD ["gunicorn", "config.wsgi:application", "--bind", "0.0.0.0:8000", "--worker-class", "config.gunicorn.Worker", \
     "--limit-request-line", "8190", "--workers", "4", "--threads", "4", "--keep-alive", "30", "--reuse-port", \
     "--graceful-timeout", "30", "--log-level", "warning", "--worker-tmp-dir", "/dev/shm", "--preload", \
     "--no-control-socket"]

FROM service AS browser
USER root
RUN apt-get update && apt-get install --yes --no-install-recommends chromium-headless-shell fonts-liberation \
    && rm -rf /var/lib/apt/lists/*
COPY requirements-browser.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements-browser.txt
USER app

# For builds: `website-scan` and Chromium, with neither a service nor an entrypoint, so that a job brings its own commands.
FROM python:3.12-slim-bookworm AS command
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN apt-get update && apt-get install --yes --no-install-recommends chromium-headless-shell fonts-liberation \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY requirements-command-browser.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements-command-browser.txt
COPY pyproject.toml README.md LICENSE ./
COPY scanner/ scanner/
RUN pip install --no-cache-dir --no-deps .
RUN useradd --system --uid 10001 --no-create-home app
USER app
WORKDIR /tmp
CMD ["website-scan", "--help"]

# Without a target, the image is the one without Chromium.
FROM service
