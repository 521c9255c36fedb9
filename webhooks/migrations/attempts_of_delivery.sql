-- The foreign key is not deferred, so that deleting deliveries also deletes their attempts in the same statement.
ALTER TABLE webhooks_attempt ADD CONSTRAINT webhooks_attempt_delivery
FOREIGN KEY (delivery_id) REFERENCES webhooks_delivery (id) ON DELETE CASCADE;
