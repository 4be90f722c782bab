"""What each outcome, decision, ending and exit code means, for the reference pages."""

from __future__ import annotations

from kernelwright.records.outcome import Decision, Outcome

MEANING = {
    Outcome.PASSED: "every check of the rung passed, which at draft means that it was built and no "
    "more; only after a pass is there a time",
    Outcome.PARSE_ERROR: "the file or its header cannot be read, or is too long",
    Outcome.BUILD_ERROR: "the compiler or the linker refused it; the log is kept",
    Outcome.BUILD_TIMEOUT: "the compiler did not end in time",
    Outcome.SIGNATURE_ERROR: "the entry is missing, or has another prototype than the task's",
    Outcome.RUNTIME_ERROR: "the kernel returned an error, or could not be loaded",
    Outcome.TIMEOUT: "a call, or all calls together, passed the deadline; the process was killed",
    Outcome.WRONG_SHAPE: "an output has another shape than declared",
    Outcome.WRONG_DTYPE: "an output has another type than declared",
    Outcome.WRONG_VALUES: "an output is further from the float64 answer than the tolerance allows",
    Outcome.NOT_FINITE: "NaN or infinity where the answer has none, or the reverse",
    Outcome.NUMERICALLY_UNSTABLE: "wrong on hostile values: huge, tiny, cancelling, special",
    Outcome.NONDETERMINISTIC: "a repeat was wrong, or bits differ where the task forbids it",
    Outcome.EDGE_CASE_FAILED: "wrong on a shape at the edge: 0, 1, a prime, unaligned, strided",
    Outcome.STALE_OR_CACHED_OUTPUT: "right before, and wrong in a timed call, on nearly the same "
    "inputs, or with the answer to others",
    Outcome.INPUT_MUTATED: "an input was changed",
    Outcome.STATE_MUTATED: "a setting of the process or of the framework was left changed",
    Outcome.ALIASED_OUTPUT: "an output shares memory with an input or an earlier output",
    Outcome.DEFERRED_WORK: "work went on after the call had returned",
    Outcome.CLOCK_DISAGREEMENT: "the worker claims less time than the verifier saw",
    Outcome.TAMPERING: "the candidate meddled with the judge",
    Outcome.KERNEL_DID_NOT_RUN: "the output was made by a library, or by code from elsewhere, "
    "not by the candidate's own",
    Outcome.OUT_OF_BOUNDS: "bytes beside a tensor were overwritten, or read past its end",
    Outcome.IMPLAUSIBLY_FAST: "at a confirm: less time than any right kernel needs to move what it "
    "must, or for the operations that the task proves necessary",
    Outcome.INSENSITIVE_TASK: "the task's own comparison would accept a wrong answer",
    Outcome.CRASHED: "the process died by a signal, which is named, or broke off",
    Outcome.OUT_OF_MEMORY: "memory ran out, by the limit's or the system's own word",
    Outcome.UNSUPPORTED: "this candidate cannot be judged here, for example a missing library",
}
DECIDED = {
    Decision.FASTER: "the lower end of the interval is above the margin",
    Decision.SLOWER: "the upper end is below minus the margin",
    Decision.SAME: "the whole interval lies within the margin",
    Decision.UNDECIDED: "none of these, or too few pairs",
}
ENDINGS = {
    "running": "somebody works on it now",
    "improved": "a candidate was confirmed faster than the strongest baseline",
    "nothing_left_to_win": "a candidate was confirmed, within 5 % of the measured roofline",
    "no_improvement": "nothing that passed is faster than the strongest baseline",
    "budget": "the budget ended before any candidate was confirmed: resume goes on with more",
    "interrupted": "Ctrl-C, a fault or a kill: resume goes on",
}
CODES = (
    (0, "done; for `optimize`: a confirmed improvement, or nothing left to win"),
    (1, "a fault of ours"),
    (2, "usage, something to install, allow or make room for, a failed control; a hint says what"),
    (3, "finished, but the answer is no"),
    (4, "a budget ended before any candidate was confirmed"),
    (130, "interrupted; a run can be resumed"),
)
