"""One typed request and one typed answer a verb; the command line and the Python API follow."""
