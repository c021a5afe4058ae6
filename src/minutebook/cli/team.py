"""``minutebook team``: share what you choose, take it back, read what others share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_option, archive_options, json_option, opened
from minutebook.errors import BadArgument
from minutebook.extras import needed

if TYPE_CHECKING:
    from minutebook.archive import Archive
    from minutebook.team.address import Address
    from minutebook.team.choice import Level, Visibility
    from minutebook.team.planning import Plan

F = TypeVar("F", bound=Callable[..., Any])
url_option = click.option(
    "--url",
    metavar="URL",
    help="The team's database, as postgresql://user@host/database or service=name. "
    "[default: $MINUTEBOOK_TEAM_URL, else the team you joined last]",
)


class _WithItsExtra(click.Group):
    """Its commands need a driver for PostgreSQL; their help does not."""

    def invoke(self, ctx: click.Context) -> Any:
        if not {"-h", "--help"} & set(ctx.args):
            needed("team")
        return super().invoke(ctx)


@click.group("team", cls=_WithItsExtra)
def command() -> None:
    """Share what you choose with a team through PostgreSQL, and read what others share.

    \b
    Examples:
      minutebook team join --url postgresql://ada@db.example/minutes
      minutebook team push --project orchard --dry-run
      minutebook team pull
    """


def _address(archive: Archive, url: str | None) -> Address:
    from minutebook.team.choice import chosen_team

    return chosen_team(archive.layout, url)


@command.command("init", short_help="Create or upgrade a team's archive.")
@url_option
@archive_option
@click.option(
    "--indexes-later",
    is_flag=True,
    help="Create the search indexes later, after a large first push: run init again then.",
)
def init(url: str | None, archive: str | None, indexes_later: bool) -> None:
    """Create or upgrade a team's archive: schema, roles, row level security.

    Run it once, and after an upgrade, with a login that may create roles. Put the password into
    ~/.pgpass or $PGPASSWORD.

    \b
    Example:
      minutebook team init --url postgresql://owner@db.example/minutes
    """
    from minutebook.team.connection import connected
    from minutebook.team.schema import ROLES, initialise, role_name

    address = _address(opened(archive), url)
    with connected(address, checked=False) as connection:
        done = initialise(connection, indexes=not indexes_later)
    steps = ", ".join(done.applied) or "nothing to do"
    terminal.say(f"{address.shown}: schema {steps}.")
    if done.indexes:
        took = (f"{name} ({seconds:.0f} s)" for name, seconds in done.indexes.items())
        terminal.say(f"Indexes: {', '.join(took)}.")
    names = ", ".join(role_name(done.database, role) for role in ROLES)
    terminal.say(f"Roles: {names}. `minutebook team role LOGIN member` gives one.")


@command.command("join")
@url_option
@archive_option
@click.option("--name", metavar="NAME", help="Your name in the team. [default: your login]")
@click.option(
    "--machine", metavar="NAME", help="This machine's name in the team. [default: its host name]"
)
def join_team(url: str | None, archive: str | None, name: str | None, machine: str | None) -> None:
    """Join a team from this machine. Nothing is sent yet.

    \b
    Example:
      minutebook team join --url postgresql://ada@db.example/minutes
    """
    from minutebook.team.choice import joined
    from minutebook.team.managing import join

    book = opened(archive, create=True)
    address = _address(book, url)
    called = join(address, name, machine)
    joined(book.layout, address, called)
    terminal.say(f"Joined {address.shown} from {terminal.one_line(called)}. Nothing was sent.")
    if address.has_password:
        terminal.note("The password is not kept: put it into ~/.pgpass or $PGPASSWORD.")
    terminal.say("`minutebook team push` shows what you can share.")


def _choice_options(command: F) -> F:
    options = (
        click.option(
            "--project",
            "projects",
            multiple=True,
            metavar="NAME",
            help="Share this project; repeatable.",
        ),
        click.option("--all", "every", is_flag=True, help="Share every project there is now."),
        click.option("--since", metavar="DATE", help="Only sessions since DATE."),
        click.option(
            "--with",
            "level",
            type=click.Choice(["engagements", "rounds", "tools"]),
            metavar="LEVEL",
            help="engagements (the default), rounds (also what was asked and answered) or tools "
            "(also what tools did and models thought).",
        ),
        click.option(
            "--visible",
            type=click.Choice(["own", "project", "all"]),
            metavar="WHO",
            help="Who sees it: own (only you, the default), project (its people) or all.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@command.command("push")
@url_option
@archive_options
@_choice_options
@click.option("--dry-run", is_flag=True, help="Show exactly what would be sent; send nothing.")
@json_option
def push_now(
    url: str | None,
    roots: tuple[str, ...],
    archive: str | None,
    projects: tuple[str, ...],
    every: bool,
    since: str | None,
    level: Level | None,
    visible: Visibility | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Send what you chose, masked; later only what changed.

    The choice is remembered for the next push.

    \b
    Examples:
      minutebook team push --project orchard --with rounds --dry-run
      minutebook team push
    """
    from minutebook.team.choice import choose, chosen, team_of
    from minutebook.team.pushing import planned, push

    book = opened(archive, roots)
    address = _address(book, url)
    team = team_of(book.layout, address)
    known = team.choice if team is not None else None
    choice = chosen(
        book, known, projects=projects, every=every, since=since, level=level, visible=visible
    )
    if choice is None:
        _show_choices(book, as_json)
        return
    if dry_run:
        todo = planned(book, address, team, choice)
        if as_json:
            print_json(choice=choice, plan=todo)
        else:
            _say_plan(todo, choice.level, choice.visible, verbose=True)
        return
    if choice != known:
        choose(book.layout, address, choice)

    def before(todo: Plan) -> None:
        if not as_json:
            _say_plan(todo, choice.level, choice.visible)

    done = push(book, address, team, choice, before=before)
    if as_json:
        print_json(choice=choice, pushed=done)
        return
    told = [
        f"{terminal.plural(done.sessions, 'session')} sent",
        terminal.plural(done.rounds, "round"),
        f"{done.shown_anew} with another visibility" if done.shown_anew else "",
    ]
    terminal.say(", ".join(part for part in told if part) + ".")


