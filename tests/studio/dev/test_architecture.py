"""What the import contracts cannot say of the architecture."""

from __future__ import annotations

from graphlib import TopologicalSorter

import grimp


def test_no_modules_import_one_another_in_a_circle() -> None:
    imports = grimp.build_graph("studio", "annotations", "evaluation", cache_dir=None)  # those for type checkers, too
    graph = {module: imports.find_modules_directly_imported_by(module) for module in imports.modules}

    TopologicalSorter(graph).prepare()  # raises CycleError, which names them
