"""Whether the processor, the only device that is judged on so far, can run kernels of a language."""

from kernelwright.candidates.notation import notation
from kernelwright.devices import gpu
from kernelwright.errors import PrerequisiteError


def must_run_here(language: str) -> None:
    """Refuse to run kernels that need another device; a draft, which only builds, needs none.

    Raises:
        PrerequisiteError: they do.
        UsageError: the language is not installed.
    """
    if notation(language).device == "cpu":
        return
    lacking = "which this version does not judge on" if gpu.architecture() else "and none is here"
    raise PrerequisiteError(
        f"kernels in {language} run on a GPU, {lacking}",
        hint="kernelwright evaluate TASK FILE --rung draft builds one and says what it takes, "
        "without running it",
    )
