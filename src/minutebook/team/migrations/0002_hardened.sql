-- What plain SQL could still tell of rows one may not see.
--
-- Folders, branches, models and projects are numbers in the rows of others: who pushed a row with a
-- number that was not theirs was told its name. And a policy alone hides no text: PostgreSQL
-- compares texts before it asks a policy, where it thinks that cheaper, and EXPLAIN tells whether
-- any fitted, and how many it expected.

-- Numbers ---------------------------------------------------------------------------------------

-- A number that does not tell whether a name was there before; no seed of a person's own moves it.
CREATE FUNCTION minutebook.any_number() RETURNS int
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT (1048576 + ('x' || left(replace(gen_random_uuid()::text, '-', ''), 8))::bit(32)::bigint
    % 2146435071)::int
$$;

ALTER TABLE minutebook.sessions DROP CONSTRAINT sessions_project_id_fkey,
  ADD FOREIGN KEY (project_id) REFERENCES minutebook.projects ON UPDATE CASCADE;
ALTER TABLE minutebook.project_people DROP CONSTRAINT project_people_project_id_fkey,
  ADD FOREIGN KEY (project_id) REFERENCES minutebook.projects ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE minutebook.projects ALTER COLUMN id DROP IDENTITY,
  ALTER COLUMN id SET DEFAULT minutebook.any_number();
ALTER TABLE minutebook.names ALTER COLUMN id DROP IDENTITY,
  ALTER COLUMN id SET DEFAULT minutebook.any_number();
UPDATE minutebook.projects SET id = DEFAULT;

-- Who named what: rows of a person have numbers of these only.
CREATE TABLE minutebook.project_namers (
  person_id int NOT NULL REFERENCES minutebook.people ON DELETE CASCADE,
  project_id int NOT NULL REFERENCES minutebook.projects ON UPDATE CASCADE ON DELETE CASCADE,
  PRIMARY KEY (person_id, project_id)
);
CREATE TABLE minutebook.namers (
  person_id int NOT NULL REFERENCES minutebook.people ON DELETE CASCADE,
  name_id int NOT NULL REFERENCES minutebook.names ON DELETE CASCADE,
  PRIMARY KEY (person_id, name_id)
);
ALTER TABLE minutebook.project_namers ENABLE ROW LEVEL SECURITY;
ALTER TABLE minutebook.namers ENABLE ROW LEVEL SECURITY;
INSERT INTO minutebook.project_namers
  SELECT DISTINCT s.person_id, s.project_id FROM minutebook.sessions s
  WHERE s.project_id IS NOT NULL;
INSERT INTO minutebook.namers
  SELECT DISTINCT s.person_id, n.id
  FROM (SELECT DISTINCT e.session_key, e.project_id, e.branch_id, e.model_id
        FROM minutebook.entries e) e
  JOIN minutebook.sessions s ON s.key = e.session_key
  CROSS JOIN LATERAL (VALUES (e.project_id), (e.branch_id), (e.model_id)) n(id)
  WHERE n.id IS NOT NULL;

CREATE FUNCTION minutebook.own_projects() RETURNS SETOF int
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT p.project_id FROM minutebook.project_namers p WHERE p.person_id = minutebook.me() $$;

CREATE FUNCTION minutebook.own_names() RETURNS SETOF int
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT n.name_id FROM minutebook.namers n WHERE n.person_id = minutebook.me() $$;

