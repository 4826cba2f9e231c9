"""From two commits to one tree: the plan and the rules it asks, one module a rule."""
