-- The team's archive. Run as the keeper, who owns everything here and whom nobody can log in as.
-- {keeper}, {reader}, {member}, {admin} are this database's roles; {vectors} is pgvector's schema.

-- Who, where, what about ------------------------------------------------------------------------

CREATE TABLE minutebook.facts (name text PRIMARY KEY, value text NOT NULL);

CREATE TABLE minutebook.people (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  login name NOT NULL UNIQUE,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  joined timestamptz NOT NULL DEFAULT now(),
  -- How often everything was taken back: a push that sees it change stops.
  stops int NOT NULL DEFAULT 0
);
-- Who is read is who said it: nobody has another's name.
CREATE UNIQUE INDEX people_name ON minutebook.people (lower(name));

CREATE TABLE minutebook.machines (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  person_id int NOT NULL REFERENCES minutebook.people ON DELETE CASCADE,
  name text NOT NULL,
  UNIQUE (person_id, name)
);

CREATE TABLE minutebook.projects (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE
);

-- Who sees what is shared with a project; only an admin says so.
CREATE TABLE minutebook.project_people (
  project_id int NOT NULL REFERENCES minutebook.projects ON DELETE CASCADE,
  person_id int NOT NULL REFERENCES minutebook.people ON DELETE CASCADE,
  PRIMARY KEY (project_id, person_id)
);

-- Folders, branches and models that entries are filtered by: a number instead of a path a million
-- times. Nobody reads it: functions do.
CREATE TABLE minutebook.names (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  field text NOT NULL CHECK (field IN ('project', 'branch', 'model')),
  value text NOT NULL
);
-- A value may be longer than an index entry can be.
CREATE UNIQUE INDEX names_value ON minutebook.names (field, md5(value), left(value, 200));

-- Sessions --------------------------------------------------------------------------------------

CREATE TABLE minutebook.sessions (
  key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  person_id int NOT NULL REFERENCES minutebook.people ON DELETE CASCADE,
  machine_id int NOT NULL REFERENCES minutebook.machines,
  session_id text NOT NULL,
  project_id int REFERENCES minutebook.projects,
  visibility text NOT NULL CHECK (visibility IN ('own', 'project', 'all')),
  -- Whom it is for, as one number: 0 everybody, a project's number, or its person's, negative.
  audience int NOT NULL GENERATED ALWAYS AS (
    CASE visibility WHEN 'all' THEN 0 WHEN 'project' THEN coalesce(project_id, -person_id)
    ELSE -person_id END) STORED,
  level text NOT NULL CHECK (level IN ('engagements', 'rounds', 'tools')),
  stamp text NOT NULL,
  source text NOT NULL,
  title text,
  started bigint NOT NULL,
  ended bigint NOT NULL,
  rounds int NOT NULL,
  ghost boolean NOT NULL,
  record text NOT NULL,
  info text NOT NULL,
  pushed timestamptz NOT NULL DEFAULT now(),
  UNIQUE (person_id, session_id)
);
CREATE INDEX sessions_id ON minutebook.sessions (session_id);
CREATE INDEX sessions_ended ON minutebook.sessions (ended);
-- Who may see what is asked for every entry that was found: from the index alone.
CREATE INDEX sessions_seen ON minutebook.sessions (key)
  INCLUDE (person_id, audience, session_id, rounds);

CREATE TABLE minutebook.engagements (
  session_key bigint NOT NULL REFERENCES minutebook.sessions ON DELETE CASCADE,
  id text NOT NULL,
  position int NOT NULL,
  project text NOT NULL,
  method text NOT NULL,
  phase text NOT NULL,
  topic text NOT NULL,
  outcome text NOT NULL,
  first_round int NOT NULL,
  last_round int NOT NULL,
  started bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (session_key, id)
);

CREATE TABLE minutebook.decisions (
  session_key bigint NOT NULL,
  engagement text NOT NULL,
  position int NOT NULL,
  decision text NOT NULL,
  PRIMARY KEY (session_key, engagement, position),
  FOREIGN KEY (session_key, engagement)
    REFERENCES minutebook.engagements (session_key, id) ON DELETE CASCADE
);

