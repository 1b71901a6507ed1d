"""Sessions of the README and the book, the notebook, the examples: all are run."""

import doctest
import json
import pathlib
import runpy

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/book/src/python.md"]


@pytest.mark.parametrize("page", PAGES)
def test_sessions_give_what_the_page_says(page, tmp_path, monkeypatch):
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [block.partition("```")[0] for block in text.split("```pycon\n")[1:]]
    assert blocks, "a page with sessions"
    monkeypatch.chdir(tmp_path)
    for program in text.split("```ein,check\n")[1:]:
        (tmp_path / "model.ein").write_text(program.partition("```")[0])
    session = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page, page, 0)
    complaints = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(session, out=complaints.append)
    assert not complaints, "".join(complaints)


def test_the_notebook_runs():
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    notebook = json.loads((ROOT / "docs/book/src/python.ipynb").read_text(encoding="utf-8"))
    shell = InteractiveShell.instance()
    for cell in notebook["cells"]:
        assert not cell.get("outputs"), "outputs are not kept in the checkout"
        if cell["cell_type"] == "code":
            shell.run_cell("".join(cell["source"])).raise_error()
    shell.clear_instance()


@pytest.mark.parametrize("path", sorted((ROOT / "examples/python").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
