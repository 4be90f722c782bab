"""Decide what to try next: the rung loop, its rules, and its replay.

What a caller needs::

    from kernelwright.search.loop import resume_run, start_run
    from kernelwright.search.observer import Observer
    from kernelwright.search.replay import replay_run
    from kernelwright.search.summary import RunSummary, summarise

    store = Store.open(default_url())
    summary = start_run(store, executor, task, spec, start=candidates, observer=watcher)
    summary.run.status, summary.best, summary.confirmed, summary.counts, summary.folder

``start_run`` owns the executor: it opens it, and closes it however the run ends. It raises
``UserError`` before the first candidate only (nothing to try, the task's reference fails, the
store cannot be written) and ``JudgeError`` when the machinery broke; a candidate's failure is an
outcome. Ctrl-C does not propagate: the summary's status is ``interrupted`` and ``resume_run``
goes on from there (while the executor opens there is no run yet, and it does propagate). After a
``kill -9`` the stored status is still ``running`` and ``resume_run`` works the same. A finished
run cannot be resumed (``UsageError``).

Every decision is a function of (seed, spec, completions in stored order, recorded wall clock at
each completion). Nothing here reads a clock, a random source or the machine to decide; that is
why ``resume_run`` and ``replay_run`` can feed the stored completions through the same code.

Heavy libraries (optuna, pandas) are not imported by importing this package.
"""
