"""Whether a run still searches, why it stops, and what its budget has to do with that."""

from dataclasses import dataclass

from kernelwright.records.run import Run, Status


@dataclass
class Course:
    """From the search to the confirms; refuses to decide which way to go."""

    searching: bool = True
    reason: str = ""
    """Why the search was over, one sentence."""
    refused: bool = False
    """Whether the budget refused a job just now."""
    starved: bool = False
    """Whether such a refusal ended the search."""

    @property
    def is_out_of_budget(self) -> bool:
        """Whether the budget ended the search, or what follows it."""
        return self.refused or self.starved

    def stop(self, reason: str) -> None:
        """The search has reached its aim; leaders are confirmed."""
        self.searching, self.reason = False, reason

    def end(self, refusal: str, otherwise: str) -> None:
        """Nothing more can begin: the budget refuses it, or there is nothing."""
        self.starved = self.refused
        self.stop(refusal if self.refused else otherwise)

    def go_on(self) -> None:
        """The search is not over yet."""
        self.searching, self.starved = True, False

    def feed(self) -> None:
        """More budget was given: a search that lacked it goes on."""
        if self.starved:
            self.go_on()


def ended(run: Run, status: Status, best: str, reason: str) -> Run:
    """The run at its end."""
    notes = {**run.notes, "reason": reason}
    return run.model_copy(update={"status": status, "best": best, "notes": notes})


def begun_again(run: Run) -> Run:
    """A run that had ended, running."""
    notes = {name: note for name, note in run.notes.items() if name != "reason"}
    return run.model_copy(update={"status": "running", "best": "", "notes": notes})
