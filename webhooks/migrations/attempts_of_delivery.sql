-- Not deferred: a statement that deletes deliveries deletes their attempts.
ALTER TABLE webhooks_attempt ADD CONSTRAINT webhooks_attempt_delivery
FOREIGN KEY (delivery_id) REFERENCES webhooks_delivery (id) ON DELETE CASCADE;
