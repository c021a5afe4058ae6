-- What a member could still break or learn by plain SQL, and an admin could not take away.

-- Policies --------------------------------------------------------------------------------------
-- Who has a role may say DROP OWNED BY it: that takes the role out of every policy, and drops those
-- that are for it alone, whoever made them. Policies are for all; who may ask at all, grants say.

DO $$
DECLARE own record;
BEGIN
  FOR own IN SELECT p.polname, p.polrelid::regclass AS place
    FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
    WHERE c.relnamespace = 'minutebook'::regnamespace
  LOOP
    EXECUTE format('ALTER POLICY %I ON %s TO PUBLIC', own.polname, own.place);
  END LOOP;
END $$;
ALTER POLICY manage ON minutebook.project_people
  USING ((SELECT pg_has_role({admin_text}, 'USAGE')));

-- Columns ---------------------------------------------------------------------------------------
-- The planner knows how many rows each person, project and machine has, and EXPLAIN tells how many
-- it expects: of these columns nobody may ask. Policies ask a view for one's own sessions.

CREATE VIEW minutebook.own_keys WITH (security_barrier) AS
  SELECT s.key FROM minutebook.sessions s WHERE s.person_id = (SELECT minutebook.me());
GRANT SELECT ON minutebook.own_keys TO {member};

DO $$
DECLARE own text;
BEGIN
  FOREACH own IN ARRAY ARRAY['engagements', 'decisions', 'rounds', 'usage', 'lineage', 'files',
    'entries', 'texts']
  LOOP
    IF own <> 'entries' THEN
      EXECUTE format('ALTER POLICY push ON minutebook.%I WITH CHECK '
        '(session_key IN (SELECT s.key FROM minutebook.own_keys s))', own);
    END IF;
    EXECUTE format('ALTER POLICY take_back ON minutebook.%I USING '
      '(session_key IN (SELECT s.key FROM minutebook.own_keys s))', own);
  END LOOP;
END $$;
ALTER POLICY push ON minutebook.entries WITH CHECK (
  session_key IN (SELECT s.key FROM minutebook.own_keys s)
  AND (project_id IS NULL OR project_id IN (SELECT minutebook.own_names()))
  AND (branch_id IS NULL OR branch_id IN (SELECT minutebook.own_names()))
  AND (model_id IS NULL OR model_id IN (SELECT minutebook.own_names())));

REVOKE SELECT (person_id, machine_id, project_id, audience) ON minutebook.sessions FROM {reader};
REVOKE SELECT (id) ON minutebook.projects FROM {reader};
REVOKE SELECT (id, person_id) ON minutebook.machines FROM {reader};
DROP POLICY read ON minutebook.projects;
DROP POLICY read ON minutebook.machines;

-- Nobody gives numbers of rows: the next ones, taken before, were refused to everybody else.
REVOKE INSERT ON minutebook.sessions, minutebook.entries FROM {member};
GRANT INSERT (person_id, machine_id, session_id, project_id, visibility, level, stamp, source,
  title, started, ended, rounds, ghost, record, info) ON minutebook.sessions TO {member};
GRANT INSERT (session_key, kind, key, round, at, project_id, branch_id, model_id, tools, quoted,
  budget, blocks, signal, lengths, said, done, vector) ON minutebook.entries TO {member};

-- What a search counts with must be numbers, and places `block:length`: else nobody could search.
ALTER TABLE minutebook.entries
  ADD CHECK (lengths = '{{}}' OR array_ndims(lengths) = 1 AND array_lower(lengths, 1) = 1
    AND cardinality(lengths) <= 100 AND array_position(lengths, NULL) IS NULL
    AND 0 <= ALL (lengths)),
  ADD CHECK (blocks ~ '^([0-9]{{1,9}}:[0-9]{{1,9}}( [0-9]{{1,9}}:[0-9]{{1,9}})*)?$');

-- People ----------------------------------------------------------------------------------------

-- As before, and a name has no letters nobody sees: it would look like another's.
CREATE OR REPLACE FUNCTION minutebook.join_team(called text, machine text) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET client_min_messages = error
AS $$
DECLARE person int; own int;
BEGIN
  called := btrim(regexp_replace(called,
    '[[:space:]\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+', ' ', 'g'));
  IF called ~ '[\u0001-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]'
  THEN
    RAISE check_violation USING MESSAGE = 'a name has letters that nobody can see';
  END IF;
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

-- Admins: the role of a login, or none. All roles are given by the keeper: PostgreSQL takes a role
-- from nobody who has it from somebody else, and only warns.
CREATE FUNCTION minutebook.set_role(person text, wanted text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET client_min_messages = error
AS $$
DECLARE own text;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = person AND r.rolcanlogin) THEN
    RETURN false;
  END IF;
  FOREACH own IN ARRAY ARRAY[{reader_text}, {member_text}, {admin_text}] LOOP
    EXECUTE format('REVOKE %I FROM %I', own, person);
  END LOOP;
  own := CASE wanted WHEN 'reader' THEN {reader_text} WHEN 'member' THEN {member_text}
    WHEN 'admin' THEN {admin_text} END;
  IF own IS NOT NULL THEN EXECUTE format('GRANT %I TO %I', own, person); END IF;
  RETURN true;
END $$;
REVOKE ALL ON FUNCTION minutebook.set_role(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION minutebook.set_role(text, text) TO {admin};

-- Words -----------------------------------------------------------------------------------------

-- As before, and who sees few of many entries has those looked up, instead of reading all there are.
CREATE OR REPLACE FUNCTION minutebook.lengths_of(percent real)
RETURNS TABLE (entries bigint, lengths bigint[])
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET client_min_messages = error
AS $$
  WITH part AS MATERIALIZED (
    SELECT e.lengths AS own
    FROM minutebook.entries e TABLESAMPLE SYSTEM (CASE WHEN percent < 100 THEN percent ELSE 0 END)
    JOIN minutebook.visible s ON s.key = e.session_key
    UNION ALL
    SELECT e.lengths FROM minutebook.visible s
    CROSS JOIN LATERAL (
      SELECT x.lengths FROM minutebook.entries x WHERE x.session_key = s.key OFFSET 0) e
    WHERE percent >= 100)
  SELECT (SELECT count(*) FROM part),
    ARRAY(SELECT sum(l.length)::bigint FROM part, unnest(part.own) WITH ORDINALITY l(length, place)
          GROUP BY l.place ORDER BY l.place)
$$;