CREATE TABLE minutebook.rounds (
  session_key bigint NOT NULL REFERENCES minutebook.sessions ON DELETE CASCADE,
  number int NOT NULL,
  signal text NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (session_key, number)
);

CREATE TABLE minutebook.usage (
  session_key bigint PRIMARY KEY REFERENCES minutebook.sessions ON DELETE CASCADE,
  digest text NOT NULL
);

CREATE TABLE minutebook.lineage (
  session_key bigint NOT NULL REFERENCES minutebook.sessions ON DELETE CASCADE,
  older text NOT NULL,
  newer text NOT NULL,
  kind text NOT NULL,
  body text NOT NULL,
  -- Of a subagent: what it was started for.
  purpose text,
  PRIMARY KEY (session_key, older, newer, kind)
);

CREATE TABLE minutebook.files (
  session_key bigint NOT NULL REFERENCES minutebook.sessions ON DELETE CASCADE,
  round int NOT NULL,
  at bigint NOT NULL,
  how text NOT NULL,
  path text NOT NULL,
  times int NOT NULL
);
CREATE INDEX files_session ON minutebook.files (session_key);

-- What can be found -----------------------------------------------------------------------------

CREATE TABLE minutebook.entries (
  entry bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session_key bigint NOT NULL REFERENCES minutebook.sessions ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('turn', 'title', 'engagement', 'session')),
  key text NOT NULL,
  round int NOT NULL,
  at bigint NOT NULL,
  project_id int REFERENCES minutebook.names,
  branch_id int REFERENCES minutebook.names,
  model_id int REFERENCES minutebook.names,
  tools boolean NOT NULL,
  quoted boolean NOT NULL,
  budget int NOT NULL,
  blocks text NOT NULL,
  signal text NOT NULL,
  lengths int[] NOT NULL,
  said tsvector NOT NULL,
  done tsvector,
  vector {vectors}.halfvec(256),
  UNIQUE (session_key, key)
);
-- The planner estimates matches by how common a word is in all rows, and EXPLAIN shows estimates:
-- without statistics it tells nothing of rows one may not see.
ALTER TABLE minutebook.entries ALTER COLUMN said SET STATISTICS 0;
ALTER TABLE minutebook.entries ALTER COLUMN done SET STATISTICS 0;
-- Vectors stay in the row and words go out of it, so that filters and exact comparisons read few
-- pages.
ALTER TABLE minutebook.entries ALTER COLUMN vector SET STORAGE PLAIN;
CREATE INDEX entries_project ON minutebook.entries (project_id);
CREATE INDEX entries_at ON minutebook.entries (at);
-- Who else has a round; a key shorter than an id is its number, which all have.
CREATE INDEX entries_copies ON minutebook.entries (key) WHERE kind = 'turn' AND length(key) >= 16;

-- Apart from what is searched, so that a look at many entries reads few pages.
CREATE TABLE minutebook.texts (
  entry bigint PRIMARY KEY REFERENCES minutebook.entries ON DELETE CASCADE,
  session_key bigint NOT NULL REFERENCES minutebook.sessions ON DELETE CASCADE,
  asked text NOT NULL,
  answered text NOT NULL,
  rest text NOT NULL,
  work text
);
CREATE INDEX texts_session ON minutebook.texts (session_key);

CREATE TABLE minutebook.withdrawn (
  person_id int NOT NULL REFERENCES minutebook.people ON DELETE CASCADE,
  session_id text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (person_id, session_id)
);

-- What members push is read by others: seconds that are a date, rounds that can be counted to.
DO $$
DECLARE
  own record;
  bounds text;
BEGIN
  FOR own IN SELECT * FROM (VALUES
    ('sessions', 'started', true), ('sessions', 'ended', true), ('sessions', 'rounds', false),
    ('engagements', 'first_round', false), ('engagements', 'last_round', false),
    ('engagements', 'started', true), ('rounds', 'number', false), ('files', 'round', false),
    ('files', 'at', true), ('entries', 'round', false), ('entries', 'at', true)) x(name, field, moment)
  LOOP
    bounds := CASE WHEN own.moment THEN '-62135596800 AND 253402300799' ELSE '0 AND 1000000' END;
    EXECUTE format('ALTER TABLE minutebook.%I ADD CHECK (%I BETWEEN %s)', own.name, own.field, bounds);
  END LOOP;
