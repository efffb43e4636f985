"""What trainers that come as packages reach, and what they cost."""
