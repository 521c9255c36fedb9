"""E-mails that must not be lost: written in the transaction they tell of, sent by workers, stopped with one click."""