END $$;

-- Who is asking ---------------------------------------------------------------------------------
-- By the login, which no SET ROLE changes.

CREATE FUNCTION minutebook.me() RETURNS int
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT id FROM minutebook.people WHERE login = session_user $$;

CREATE FUNCTION minutebook.audiences() RETURNS int[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT ARRAY[0] || ARRAY(
    SELECT p.project_id FROM minutebook.project_people p WHERE p.person_id = minutebook.me())
$$;

CREATE FUNCTION minutebook.owns_machine(wanted int) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT EXISTS (SELECT 1 FROM minutebook.machines m
                 WHERE m.id = wanted AND m.person_id = minutebook.me())
$$;

-- The sessions somebody may see, for functions of the keeper, whom no policy holds back. The same
-- condition as the policy on sessions; tests compare the two.
CREATE VIEW minutebook.visible AS
  SELECT s.* FROM minutebook.sessions s
  WHERE s.person_id = (SELECT minutebook.me())
     OR s.audience = ANY ((SELECT minutebook.audiences())::int[]);

-- Row level security ----------------------------------------------------------------------------

DO $$
DECLARE own text;
BEGIN
  FOREACH own IN ARRAY ARRAY['facts', 'people', 'machines', 'projects', 'project_people', 'names',
    'sessions', 'engagements', 'decisions', 'rounds', 'usage', 'lineage', 'files', 'entries',
    'texts', 'withdrawn', 'migrations']
  LOOP
    EXECUTE format('ALTER TABLE minutebook.%I ENABLE ROW LEVEL SECURITY', own);
  END LOOP;
END $$;

CREATE POLICY read ON minutebook.facts FOR SELECT TO {reader} USING (true);
CREATE POLICY read ON minutebook.migrations FOR SELECT TO {reader} USING (true);
CREATE POLICY read ON minutebook.people FOR SELECT TO {reader} USING (true);
CREATE POLICY read ON minutebook.machines FOR SELECT TO {reader} USING (
  person_id = (SELECT minutebook.me()) OR id IN (SELECT s.machine_id FROM minutebook.sessions s));
CREATE POLICY read ON minutebook.projects FOR SELECT TO {reader} USING (
  id IN (SELECT s.project_id FROM minutebook.sessions s)
  OR id IN (SELECT p.project_id FROM minutebook.project_people p));
CREATE POLICY read ON minutebook.project_people FOR SELECT TO {reader} USING (
  person_id = (SELECT minutebook.me()));
CREATE POLICY manage ON minutebook.project_people FOR SELECT TO {admin} USING (true);

CREATE POLICY read ON minutebook.sessions FOR SELECT TO {reader} USING (
  person_id = (SELECT minutebook.me())
  OR audience = ANY ((SELECT minutebook.audiences())::int[]));
CREATE POLICY push ON minutebook.sessions FOR INSERT TO {member} WITH CHECK (
  person_id = (SELECT minutebook.me())
  AND minutebook.owns_machine(machine_id)
  AND NOT EXISTS (SELECT 1 FROM minutebook.withdrawn w
                  WHERE w.person_id = sessions.person_id AND w.session_id = sessions.session_id));
CREATE POLICY change ON minutebook.sessions FOR UPDATE TO {member}
  USING (person_id = (SELECT minutebook.me()))
  WITH CHECK (person_id = (SELECT minutebook.me())
    AND minutebook.owns_machine(machine_id));
CREATE POLICY take_back ON minutebook.sessions FOR DELETE TO {member}
  USING (person_id = (SELECT minutebook.me()));

-- What belongs to a session is seen with it, and written by whose it is.
DO $$
DECLARE own text;
BEGIN
  FOREACH own IN ARRAY ARRAY['engagements', 'decisions', 'rounds', 'usage', 'lineage', 'files',
    'entries', 'texts']
  LOOP
    EXECUTE format('CREATE POLICY read ON minutebook.%I FOR SELECT TO %I USING '
      '(session_key IN (SELECT s.key FROM minutebook.sessions s))', own, {reader_text});
    EXECUTE format('CREATE POLICY push ON minutebook.%I FOR INSERT TO %I WITH CHECK '
      '(session_key IN (SELECT s.key FROM minutebook.sessions s '
      'WHERE s.person_id = (SELECT minutebook.me())))', own, {member_text});
    EXECUTE format('CREATE POLICY take_back ON minutebook.%I FOR DELETE TO %I USING '
      '(session_key IN (SELECT s.key FROM minutebook.sessions s '
      'WHERE s.person_id = (SELECT minutebook.me())))', own, {member_text});
  END LOOP;
END $$;

CREATE POLICY own ON minutebook.withdrawn TO {member}
  USING (person_id = (SELECT minutebook.me()))
  WITH CHECK (person_id = (SELECT minutebook.me()));

GRANT USAGE ON SCHEMA minutebook TO {reader};
GRANT SELECT ON minutebook.facts, minutebook.migrations, minutebook.people, minutebook.machines,
  minutebook.projects, minutebook.project_people, minutebook.sessions, minutebook.engagements,
  minutebook.decisions, minutebook.rounds, minutebook.usage, minutebook.lineage, minutebook.files,
  minutebook.entries, minutebook.texts TO {reader};
GRANT INSERT, DELETE ON minutebook.sessions, minutebook.engagements, minutebook.decisions,
  minutebook.rounds, minutebook.usage, minutebook.lineage, minutebook.files, minutebook.entries,
  minutebook.texts TO {member};
GRANT UPDATE (machine_id, project_id, visibility, level, stamp, source, title, started,
  ended, rounds, ghost, record, info, pushed) ON minutebook.sessions TO {member};
GRANT SELECT, INSERT, DELETE ON minutebook.withdrawn TO {member};

-- What people may ask for -----------------------------------------------------------------------

CREATE FUNCTION minutebook.join_team(called text, machine text) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE person int; own int;
BEGIN
  called := btrim(regexp_replace(called, '\s+', ' ', 'g'));
  -- Nor another's login, whether they have joined or not.
  IF EXISTS (SELECT 1 FROM pg_roles r
             WHERE lower(r.rolname) = lower(called) AND r.rolname <> session_user) THEN
    RAISE unique_violation USING MESSAGE = 'this is the login of somebody else';
  END IF;
  INSERT INTO minutebook.people (login, name) VALUES (session_user, called)
    ON CONFLICT (login) DO UPDATE SET name = excluded.name RETURNING id INTO person;
  INSERT INTO minutebook.machines (person_id, name) VALUES (person, machine)
    ON CONFLICT (person_id, name) DO UPDATE SET name = excluded.name RETURNING id INTO own;
  RETURN own;
END $$;

-- A batch and a withdrawal of one person take turns: each waits here for the end of the other's
-- transaction. A row's lock, since anybody could hold an advisory one.
CREATE FUNCTION minutebook.take_turn() RETURNS TABLE (person int, stops int)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT p.id, p.stops FROM minutebook.people p WHERE p.login = session_user FOR NO KEY UPDATE
$$;

-- The same, and every push under way ends at its next batch.
CREATE FUNCTION minutebook.stop_pushes() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ UPDATE minutebook.people SET stops = stops + 1 WHERE login = session_user $$;

CREATE FUNCTION minutebook.leave_team() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT id FROM minutebook.people WHERE login = session_user FOR UPDATE;
  DELETE FROM minutebook.sessions WHERE person_id = minutebook.me();
  DELETE FROM minutebook.people WHERE login = session_user;
$$;

CREATE FUNCTION minutebook.project_ids(called text[]) RETURNS TABLE (name text, id int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO minutebook.projects (name) SELECT DISTINCT c FROM unnest(called) c ORDER BY c
    ON CONFLICT DO NOTHING;
  RETURN QUERY SELECT p.name, p.id FROM minutebook.projects p WHERE p.name = ANY (called);
END $$;

CREATE FUNCTION minutebook.name_ids(fields text[], wanted text[])
RETURNS TABLE (field text, value text, id int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  INSERT INTO minutebook.names (field, value)
    SELECT DISTINCT w.f, w.v FROM unnest(fields, wanted) w(f, v) ORDER BY 1, 2
    ON CONFLICT DO NOTHING;
  RETURN QUERY SELECT n.field, n.value, n.id FROM minutebook.names n
    JOIN (SELECT DISTINCT w.f, w.v FROM unnest(fields, wanted) w(f, v)) w
      ON n.field = w.f AND md5(n.value) = md5(w.v) AND n.value = w.v;
END $$;

-- A vector as text: pgvector's own schema is known here, and not to clients.
CREATE FUNCTION minutebook.as_vector(written text) RETURNS {vectors}.halfvec
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
AS $$ SELECT written::{vectors}.halfvec(256) $$;

-- Names of the numbers in entries one has found; of others it says nothing.
CREATE FUNCTION minutebook.names_of(rows bigint[])
RETURNS TABLE (entry bigint, project text, branch text, model text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT e.entry, p.value, b.value, m.value
  FROM minutebook.entries e
  JOIN minutebook.visible s ON s.key = e.session_key
  LEFT JOIN minutebook.names p ON p.id = e.project_id
  LEFT JOIN minutebook.names b ON b.id = e.branch_id
  LEFT JOIN minutebook.names m ON m.id = e.model_id
  WHERE e.entry = ANY (rows)
$$;

-- Admins: who sees what is shared with a project.
CREATE FUNCTION minutebook.set_project(project text, person text, belongs boolean) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE who int; about int;
BEGIN
  SELECT id INTO who FROM minutebook.people WHERE login = person;
  IF who IS NULL THEN RETURN false; END IF;
  INSERT INTO minutebook.projects (name) VALUES (project) ON CONFLICT DO NOTHING;
  SELECT id INTO about FROM minutebook.projects WHERE name = project;
  IF belongs THEN
    INSERT INTO minutebook.project_people VALUES (about, who) ON CONFLICT DO NOTHING;
  ELSE
    DELETE FROM minutebook.project_people WHERE project_id = about AND person_id = who;
  END IF;
  RETURN true;
END $$;

-- Search ----------------------------------------------------------------------------------------
-- `@@` is not leakproof, so that under a policy the full-text index would not be used. These
-- functions are the keeper's, apply the visibility themselves, and return no texts.

-- The numbers of folders, branches or models whose name contains a text; of NULL, NULL.
CREATE FUNCTION minutebook.named(wanted text, part text) RETURNS int[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT CASE WHEN part IS NOT NULL THEN ARRAY(
    SELECT n.id FROM minutebook.names n
    WHERE n.field = wanted AND position(lower(part) IN lower(n.value)) > 0) END
$$;

-- What an entry must be. As JSON, `within`: kinds, people, sessions (lists of texts); project,
-- branch, model (part of a name); tools (true, false); after, before (seconds); least, most (tenths
-- of a percent of the window).
CREATE TYPE minutebook.filters AS (
  kinds text[], people int[], keys bigint[], projects int[], branches int[], models int[],
  tools boolean, after bigint, before bigint, least int, most int);

CREATE FUNCTION minutebook.filters_of(within jsonb) RETURNS minutebook.filters
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT ROW(
    CASE WHEN within ? 'kinds' THEN ARRAY(SELECT jsonb_array_elements_text(within->'kinds')) END,
    CASE WHEN within ? 'people' THEN ARRAY(
      SELECT p.id FROM minutebook.people p WHERE within->'people' ? p.login::text) END,
    CASE WHEN within ? 'sessions' THEN ARRAY(
      SELECT s.key FROM minutebook.visible s WHERE s.session_id = ANY (
        ARRAY(SELECT jsonb_array_elements_text(within->'sessions')))) END,
    minutebook.named('project', within->>'project'), minutebook.named('branch', within->>'branch'),
    minutebook.named('model', within->>'model'), (within->>'tools')::boolean,
    (within->>'after')::bigint, (within->>'before')::bigint, (within->>'least')::int,
    (within->>'most')::int)::minutebook.filters
$$;

-- Becomes part of the queries that use it, where only the filters that there are remain of it.
CREATE FUNCTION minutebook.passes(
  e minutebook.entries, person int, f minutebook.filters) RETURNS boolean
LANGUAGE sql IMMUTABLE
AS $$
  SELECT (f.kinds IS NULL OR e.kind = ANY (f.kinds))
    AND (f.people IS NULL OR person = ANY (f.people))
    AND (f.keys IS NULL OR e.session_key = ANY (f.keys))
    AND (f.projects IS NULL OR e.project_id = ANY (f.projects))
    AND (f.branches IS NULL OR e.branch_id = ANY (f.branches))
    AND (f.models IS NULL OR e.model_id = ANY (f.models))
    AND (f.tools IS NULL OR e.tools = f.tools)
    AND (f.after IS NULL OR e.at >= f.after) AND (f.before IS NULL OR e.at < f.before)
    AND (f.least IS NULL OR e.budget BETWEEN f.least AND f.most)
$$;

-- Entries with some words that one may see and that pass filters: the first `bound` there are.
-- Of a few sessions, each entry is looked at; else the index of words is asked.
CREATE FUNCTION minutebook.matching(
  field text, wanted tsquery, fine minutebook.filters, bound int) RETURNS bigint[]
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan
SET work_mem = '64MB' SET jit = off
AS $$
BEGIN
  IF cardinality(fine.keys) <= 200 THEN
    RETURN ARRAY(
      WITH own AS MATERIALIZED (
        SELECT e.entry, CASE WHEN field = 'said' THEN e.said ELSE e.done END AS words
        FROM minutebook.entries e JOIN minutebook.visible s ON s.key = e.session_key
        WHERE minutebook.passes(e, s.person_id, fine))
      SELECT own.entry FROM own WHERE own.words @@ wanted LIMIT bound);
  END IF;
  RETURN ARRAY(
    SELECT e.entry FROM minutebook.entries e JOIN minutebook.visible s ON s.key = e.session_key
    WHERE (field = 'said' AND e.said @@ wanted OR field = 'done' AND e.done @@ wanted)
      AND minutebook.passes(e, s.person_id, fine)
    LIMIT bound);
END $$;

-- Entries with all of some words, best first: of the first `bound`.
CREATE FUNCTION minutebook.find_words(
  field text, wanted tsquery, within jsonb, most int, bound int DEFAULT 4000)
RETURNS TABLE (entry bigint, session_key bigint, round int, at bigint, score real)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE found bigint[];
BEGIN
  IF field NOT IN ('said', 'done') THEN RAISE EXCEPTION 'there is no field %', field; END IF;
  found := minutebook.matching(field, wanted, minutebook.filters_of(within), bound);
  RETURN QUERY
  SELECT e.entry, e.session_key, e.round, e.at,
    ts_rank_cd(CASE WHEN field = 'said' THEN e.said ELSE e.done END, wanted, 1) AS rank
  FROM minutebook.entries e WHERE e.entry = ANY (found)
  ORDER BY rank DESC, e.at DESC, e.entry LIMIT most;
END $$;

-- Entries with one of several, the rarest first: those that have all of them; then, until there are
-- `enough` or `most`, those that have the rarest, the second rarest and so on. `every` must hold as
-- well; NULL for nothing. Where all are wanted that were looked at, they are not ranked.
CREATE FUNCTION minutebook.find_some(
  field text, ways tsquery[], every tsquery, within jsonb, most int, bound int DEFAULT 2000,
  enough int DEFAULT 1000)
RETURNS TABLE (entry bigint, session_key bigint, round int, at bigint, score real)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan SET jit = off
AS $$
#variable_conflict use_column
DECLARE
  fine minutebook.filters := minutebook.filters_of(within);
  way tsquery; anything tsquery; whole tsquery; found bigint[];
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
    found := ARRAY(
      SELECT x.row FROM unnest(found || minutebook.matching(field, way, fine, bound))
        WITH ORDINALITY x(row, place)
      GROUP BY x.row ORDER BY min(x.place) LIMIT bound);
  END LOOP;
  RETURN QUERY
  SELECT e.entry, e.session_key, e.round, e.at, CASE WHEN most < bound THEN
    ts_rank_cd(CASE WHEN field = 'said' THEN e.said ELSE e.done END, anything, 1)
    ELSE 0 END::real AS rank
  FROM minutebook.entries e WHERE e.entry = ANY (found)
  ORDER BY rank DESC, e.at DESC, e.entry LIMIT most;
END $$;

-- How many entries one may see have each of some words, up to a bound.
CREATE FUNCTION minutebook.count_words(wanted tsquery[], bound int) RETURNS int[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET work_mem = '64MB' SET jit = off
AS $$
  SELECT array_agg(c.found ORDER BY w.place)
  FROM unnest(wanted) WITH ORDINALITY w(query, place)
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS found FROM (
      SELECT 1 FROM minutebook.entries e JOIN minutebook.visible s ON s.key = e.session_key
      WHERE e.said @@ w.query LIMIT bound) x) c
$$;

-- Entries most like a vector. Where filters leave few they are compared exactly; else the index
-- is asked for more and more, until enough of what it finds may be seen and passes, or it has no
-- more to say.
CREATE FUNCTION minutebook.find_alike(
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
  END IF;
  RETURN QUERY
    SELECT e.entry, e.session_key, e.round, e.at, 1 - (e.vector OPERATOR({vectors}.<=>) wanted) AS c
    FROM minutebook.entries e WHERE e.entry = ANY (few)
    ORDER BY c DESC, e.entry LIMIT most;
END $$;

-- The newest entries one may see that pass filters, without any words.
CREATE FUNCTION minutebook.find_newest(within jsonb, most int)
RETURNS TABLE (entry bigint, session_key bigint, round int, at bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  WITH asked AS MATERIALIZED (SELECT minutebook.filters_of(within) AS filters)
  SELECT e.entry, e.session_key, e.round, e.at
  FROM minutebook.entries e JOIN minutebook.visible s ON s.key = e.session_key CROSS JOIN asked a
  WHERE e.kind <> 'session' AND minutebook.passes(e, s.person_id, a.filters)
  ORDER BY e.at DESC, e.entry LIMIT most
$$;

-- Those of some sessions one may see of which a round passes filters.
CREATE FUNCTION minutebook.passing(keys bigint[], within jsonb) RETURNS SETOF bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  WITH asked AS MATERIALIZED (SELECT minutebook.filters_of(within) AS filters)
  SELECT s.key FROM minutebook.visible s CROSS JOIN asked a
  WHERE s.key = ANY (keys) AND EXISTS (
    SELECT 1 FROM minutebook.entries e WHERE e.session_key = s.key AND e.kind = 'turn'
      AND minutebook.passes(e, s.person_id, a.filters))
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA minutebook FROM PUBLIC;
GRANT EXECUTE ON FUNCTION minutebook.me(), minutebook.audiences(), minutebook.names_of(bigint[]),
  minutebook.join_team(text, text), minutebook.leave_team(),
  minutebook.find_words(text, tsquery, jsonb, int, int),
  minutebook.find_some(text, tsquery[], tsquery, jsonb, int, int, int),
  minutebook.count_words(tsquery[], int),
  minutebook.find_alike({vectors}.halfvec, jsonb, int, int),
  minutebook.find_newest(jsonb, int), minutebook.passing(bigint[], jsonb) TO {reader};
GRANT EXECUTE ON FUNCTION minutebook.as_vector(text) TO {reader};
GRANT EXECUTE ON FUNCTION minutebook.project_ids(text[]), minutebook.name_ids(text[], text[]),
  minutebook.owns_machine(int), minutebook.take_turn(), minutebook.stop_pushes()
  TO {member};
GRANT EXECUTE ON FUNCTION minutebook.set_project(text, text, boolean) TO {admin};
