"""What happened, for eyes: plain text that survives a pipe and the loss of colour."""
