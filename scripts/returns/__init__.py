"""Returns of trained policies: how they were measured, and what they were."""
