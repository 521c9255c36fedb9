"""Outbox for e-mails: written in the transaction of the event, sent by workers, with one-click unsubscription."""
