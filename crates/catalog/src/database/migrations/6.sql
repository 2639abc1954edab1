-- Lists of documents by what was decided on them, at any size. The columns repeat what `judgement` says of a content that
-- is in the collection, a librarian's word first: most of what was rejected is not in it, so that the index of judgements
-- would not tell how few documents there are.
ALTER TABLE content ADD COLUMN decision TEXT;
ALTER TABLE content ADD COLUMN kind TEXT;
ALTER TABLE content ADD COLUMN aside BIGINT NOT NULL DEFAULT 0;
UPDATE content SET
    decision = (SELECT COALESCE(corrected_decision, decision) FROM judgement WHERE judgement.sha1 = content.sha1),
    kind = (SELECT COALESCE(corrected_kind, kind) FROM judgement WHERE judgement.sha1 = content.sha1),
    aside = (SELECT aside FROM judgement WHERE judgement.sha1 = content.sha1)
    WHERE EXISTS (SELECT 1 FROM judgement WHERE judgement.sha1 = content.sha1);

CREATE INDEX content_by_decision ON content (decision, id) WHERE decision IS NOT NULL;
CREATE INDEX content_by_kind ON content (kind, id) WHERE kind IS NOT NULL;
CREATE INDEX content_aside ON content (id) WHERE aside = 1;
CREATE INDEX document_by_type ON document (media_type, id);
