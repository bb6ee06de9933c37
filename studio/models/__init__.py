from studio.models.accounts import Membership, Role, User
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
from studio.models.autosave import WorkingCopy
from studio.models.benchmarks import Benchmark, Category, Taxonomy
from studio.models.blobs import Blob
from studio.models.episodes import BoardMove
from studio.models.files import Asset, ExpectedArtifact
from studio.models.imports import Import
from studio.models.notifications import Digest, Notification, NotificationChoice
from studio.models.review import Assignment, Comment, Finding, Review, SetAside, Waiver
from studio.models.scripts import ScriptReport
from studio.models.templates import TaskTemplate, TemplateFile
from studio.models.versions import Event, PersonaRevision, Revision
from studio.models.visits import Visit

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
