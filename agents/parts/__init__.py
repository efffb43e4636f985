"""Pure building blocks: they know nothing of environments, processes or files."""