CREATE OR REPLACE FUNCTION minutebook.project_ids(called text[])
RETURNS TABLE (name text, id int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  LOCK TABLE minutebook.project_namers IN ROW EXCLUSIVE MODE;  -- see `forget_names`
  LOOP  -- once more where a number was taken already
    INSERT INTO minutebook.projects (name) SELECT DISTINCT c FROM unnest(called) c ORDER BY c
      ON CONFLICT DO NOTHING;
    EXIT WHEN NOT EXISTS (
      SELECT FROM unnest(called) c
      WHERE NOT EXISTS (SELECT FROM minutebook.projects p WHERE p.name = c));
  END LOOP;
  INSERT INTO minutebook.project_namers
    SELECT minutebook.me(), p.id FROM minutebook.projects p WHERE p.name = ANY (called)
    ON CONFLICT DO NOTHING;
  RETURN QUERY SELECT p.name, p.id FROM minutebook.projects p WHERE p.name = ANY (called);
END $$;

CREATE OR REPLACE FUNCTION minutebook.name_ids(fields text[], wanted text[])
RETURNS TABLE (field text, value text, id int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE there int[];
BEGIN
  LOCK TABLE minutebook.namers IN ROW EXCLUSIVE MODE;
  LOOP
    INSERT INTO minutebook.names (field, value)
      SELECT DISTINCT w.f, w.v FROM unnest(fields, wanted) w(f, v) ORDER BY 1, 2
      ON CONFLICT DO NOTHING;
    there := ARRAY(
      SELECT n.id FROM minutebook.names n
      JOIN (SELECT DISTINCT w.f, w.v FROM unnest(fields, wanted) w(f, v)) w
        ON n.field = w.f AND md5(n.value) = md5(w.v) AND n.value = w.v);
    EXIT WHEN cardinality(there) >= (
      SELECT count(*) FROM (SELECT DISTINCT w.f, w.v FROM unnest(fields, wanted) w(f, v)) x);
  END LOOP;
  INSERT INTO minutebook.namers SELECT minutebook.me(), t FROM unnest(there) t
    ON CONFLICT DO NOTHING;
  RETURN QUERY SELECT n.field, n.value, n.id FROM minutebook.names n WHERE n.id = ANY (there);
END $$;

-- Names go with the last rows that have them. Nobody names anything meanwhile: what they found to be
-- there would be gone.
CREATE INDEX entries_branch ON minutebook.entries (branch_id);
CREATE INDEX entries_model ON minutebook.entries (model_id);
CREATE INDEX namers_name ON minutebook.namers (name_id);
CREATE INDEX project_namers_project ON minutebook.project_namers (project_id);
CREATE INDEX sessions_project ON minutebook.sessions (project_id);

CREATE FUNCTION minutebook.forget_names() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  LOCK TABLE minutebook.project_namers IN SHARE ROW EXCLUSIVE MODE;
  LOCK TABLE minutebook.namers IN SHARE ROW EXCLUSIVE MODE;
  DELETE FROM minutebook.project_namers p WHERE p.person_id = minutebook.me() AND NOT EXISTS (
    SELECT FROM minutebook.sessions s
    WHERE s.person_id = minutebook.me() AND s.project_id = p.project_id);
  DELETE FROM minutebook.namers n WHERE n.person_id = minutebook.me() AND n.name_id NOT IN (
    SELECT x.id FROM minutebook.sessions s JOIN minutebook.entries e ON e.session_key = s.key
    CROSS JOIN LATERAL (VALUES (e.project_id), (e.branch_id), (e.model_id)) x(id)
    WHERE s.person_id = minutebook.me() AND x.id IS NOT NULL);
  DELETE FROM minutebook.names n
    WHERE NOT EXISTS (SELECT FROM minutebook.namers o WHERE o.name_id = n.id);
  DELETE FROM minutebook.projects p
    WHERE NOT EXISTS (SELECT FROM minutebook.project_namers n WHERE n.project_id = p.id)
      AND NOT EXISTS (SELECT FROM minutebook.project_people m WHERE m.project_id = p.id);
END $$;

CREATE OR REPLACE FUNCTION minutebook.leave_team() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT id FROM minutebook.people WHERE login = session_user FOR UPDATE;
  DELETE FROM minutebook.sessions WHERE person_id = minutebook.me();
  SELECT minutebook.forget_names();
  DELETE FROM minutebook.people WHERE login = session_user;
$$;

-- What one pushes has one's own numbers. The function is asked once a statement.
CREATE VIEW minutebook.own_withdrawn WITH (security_barrier) AS
  SELECT w.session_id || '' AS session_id FROM minutebook.withdrawn w
  WHERE w.person_id = (SELECT minutebook.me());
ALTER POLICY push ON minutebook.sessions WITH CHECK (
  person_id = (SELECT minutebook.me())
  AND minutebook.owns_machine(machine_id)
  AND (project_id IS NULL OR project_id IN (SELECT minutebook.own_projects()))
  AND session_id NOT IN (SELECT w.session_id FROM minutebook.own_withdrawn w));
ALTER POLICY change ON minutebook.sessions WITH CHECK (
  person_id = (SELECT minutebook.me())
  AND minutebook.owns_machine(machine_id)
  AND (project_id IS NULL OR project_id IN (SELECT minutebook.own_projects())));
ALTER POLICY push ON minutebook.entries WITH CHECK (
  session_key IN (SELECT s.key FROM minutebook.sessions s
                  WHERE s.person_id = (SELECT minutebook.me()))
  AND (project_id IS NULL OR project_id IN (SELECT minutebook.own_names()))
  AND (branch_id IS NULL OR branch_id IN (SELECT minutebook.own_names()))
  AND (model_id IS NULL OR model_id IN (SELECT minutebook.own_names())));

CREATE FUNCTION minutebook.allow_again(starts text[]) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  WITH gone AS (
    DELETE FROM minutebook.withdrawn w WHERE w.person_id = minutebook.me() AND EXISTS (
      SELECT FROM unnest(starts) wanted WHERE starts_with(w.session_id, wanted)) RETURNING 1)
  SELECT count(*) FROM gone
$$;

-- Texts -----------------------------------------------------------------------------------------
-- They are read through views, one for each table. A comparison of texts would be asked behind their
-- barrier as well, before who may see them: not so of what changes from call to call, for all the
-- planner knows. Only numbers of rows are plain, so that rows are found by them, and words, whose
-- comparisons wait. Of the tables themselves one reads nothing but numbers, under their policies.

DO $$
DECLARE
  own text;
  told text;
  seen text;
BEGIN
  FOREACH own IN ARRAY ARRAY['sessions', 'engagements', 'decisions', 'rounds', 'usage', 'lineage',
    'files', 'entries', 'texts', 'projects', 'machines']
  LOOP
    SELECT string_agg(format(
        CASE
          WHEN a.attname IN ('key', 'session_key', 'entry', 'number') AND a.atttypid <> 'text'::regtype
            OR a.attname = 'id' AND own IN ('projects', 'machines') THEN 't.%I'
          WHEN a.attname IN ('said', 'done', 'vector') AND own = 'entries' THEN 't.%I'
          ELSE 'CASE WHEN random() < 2 THEN t.%1$I END AS %1$I'
        END, a.attname), ', ' ORDER BY a.attnum)
      INTO told
      FROM pg_attribute a
      WHERE a.attrelid = format('minutebook.%I', own)::regclass AND a.attnum > 0
        AND NOT a.attisdropped;
    seen := CASE own
      WHEN 'sessions' THEN 'minutebook.visible t'
      WHEN 'projects' THEN 'minutebook.projects t WHERE t.id IN '
        '(SELECT s.project_id FROM minutebook.visible s) OR t.id IN (SELECT p.project_id '
        'FROM minutebook.project_people p WHERE p.person_id = (SELECT minutebook.me()))'
      WHEN 'machines' THEN 'minutebook.machines t WHERE t.person_id = (SELECT minutebook.me()) '
        'OR t.id IN (SELECT s.machine_id FROM minutebook.visible s)'
      ELSE format('minutebook.%I t JOIN minutebook.visible s ON s.key = t.session_key', own)
    END;
    EXECUTE format('CREATE VIEW minutebook.%I WITH (security_barrier) AS SELECT %s FROM %s',
      'shared_' || own, told, seen);
    EXECUTE format('GRANT SELECT ON minutebook.%I TO %I', 'shared_' || own, {reader_text});
    IF own = 'sessions' THEN
      EXECUTE format('CREATE VIEW minutebook.own_sessions WITH (security_barrier) AS SELECT %s '
        'FROM minutebook.sessions t WHERE t.person_id = (SELECT minutebook.me())', told);
    END IF;
    EXECUTE format('REVOKE SELECT ON minutebook.%I FROM %I', own, {reader_text});
  END LOOP;
END $$;

REVOKE SELECT, DELETE ON minutebook.withdrawn FROM {member};
GRANT SELECT ON minutebook.own_withdrawn TO {member};
GRANT SELECT ON minutebook.own_sessions TO {reader};
GRANT SELECT (key, person_id, machine_id, project_id, audience) ON minutebook.sessions TO {reader};
GRANT SELECT (session_key) ON minutebook.engagements, minutebook.decisions, minutebook.usage,
  minutebook.lineage, minutebook.files TO {reader};
GRANT SELECT (session_key, number) ON minutebook.rounds TO {reader};
GRANT SELECT (entry, session_key) ON minutebook.entries, minutebook.texts TO {reader};
GRANT SELECT (id) ON minutebook.projects TO {reader};
GRANT SELECT (id, person_id) ON minutebook.machines TO {reader};

-- Who else one may see has some rounds: by the ids of what was said.
CREATE FUNCTION minutebook.copies(keys bigint[], rounds int[])
RETURNS TABLE (session_key bigint, round int, other_key bigint, other_round int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT a.session_key, a.round, b.session_key, b.round
  FROM unnest(keys, rounds) w(key, round)
  JOIN minutebook.visible s ON s.key = w.key
  JOIN minutebook.entries a ON a.session_key = w.key AND a.round = w.round
    AND a.kind = 'turn' AND length(a.key) >= 16
  JOIN minutebook.entries b ON b.key = a.key AND b.kind = 'turn' AND length(b.key) >= 16
  JOIN minutebook.visible t ON t.key = b.session_key
$$;

-- How many entries one may see some percent of the pages have, and how long those are together.
CREATE FUNCTION minutebook.lengths_of(percent real) RETURNS TABLE (entries bigint, lengths bigint[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  WITH part AS MATERIALIZED (
    SELECT e.lengths AS own
    FROM minutebook.entries e TABLESAMPLE SYSTEM (percent)
    JOIN minutebook.visible s ON s.key = e.session_key)
  SELECT (SELECT count(*) FROM part),
    ARRAY(SELECT sum(l.length)::bigint FROM part, unnest(part.own) WITH ORDINALITY l(length, place)
          GROUP BY l.place ORDER BY l.place)
$$;

-- Words -----------------------------------------------------------------------------------------
-- As before, but asked once: within a query, the planner asks as well, to know how many there are.

CREATE OR REPLACE FUNCTION minutebook.find_some(
  field text, ways tsquery[], every tsquery, within jsonb, most int, bound int DEFAULT 2000,
  enough int DEFAULT 1000)
RETURNS TABLE (entry bigint, session_key bigint, round int, at bigint, score real)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  fine minutebook.filters := minutebook.filters_of(within);
  way tsquery; anything tsquery; whole tsquery; found bigint[]; more bigint[];
BEGIN
  IF field NOT IN ('said', 'done') THEN RAISE EXCEPTION 'there is no field %', field; END IF;
  FOREACH way IN ARRAY ways LOOP
    whole := CASE WHEN whole IS NULL THEN way ELSE whole && way END;
    anything := CASE WHEN anything IS NULL THEN way ELSE anything || way END;
  END LOOP;
  IF every IS NOT NULL THEN whole := whole && every; END IF;
  found := minutebook.matching(field, whole, fine, bound);
  FOREACH way IN ARRAY CASE WHEN cardinality(ways) > 1 THEN ways ELSE '{{}}'::tsquery[] END LOOP
    EXIT WHEN cardinality(found) >= least(enough, most);
    IF every IS NOT NULL THEN way := way && every; END IF;
    more := minutebook.matching(field, way, fine, bound);
    found := ARRAY(
      SELECT x.row FROM unnest(found || more) WITH ORDINALITY x(row, place)
      GROUP BY x.row ORDER BY min(x.place) LIMIT bound);
  END LOOP;
  RETURN QUERY
  SELECT e.entry, e.session_key, e.round, e.at, CASE WHEN most < bound THEN
    ts_rank_cd(CASE WHEN field = 'said' THEN e.said ELSE e.done END, anything, 1)
    ELSE 0 END::real AS rank
  FROM minutebook.entries e WHERE e.entry = ANY (found)
  ORDER BY rank DESC, e.at DESC, e.entry LIMIT most;
END $$;

-- Meaning ---------------------------------------------------------------------------------------
-- Where what is nearest is not for one, all that is for one is compared: how many one gets tells
-- nothing of the others.

CREATE OR REPLACE FUNCTION minutebook.find_alike(
  wanted {vectors}.halfvec, within jsonb, most int, exact int DEFAULT 20000)
RETURNS TABLE (entry bigint, session_key bigint, round int, at bigint, cosine double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan
SET work_mem = '64MB' SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  fine minutebook.filters := minutebook.filters_of(within);
  few bigint[]; near bigint[]; looked int := 2 * most; narrow boolean; there bigint;
BEGIN
  -- An index that is asked once says a thousand at most; since pgvector 0.8 it can go on.
  IF (SELECT string_to_array(x.extversion, '.')::int[] >= ARRAY[0, 8]
      FROM pg_extension x WHERE x.extname = 'vector') THEN
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true);
  END IF;
  narrow := num_nulls(fine.people, fine.keys, fine.projects, fine.branches, fine.models,
    fine.after, fine.before, fine.least) < 8;
  IF NOT narrow THEN
    SELECT sum(s.rounds) INTO there FROM minutebook.visible s;
    narrow := coalesce(there, 0) <= exact;
  END IF;
  IF narrow THEN
    few := ARRAY(
      SELECT e.entry FROM minutebook.entries e JOIN minutebook.visible s ON s.key = e.session_key
      WHERE e.vector IS NOT NULL AND minutebook.passes(e, s.person_id, fine)
      LIMIT exact + 1);
  END IF;
  IF NOT narrow OR cardinality(few) > exact THEN
    LOOP
      PERFORM set_config('hnsw.ef_search', least(looked, 1000)::text, true);
      near := ARRAY(
        SELECT e.entry FROM minutebook.entries e WHERE e.vector IS NOT NULL
        ORDER BY e.vector OPERATOR({vectors}.<=>) wanted LIMIT looked);
      few := ARRAY(
        SELECT e.entry FROM minutebook.entries e JOIN minutebook.visible s ON s.key = e.session_key
        WHERE e.entry = ANY (near) AND minutebook.passes(e, s.person_id, fine));
      EXIT WHEN cardinality(few) >= most OR cardinality(near) < looked OR looked >= 16 * most;
      looked := looked * 2;
    END LOOP;
    IF cardinality(few) < most THEN
      RETURN QUERY
        SELECT e.entry, e.session_key, e.round, e.at,
          1 - (e.vector OPERATOR({vectors}.<=>) wanted) AS c
        FROM minutebook.entries e JOIN minutebook.visible s ON s.key = e.session_key
        WHERE e.vector IS NOT NULL AND minutebook.passes(e, s.person_id, fine)
        ORDER BY c DESC, e.entry LIMIT most;
      RETURN;
    END IF;
  END IF;
  RETURN QUERY
    SELECT e.entry, e.session_key, e.round, e.at, 1 - (e.vector OPERATOR({vectors}.<=>) wanted) AS c
    FROM minutebook.entries e WHERE e.entry = ANY (few)
    ORDER BY c DESC, e.entry LIMIT most;
END $$;

REVOKE ALL ON FUNCTION minutebook.any_number(), minutebook.own_projects(), minutebook.own_names(),
  minutebook.forget_names(), minutebook.allow_again(text[]), minutebook.copies(bigint[], int[]), minutebook.lengths_of(real)
  FROM PUBLIC;
GRANT EXECUTE ON FUNCTION minutebook.copies(bigint[], int[]), minutebook.lengths_of(real) TO {reader};
GRANT EXECUTE ON FUNCTION minutebook.own_projects(), minutebook.own_names(),
  minutebook.forget_names(), minutebook.allow_again(text[]) TO {member};

-- debug_print_plan, which everybody may set, tells a client what a function of ours asked, with
-- the numbers of names it found: nothing below an error leaves them.
DO $$
DECLARE own regprocedure;
BEGIN
  FOR own IN SELECT p.oid FROM pg_proc p
    WHERE p.pronamespace = 'minutebook'::regnamespace AND p.prosecdef
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET client_min_messages = error', own);
  END LOOP;
END $$;
