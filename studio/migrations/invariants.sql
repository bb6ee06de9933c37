-- Triggers and functions as the squashed migration beside this file makes them; later changes are migrations.

SET LOCAL check_function_bodies = off;  -- they call each other

CREATE FUNCTION authors_of_revision(asked bigint) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  WITH wanted AS (
    SELECT r.task_id, r.number, b.approvals_needed
      FROM studio_revision r
      JOIN studio_task t ON t.id = r.task_id
      JOIN studio_episode e ON e.id = t.episode_id
      JOIN studio_persona p ON p.id = e.persona_id
      JOIN studio_benchmark b ON b.id = p.benchmark_id
     WHERE r.id = asked
  ), since AS (
    SELECT coalesce(max(r.number), 0) AS number
      FROM studio_revision r JOIN wanted ON r.task_id = wanted.task_id AND r.number < wanted.number
     WHERE NOT EXISTS (SELECT FROM studio_review v WHERE v.revision_id = r.id AND v.decision = 'changes_requested')
       AND (EXISTS (SELECT FROM studio_review v WHERE v.revision_id = r.id AND v.decision = 'approved_elsewhere')
            OR wanted.approvals_needed <= (SELECT count(DISTINCT v.reviewer_id) FROM studio_review v
                                            WHERE v.revision_id = r.id AND v.decision = 'approved'))
  ), versions AS (
    SELECT r.id, r.created_by_id
      FROM studio_revision r, wanted, since
     WHERE r.task_id = wanted.task_id AND r.number > since.number AND r.number <= wanted.number
  )
  SELECT created_by_id FROM versions WHERE created_by_id IS NOT NULL
   UNION
  SELECT c.author_id FROM studio_comment c JOIN versions ON versions.id = c.applied_in_id
   UNION
  SELECT o.user_id FROM studio_revision_origin_authors o JOIN versions ON versions.id = o.revision_id;
$$;

CREATE FUNCTION came_by_import(asked_task bigint, newest integer) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT NOT EXISTS (
    SELECT FROM studio_revision r
     WHERE r.task_id = asked_task AND r.number <= newest
       AND NOT EXISTS (SELECT FROM studio_event e
                        WHERE e.task_id = asked_task AND e.verb = 'imported' AND (e.data ->> 'version')::int = r.number)
  );
$$;

CREATE FUNCTION check_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.reply_to_id IS NOT NULL AND NOT EXISTS (
    SELECT FROM studio_comment c WHERE c.id = NEW.reply_to_id AND c.task_id = NEW.task_id AND c.reply_to_id IS NULL
  ) THEN
    RAISE EXCEPTION 'remark % is no remark of this task that can be answered', NEW.reply_to_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'answers_a_remark';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION check_approvals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM studio_review v JOIN studio_revision r ON r.id = v.revision_id
     WHERE r.task_id = NEW.id AND r.number = NEW.version
    HAVING bool_or(v.decision = 'approved_elsewhere')
        OR count(DISTINCT v.reviewer_id) FILTER (WHERE v.decision = 'approved') >= (
           SELECT b.approvals_needed FROM studio_episode e
             JOIN studio_persona p ON p.id = e.persona_id
             JOIN studio_benchmark b ON b.id = p.benchmark_id
            WHERE e.id = NEW.episode_id)
  ) THEN
    RAISE EXCEPTION 'task % is not approved by as many as its benchmark asks for', NEW.task_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'approved_by_enough';
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION check_assignment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT may_be_assigned(NEW.user_id, NEW.task_id, NEW.part) THEN
    RAISE EXCEPTION 'person % may not be the % of task %', NEW.user_id, NEW.part, NEW.task_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'assigned_may';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION check_dependency_order() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  bad record;
