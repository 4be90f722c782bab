"""On which device kernels of a language run, and what is known of it before anything runs.

The processor is the only device that is judged on so far.
"""

from kernelwright.candidates.notation import notation
from kernelwright.devices import gpu
from kernelwright.errors import PrerequisiteError
from kernelwright.languages import nvcc
from kernelwright.records.task import Task
from kernelwright.settings import Settings
from kernelwright.tasks import contract


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


def known_values(language: str, task: Task, settings: Settings) -> dict[str, int]:
    """What constraints of tunables may mention: axes of the main workload, facts of the device.

    Args:
        language: decides the device.
        task: has the workloads.
        settings: the number of threads, and the GPU to build for.

    Raises:
        TaskError: a derived axis has no value.
    """
    device = notation(language).device
    chosen = contract.workload(task, device) or contract.workload(task, "cpu")
    axes = contract.extents(task, chosen.axes) if chosen else {}
    facts = gpu.facts(nvcc.target(settings.cuda_arch).name) if device == "gpu" else {}
    return {**axes, **facts, "cores": settings.cores}
