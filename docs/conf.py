"""Sphinx configuration; built with warnings as errors."""

import os
import sys
from pathlib import Path

import flowlimit

sys.path.append(str(Path(__file__).parent))
from gallery import write_gallery
from matrix import write_matrix
from names import write_names
from notebooks import DONE, SECONDS, execute_notebooks, write_notebooks
from pictures import write_pictures

os.environ["FLOWLIMIT_PROGRESS"] = "0"  # a bar in a cell leaves an empty output
os.environ.pop("MPLBACKEND", None)  # of the shell: notebooks draw inline, and would show no figure with another

project = "flowlimit"
author = "The flowlimit developers"
copyright = "2026, the flowlimit developers"
release = flowlimit.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx-mathjax-offline",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "myst_nb",
]
exclude_patterns = [
    "_build",
    "auto_examples/*.ipynb",
    "auto_examples/*.py",
    "auto_examples/*.md5",
    "tutorials/notebooks",
]
html_theme = "pydata_sphinx_theme"
html_title = "flowlimit"
html_static_path = ["_static"]
html_css_files = ["flowlimit.css"]
html_theme_options = {
    "header_links_before_dropdown": 6,
    "show_nav_level": 2,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
html_show_sourcelink = False
html_sidebars = {page: [] for page in ("index", "start")}  # the only ones of their section

default_role = "code"
nitpicky = False
autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
autoclass_content = "class"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_attr_annotations = False
napoleon_preprocess_types = False
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3  # so that [text](page.md#heading) works, and is checked
nb_execution_mode = "cache"
nb_execution_timeout = SECONDS
nb_execution_cache_path = DONE.name  # new in every build
nb_execution_raise_on_error = True

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"/plot_",
    "remove_config_comments": True,
    "show_memory": False,
    "parallel": 2,  # most of the time is compilation, which uses one core
    "abort_on_example_error": True,
    "download_all_examples": False,
    "matplotlib_animations": False,
    "image_scrapers": ("matplotlib",),
    "default_thumb_file": None,
}
suppress_warnings = ["config.cache"]


def setup(app):
    """Connect what is made before pages are read."""
    app.connect("builder-inited", write_gallery)
    app.connect("builder-inited", write_pictures)
    app.connect("builder-inited", write_matrix)
    app.connect("builder-inited", write_names)
    app.connect("builder-inited", write_notebooks)
    app.connect("builder-inited", execute_notebooks)