def _show_choices(book: Archive, as_json: bool) -> None:
    """Nothing is sent without a choice: what there is to choose from."""
    from minutebook.team.choice import known_projects

    there = known_projects(book)
    if as_json:
        print_json(choice=None, projects=dict(there.most_common()))
        return
    terminal.say("Nothing was sent: choose what to share.")
    for name, count in there.most_common(40):
        called = terminal.one_line(book.hide(name))
        terminal.say(f"  {terminal.plural(count, 'session'):>14}  {called}")
    terminal.say("  --project NAME (several times) or --all; --since DATE")
    terminal.say("  --with engagements (default), rounds, tools")
    terminal.say("  --visible own (default: only you see it), project, all")
    terminal.say("Add --dry-run to see what would be sent.")


def _say_plan(todo: Plan, level: str, visible: str, *, verbose: bool = False) -> None:
    what = {
        "engagements": "engagements only",
        "rounds": "engagements and rounds",
        "tools": "engagements, rounds, tools and thinking",
    }[level]
    who = {"own": "you", "project": "people of the project", "all": "everybody"}[visible]
    for item in todo.send if verbose else ():
        rounds = "" if level == "engagements" else f", {terminal.plural(item.rounds, 'round')}"
        counts = f"{terminal.plural(item.engagements, 'engagement')}{rounds}"
        named = terminal.one_line(item.title or "") if level != "engagements" else ""
        terminal.say(f"  {item.session_id[:8]}  {item.why:7}  {item.project}  {counts}  {named}")
    terminal.say(f"To send: {terminal.plural(len(todo.send), 'session')} ({what}; seen by {who}).")
    for count, words in (
        (todo.unchanged, "unchanged"),
        (todo.withdrawn, "withdrawn by you: not sent again"),
        (todo.elsewhere, "pushed from another machine of yours"),
        (todo.mixed, "with work in a project that you did not choose: not sent"),
        (todo.outside, "pushed before and outside your choice: `team withdraw` takes them back"),
    ):
        if count:
            terminal.say(f"  {terminal.plural(count, 'session')} {words}.")
    for program, count in sorted(todo.held.items()):
        terminal.say(
            f"  {terminal.plural(count, 'session')} of {program}: not sent before "
            f"`minutebook config allow {program}`."
        )


