-- Invariants that constraints cannot express.

-- Who wrote what a task takes from its persona (studio.domain.content), since as many others as the benchmark asks for
-- approved it, with any task, or took it away. What was written elsewhere or earlier and brought back is still theirs.
CREATE FUNCTION authors_of_parts(asked_task bigint) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  WITH parts AS (
    SELECT t.persona_id, part.key AS name, part.value AS sha256
      FROM studio_task t, jsonb_each_text(t.parts) part
     WHERE t.id = asked_task AND part.key <> 'task' AND part.key NOT LIKE 'earlier:%'
     UNION  -- what was approved with it and is gone
    SELECT t.persona_id, part.key, ''
      FROM studio_task t
      JOIN studio_revision w ON w.task_id = t.id
      JOIN studio_review v ON v.revision_id = w.id AND v.content = t.approved_content,
           jsonb_each_text(v.parts) part
     WHERE t.id = asked_task AND part.key <> 'task' AND part.key NOT LIKE 'earlier:%' AND NOT t.parts ? part.key
  ), changes AS (
    SELECT parts.name, r.persona_id, r.number, r.created_by_id, r.changed ->> parts.name AS sha256
      FROM parts JOIN studio_personarevision r ON r.persona_id = parts.persona_id AND r.changed ? parts.name
  ), approved AS (
    SELECT changes.name, max(changes.number) AS number
      FROM changes
     WHERE EXISTS (SELECT FROM studio_review v
                     JOIN studio_revision w ON w.id = v.revision_id
                     JOIN studio_task t ON t.id = w.task_id
                     JOIN studio_persona p ON p.id = t.persona_id
                     JOIN studio_benchmark b ON b.id = p.benchmark_id
                    WHERE t.persona_id = changes.persona_id AND v.parts ->> changes.name = changes.sha256
                   HAVING bool_or(v.decision = 'approved_elsewhere')
                       OR count(DISTINCT v.reviewer_id) FILTER (WHERE v.decision = 'approved')
                          >= max(b.approvals_needed))
     GROUP BY changes.name
  ), since AS (
    SELECT changes.* FROM changes LEFT JOIN approved USING (name)
     WHERE changes.number > coalesce(approved.number, 0)
  )
  SELECT changes.created_by_id FROM since JOIN changes USING (name, sha256) WHERE changes.created_by_id IS NOT NULL
   UNION
  SELECT r.created_by_id FROM since JOIN studio_personarevision r ON r.brought && ARRAY[since.sha256]
   WHERE r.created_by_id IS NOT NULL;
$$;

-- Whether as many as the benchmark asks for approved this version, and nobody found that it needs changes.
CREATE FUNCTION was_approved(asked bigint, needed integer) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT count(*) FILTER (WHERE v.decision = 'changes_requested') = 0
     AND (count(*) FILTER (WHERE v.decision = 'approved_elsewhere') > 0
          OR count(DISTINCT v.reviewer_id) FILTER (WHERE v.decision = 'approved') >= needed)
    FROM studio_review v WHERE v.revision_id = asked;
$$;

