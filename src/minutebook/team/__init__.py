"""A team's archive: what people chose to share, in PostgreSQL with pgvector (TEAM-01 … TEAM-05).

Each person's files stay the truth; this is a copy of what they chose, masked before it leaves.

==================  ===========================================================================
`address`           where the database is, without its password
`connection`        opening it, and what goes wrong as one sentence
`schema`            versioned migrations (``migrations/*.sql``), forward only; roles; indexes
`lexemes`           our analysis of words as ``tsvector`` and ``tsquery``
`gathering`         a session of the archive as rows, masked
`pushing`           send what changed; `choice` says what a person chose
`withdrawing`       take it back; leave
`pulling`           shared sessions into a cache of their own
`managing`          roles, and who belongs to a project
`serving`           a PostgreSQL of one's own, for trying it out and for tests
==================  ===========================================================================

**For readers.** A login is a person (`people.login`); rights are PostgreSQL's own. Every table of a
session has a policy: one sees one's own, what is for all, and what is for a project an admin put
one into. So ``SELECT`` by key (`sessions`, `engagements`, `rounds`, `usage`, `texts`, `lineage`,
`files`) is safe as it is. Full text under a policy cannot use its index, so search goes through
functions that apply the same visibility and return row numbers, never texts:

- ``find_words(field, tsquery, within, most, bound)``: `field` is ``said`` or ``done``. At most
  `bound` entries that match are ranked (``ts_rank_cd``): ask for all words first, then for some.
- ``find_some(field, tsquery[], every, within, most, bound, enough)``: what has all of several, the
  rarest named first; then, until there is enough, what has the rarest, the second rarest …
- ``count_words(tsquery[], bound)``: how many entries one may see have each, up to `bound`: which is
  the rarest.
- ``find_alike(halfvec, within, most, exact)``: exactly where filters leave few, else by HNSW, asked
  for more until enough passes.
- ``names_of(rows)``: folder, branch and model of entries.

``within`` is JSON: ``kinds``, ``people``, ``sessions`` (lists), ``project``, ``branch``, ``model``
(parts of names), ``tools``, ``after``, ``before``, ``least`` and ``most``. An entry is what it is
locally (`index.entry`): kinds turn, title, engagement, session. `lexemes` says how words are
written in ``said`` and ``done``, and makes the queries. ``entries.lengths`` counts the words of
asked, answered and rest. ``texts`` has the texts, to show and to check phrases by; ``texts.work``
is JSON, surface → texts. ``sessions.record`` is a `SessionRecord`, ``sessions.info`` a
`SessionInfo`, ``rounds.body`` a `Round` (with its words, or with its tools), ``usage.digest`` a
`Digest`, ``engagements.body`` an `Engagement`, ``lineage.body`` an `Edge`: all masked, as JSON.
"""
