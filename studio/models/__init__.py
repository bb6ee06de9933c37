from studio.models.accounts import Membership, Role, User
from studio.models.arranging import BoardMove
from studio.models.authoring import (
    ChecklistItem,
    Dependency,
    DependencyGroup,
    Episode,
    GraderScript,
    HiddenIntent,
    Persona,
    PersonaFile,
    Skill,
    SkillFile,
    Task,
    TaskState,
    ToolBinding,
)
from studio.models.benchmarks import Benchmark, Category, Taxonomy
from studio.models.files import Asset, ExpectedArtifact
from studio.models.graders import ScriptReport
from studio.models.history import Event, PersonaRevision, Revision
from studio.models.importing import Import
from studio.models.notifying import Digest, Notification, NotificationChoice
from studio.models.reviewing import Assignment, Comment, Finding, Review, SetAside, Waiver
from studio.models.storage import Blob
from studio.models.templates import TaskTemplate, TemplateFile
from studio.models.visits import Visit
from studio.models.writing import WorkingCopy

__all__ = [
    "Asset",
    "Assignment",
    "Benchmark",
    "Blob",
    "BoardMove",
    "Category",
    "ChecklistItem",
    "Comment",
    "Dependency",
    "DependencyGroup",
    "Digest",
    "Episode",
    "Event",
    "ExpectedArtifact",
    "Finding",
    "GraderScript",
    "HiddenIntent",
    "Import",
    "Membership",
    "Notification",
    "NotificationChoice",
    "Persona",
    "PersonaFile",
    "PersonaRevision",
    "Review",
    "Revision",
    "Role",
    "ScriptReport",
    "SetAside",
    "Skill",
    "SkillFile",
    "Task",
    "TaskState",
    "TaskTemplate",
    "Taxonomy",
    "TemplateFile",
    "ToolBinding",
    "User",
    "Visit",
    "Waiver",
    "WorkingCopy",
]
