"""Judge one candidate: the verifier decides, the oracle knows, workers only run."""
