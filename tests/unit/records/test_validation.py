"""What a record refuses is said in words for those who wrote it."""

from __future__ import annotations

from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kernelwright.records.task import Task
from kernelwright.records.validation import sentences
from tests.samples import task


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    role: str


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    whole: int = 1
    number: float = Field(1.0, gt=0, le=5)
    yes: bool = True
    text: str = Field("", max_length=3)
    many: tuple[Inner, ...] = ()
    name: str = Field("a", pattern="^[a-z]+$")
    word: Literal["one", "two"] = "one"
    extent: int | str = 1
    pairs: dict[str, int] = {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"whole": "x"}, "whole: must be a whole number, not 'x'"),
        ({"whole": 1.5}, "whole: must be a whole number, not 1.5"),
        ({"number": "x"}, "number: must be a number, not 'x'"),
        ({"number": 0}, "number: must be above 0, not 0"),
        ({"number": 6}, "number: must be at most 5, not 6"),
        ({"number": float("nan")}, "number: must be a finite number, not nan"),
        ({"yes": "perhaps"}, "yes: must be true or false, not 'perhaps'"),
        ({"text": 3}, "text: must be a text, not 3"),
        ({"text": "long"}, "text: must have at most 3 characters, not 'long'"),
        ({"many": 3}, "many: must be a list, not 3"),
        ({"many": [3]}, "many.0: must be a table, not 3"),
        ({"many": [{}]}, "many.0.role: is missing"),
        ({"many": [{"role": "a", "rol": "b"}]}, "many.0.rol: is no field, did you mean 'role'?"),
        ({"wholly": 1}, "wholly: is no field, did you mean 'whole'?"),
        ({"name": "1"}, "name: must be a name: letters, digits and _, no digit first, not '1'"),
        ({"word": "three"}, "word: must be 'one' or 'two', not 'three'"),
        ({"extent": 1.5}, "extent: must be a whole number or a text, not 1.5"),
        ({"pairs": []}, "pairs: must be a table"),
        ({"pairs": {"a": "b"}}, "pairs.a: must be a whole number, not 'b'"),
    ],
)
def test_one_slip_is_one_sentence(given, said):
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(given)
    assert list(sentences(caught.value, Outer, "outer")) == [said]


def test_no_word_of_the_library_is_left_where_a_task_is_empty():
    with pytest.raises(ValidationError) as caught:
        Task.model_validate({"outputs": [], "workloads": [{}], "inputs": [{"shape": [None]}]})
    said = list(sentences(caught.value, Task, "task"))
    assert "outputs: must hold at least 1" in said
    assert "workloads.0.role: is missing" in said
    assert not any(word in " ".join(said).lower() for word in ("input should", "valid", "pydantic"))


def test_a_type_in_which_nobody_sums_is_refused_with_those_that_may_be_named():
    with pytest.raises(ValidationError) as caught:
        task(accumulate="float33")
    (said,) = sentences(caught.value, Task, "task")
    assert said.startswith("accumulate: must be 'float64', 'float32', 'float16' or 'bfloat16'")
    assert task(accumulate="bfloat16").accumulate == "bfloat16"
