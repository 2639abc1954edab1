-- The time zone in which an account reads times, such as Europe/Berlin; UTC unless there is one.
ALTER TABLE account ADD COLUMN time_zone TEXT;
