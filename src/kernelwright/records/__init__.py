"""The nouns: task, candidate, evaluation, rung, board (posts) and run; values without behaviour."""
