"""E-mail outbox.

E-mails are written in a transaction and sent by workers, with one-click unsubscribing.
"""