-- How many approved this version with this content and did not ask for changes to it afterwards.
CREATE FUNCTION approvals_of(asked bigint, asked_content text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT count(DISTINCT v.reviewer_id)
    FROM studio_review v
   WHERE v.revision_id = asked AND v.content = asked_content AND v.decision = 'approved'
     AND NOT EXISTS (SELECT FROM studio_review later
                      WHERE later.revision_id = asked AND later.reviewer_id = v.reviewer_id
                        AND later.decision = 'changes_requested' AND later.id > v.id);
$$;

-- Who wrote the text of a version since it was last approved, or a request, intent or criterion of it that stood in an
-- earlier version, was never approved, and came back.
CREATE FUNCTION authors_of_text(asked bigint) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  WITH wanted AS (
    SELECT r.task_id, r.number, b.approvals_needed
      FROM studio_revision r
      JOIN studio_task t ON t.id = r.task_id
      JOIN studio_persona p ON p.id = t.persona_id
      JOIN studio_benchmark b ON b.id = p.benchmark_id
     WHERE r.id = asked
  ), since AS (
    SELECT coalesce(max(r.number), 0) AS number
      FROM studio_revision r JOIN wanted ON r.task_id = wanted.task_id AND r.number < wanted.number
     WHERE was_approved(r.id, wanted.approvals_needed)
  ), new AS (
    SELECT r.number, piece
      FROM wanted, since
      JOIN studio_revision r ON r.number > since.number
      JOIN studio_revision before ON before.task_id = r.task_id AND before.number = r.number - 1
     CROSS JOIN unnest(r.pieces) piece
     WHERE r.task_id = wanted.task_id AND r.number <= wanted.number AND piece <> ALL (before.pieces)
  ), came_back AS (
    SELECT min(r.number) AS number
      FROM wanted, since, new
      JOIN studio_revision r ON new.piece = ANY (r.pieces)
     WHERE r.task_id = wanted.task_id AND r.number <= since.number
     GROUP BY new.piece
    HAVING NOT bool_or(was_approved(r.id, wanted.approvals_needed))
  ), versions AS (
    SELECT r.id, r.created_by_id
      FROM studio_revision r, wanted, since
     WHERE r.task_id = wanted.task_id
       AND (r.number > since.number AND r.number <= wanted.number OR r.number IN (SELECT number FROM came_back))
  )
  SELECT created_by_id FROM versions WHERE created_by_id IS NOT NULL
   UNION
  SELECT c.author_id FROM studio_comment c JOIN versions ON versions.id = c.applied_in_id
   UNION
  SELECT o.user_id FROM studio_revision_origin_authors o JOIN versions ON versions.id = o.revision_id;
$$;

-- Who wrote the tasks that a task builds on, unless what these say now was approved with them.
CREATE FUNCTION authors_of_earlier(asked_task bigint) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  SELECT author
    FROM studio_task t
    JOIN studio_persona p ON p.id = t.persona_id
    JOIN studio_benchmark b ON b.id = p.benchmark_id
   CROSS JOIN jsonb_each_text(t.parts) part
    JOIN studio_task e ON e.persona_id = t.persona_id AND part.key = 'earlier:' || e.task_id
    JOIN studio_revision r ON r.task_id = e.id AND r.number = e.version
   CROSS JOIN authors_of_text(r.id) author
   WHERE t.id = asked_task
     AND NOT EXISTS (SELECT FROM studio_review v
                       JOIN studio_revision w ON w.id = v.revision_id
                      WHERE w.task_id = e.id AND v.parts ->> 'task' = part.value
                        AND was_approved(w.id, b.approvals_needed));
$$;

CREATE FUNCTION authors_of_revision(asked bigint) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  SELECT authors_of_text(asked)
   UNION
  SELECT author FROM studio_revision r, authors_of_parts(r.task_id) author WHERE r.id = asked
   UNION
  SELECT author FROM studio_revision r, authors_of_earlier(r.task_id) author WHERE r.id = asked;
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

-- Looks at how the task stands at the end of the transaction.
CREATE FUNCTION check_approvals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM studio_task t
      JOIN studio_persona p ON p.id = t.persona_id
      JOIN studio_benchmark b ON b.id = p.benchmark_id
     WHERE t.id = NEW.id AND t.state IN ('approved', 'released')
       AND NOT EXISTS (
         SELECT FROM studio_revision r
          CROSS JOIN LATERAL (SELECT v.decision FROM studio_review v
                               WHERE v.revision_id = r.id AND v.content = t.approved_content
                               ORDER BY v.id DESC LIMIT 1) newest
          WHERE r.task_id = t.id AND r.number = t.version AND newest.decision <> 'changes_requested'
            AND (newest.decision = 'approved_elsewhere'
                 OR approvals_of(r.id, t.approved_content) >= b.approvals_needed))
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

-- Every task comes after those it needs. Looks at how tasks stand at the end of the transaction: at the task itself,
-- and at those that need it by its old or new id.
CREATE FUNCTION check_dependency_order() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  bad record;
BEGIN
  SELECT later.task_id AS task, need AS requires INTO bad
    FROM studio_task later CROSS JOIN unnest(later.needs) need
   WHERE later.persona_id IN (OLD.persona_id, NEW.persona_id)
     AND (later.id = NEW.id OR need IN (OLD.task_id, NEW.task_id))
     AND NOT EXISTS (SELECT FROM studio_task earlier
                      WHERE earlier.persona_id = later.persona_id AND earlier.task_id = need
                        AND earlier.position < later.position)
   LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'task % requires %, which is not earlier in the same episode', bad.task, bad.requires
      USING ERRCODE = 'check_violation', CONSTRAINT = 'dependency_earlier';
  END IF;
  RETURN NULL;
END $$;

-- Tasks that build on each other, or are of one named group, are of one split. Looks at how they stand at the end of
-- the transaction.
CREATE FUNCTION check_split() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  bad record;
BEGIN
  SELECT one.task_id AS task, other.task_id AS other INTO bad
    FROM studio_task one
    JOIN studio_task other ON other.persona_id = one.persona_id AND other.split <> one.split
     AND (other.task_id = ANY (one.needs) OR one.task_id = ANY (other.needs)
          OR btrim(one."group") <> '' AND btrim(one."group") = btrim(other."group"))
   WHERE one.id = NEW.id
   LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'task % and % belong together, and are of different splits', bad.task, bad.other
      USING ERRCODE = 'check_violation', CONSTRAINT = 'split_keeps_groups';
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
  IF NEW.decision IN ('approved', 'approved_elsewhere') AND NOT EXISTS (
    SELECT FROM studio_revision r JOIN studio_task t ON t.id = r.task_id AND t.version = r.number
     WHERE r.id = NEW.revision_id AND t.content = NEW.content
  ) THEN
    RAISE EXCEPTION 'what is approved is a task as it is now'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'approved_as_it_is';
  END IF;
  IF NEW.decision = 'approved_elsewhere' AND NEW.reviewer_id IS NULL THEN
    RAISE EXCEPTION 'an approval elsewhere is confirmed by a person'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'approved_elsewhere_confirmed';
  END IF;
  IF NEW.decision = 'approved'
     AND (SELECT count(*) FROM jsonb_each(NEW.points) point WHERE point.value -> 'so' = 'true') < 4
     AND (SELECT b.review_by_list FROM studio_revision r
            JOIN studio_task t ON t.id = r.task_id
            JOIN studio_persona p ON p.id = t.persona_id
            JOIN studio_benchmark b ON b.id = p.benchmark_id
           WHERE r.id = NEW.revision_id) THEN
    RAISE EXCEPTION 'the benchmark asks for the four points of the reviewer''s list'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'approved_by_list';
  END IF;
  RETURN NEW;
END $$;

-- Reviews and authors go with their version alone. Looks at how it stands at the end of the transaction.
CREATE FUNCTION check_version_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM studio_revision r WHERE r.id = OLD.revision_id) THEN
    RAISE EXCEPTION '% is kept as long as its version', TG_TABLE_NAME
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
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
      JOIN studio_task t ON t.persona_id = p.id
     WHERE t.id = asked AND m.user_id = who
       AND m.role IN ('owner', CASE asked_part WHEN 'writer' THEN 'author' ELSE 'reviewer' END));
