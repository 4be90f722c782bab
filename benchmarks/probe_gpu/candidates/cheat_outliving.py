"""Leaves a process behind that its worker's death does not end, unless a namespace does."""

import os

import torch

MARK = "98.76543"
if os.fork() == 0:
    os.setsid()
    os.execvp("sleep", ["sleep", MARK])


def softmax(x, y, M, N):
    torch.softmax(x, dim=-1, out=y)
