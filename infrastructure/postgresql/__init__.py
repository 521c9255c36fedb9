"""Django database backend for PostgreSQL whose connection check needs no round trip to the server."""
