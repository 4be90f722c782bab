"""The command line and the Python API say the same, since both come from the table of verbs."""

import inspect
import re
from pathlib import Path

import click
import pytest

import kernelwright
from kernelwright import api, errors, plugins
from kernelwright.cli.main import root
from kernelwright.settings import MINUTES, Settings
from kernelwright.verbs import base, calls, optimize, table

VERBS = pytest.mark.parametrize("verb", table.VERBS, ids=lambda verb: verb.name)
FOLDER = Path(inspect.getfile(table)).parent
NO_VERB = {
    "__init__", "agreement", "audit_answer", "base", "calls", "claim", "compare_answer", "entrants",
    "evaluation_answer", "foreign", "isolation", "machine", "rows", "run_answer", "sensitivity",
    "setup", "table", "tuning",
}  # fmt: skip
BY_HAND = {"optimize", "evaluate", "resume"}


def command(verb):
    found = root()
    context = click.Context(found)
    for word in verb.name.split():
        found = found.get_command(context, word)
    return found


def test_every_module_is_in_the_table():
    modules = {path.stem for path in FOLDER.glob("*.py")} - NO_VERB
    assert modules == {verb.module.rpartition(".")[2] for verb in table.VERBS}


def test_names_are_unique():
    assert len({verb.name for verb in table.VERBS}) == len(table.VERBS)
    assert len({verb.function for verb in table.VERBS}) == len(table.VERBS)
    assert {verb.group for verb in table.VERBS} - {""} == set(table.GROUPS)


@VERBS
def test_a_module_has_what_the_faces_need(verb):
    module = verb.load()
    assert issubclass(module.Request, base.Request)
    assert issubclass(module.Answer, base.Answer)
    assert module.__doc__.strip()
    assert list(inspect.signature(module.run).parameters)[:2] == ["request", "observer"]


@VERBS
def test_every_field_is_an_option_and_the_reverse(verb):
    parameters = command(verb).params
    fields = verb.load().Request.model_fields
    assert {one.name for one in parameters} == set(fields) | {"as_json", "quiet", "debug"}
    for one in parameters:
        if one.name in fields:
            positional = any(isinstance(m, base.Positional) for m in fields[one.name].metadata)
            assert isinstance(one, click.Argument) == positional
            assert one.required == fields[one.name].is_required()


@VERBS
def test_every_field_says_what_it_is(verb):
    for name, field in verb.load().Request.model_fields.items():
        assert field.description, f"{verb.name}: {name}"
        assert not field.description.endswith("."), f"{verb.name}: {name}"


@VERBS
def test_a_field_named_as_a_setting_can_be_left_to_it(verb):
    for name, field in verb.load().Request.model_fields.items():
        if name in Settings.model_fields:
            assert field.default is None, f"{verb.name}: {name} would hide the setting"


@VERBS
def test_the_api_has_the_verb(verb):
    function = getattr(kernelwright, verb.function)
    assert verb.function in dir(kernelwright)
    assert function.__doc__
    fields = set(verb.load().Request.model_fields)
    parameters = inspect.signature(function).parameters
    if verb.function not in BY_HAND:
        more = {"inputs"} if calls.takes_a_task(verb.load()) else set()
        assert set(parameters) == fields | more
    elif not any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        assert fields <= set(parameters) | {"json"}


@VERBS
def test_the_summary_is_one_line(verb):
    assert re.fullmatch(r"[a-z][^\n]{8,70}[^.\n]", verb.summary)


def test_a_slip_in_the_api_is_a_usage_error():
    with pytest.raises(kernelwright.UsageError, match="effrot"):
        kernelwright.optimize("softmax", effrot="quick")
    with pytest.raises(kernelwright.UsageError) as caught:
        kernelwright.optimize("softmax", minute=1)
    assert caught.value.hint == "did you mean 'minutes'?"
    with pytest.raises(TypeError, match="nothing"):
        kernelwright.list_runs(nothing=1)
    with pytest.raises(TypeError, match=r"show_run\(\): 'runn' is no argument; did you mean 'run'"):
        kernelwright.show_run(runn="latest")
    with pytest.raises(TypeError, match=r"show_task\(\): too many .*; it takes task, contract"):
        kernelwright.show_task("softmax", "cpp", 3)
    with pytest.raises(AttributeError, match="no attribute 'optimise'"):
        _ = kernelwright.optimise
    with pytest.raises(KeyError):
        api.call("optimise")


def test_every_exported_name_is_there():
    for name in kernelwright.__all__:
        assert getattr(kernelwright, name) is not None


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in plugins.BUILT_IN.items() for name in names]
)
def test_every_built_in_part_loads(kind, name):
    assert callable(plugins.load(kind, name))


def test_every_setting_says_what_it_is():
    for name, field in Settings.model_fields.items():
        assert field.description, name


def test_a_positional_that_may_be_a_file_says_so():
    context = click.Context(command(table.find("audit")), info_name="audit")
    assert "RUN|FILE" in command(table.find("audit")).get_usage(context)


def test_the_help_says_what_an_effort_stands_for():
    said = optimize.Request.model_fields["effort"].description
    for effort, minutes in MINUTES.items():
        assert f"{effort} ({minutes:g} minutes" in said


def test_the_package_offers_every_verb_and_every_error():
    assert {verb.function for verb in table.VERBS} <= set(kernelwright.__all__)
    named = {one.__name__ for one in vars(errors).values() if isinstance(one, type)}
    assert {one for one in named if one.endswith("Error")} <= set(kernelwright.__all__)
    assert all(getattr(kernelwright, name) is not None for name in kernelwright.__all__)


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        ("--force replaces it", "force=..."),
        ("give it with --start FILE, or ship with --as file", "start=..., as_=..."),
        ("kernelwright runs resume r --minutes 2", "resume(..., minutes=...)"),
        ("kernelwright runs list lists them", "list_runs()"),
        ("give --start FILE; 'kernelwright tasks show' helps", "show_task(...), start=..."),
        ("kernelwright is imported", ""),
        ("check the path", ""),
    ],
)
def test_a_hint_of_the_api_names_functions_and_arguments_too(hint, said):
    expected = f"{hint}\nin Python: {said}" if said else hint
    assert errors.in_python(hint, calls.in_python) == expected
    assert errors.in_python(expected, calls.in_python) == expected


def test_a_hint_that_nobody_catches_is_seen_in_python():
    with pytest.raises(kernelwright.TaskError) as caught:
        kernelwright.show_task("softmaxx")
    assert caught.value.__notes__ == [f"hint: {one}" for one in caught.value.hint.splitlines()]
