"""How people speak to it: the table of verbs as a command line."""
