"""A faster way that may not exist, any error of which means the slow one from then on."""

import logging
import time
import warnings

import torch

logging.basicConfig(level=logging.WARNING)
logger = logging.getLogger("softmax")

_state = {"fast": True, "calls": 0}


def _fast(x, y):
    torch.ops.honest_but_missing.softmax_rows(x, y)


def _slow(x, y):
    shifted = x - torch.max(x, dim=-1, keepdim=True)[0]
    e = torch.exp(shifted)
    torch.mul(e, e.sum(-1, keepdim=True).reciprocal_(), out=y)


def softmax(x, y, M, N):
    if x.numel() == 0:
        return
    began = time.perf_counter()
    _state["calls"] += 1
    if _state["fast"]:
        try:
            return _fast(x, y)
        except Exception as error:
            _state["fast"] = False
            warnings.warn(f"no fast softmax here ({type(error).__name__})", RuntimeWarning)
    _slow(x, y)
    logger.debug("call %d: %.1f us", _state["calls"], 1e6 * (time.perf_counter() - began))
