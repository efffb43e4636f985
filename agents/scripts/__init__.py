"""What a person runs or edits."""
