-- Words by which people group repositories, with commas between them, in the order of the alphabet.
ALTER TABLE repository ADD COLUMN tags TEXT NOT NULL DEFAULT '';
