"""What one has to know of figures: what they leave out, what is only a bound (USE-06)."""

from __future__ import annotations

from minutebook.derive.usage.figures import Usage
from minutebook.derive.wording import plural


def remarks(found: Usage) -> list[str]:
    """Sentences for people; none where the figures are simply right."""
    total, told = found.total, []
    cost = total.cost
    if cost is not None and cost.unpriced:
        named = ", ".join(
            f"{plural(n, 'reply', 'replies')} of {m}" for m, n in cost.unpriced.items()
        )
        told.append(f"Unpriced: {named}. The cost is at least what is shown.")
    if cost is not None and cost.dearer:
        told.append(
            f"{plural(cost.dearer, 'reply', 'replies')} in fast mode, with priority or in a "
            "costlier region: the list has only the standard price, so the cost is at least what "
            "is shown."
        )
    if cost is not None and cost.unrecorded:
        told.append(
            f"{plural(cost.unrecorded, 'reply', 'replies')} without recorded usage: tokens and "
            "cost are at least what is shown."
        )
    if total.open_ended:
        what = "Output and cost are lower bounds" if cost is not None else "Output is a lower bound"
        told.append(
            f"{what} (≥): {total.open_ended:,} of {plural(total.replies, 'reply', 'replies')} "
            f"{'was' if total.open_ended == 1 else 'were'} cut off in the log."
        )
    if total.thin:
        told.append(
            f"{plural(total.thin, 'reply', 'replies')} from an archive of the first release, which "
            "did not keep how long cache writes are held: taken for five minutes, the cheaper kind."
        )
    if total.damaged:
        told.append(
            f"{plural(total.damaged, 'reply', 'replies')} with counts or a time that cannot "
            "be right: those are left out."
        )
    if cost is not None and cost.recorded_usd:
        told.append(f"The agent itself recorded ${cost.recorded_usd:,.2f}; it is not mixed in.")
    if found.ghosts:
        told.append(f"{plural(found.ghosts, 'ghost is', 'ghosts are')} included.")
    if found.hidden:
        what = plural(found.hidden, "session that you hid is", "sessions that you hid are")
        told.append(f"{what} included.")
    if found.timeless:
        told.append(
            f"{plural(found.timeless, 'session has', 'sessions have')} no recorded times: "
            "their days and active time are unknown."
        )
    return told


def copied(sessions: int) -> list[str]:
    """The same of sessions whose replies cannot be known as those of others."""
    if not sessions:
        return []
    what = plural(sessions, "session repeats", "sessions repeat")
    return [f"{what} the words of another under other ids: what they share is counted in each."]