BEGIN
  IF TG_TABLE_NAME = 'studio_dependency' THEN
    SELECT later.task_id AS task, earlier.task_id AS requires INTO bad
      FROM studio_dependency d
      JOIN studio_task later ON later.id = d.task_id
      JOIN studio_task earlier ON earlier.id = d.requires_id
     WHERE d.id = NEW.id
       AND (later.episode_id <> earlier.episode_id
            OR later.position IS NULL OR earlier.position IS NULL
            OR earlier.position >= later.position);
  ELSE
    SELECT * INTO bad FROM (
      SELECT later.task_id AS task, earlier.task_id AS requires
        FROM studio_task later
        JOIN studio_dependency d ON d.task_id = later.id
        JOIN studio_task earlier ON earlier.id = d.requires_id
       WHERE later.id = NEW.id
         AND (later.episode_id <> earlier.episode_id
              OR later.position IS NULL OR earlier.position IS NULL
              OR earlier.position >= later.position)
       UNION ALL
      SELECT later.task_id, earlier.task_id
        FROM studio_task earlier
        JOIN studio_dependency d ON d.requires_id = earlier.id
        JOIN studio_task later ON later.id = d.task_id
       WHERE earlier.id = NEW.id
         AND (later.episode_id <> earlier.episode_id
              OR later.position IS NULL OR earlier.position IS NULL
              OR earlier.position >= later.position)
    ) pairs LIMIT 1;
  END IF;
  IF FOUND THEN
    RAISE EXCEPTION 'task % requires %, which is not earlier in the same episode', bad.task, bad.requires
      USING ERRCODE = 'check_violation', CONSTRAINT = 'dependency_earlier';
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION check_review() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.decision IN ('approved', 'approved_elsewhere')
     AND NEW.reviewer_id IN (SELECT authors_of_revision(NEW.revision_id)) THEN
    RAISE EXCEPTION 'person % wrote part of what they approve', NEW.reviewer_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'approved_by_others';
  END IF;
  IF NEW.decision = 'approved_elsewhere' AND NEW.reviewer_id IS NULL THEN
    RAISE EXCEPTION 'an approval elsewhere is confirmed by a person'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'approved_elsewhere_confirmed';
  END IF;
  IF NEW.decision = 'approved'
     AND (SELECT count(*) FROM jsonb_each(NEW.points) point WHERE point.value -> 'so' = 'true') < 4
     AND (SELECT b.review_by_list FROM studio_revision r
            JOIN studio_task t ON t.id = r.task_id
            JOIN studio_episode e ON e.id = t.episode_id
            JOIN studio_persona p ON p.id = e.persona_id
            JOIN studio_benchmark b ON b.id = p.benchmark_id
           WHERE r.id = NEW.revision_id) THEN
    RAISE EXCEPTION 'the benchmark asks for the four points of the reviewer''s list'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'approved_by_list';
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION contributors_to_version(asked_task bigint, newest integer) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  WITH versions AS (
    SELECT id, created_by_id FROM studio_revision WHERE task_id = asked_task AND number <= newest
  )
  SELECT created_by_id FROM versions WHERE created_by_id IS NOT NULL
   UNION
  SELECT c.author_id FROM studio_comment c JOIN versions ON versions.id = c.applied_in_id
   UNION
  SELECT o.user_id FROM studio_revision_origin_authors o JOIN versions ON versions.id = o.revision_id;
$$;

CREATE FUNCTION may_be_assigned(who bigint, asked bigint, asked_part text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM studio_membership m
      JOIN studio_persona p ON p.benchmark_id = m.benchmark_id
      JOIN studio_episode e ON e.persona_id = p.id
      JOIN studio_task t ON t.episode_id = e.id
     WHERE t.id = asked AND m.user_id = who
       AND m.role IN ('owner', CASE asked_part WHEN 'writer' THEN 'author' ELSE 'reviewer' END));
$$;

CREATE FUNCTION refuse_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is frozen: its rows are never changed', TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
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

CREATE FUNCTION take_assignments_back() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM studio_assignment a
   USING studio_task t, studio_episode e, studio_persona p
   WHERE a.user_id = OLD.user_id AND a.task_id = t.id AND t.episode_id = e.id AND e.persona_id = p.id
     AND p.benchmark_id = OLD.benchmark_id AND NOT may_be_assigned(a.user_id, a.task_id, a.part);
  RETURN NULL;
END $$;

