"""What code says of a proposal before it counts, whoever made it. Pure.

`acceptance` judges an answer to a conflict, `forbidden` a change that checks less or touches what
nobody may, `harm` new errors and definitions that got lost, `lost` what was put back. Nothing here
knows of Claude: the rule that restores files is judged by the same code.
"""
