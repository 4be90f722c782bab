"""The workloads that are judged."""

from __future__ import annotations

import pytest

from kernelwright.errors import TaskError
from kernelwright.evaluation.cases import on_cpu
from kernelwright.records.task import Task
from kernelwright.tasks.load import load_task


def test_a_workload_that_asks_for_nothing_is_refused():
    task = load_task("softmax", inspector=lambda request: request)
    assert on_cpu(task).timed
    changed = [
        one.model_copy(update={"axes": {**one.axes, "M": 0}}) if one.role == "main" else one
        for one in task.workloads
    ]
    with pytest.raises(TaskError, match="has no output elements"):
        on_cpu(
            Task.model_validate(task.model_copy(update={"workloads": tuple(changed)}).model_dump())
        )
