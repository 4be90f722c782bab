"""How the judging of one candidate can end. The list is closed: others rely on it."""

from enum import StrEnum


class Outcome(StrEnum):
    """The first check that failed, or ``passed``."""

    PASSED = "passed"
    PARSE_ERROR = "parse_error"
    BUILD_ERROR = "build_error"
    BUILD_TIMEOUT = "build_timeout"
    SIGNATURE_ERROR = "signature_error"
    RUNTIME_ERROR = "runtime_error"
    TIMEOUT = "timeout"
    WRONG_SHAPE = "wrong_shape"
    WRONG_DTYPE = "wrong_dtype"
    WRONG_VALUES = "wrong_values"
    NOT_FINITE = "not_finite"
    NUMERICALLY_UNSTABLE = "numerically_unstable"
    NONDETERMINISTIC = "nondeterministic"
    EDGE_CASE_FAILED = "edge_case_failed"
    STALE_OR_CACHED_OUTPUT = "stale_or_cached_output"
    INPUT_MUTATED = "input_mutated"
    STATE_MUTATED = "state_mutated"
    ALIASED_OUTPUT = "aliased_output"
    DEFERRED_WORK = "deferred_work"
    CLOCK_DISAGREEMENT = "clock_disagreement"
    TAMPERING = "tampering"
    KERNEL_DID_NOT_RUN = "kernel_did_not_run"
    OUT_OF_BOUNDS = "out_of_bounds"
    IMPLAUSIBLY_FAST = "implausibly_fast"
    INSENSITIVE_TASK = "insensitive_task"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out_of_memory"
    UNSUPPORTED = "unsupported"


class Decision(StrEnum):
    """What an interval of a ratio allows one to say."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    UNDECIDED = "undecided"