@command.command("pull", short_help="Fetch what others share into a read-only cache.")
@url_option
@archive_option
@click.option("--cache", metavar="PATH", help="The cache. [default: your cache folder]")
@json_option
def pull_now(url: str | None, archive: str | None, cache: str | None, as_json: bool) -> None:
    """Fetch what others share into a read-only cache; remove what they withdrew.

    \b
    Example:
      minutebook team pull
    """
    from minutebook.config import expanded
    from minutebook.team.pulling import default_cache, pull

    book = opened(archive)
    address = _address(book, url)
    done = pull(address, expanded(cache) if cache else default_cache(address), book.root)
    if as_json:
        print_json(pulled=done)
        return
    terminal.say(
        f"{terminal.plural(done.fetched, 'session')} fetched, {done.unchanged} unchanged, "
        f"{done.removed} removed: {done.folder}"
    )


@command.command("status")
@url_option
@archive_option
@click.option("--sessions", is_flag=True, help="Also list the sessions that you pushed.")
@json_option
def status(url: str | None, archive: str | None, sessions: bool, as_json: bool) -> None:
    """Show your role, your choice, and what the team has from you.

    \b
    Example:
      minutebook team status --sessions
    """
    from minutebook.team.choice import team_of
    from minutebook.team.managing import pushed_sessions, standing

    book = opened(archive)
    address = _address(book, url)
    now = standing(address)
    team = team_of(book.layout, address)
    choice = team.choice if team is not None else None
    listed = pushed_sessions(address) if sessions else []
    if as_json:
        names = ("session_id", "title", "level", "visibility")
        rows = [dict(zip(names, row, strict=True)) for row in listed]
        print_json(team=address.shown, standing=now, choice=choice, sessions=rows)
        return
    terminal.say(f"{address.shown} (schema {now.schema}): {now.login}, {now.role or 'no role'}.")
    if not now.joined:
        terminal.say("You have not joined: `minutebook team join`.")
    if choice is None:
        terminal.say("You chose nothing to share yet: `minutebook team push` shows what there is.")
    else:
        projects = terminal.one_line(book.hide(", ".join(choice.projects)))
        since = f", since {choice.since}" if choice.since else ""
        terminal.say(f"Shared: {projects}{since}; {choice.level}, visible to {choice.visible}.")
    terminal.say(
        f"Yours there: {terminal.plural(now.own_sessions, 'session')}, "
        f"{terminal.plural(now.own_rounds, 'round')}; {now.withdrawn} withdrawn."
    )
    terminal.say(
        f"Shared by others: {terminal.plural(now.shared_sessions, 'session')}, of "
        f"{terminal.plural(now.people, 'person', 'people')} in all."
    )
    for id, title, level, visibility in listed:
        terminal.say(f"  {id[:8]}  {level:11}  {visibility:7}  {terminal.one_line(title)}")


@command.command("withdraw", short_help="Take back sessions, or everything.")
@url_option
@archive_option
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--all", "every", is_flag=True, help="Withdraw everything, and forget your choice.")
@click.option("--undo", is_flag=True, help="Allow withdrawn sessions to be pushed again.")
def withdraw_now(
    url: str | None, archive: str | None, sessions: tuple[str, ...], every: bool, undo: bool
) -> None:
    """Take back sessions, or everything; later pushes leave them out.

    \b
    Examples:
      minutebook team withdraw 3a4d64e0
      minutebook team withdraw --all
    """
    from minutebook.team.choice import choose, team_of
    from minutebook.team.withdrawing import allow_again, withdraw

    if bool(sessions) == every or (every and undo):
        raise BadArgument("Name the sessions to withdraw (the start of their ids), or --all.")
    book = opened(archive)
    address = _address(book, url)
    if undo:
        count = allow_again(address, sessions)
        terminal.say(f"{terminal.plural(count, 'session')} may be pushed again.")
        return
    if every and team_of(book.layout, address) is not None:
        choose(book.layout, address, None)  # first: a push that starts meanwhile sends nothing
    count = withdraw(address, None if every else sessions)
    terminal.say(f"{terminal.plural(count, 'session')} withdrawn: rows, words, vectors are gone.")


