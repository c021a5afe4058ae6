"""Wiring: settings → the things verbs work on."""

from __future__ import annotations

from dataclasses import dataclass

from minutebook.archive.layout import Layout
from minutebook.archive.roster import load_roster
from minutebook.config import Settings
from minutebook.model import Roster
from minutebook.sources.library import Library


@dataclass(frozen=True)
class House:
    """Everything a front end needs to call a verb."""

    library: Library
    roster: Roster
    layout: Layout


def open_house(settings: Settings) -> House:
    return House(Library(settings.roots), load_roster(settings.archive), Layout(settings.archive))
