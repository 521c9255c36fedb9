"""Django database backend for PostgreSQL with a connection check that needs no round trip to the server."""
