"""Say what this machine can do, what is missing, and the command that mends it.

Compilers are tried by really compiling and running a small parallel program. The exit code is 0
when the main job can run here, else 2.
"""

from kernelwright.report import text
from kernelwright.verbs import base, foreign, machine


class Request(base.Request):
    """Nothing to choose."""


class Answer(base.Answer):
    """What this machine can do."""

    usable: bool
    """Whether ``optimize`` can run here."""
    findings: tuple[machine.Finding, ...]

    def exit_code(self) -> int:
        """2 when something must be installed or allowed first."""
        return 0 if self.usable else 2

    def text(self) -> str:
        """A table, and one of the layers of isolation."""
        found = text.table(
            ("what", "state", "detail"),
            [(one.name, one.state, one.detail) for one in self.findings],
        )
        layers = [
            (one.name, "ok" if one.active else "missing", one.reason or one.takes_away)
            for finding in self.findings
            for one in finding.layers
        ]
        if not layers:
            return found
        head = ("isolation", "state", "takes away, or why it is missing")
        return f"{found}\n\n{text.table(head, layers)}"

    def notes(self) -> list[str]:
        """What mends what is missing, and the verdict."""
        hints = [f"hint: {one.name}: {one.mend}" for one in self.findings if one.mend]
        verdict = "optimize can run here" if self.usable else "optimize cannot run here yet"
        return [*hints, verdict]


def run(request: Request, *, observer: object = None) -> Answer:
    """Look at everything the main job needs."""
    settings = request.settings()
    findings = (*machine.findings(settings), *foreign.findings())
    names = (settings.compiler,) if settings.compiler else machine.COMPILERS
    usable = any(one.name in names and one.state != "missing" for one in findings) and not any(
        one.state == "missing" and not one.optional for one in findings
    )
    return Answer(usable=usable, findings=findings)
