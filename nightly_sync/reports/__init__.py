"""Reports: facts in, Markdown and tables out, one module a report."""
