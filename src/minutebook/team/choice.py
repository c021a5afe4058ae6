"""What a person chose to share with a team: kept in ``team.json``, which has no password.

Nothing is shared without a choice. A project is chosen by its name, and one that is new since
then is not among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Literal, get_args

import msgspec

from minutebook.archive.archive import Archive
from minutebook.derive.periods import since as start_of
from minutebook.errors import BadArgument, Conflict
from minutebook.model.engagement import SessionRecord
from minutebook.model.session import project_of
from minutebook.record.layout import Layout
from minutebook.record.store import PATIENCE, make_folder, patiently, write_atomically
from minutebook.team.address import Address, named_address

Level = Literal["engagements", "rounds", "tools"]
Visibility = Literal["own", "project", "all"]
LEVELS: tuple[Level, ...] = get_args(Level)
VISIBILITIES: tuple[Visibility, ...] = get_args(Visibility)
NO_PROJECT = "(no project)"


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What of an archive goes to a team, and who sees it there."""

    projects: tuple[str, ...]
    since: str | None = None
    """The first moment, as an ISO timestamp."""
    level: Level = "engagements"
    visible: Visibility = "own"


class Team(msgspec.Struct, frozen=True, kw_only=True):
    """A team that an archive knows."""

    address: str
    """Without the password."""
    machine: str = ""
    choice: Choice | None = None


class Teams(msgspec.Struct, frozen=True, kw_only=True):
    """``team.json``."""

    format: int = 1
    current: str | None = None
    teams: dict[str, Team] = {}


def read_teams(layout: Layout) -> Teams:
    try:
        found = msgspec.json.decode(layout.team.read_bytes(), type=Teams)
    except FileNotFoundError:
        return Teams()
    except (OSError, msgspec.DecodeError) as error:
        raise Conflict(
            f"{layout.team} cannot be read ({error}): remove it and run "
            "`minutebook team join` again."
        ) from None
    if found.format > 1:
        raise Conflict(f"{layout.team} was written by a newer minutebook: upgrade this one.")
    return found


def remember(layout: Layout, address: Address, change: Callable[[Team], Team]) -> None:
    """Change what is known of a team; it is the one that is meant from now on."""
    with patiently(layout.team_lock, "team", PATIENCE):
        known = read_teams(layout)
        team = change(known.teams.get(address.key) or Team(address=address.kept))
        teams = {**known.teams, address.key: team}
        _write(layout, Teams(current=address.key, teams=teams))


def joined(layout: Layout, address: Address, machine: str) -> None:
    """Keep that one has joined from a machine of this name; what was chosen stays."""

    def change(team: Team) -> Team:
        return Team(address=address.kept, machine=machine, choice=team.choice)

    remember(layout, address, change)


def choose(layout: Layout, address: Address, choice: Choice | None) -> None:
    """Keep what is shared with a team."""
    remember(layout, address, lambda team: msgspec.structs.replace(team, choice=choice))


def forget(layout: Layout, address: Address) -> None:
    with patiently(layout.team_lock, "team", PATIENCE):
        known = read_teams(layout)
        teams = {key: team for key, team in known.teams.items() if key != address.key}
        current = known.current if known.current in teams else None
        _write(layout, Teams(current=current, teams=teams))


def _write(layout: Layout, teams: Teams) -> None:
    make_folder(layout.root)
    write_atomically(layout.team, msgspec.json.format(msgspec.json.encode(teams), indent=1) + b"\n")


def chosen_team(layout: Layout, url: str | None) -> Address:
    """The team a person means: the one they name, else the one they joined last."""
    known = read_teams(layout)
    last = known.teams.get(known.current or "")
    return named_address(url, last.address if last is not None else None)


def team_of(layout: Layout, address: Address) -> Team | None:
    return read_teams(layout).teams.get(address.key)


def projects_of(record: SessionRecord) -> set[str]:
    """Projects a session worked in: its own, and those of its engagements."""
    paths = [record.cwd or "", *(e.project for e in record.engagements)]
    return {project_of(path) if path else NO_PROJECT for path in paths}


def known_projects(archive: Archive) -> Counter[str]:
    """Projects there are, with how many sessions each has."""
    return Counter(name for record in archive.cards().values() for name in projects_of(record))


def chosen(
    archive: Archive,
    known: Choice | None,
    *,
    projects: tuple[str, ...] = (),
    every: bool = False,
    since: str | None = None,
    level: Level | None = None,
    visible: Visibility | None = None,
) -> Choice | None:
    """The choice as a person changed it just now; None where they never made one."""
    if not (projects or every) and known is None:
        if since or level or visible:
            raise BadArgument("Choose which projects to share first.", remedy="projects")
        return None
    if projects and every:
        raise BadArgument("Choose some projects or all of them, not both.", remedy="all-or-some")
    there = known_projects(archive) if projects or every else Counter()
    for name in projects:
        if name not in there:
            near = ", ".join(sorted(there)[:8]) or "none"
            raise BadArgument(f"There is no project '{name}' in your archive; there are: {near}.")
    named = tuple(sorted(there if every else set(projects)))
    before = known or Choice(projects=())
    return Choice(
        projects=named or before.projects,
        since=start_of(since).isoformat() if since else before.since,
        level=level or before.level,
        visible=visible or before.visible,
    )