$$;

CREATE FUNCTION move_assignments_of_persona() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE studio_assignment a SET benchmark_id = NEW.benchmark_id
    FROM studio_task t
   WHERE t.id = a.task_id AND t.persona_id = NEW.id;
  RETURN NULL;
END $$;

CREATE FUNCTION open_assignments_of_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE studio_assignment SET open = NEW.state NOT IN ('approved', 'released', 'retired') WHERE task_id = NEW.id;
  RETURN NULL;
END $$;

CREATE FUNCTION place_assignment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT p.benchmark_id, t.state NOT IN ('approved', 'released', 'retired') INTO NEW.benchmark_id, NEW.open
    FROM studio_task t JOIN studio_persona p ON p.id = t.persona_id
   WHERE t.id = NEW.task_id;
  RETURN NEW;
END $$;

CREATE FUNCTION refuse_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is frozen: its rows are never changed', TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE FUNCTION take_assignments_back() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM studio_assignment a
   USING studio_task t, studio_persona p
   WHERE a.user_id = OLD.user_id AND a.task_id = t.id AND t.persona_id = p.id
     AND p.benchmark_id = OLD.benchmark_id AND NOT may_be_assigned(a.user_id, a.task_id, a.part);
  RETURN NULL;
END $$;

CREATE TRIGGER assignment_placed BEFORE INSERT OR UPDATE OF task_id ON studio_assignment
  FOR EACH ROW EXECUTE FUNCTION place_assignment();
-- asked again only when it may have changed
CREATE TRIGGER assigned_may BEFORE INSERT OR UPDATE OF task_id, user_id, part ON studio_assignment
  FOR EACH ROW EXECUTE FUNCTION check_assignment();
CREATE TRIGGER studio_blob_frozen BEFORE UPDATE ON studio_blob
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER answers_a_remark BEFORE INSERT OR UPDATE OF reply_to_id, task_id ON studio_comment
  FOR EACH ROW EXECUTE FUNCTION check_answer();
CREATE TRIGGER applied_suggestion_stays BEFORE UPDATE OF author_id, applied_in_id ON studio_comment
  FOR EACH ROW
  WHEN (OLD.applied_in_id IS NOT NULL
        AND (OLD.author_id, OLD.applied_in_id) IS DISTINCT FROM (NEW.author_id, NEW.applied_in_id))
  EXECUTE FUNCTION refuse_update();
CREATE TRIGGER studio_event_frozen BEFORE UPDATE ON studio_event
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER assignments_go_with_the_role AFTER DELETE OR UPDATE ON studio_membership
  FOR EACH ROW EXECUTE FUNCTION take_assignments_back();
CREATE TRIGGER assignments_move AFTER UPDATE OF benchmark_id ON studio_persona
  FOR EACH ROW WHEN (OLD.benchmark_id <> NEW.benchmark_id) EXECUTE FUNCTION move_assignments_of_persona();
