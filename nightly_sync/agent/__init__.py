"""Claude as a proposer: it answers and edits through tools, and code checks all of it.

To read in this order. `settings`, `budget`, `facts`: what it may do, costs, and is said to have
done. `base`, `messages`, `loop`, `stream`, `client`, `assistant`: a conversation. `data`,
`briefing`: what it is told. `guard`, `files`, `look`, `file_tools`: tools over paths, commits and
files. `watch`, `sandbox`, `checkout`, `command_tool`: commands, and what they changed. `handin`:
how an answer is judged and sent back. `hunk_tasks`, `earlier`, `resolve`: conflicts. `repair`: an
editing conversation. What judges its proposals is `nightly_sync.review`; docs/claude.md says more.
"""
