"""The layers that confine a candidate on this machine, one by one, for ``doctor``.

What a layer takes away is said in a few words; docs/explanation/isolation.md says more.
"""

from typing import Any

from pydantic import BaseModel

_NAMESPACES = (
    "allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 "
    "kernel.apparmor_restrict_unprivileged_userns=0 (those that exist)"
)
MEND = {
    "network": _NAMESPACES,
    "pids": _NAMESPACES,
    "mounts": _NAMESPACES,
    "landlock": "use Linux 5.13 or later, booted with lsm=landlock,...",
}
TAKES_AWAY = {
    "oom_first": "the machine's memory: a candidate goes before anything of yours",
    "user_namespace": "nothing by itself: an ordinary user needs it for the next ones",
    "network": "every connection, and other processes' shared memory",
    "pids": "the sight of other processes",
    "watcher": "processes that would outlive the candidate",
    "mounts": "every folder but its own and the system's libraries",
    "user": "the rights of root",
    "capabilities": "what root may do without being root",
    "no_new_privileges": "what set-user-id programs could give back",
    "landlock": "files, a second time",
    "hidden_memory": "being read by other processes of the same user",
    "system_calls": "calls that a kernel never needs",
    "limits": "more memory, time, files and processes than it may have",
}


class Layer(BaseModel):
    """One layer of isolation."""

    name: str
    active: bool
    takes_away: str
    reason: str = ""
    """Why it is not active."""


def layers(report: dict[str, Any]) -> tuple[Layer, ...]:
    """Every layer of a probe's report, the missing ones last."""
    found = dict.fromkeys(report["active"], "") | report["unavailable"]
    return tuple(
        Layer(
            name=name,
            active=name in report["active"],
            takes_away=TAKES_AWAY.get(name, ""),
            reason=reason,
        )
        for name, reason in found.items()
    )


def in_short(found: tuple[Layer, ...]) -> str:
    """How many layers there are, and which are missing."""
    missing = [one.name for one in found if not one.active]
    if not missing:
        return f"all {len(found)} layers"
    return f"{len(found) - len(missing)} of {len(found)} layers; without {', '.join(missing)}"


def mend(found: tuple[Layer, ...]) -> str:
    """What makes missing layers active, where that is known."""
    missing = [MEND.get(one.name, "") for one in found if not one.active]
    return "; ".join(filter(None, dict.fromkeys(missing)))