CREATE TRIGGER studio_personarevision_frozen BEFORE UPDATE ON studio_personarevision
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER approved_by_others BEFORE INSERT ON studio_review
  FOR EACH ROW EXECUTE FUNCTION check_review();
CREATE TRIGGER studio_review_frozen BEFORE UPDATE ON studio_review
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE CONSTRAINT TRIGGER review_stays AFTER DELETE ON studio_review
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_version_gone();
CREATE TRIGGER studio_revision_frozen BEFORE UPDATE ON studio_revision
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE TRIGGER studio_revision_origin_authors_frozen BEFORE UPDATE ON studio_revision_origin_authors
  FOR EACH ROW EXECUTE FUNCTION refuse_update();
CREATE CONSTRAINT TRIGGER origin_author_stays AFTER DELETE ON studio_revision_origin_authors
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_version_gone();
CREATE CONSTRAINT TRIGGER approved_by_enough AFTER UPDATE OF state, approved_content, version ON studio_task
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.state IN ('approved', 'released') AND (OLD.state NOT IN ('approved', 'released')
        OR (OLD.approved_content, OLD.version) IS DISTINCT FROM (NEW.approved_content, NEW.version)))
  EXECUTE FUNCTION check_approvals();
CREATE CONSTRAINT TRIGGER approved_from_the_beginning AFTER INSERT ON studio_task
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.state IN ('approved', 'released'))
  EXECUTE FUNCTION check_approvals();
CREATE CONSTRAINT TRIGGER dependency_earlier AFTER INSERT ON studio_task
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.needs <> '{}') EXECUTE FUNCTION check_dependency_order();
CREATE CONSTRAINT TRIGGER task_order_keeps_dependencies AFTER UPDATE ON studio_task
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((OLD.persona_id, OLD.position, OLD.task_id, OLD.needs)
        IS DISTINCT FROM (NEW.persona_id, NEW.position, NEW.task_id, NEW.needs))
  EXECUTE FUNCTION check_dependency_order();
CREATE CONSTRAINT TRIGGER split_keeps_groups AFTER INSERT ON studio_task
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.needs <> '{}' OR NEW."group" <> '')
  EXECUTE FUNCTION check_split();
CREATE CONSTRAINT TRIGGER change_keeps_splits AFTER UPDATE ON studio_task
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((OLD.persona_id, OLD.task_id, OLD.needs, OLD."group", OLD.split)
        IS DISTINCT FROM (NEW.persona_id, NEW.task_id, NEW.needs, NEW."group", NEW.split))
  EXECUTE FUNCTION check_split();
CREATE CONSTRAINT TRIGGER needed_task_stays AFTER DELETE ON studio_task
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_dependency_order();
CREATE TRIGGER assignments_open AFTER UPDATE OF state ON studio_task
  FOR EACH ROW
  WHEN ((OLD.state IN ('approved', 'released', 'retired')) IS DISTINCT FROM
        (NEW.state IN ('approved', 'released', 'retired')))
  EXECUTE FUNCTION open_assignments_of_task();

ALTER TABLE studio_review ADD CONSTRAINT approved_points_are_so
  CHECK (decision <> 'approved' OR NOT jsonb_path_exists(points, '$.*.so ? (@ == false)'));

ALTER TABLE studio_persona ADD CONSTRAINT persona_columns_of_document CHECK (
  (user_id, name, occupation) IS NOT DISTINCT FROM (spec ->> 'user_id', spec ->> 'name', spec ->> 'occupation'));

-- What a task's document must be: its columns say the same, rows have their own uids, weights count.
CREATE FUNCTION uids_differ(rows json) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT count(*) = count(DISTINCT item ->> 'uid') FROM json_array_elements(rows) item;
$$;
CREATE FUNCTION weights_count(items json) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(bool_and((item ->> 'weight')::float > 0), true) FROM json_array_elements(items) item;
$$;
ALTER TABLE studio_task
  ADD CONSTRAINT task_columns_of_document CHECK (
    (task_id, title, category, trigger_kind, grader_path, "group") IS NOT DISTINCT FROM
    (spec ->> 'task_id', spec ->> 'title', spec ->> 'category', spec -> 'trigger' ->> 'kind', spec ->> 'grader_script',
     spec ->> 'group')),
  ADD CONSTRAINT task_uids_differ CHECK (uids_differ(spec -> 'intents') AND uids_differ(spec -> 'checklist')),
  ADD CONSTRAINT task_weights_positive CHECK (weights_count(spec -> 'checklist')),
  ADD CONSTRAINT task_needs_others CHECK (task_id <> ALL (needs));
