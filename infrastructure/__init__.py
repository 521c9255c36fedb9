"""Infrastructure that all apps share: bases of API and pages, PostgreSQL, task queue, telemetry, environment."""
