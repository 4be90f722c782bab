"""Traces itself with fx the first time, swaps ReLU for its in-place form, runs the graph after."""

import torch
import torch.fx
from torch import nn


class Plain(nn.Module):
    def __init__(self, width, hidden, classes):
        super().__init__()
        self.fc1 = nn.Linear(width, hidden)
        self.fc2 = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def in_place(module: nn.Module) -> torch.fx.GraphModule:
    traced = torch.fx.symbolic_trace(module)
    for node in traced.graph.nodes:
        if node.op == "call_function" and node.target is torch.relu:
            node.target = torch.relu_
    traced.recompile()
    return traced


class ModelNew(nn.Module):
    def __init__(self, width, hidden, classes):
        super().__init__()
        plain = in_place(Plain(width, hidden, classes))
        self.fc1, self.fc2 = plain.fc1, plain.fc2
        self.__dict__["graph"] = plain  # not a child: its layers are ours already

    def forward(self, x):
        return self.graph(x)
