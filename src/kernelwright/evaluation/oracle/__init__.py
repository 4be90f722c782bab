"""The oracle: the one process that runs the user's reference, and can be killed.

Beside the baseline worker (:mod:`~kernelwright.evaluation.oracle.rival`) nothing else executes
code of the task, and nothing here is imported by anybody: the client starts it by name.
"""
