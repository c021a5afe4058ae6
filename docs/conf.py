"""The site: `make docs` builds it from these pages, without the network."""

project = "minutebook"
author = "the minutebook authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["conf.py"]
html_theme = "furo"
html_title = "minutebook"
html_copy_source = False
html_show_copyright = False
myst_heading_anchors = 3
# Pages link to files of the repository, which are not part of the site.
suppress_warnings = ["myst.xref_missing", "toc.not_included"]
