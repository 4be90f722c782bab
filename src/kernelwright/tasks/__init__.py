"""Tasks: formats in which they are read, built-in suites, their contract and their inputs."""
