-- The group of the transaction that a record came with: one that is still in it is new to those who are told of changes.
-- Nothing is known of those that are there already.
ALTER TABLE record ADD COLUMN first_change_id BIGINT NOT NULL DEFAULT -1;
