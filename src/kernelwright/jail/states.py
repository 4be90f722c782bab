"""Which parameter of a candidate's model is which of the reference's."""

from __future__ import annotations

from typing import Any

import torch
from refusal import Refusal  # type: ignore[import-not-found]

KINDS = (torch.Tensor, torch.nn.Parameter)
Key = tuple[tuple[int, ...], str]


def match(model: Any, wanted: list[dict[str, Any]]) -> list[tuple[Any, str]]:
    """Parameters and buffers of ``model`` with the names of the inputs that they are.

    By path where the model has the path; the rest by order among those of one shape and type,
    where both sides have equally many of it.

    Args:
        model: the candidate's.
        wanted: ``path``, ``name``, ``shape`` and ``dtype`` of each, in the reference's order.

    Raises:
        Refusal: one is missing, of another shape or type, or could be several.
    """
    own = dict(model.named_parameters(remove_duplicate=False))
    own |= dict(model.named_buffers(remove_duplicate=False))
    for path, state in own.items():
        if type(state) not in KINDS:
            text = f"{path} is a {type(state).__name__}, not a plain parameter or buffer"
            raise Refusal("signature", text)
    found = {one["path"]: own[one["path"]] for one in wanted if one["path"] in own}
    for one in wanted:
        state = found.get(one["path"])
        if state is not None and _key(state) != _wanted(one):
            text = f"{one['path']} is {_words(_key(state))}, the reference's {_words(_wanted(one))}"
            raise Refusal("signature", text)
    taken = {id(state) for state in found.values()}
    left = {id(state): state for path, state in own.items() if id(state) not in taken}
    free: dict[Key, list[Any]] = {}
    for state in left.values():
        free.setdefault(_key(state), []).append(state)
    missing: dict[Key, list[str]] = {}
    for one in wanted:
        if one["path"] not in found:
            missing.setdefault(_wanted(one), []).append(one["path"])
    for key, paths in missing.items():
        states = free.get(key, [])
        if len(states) != len(paths):
            text = f"the model has {len(states)} unnamed parameters {_words(key)} for"
            raise Refusal(
                "signature",
                f"{text} {', '.join(paths)}",
                "call parameters as the reference calls them",
            )
        found |= zip(paths, states, strict=True)
    for state in found.values():
        state.requires_grad_(False)
    return [(found[one["path"]], one["name"]) for one in wanted]


def _key(state: Any) -> Key:
    return tuple(state.shape), str(state.dtype).removeprefix("torch.")


def _wanted(one: dict[str, Any]) -> Key:
    return tuple(one["shape"]), one["dtype"]


def _words(key: Key) -> str:
    return f"[{', '.join(map(str, key[0]))}] {key[1]}"
