"""The hidden layer lives in a buffer that grows when a larger batch comes."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Hidden(nn.Linear):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.register_buffer("room", torch.empty(0, self.out_features), persistent=False)

    def forward(self, x):
        if self.room.shape[0] < x.shape[0]:
            self.room = torch.empty(x.shape[0], self.out_features)
        out = self.room[: x.shape[0]]
        torch.mm(x, self.weight.t(), out=out)
        return F.relu(out.add_(self.bias), inplace=True)


class ModelNew(nn.Module):
    def __init__(self, width, hidden, classes):
        super().__init__()
        self.fc1 = Hidden(width, hidden)
        self.fc2 = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.fc2(self.fc1(x))
