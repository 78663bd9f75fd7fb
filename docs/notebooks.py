"""Pages with code cells: executed anew in every build, two at a time, and the tutorials written as notebooks."""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.read import read_myst_markdown_notebook

DOCS = Path(__file__).parent
DONE = tempfile.TemporaryDirectory()
"""Where executed pages are kept, for one build."""
AT_ONCE = 2
"""Most of the time is compilation, which uses one core."""
SECONDS = 1200
"""Most that one cell may take: the first ones compile, and machines differ."""


def write_notebooks(_app):
    """Write each tutorial as a notebook for download, from the text whose cells the build executes."""
    (DOCS / "tutorials/notebooks").mkdir(exist_ok=True)
    for page in pages():
        if page.parent.name == "tutorials":
            nbformat.write(read(page), DOCS / "tutorials/notebooks" / f"{page.stem}.ipynb")


def execute_notebooks(app):
    """Execute every page with code cells; Sphinx, which reads pages one by one, finds them done."""
    cache, found = get_cache(app.config.nb_execution_cache_path), pages()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for page, result in zip(found, pool.map(execute, found), strict=True):
            if result.err is not None:
                raise RuntimeError(f"{page.relative_to(DOCS)}: {result.exc_string}")
            done = CacheBundleIn(result.nb, str(page), data={"execution_seconds": result.time})
            cache.cache_notebook_bundle(done, check_validity=False)


def pages():
    """Return the pages with code cells; tutorials, which take longest, first, so that none is left for one core."""
    found = sorted(DOCS.rglob("*.md"), reverse=True)
    return [page for page in found if page.read_text().startswith("---\nfile_format: mystnb")]


def read(page):
    """Return a page as a notebook."""
    return read_myst_markdown_notebook(page.read_text())


def execute(page):
    """Execute a page's cells where it is."""
    return single_nb_execution(read(page), cwd=str(page.parent), timeout=SECONDS, allow_errors=False)