CREATE TRIGGER summary_delete AFTER DELETE ON studio_asset REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER summary_insert AFTER INSERT ON studio_asset REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER summary_update AFTER UPDATE ON studio_asset REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER assigned_may BEFORE INSERT OR UPDATE ON studio_assignment
  FOR EACH ROW EXECUTE FUNCTION check_assignment();
CREATE TRIGGER studio_blob_frozen BEFORE UPDATE ON studio_blob
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER summary_delete AFTER DELETE ON studio_checklistitem REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER summary_insert AFTER INSERT ON studio_checklistitem REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER summary_update AFTER UPDATE ON studio_checklistitem REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER answers_a_remark BEFORE INSERT OR UPDATE OF reply_to_id, task_id ON studio_comment
  FOR EACH ROW EXECUTE FUNCTION check_answer();
CREATE CONSTRAINT TRIGGER dependency_earlier AFTER INSERT OR UPDATE ON studio_dependency DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION check_dependency_order();
CREATE TRIGGER summary_delete AFTER DELETE ON studio_dependency REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER summary_insert AFTER INSERT ON studio_dependency REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER summary_update AFTER UPDATE ON studio_dependency REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER studio_event_frozen BEFORE UPDATE ON studio_event
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER summary_delete AFTER DELETE ON studio_finding REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER summary_insert AFTER INSERT ON studio_finding REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER summary_update AFTER UPDATE ON studio_finding REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER summary_delete AFTER DELETE ON studio_hiddenintent REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER summary_insert AFTER INSERT ON studio_hiddenintent REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER summary_update AFTER UPDATE ON studio_hiddenintent REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER assignments_go_with_the_role AFTER DELETE OR UPDATE ON studio_membership
  FOR EACH ROW EXECUTE FUNCTION take_assignments_back();
CREATE TRIGGER studio_personarevision_frozen BEFORE UPDATE ON studio_personarevision
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER approved_by_others BEFORE INSERT ON studio_review
  FOR EACH ROW EXECUTE FUNCTION check_review();
CREATE TRIGGER studio_review_frozen BEFORE UPDATE ON studio_review
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER studio_revision_frozen BEFORE UPDATE ON studio_revision
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER summary_of_version AFTER INSERT ON studio_revision REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_new_versions();
CREATE TRIGGER studio_revision_origin_authors_frozen BEFORE UPDATE ON studio_revision_origin_authors
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER summary_delete AFTER DELETE ON studio_setaside REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER summary_insert AFTER INSERT ON studio_setaside REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER summary_update AFTER UPDATE ON studio_setaside REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE CONSTRAINT TRIGGER approved_by_enough AFTER UPDATE OF state ON studio_task DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (OLD.state IN ('draft', 'changes_requested', 'in_review') AND NEW.state = 'approved')
  EXECUTE FUNCTION check_approvals();
CREATE TRIGGER summary_of_changed AFTER UPDATE ON studio_task REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_changed_tasks();
CREATE TRIGGER summary_of_new AFTER INSERT ON studio_task REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_new_tasks();
CREATE CONSTRAINT TRIGGER task_order_keeps_dependencies AFTER UPDATE OF position, episode_id ON studio_task DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION check_dependency_order();
CREATE TRIGGER studio_tasktemplate_frozen BEFORE UPDATE ON studio_tasktemplate
  FOR EACH ROW WHEN (OLD.spec::text <> NEW.spec::text OR OLD.benchmark_id <> NEW.benchmark_id)
  EXECUTE FUNCTION refuse_update();
CREATE TRIGGER studio_templatefile_frozen BEFORE UPDATE ON studio_templatefile
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER summary_delete AFTER DELETE ON studio_waiver REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER summary_insert AFTER INSERT ON studio_waiver REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();
CREATE TRIGGER summary_update AFTER UPDATE ON studio_waiver REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();

ALTER TABLE studio_review ADD CONSTRAINT approved_points_are_so
  CHECK (decision <> 'approved' OR NOT jsonb_path_exists(points, '$.*.so ? (@ == false)'));
