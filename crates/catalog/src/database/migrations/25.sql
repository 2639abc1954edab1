-- The version of the program whose workers these are; nothing is known of those that were reported before.
ALTER TABLE worker ADD COLUMN version TEXT;
