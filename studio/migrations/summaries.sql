-- Rows of task and persona summaries, kept in the transaction of each change, so that no way of saving can forget them.
-- Each function locks first and counts in a statement of its own, which sees what the transactions that were waited for
-- have committed. A transaction that sets studio.summaries to 'later' summarizes by itself at its end (summarize_all).

CREATE FUNCTION begin_persona_summaries(keys bigint[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO studio_personasummary (persona_id, tasks, sessions, local, persistent, rubric, rule, files, errors,
    warnings, hints, dependencies, draft, in_review, changes_requested, approved, released, retired, categories, tools,
    skills, episode)
  SELECT k.id, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '{}'::jsonb, '{}'::jsonb, '{}'::jsonb, ''
    FROM unnest(keys) k(id) ORDER BY 1
  ON CONFLICT (persona_id) DO NOTHING;
$$;

CREATE FUNCTION summarize_all(personas bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  keys bigint[];
BEGIN
  SELECT array_agg(t.id) INTO keys
    FROM studio_task t JOIN studio_episode e ON e.id = t.episode_id WHERE e.persona_id = ANY(personas);
  PERFORM set_config('studio.summaries', 'later', true);
  IF keys IS NOT NULL THEN
    PERFORM summarize_tasks(keys);
    PERFORM summarize_intents(keys), summarize_items(keys), summarize_files(keys), summarize_needs(keys),
            summarize_findings(keys), summarize_tools(keys);
    PERFORM begin_persona_summaries(personas);
    PERFORM summarize_personas(personas);
  END IF;
  PERFORM set_config('studio.summaries', '', true);
END $$;

CREATE FUNCTION summarize_changed_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  keys bigint[];
BEGIN
  SELECT array_agg(n.id) INTO keys FROM new_rows n JOIN old_rows o USING (id)
   WHERE (n.episode_id, n.position, n.task_id, n.group_id, n.state, n.category, n.trigger_kind, n.updated_at, n.version,
          n.skills::text)
         IS DISTINCT FROM
         (o.episode_id, o.position, o.task_id, o.group_id, o.state, o.category, o.trigger_kind, o.updated_at, o.version,
          o.skills::text);
  IF keys IS NOT NULL THEN PERFORM summarize_tasks(keys); END IF;
  SELECT array_agg(n.id) INTO keys FROM new_rows n JOIN old_rows o USING (id)
   WHERE (n.tools::text, n.tool_evidence::text) IS DISTINCT FROM (o.tools::text, o.tool_evidence::text);
  IF keys IS NOT NULL THEN PERFORM summarize_tools(keys); END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION summarize_files(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM studio_tasksummary WHERE task_id = ANY(keys) ORDER BY task_id FOR NO KEY UPDATE;
  UPDATE studio_tasksummary s SET files = c.files
    FROM (SELECT k.id, count(a.id) AS files
            FROM unnest(keys) k(id) LEFT JOIN studio_asset a ON a.task_id = k.id GROUP BY k.id) c
   WHERE s.task_id = c.id AND s.files <> c.files;
END $$;

CREATE FUNCTION summarize_findings(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM studio_tasksummary WHERE task_id = ANY(keys) ORDER BY task_id FOR NO KEY UPDATE;
  UPDATE studio_tasksummary s SET errors = c.errors, warnings = c.warnings, hints = c.hints
    FROM (SELECT k.id, count(f.id) FILTER (WHERE f.severity = 'error') AS errors,
                 count(f.id) FILTER (WHERE f.severity = 'warning') AS warnings,
                 count(f.id) FILTER (WHERE f.severity = 'hint') AS hints
            FROM unnest(keys) k(id)
            LEFT JOIN studio_finding f ON f.task_id = k.id AND NOT CASE f.severity WHEN 'error'
              THEN EXISTS (SELECT FROM studio_setaside w WHERE w.task_id = k.id AND w.fingerprint = f.fingerprint)
              ELSE EXISTS (SELECT FROM studio_waiver w WHERE w.task_id = k.id AND w.fingerprint = f.fingerprint) END
           GROUP BY k.id) c
   WHERE s.task_id = c.id AND (s.errors, s.warnings, s.hints) IS DISTINCT FROM (c.errors, c.warnings, c.hints);
END $$;

CREATE FUNCTION summarize_intents(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM studio_tasksummary WHERE task_id = ANY(keys) ORDER BY task_id FOR NO KEY UPDATE;
  UPDATE studio_tasksummary s SET local = c.local, persistent = c.persistent
    FROM (SELECT k.id, count(i.id) FILTER (WHERE i.scope <> 'persistent') AS local,
                 count(i.id) FILTER (WHERE i.scope = 'persistent') AS persistent
            FROM unnest(keys) k(id) LEFT JOIN studio_hiddenintent i ON i.task_id = k.id GROUP BY k.id) c
   WHERE s.task_id = c.id AND (s.local, s.persistent) IS DISTINCT FROM (c.local, c.persistent);
END $$;

CREATE FUNCTION summarize_items(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM studio_tasksummary WHERE task_id = ANY(keys) ORDER BY task_id FOR NO KEY UPDATE;
  UPDATE studio_tasksummary s SET rubric = c.rubric, rule = c.rule
    FROM (SELECT k.id, count(i.id) FILTER (WHERE i.grader <> 'rule') AS rubric,
                 count(i.id) FILTER (WHERE i.grader = 'rule') AS rule
            FROM unnest(keys) k(id) LEFT JOIN studio_checklistitem i ON i.task_id = k.id AND i.criterion <> ''
           GROUP BY k.id) c
   WHERE s.task_id = c.id AND (s.rubric, s.rule) IS DISTINCT FROM (c.rubric, c.rule);
END $$;

CREATE FUNCTION summarize_needs(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM studio_tasksummary WHERE task_id = ANY(keys) ORDER BY task_id FOR NO KEY UPDATE;
  UPDATE studio_tasksummary s SET needs = c.needs
    FROM (SELECT k.id, coalesce(array_agg(d.requires_id ORDER BY d.position, d.id) FILTER (WHERE d.id IS NOT NULL),
                                '{}') AS needs
            FROM unnest(keys) k(id) LEFT JOIN studio_dependency d ON d.task_id = k.id GROUP BY k.id) c
   WHERE s.task_id = c.id AND s.needs <> c.needs;
END $$;

CREATE FUNCTION summarize_new_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  keys bigint[];
BEGIN
  SELECT array_agg(id) INTO keys FROM new_rows;
  PERFORM summarize_tasks(keys);
  SELECT array_agg(id) INTO keys FROM new_rows WHERE tools::text <> '[]' OR tool_evidence::text <> '[]';
  IF keys IS NOT NULL THEN PERFORM summarize_tools(keys); END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION summarize_new_versions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  keys bigint[];
BEGIN
  SELECT array_agg(DISTINCT task_id) INTO keys FROM new_rows;
  IF keys IS NOT NULL THEN PERFORM summarize_tasks(keys); END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION summarize_parts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  keys bigint[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(DISTINCT task_id) INTO keys FROM new_rows;
  ELSIF TG_OP = 'DELETE' THEN
    SELECT array_agg(DISTINCT task_id) INTO keys FROM old_rows;
  ELSE
    SELECT array_agg(task_id) INTO keys FROM (SELECT task_id FROM old_rows UNION SELECT task_id FROM new_rows) touched;
  END IF;
  IF keys IS NULL THEN RETURN NULL; END IF;
  CASE TG_TABLE_NAME
    WHEN 'studio_hiddenintent' THEN PERFORM summarize_intents(keys), summarize_tools(keys);
    WHEN 'studio_checklistitem' THEN PERFORM summarize_items(keys), summarize_tools(keys);
    WHEN 'studio_asset' THEN PERFORM summarize_files(keys);
    WHEN 'studio_dependency' THEN PERFORM summarize_needs(keys);
    ELSE PERFORM summarize_findings(keys);
  END CASE;
  RETURN NULL;
END $$;

CREATE FUNCTION summarize_persona_of_group() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM summarize_personas(ARRAY[e.persona_id]) FROM studio_episode e WHERE e.id = NEW.episode_id;
  RETURN NULL;
END $$;

CREATE FUNCTION summarize_personas(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM studio_personasummary WHERE persona_id = ANY(keys) ORDER BY persona_id FOR NO KEY UPDATE;
  UPDATE studio_personasummary p SET tasks = c.tasks, sessions = c.sessions, local = c.local,
    persistent = c.persistent, rubric = c.rubric, rule = c.rule, files = c.files, errors = c.errors,
    warnings = c.warnings, hints = c.hints, dependencies = c.dependencies, draft = c.draft, in_review = c.in_review,
    changes_requested = c.changes_requested, approved = c.approved, released = c.released, retired = c.retired,
    categories = c.categories, tools = c.tools, skills = c.skills, episode = c.episode
    FROM (
      SELECT k.id, n.*,
             (SELECT coalesce(jsonb_object_agg(named.name, named.n), '{}') FROM (
               SELECT s.category AS name, count(*) AS n FROM studio_tasksummary s WHERE s.persona_id = k.id GROUP BY 1
             ) named) AS categories,
             (SELECT coalesce(jsonb_object_agg(named.name, named.n), '{}') FROM (
               SELECT each.name AS name, count(*) AS n
                 FROM studio_tasksummary s, unnest(s.tools) each(name) WHERE s.persona_id = k.id GROUP BY 1
             ) named) AS tools,
             (SELECT coalesce(jsonb_object_agg(named.name, named.n), '{}') FROM (
               SELECT each.name AS name, count(*) AS n
                 FROM studio_tasksummary s, unnest(s.skills) each(name) WHERE s.persona_id = k.id GROUP BY 1
             ) named) AS skills,
             coalesce((
               SELECT string_agg(concat_ws(E'\x1f', s.task_id, array_to_string(s.needs, ','),
                        CASE s.trigger_kind WHEN 'user_message' THEN '' ELSE 'signal' END,
                        translate(coalesce(g.name, ''), E'\x1e\x1f', '')), E'\x1e' ORDER BY s.position, s.task_id)
                 FROM studio_tasksummary s LEFT JOIN studio_dependencygroup g ON g.id = s."group"
                WHERE s.persona_id = k.id AND s.position IS NOT NULL AND s.state <> 'retired'
             ), '') AS episode
        FROM unnest(keys) k(id) CROSS JOIN LATERAL (
          SELECT count(*) AS tasks, count(s.position) AS sessions,
                 coalesce(sum(s.local), 0) AS local, coalesce(sum(s.persistent), 0) AS persistent,
                 coalesce(sum(s.rubric), 0) AS rubric, coalesce(sum(s.rule), 0) AS rule,
                 coalesce(sum(s.files), 0) AS files, coalesce(sum(s.errors), 0) AS errors,
                 coalesce(sum(s.warnings), 0) AS warnings, coalesce(sum(s.hints), 0) AS hints,
                 coalesce(sum(cardinality(s.needs)), 0) AS dependencies,
                 count(*) FILTER (WHERE s.state = 'draft') AS draft,
                 count(*) FILTER (WHERE s.state = 'in_review') AS in_review,
                 count(*) FILTER (WHERE s.state = 'changes_requested') AS changes_requested,
                 count(*) FILTER (WHERE s.state = 'approved') AS approved,
                 count(*) FILTER (WHERE s.state = 'released') AS released,
                 count(*) FILTER (WHERE s.state = 'retired') AS retired
            FROM studio_tasksummary s WHERE s.persona_id = k.id
        ) n
    ) c
   WHERE p.persona_id = c.id;
END $$;

CREATE FUNCTION summarize_personas_of_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  keys bigint[];
  moved bigint[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(DISTINCT persona_id) INTO keys FROM new_rows;
    PERFORM begin_persona_summaries(keys);
  ELSIF TG_OP = 'DELETE' THEN
    SELECT array_agg(DISTINCT persona_id) INTO keys FROM old_rows;
  ELSE
    SELECT array_agg(DISTINCT touched.key), array_agg(DISTINCT n.persona_id) FILTER (WHERE n.persona_id <> o.persona_id)
      INTO keys, moved
      FROM new_rows n JOIN old_rows o USING (task_id), unnest(ARRAY[n.persona_id, o.persona_id]) touched(key)
     WHERE (n.persona_id, n.position, n.name, n."group", n.state, n.category, n.trigger_kind, n.needs, n.tools,
     n.skills,
            n.local, n.persistent, n.rubric, n.rule, n.files, n.errors, n.warnings, n.hints)
           IS DISTINCT FROM
           (o.persona_id, o.position, o.name, o."group", o.state, o.category, o.trigger_kind, o.needs, o.tools,
           o.skills,
            o.local, o.persistent, o.rubric, o.rule, o.files, o.errors, o.warnings, o.hints);
    IF moved IS NOT NULL THEN PERFORM begin_persona_summaries(moved); END IF;
  END IF;
  IF keys IS NOT NULL THEN PERFORM summarize_personas(keys); END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION summarize_tasks(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO studio_tasksummary AS s (task_id, persona_id, position, name, "group", state, category, trigger_kind,
                                       updated_at, last_author, skills, local, persistent, rubric, rule, files, errors,
                                       warnings, hints, needs, tools)
  SELECT t.id, e.persona_id, t.position, t.task_id, t.group_id, t.state, t.category, t.trigger_kind, t.updated_at,
         r.created_by_id, ARRAY(SELECT json_array_elements_text(t.skills)), 0, 0, 0, 0, 0, 0, 0, 0, '{}', '{}'
    FROM studio_task t JOIN studio_episode e ON e.id = t.episode_id
    LEFT JOIN studio_revision r ON r.task_id = t.id AND r.number = t.version
   WHERE t.id = ANY(keys) ORDER BY t.id
  ON CONFLICT (task_id) DO UPDATE
    SET persona_id = excluded.persona_id, position = excluded.position, name = excluded.name,
        "group" = excluded."group", state = excluded.state, category = excluded.category,
        trigger_kind = excluded.trigger_kind, updated_at = excluded.updated_at, last_author = excluded.last_author,
        skills = excluded.skills;
END $$;

CREATE FUNCTION summarize_tools(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM studio_tasksummary WHERE task_id = ANY(keys) ORDER BY task_id FOR NO KEY UPDATE;
  UPDATE studio_tasksummary s SET tools = c.tools
    FROM (SELECT k.id, coalesce(array_agg(DISTINCT regexp_replace(trim(m.name), '^mcp_appworld_', ''))
                                FILTER (WHERE m.name <> ''), '{}') AS tools
            FROM unnest(keys) k(id) LEFT JOIN (
              SELECT t.id, json_array_elements_text(t.tools) AS name FROM studio_task t WHERE t.id = ANY(keys)
              UNION ALL SELECT t.id, shown ->> 'tool' FROM studio_task t, json_array_elements(t.tool_evidence) shown
                WHERE t.id = ANY(keys)
              UNION ALL SELECT i.task_id, i.rule ->> 'tool' FROM studio_checklistitem i
                WHERE i.task_id = ANY(keys) AND i.rule IS NOT NULL
              UNION ALL SELECT i.task_id, split_part(recovery ->> 'ref', '.', 1)
                FROM studio_hiddenintent i, json_array_elements(i.recoverable_from) recovery
                WHERE i.task_id = ANY(keys) AND recovery ->> 'kind' = 'tool'
            ) m ON m.id = k.id GROUP BY k.id) c
   WHERE s.task_id = c.id AND s.tools <> c.tools;
END $$;

DO $$
DECLARE
  made record;
BEGIN
  FOR made IN
    SELECT * FROM (VALUES
      ('summary_of_new', 'INSERT', 'studio_task', 'summarize_new_tasks'),
      ('summary_of_changed', 'UPDATE', 'studio_task', 'summarize_changed_tasks'),
      ('summary_of_version', 'INSERT', 'studio_revision', 'summarize_new_versions')
    ) of_tasks
    UNION ALL SELECT 'summary_' || lower(event), event, 'studio_' || part, 'summarize_parts'
      FROM unnest(ARRAY['INSERT', 'UPDATE', 'DELETE']) event,
           unnest(ARRAY['asset', 'checklistitem', 'dependency', 'finding', 'hiddenintent', 'setaside', 'waiver']) part
    UNION ALL SELECT 'persona_summary_' || lower(event), event, 'studio_tasksummary', 'summarize_personas_of_tasks'
      FROM unnest(ARRAY['INSERT', 'UPDATE', 'DELETE']) event
  LOOP
    EXECUTE format(
      'CREATE TRIGGER %I AFTER %s ON %I REFERENCING%s%s FOR EACH STATEMENT'
      ' WHEN (current_setting(''studio.summaries'', true) IS DISTINCT FROM ''later'') EXECUTE FUNCTION %I()',
      made.column1, made.column2, made.column3,
      CASE WHEN made.column2 <> 'INSERT' THEN ' OLD TABLE AS old_rows' END,
      CASE WHEN made.column2 <> 'DELETE' THEN ' NEW TABLE AS new_rows' END,
      made.column4
    );
  END LOOP;
END $$;

CREATE TRIGGER summary_of_group AFTER UPDATE OF name ON studio_dependencygroup
  FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION summarize_persona_of_group();
