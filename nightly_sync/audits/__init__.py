"""Audits of the merged tree: facts in, findings out, one module an audit."""
