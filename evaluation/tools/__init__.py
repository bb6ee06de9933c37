"""Tools for agents; ``toolbox_for`` assembles them."""

from evaluation.tools.apps import AppDataError, World
from evaluation.tools.general import Surroundings, general_names, reachable_names
from evaluation.tools.messages import Outbox
from evaluation.tools.shell import Shell
from evaluation.tools.tool import Tool, ToolError
from evaluation.tools.toolbox import Toolbox, toolbox_for
from evaluation.tools.web import Corpus
from evaluation.tools.workspace import Workspace, WorkspaceLimits