@command.command("leave")
@url_option
@archive_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def leave_now(url: str | None, archive: str | None, yes: bool) -> None:
    """Take back everything you pushed, and leave the team.

    \b
    Example:
      minutebook team leave
    """
    from minutebook.team.choice import forget
    from minutebook.team.withdrawing import leave

    book = opened(archive)
    address = _address(book, url)
    if not yes:
        click.confirm(f"Take back everything you pushed to {address.shown}?", abort=True)
    leave(address)
    forget(book.layout, address)
    terminal.say(f"You left {address.shown}; nothing of yours is left there.")


@command.command("role")
@url_option
@archive_option
@click.argument("login")
@click.argument("role", type=click.Choice(["reader", "member", "admin", "none"]))
def role(url: str | None, archive: str | None, login: str, role: str) -> None:
    """For admins: give a login a role.

    Readers read, members also push, admins also manage.

    \b
    Example:
      minutebook team role ada member
    """
    from minutebook.team.managing import set_role

    address = _address(opened(archive), url)
    set_role(address, login, None if role == "none" else role)
    terminal.say(f"{terminal.one_line(login)}: {role}.")


@command.command("project", short_help="For admins: choose who belongs to a project.")
@url_option
@archive_option
@click.argument("project")
@click.option("--add", multiple=True, metavar="LOGIN", help="Add a person to the project.")
@click.option("--remove", multiple=True, metavar="LOGIN", help="Remove a person from the project.")
def project(
    url: str | None,
    archive: str | None,
    project: str,
    add: tuple[str, ...],
    remove: tuple[str, ...],
) -> None:
    """For admins: choose who belongs to a project, and so sees what is shared with it.

    \b
    Example:
      minutebook team project orchard --add ada --remove bob
    """
    from minutebook.team.managing import set_project

    if not (add or remove):
        raise BadArgument("Name people with --add LOGIN or --remove LOGIN.")
    address = _address(opened(archive), url)
    for login in add:
        set_project(address, project, login, belongs=True)
    for login in remove:
        set_project(address, project, login, belongs=False)
    changed = terminal.plural(len(add) + len(remove), "person", "people")
    terminal.say(f"{terminal.one_line(project)}: {changed} changed.")


@command.command("serve-local", short_help="Start a local PostgreSQL to try a team out.")
@click.option(
    "--folder", metavar="PATH", help="Where to keep its data. [default: your data folder]"
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    metavar="N",
    help="Also listen on the loopback address.",
)
@archive_option
def serve_local(folder: str | None, port: int | None, archive: str | None) -> None:
    """Start a local PostgreSQL to try a team out; stop it with Ctrl-C.

    Its data stays.

    \b
    Example:
      minutebook team serve-local
    """
    import signal
    import threading

    from minutebook.config import expanded
    from minutebook.team.choice import joined
    from minutebook.team.managing import join
    from minutebook.team.serving import LocalServer, default_folder, prepared

    book = opened(archive, create=True)
    server = LocalServer(expanded(folder) if folder else default_folder(), port=port)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    server.start()
    try:
        address = prepared(server)
        joined(book.layout, address, join(address))
        terminal.say(f"Local team: {address.shown}")
        terminal.say(f"  export MINUTEBOOK_TEAM_URL='{address.kept}'")
        terminal.note("Press Ctrl-C to stop; its data stays in " + str(server.folder))
        stop.wait()
    finally:
        server.stop()
