"""A run's folder: plain files for people, derived from the store and made again at any time.

Refuses to be a second truth: nothing ever reads these files back.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernelwright.errors import StoreError
from kernelwright.records.run import Run, is_won
from kernelwright.store.files import write_atomically
from kernelwright.store.step import StoredEvaluation
from kernelwright.store.store import Store


def export(
    store: Store,
    run_id: str,
    folder: Path | None = None,
    *,
    sources: Mapping[str, str],
) -> Path:
    """Write ``run.toml``, ``events.jsonl`` and the best source, or what there is; the folder.

    Args:
        store: where the run is.
        run_id: which run.
        sources: text by name: ``best.*``, ``closest.*``, ``leading.*``, or nothing.
        folder: where to write; default ``<home>/runs/<run-id>``.

    Raises:
        StoreError: the folder cannot be written.
        UsageError: no such run.
    """
    run = store.run(run_id)
    target = folder or store.run_folder(run.id)
    files = {"run.toml": to_toml(_table(run)), "events.jsonl": _events(store, run.id), **sources}
    try:
        target.mkdir(parents=True, exist_ok=True)
        # In the run's own folder, a best or a leader of before may lie in another language.
        for stale in target.iterdir() if folder is None else ():
            if stale.stem in ("best", "closest", "leading") and stale.name not in files:
                stale.unlink()
        for name, content in files.items():
            write_atomically(target / name, content.encode())
    except OSError as problem:
        raise StoreError(
            f"the run's folder {target} cannot be written: {problem.strerror or problem}",
            hint="the run itself is safe; write the folder elsewhere, or again later: "
            f"kernelwright runs export {run.id} --form folder --to FOLDER",
        ) from problem
    return target


def to_toml(table: Mapping[str, Any]) -> str:
    """TOML of a table of plain values and tables; None is left out, TOML has no word for it."""
    lines = [f"{key} = {_value(item)}" for key, item in _plain(table)]
    for key, item in table.items():
        if isinstance(item, Mapping):
            lines += ["", f"[{key}]"]
            lines += [f"{inner} = {_value(value)}" for inner, value in _plain(item)]
    return "\n".join(lines) + "\n"


def _plain(table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    kept = [(key, item) for key, item in table.items() if not isinstance(item, Mapping)]
    return [(json.dumps(key), item) for key, item in kept if item is not None]


def _value(item: Any) -> str:
    if isinstance(item, list | tuple):
        return f"[{', '.join(_value(part) for part in item)}]"
    # JSON's strings, numbers and booleans are TOML's too.
    return json.dumps(item)


def _table(run: Run) -> dict[str, Any]:
    spec = run.spec.model_dump(mode="json")
    budget = spec.pop("budget")
    return {
        "id": run.id,
        "created": run.created,
        "status": run.status,
        "best" if is_won(run) else "closest": run.best,
        "spec": spec,
        "budget": budget,
        "spent": run.spent.model_dump(mode="json"),
    }


def _events(store: Store, run_id: str) -> str:
    lines = [_line(stored) for stored in store.evaluations(run_id)]
    lines += [{"kind": event.kind, **event.data} for event in store.events(run_id)]
    return "".join(json.dumps(line, sort_keys=True) + "\n" for line in lines)


def _line(stored: StoredEvaluation) -> dict[str, Any]:
    evaluation = stored.evaluation
    return {
        "kind": "evaluation",
        "number": stored.number,
        "sequence": stored.sequence,
        "candidate": evaluation.candidate,
        "rung": evaluation.rung.word,
        "outcome": evaluation.outcome.value,
        "reason": evaluation.reason,
        "copied_from": evaluation.copied_from,
        "comparisons": [
            comparison.model_dump(mode="json", exclude={"samples"})
            for comparison in evaluation.comparisons
        ],
        "wall_s": stored.wall_s,
        "device_s": stored.device_s,
    }
