-- Full-text search: generated columns, so that no way of saving can forget them. Of each field 40,000 characters
-- are searched: a tsvector must stay below a megabyte, or the row could not be stored. `translate` splits file names
-- and ids into words.

CREATE EXTENSION IF NOT EXISTS pg_trgm;

ALTER TABLE studio_benchmark ADD COLUMN search tsvector GENERATED ALWAYS AS (
  setweight(to_tsvector('english', translate(left(slug, 40000), '/_.-', '    ')), 'A')
  || setweight(to_tsvector('english', left(name, 40000)), 'A')
  || setweight(to_tsvector('english', left(description, 40000)), 'C')
) STORED;
CREATE INDEX studio_benchmark_search ON studio_benchmark USING gin (search);

ALTER TABLE studio_persona ADD COLUMN search tsvector GENERATED ALWAYS AS (
  setweight(to_tsvector('english', translate(left(user_id, 40000), '/_.-', '    ')), 'A')
  || setweight(to_tsvector('english', left(name, 40000)), 'A')
  || setweight(to_tsvector('english', left(role_text, 40000)), 'B')
  || setweight(to_tsvector('english', left(occupation, 40000)), 'B')
  || setweight(to_tsvector('english', left(routines, 40000)), 'C')
  || setweight(to_tsvector('english', left(working_style, 40000)), 'C')
) STORED;
CREATE INDEX studio_persona_search ON studio_persona USING gin (search);

ALTER TABLE studio_task ADD COLUMN search tsvector GENERATED ALWAYS AS (
  setweight(to_tsvector('english', translate(left(task_id, 40000), '/_.-', '    ')), 'A')
  || setweight(to_tsvector('english', left(title, 40000)), 'A')
  || setweight(to_tsvector('english', left(initial_request, 40000)), 'B')
  || setweight(to_tsvector('english', left(description, 40000)), 'C')
  || setweight(to_tsvector('english', left(reference_workflow, 40000)), 'C')
) STORED;
CREATE INDEX studio_task_search ON studio_task USING gin (search);

ALTER TABLE studio_hiddenintent ADD COLUMN search tsvector GENERATED ALWAYS AS (
  setweight(to_tsvector('english', left(content, 40000)), 'B')
) STORED;
CREATE INDEX studio_hiddenintent_search ON studio_hiddenintent USING gin (search);

ALTER TABLE studio_checklistitem ADD COLUMN search tsvector GENERATED ALWAYS AS (
  setweight(to_tsvector('english', left(criterion, 40000)), 'B')
) STORED;
CREATE INDEX studio_checklistitem_search ON studio_checklistitem USING gin (search);

ALTER TABLE studio_asset ADD COLUMN search tsvector GENERATED ALWAYS AS (
  setweight(to_tsvector('english', translate(left(path, 40000), '/_.-', '    ')), 'A')
  || setweight(to_tsvector('english', left(description, 40000)), 'C')
) STORED;
CREATE INDEX studio_asset_search ON studio_asset USING gin (search);

ALTER TABLE studio_expectedartifact ADD COLUMN search tsvector GENERATED ALWAYS AS (
  setweight(to_tsvector('english', translate(left(path, 40000), '/_.-', '    ')), 'A')
  || setweight(to_tsvector('english', left(note, 40000)), 'C')
) STORED;
CREATE INDEX studio_expectedartifact_search ON studio_expectedartifact USING gin (search);

ALTER TABLE studio_comment ADD COLUMN search tsvector GENERATED ALWAYS AS (
  setweight(to_tsvector('english', left(text, 40000)), 'B')
) STORED;
CREATE INDEX studio_comment_search ON studio_comment USING gin (search);

-- Parts of words and misspellings match, by trigrams.
CREATE INDEX studio_benchmark_named ON studio_benchmark USING gin (((slug || ' ' || name)) gin_trgm_ops);
CREATE INDEX studio_persona_named ON studio_persona USING gin (((user_id || ' ' || name)) gin_trgm_ops);
CREATE INDEX studio_task_named ON studio_task USING gin (((task_id || ' ' || title)) gin_trgm_ops);
CREATE INDEX studio_asset_named ON studio_asset USING gin ((path) gin_trgm_ops);
CREATE INDEX studio_expectedartifact_named ON studio_expectedartifact USING gin ((path) gin_trgm_ops);
