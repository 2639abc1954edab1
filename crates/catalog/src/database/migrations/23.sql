-- An account that was invited has no password yet: the empty text is the hash of none.
ALTER TABLE account ADD COLUMN email TEXT;

-- A link by which the owner of an account sets its password, once. Only its digest is kept, and one for each account.
CREATE TABLE password_link (
    account_id BIGINT NOT NULL PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
    digest TEXT NOT NULL UNIQUE,
    expires BIGINT NOT NULL
);
