"""Lessons as notebooks: nbconvert runs them through the kernel, and gets what `tide doc` recorded."""
import os
import subprocess
import sys
import tempfile

import nbformat

from client import equal, main

TIDE = sys.argv[1]
FOLDER = tempfile.mkdtemp()


def made(lesson):
    """The path of the notebook of a lesson."""
    path = os.path.join(FOLDER, os.path.basename(lesson).replace(".md", ".ipynb"))
    subprocess.run([TIDE, "doc", "--ipynb", lesson, "-o", path], check=True, stdout=subprocess.DEVNULL)
    nbformat.validate(nbformat.read(path, 4))
    return path


def convert(path, *options):
    """nbconvert's exit status, and what it said."""
    ran = subprocess.run([sys.executable, "-m", "nbconvert", "--execute", *options, path], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    return ran.returncode, ran.stdout


def outputs(path):
    """The outputs of all cells, pages of help aside, which nbconvert does not keep."""
    cells = nbformat.read(path, 4).cells
    for cell in cells:
        for o in cell.get("outputs", ()):
            o.pop("execution_count", None)
    return [(c.source, [dict(o) for o in c.outputs]) for c in cells if c.cell_type == "code" and c.source[0] != "?"]


def check(lesson):
    path = made(lesson)
    recorded = outputs(path)
    status, said = convert(path, "--to", "notebook", "--inplace")
    equal((status, said if status else ""), (0, ""))
    for got, want in zip(outputs(path), recorded):
        equal(got, want)


def test_a_cell_that_fails_ends_the_run_unless_it_is_to_fail():
    lesson = os.path.join(FOLDER, "fails.md")
    with open(lesson, "w") as f:
        f.write("```lua error\nnil + 1\n```\n\nText.\n\n```lua\nx = 1\nx\n```\n")
    path = made(lesson)
    equal(convert(path, "--to", "notebook", "--inplace")[0], 0)
    book = nbformat.read(path, 4)
    del book.cells[0].metadata["tags"]
    nbformat.write(book, path)
    status, said = convert(path, "--to", "notebook", "--inplace")
    assert status != 0 and "this value is nil: arithmetic takes numbers and tensors" in said, said


def test_a_page_of_html():
    path = made("examples/lessons/5_tasks.md")
    equal(convert(path, "--to", "html")[0], 0)
    with open(path.replace(".ipynb", ".html")) as f:
        page = f.read()
    assert "data:image/svg+xml,%3Csvg class=%22graph%22" in page


tests = {"test_" + name[:-3]: lambda path="examples/lessons/" + name: check(path)
         for name in sorted(os.listdir("examples/lessons")) if name.endswith(".md")}
main({**tests, **globals()})
