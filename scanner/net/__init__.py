"""The only door to the outside: everything that leaves the service goes through here."""
