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
  || setweight(to_tsvector('english', left(spec ->> 'role_text', 40000)), 'B')
  || setweight(to_tsvector('english', left(occupation, 40000)), 'B')
  || setweight(to_tsvector('english', left(spec ->> 'routines', 40000)), 'C')
  || setweight(to_tsvector('english', left(spec ->> 'working_style', 40000)), 'C')
) STORED;
CREATE INDEX studio_persona_search ON studio_persona USING gin (search);

CREATE FUNCTION texts_of(rows json, key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(string_agg(coalesce(item ->> key, item #>> '{}'), E'\n'), '') FROM json_array_elements(rows) item;
$$;

ALTER TABLE studio_task ADD COLUMN search tsvector GENERATED ALWAYS AS (
  setweight(to_tsvector('english', translate(left(task_id, 40000), '/_.-', '    ')), 'A')
  || setweight(to_tsvector('english', left(title, 40000)), 'A')
  || setweight(to_tsvector('english', left(spec ->> 'initial_request', 40000)), 'B')
  || setweight(to_tsvector('english', left(spec ->> 'description', 40000)), 'C')
  || setweight(to_tsvector('english', left(spec ->> 'reference_workflow', 40000)), 'C')
) STORED;
CREATE INDEX studio_task_search ON studio_task USING gin (search);

-- Of the rows of each of a task's lists, together: which rows match is looked for in the tasks found.
ALTER TABLE studio_task
  ADD COLUMN search_intents tsvector GENERATED ALWAYS AS (
    to_tsvector('english', left(texts_of(spec -> 'intents', 'content'), 40000))
  ) STORED,
  ADD COLUMN search_checklist tsvector GENERATED ALWAYS AS (
    to_tsvector('english', left(texts_of(spec -> 'checklist', 'criterion'), 40000))
  ) STORED,
  ADD COLUMN search_assets tsvector GENERATED ALWAYS AS (
    to_tsvector('english', translate(left(texts_of(spec -> 'assets', 'path'), 40000), '/_.-', '    '))
    || to_tsvector('english', left(texts_of(spec -> 'assets', 'description'), 40000))
  ) STORED,
  ADD COLUMN search_expected_artifacts tsvector GENERATED ALWAYS AS (
    to_tsvector('english', translate(left(texts_of(spec -> 'expected_artifacts', 'path'), 40000), '/_.-', '    '))
    || to_tsvector('english', left(texts_of(spec -> 'expected_artifacts', 'note'), 40000))
  ) STORED;
CREATE INDEX studio_task_search_intents ON studio_task USING gin (search_intents);
CREATE INDEX studio_task_search_checklist ON studio_task USING gin (search_checklist);
CREATE INDEX studio_task_search_assets ON studio_task USING gin (search_assets);
CREATE INDEX studio_task_search_expected_artifacts ON studio_task USING gin (search_expected_artifacts);
ALTER TABLE studio_task ADD COLUMN paths text GENERATED ALWAYS AS (
  texts_of(spec -> 'assets', 'path') || E'\n' || texts_of(spec -> 'expected_artifacts', 'path')
) STORED;

ALTER TABLE studio_comment ADD COLUMN search tsvector GENERATED ALWAYS AS (
  setweight(to_tsvector('english', left(text, 40000)), 'B')
) STORED;
CREATE INDEX studio_comment_search ON studio_comment USING gin (search);

-- Parts of words and misspellings match, by trigrams.
CREATE INDEX studio_benchmark_named ON studio_benchmark USING gin (((slug || ' ' || name)) gin_trgm_ops);
CREATE INDEX studio_persona_named ON studio_persona USING gin (((user_id || ' ' || name)) gin_trgm_ops);
CREATE INDEX studio_task_named ON studio_task USING gin (((task_id || ' ' || title)) gin_trgm_ops);
CREATE INDEX studio_task_paths ON studio_task USING gin (paths gin_trgm_ops);
