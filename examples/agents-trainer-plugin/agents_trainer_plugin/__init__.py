"""Two trainers for batch-ppo, as an example of how to ship your own."""
