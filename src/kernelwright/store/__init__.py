"""The only state: tasks, runs, candidates, claims, evaluations, posts and events."""
