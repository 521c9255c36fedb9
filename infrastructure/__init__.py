"""The ground of the service: API and page foundations, PostgreSQL, queue, telemetry, environment."""
