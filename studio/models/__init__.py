from studio.models.accounts import ApiToken, Invitation, Membership, Role, SignInRecord, User, Visit
from studio.models.autosave import Autosave, DiscardedText
from studio.models.benchmarks import Benchmark, Category, Taxonomy
from studio.models.blobs import Blob
from studio.models.comments import Comment
from studio.models.findings import CheckedTask, ErrorWaiver, Finding, ScriptReport, Waiver
from studio.models.imports import Import
from studio.models.notifications import Digest, Notification, NotificationChoice
from studio.models.personas import BoardMove, GraderScript, Persona
from studio.models.review import Assignment, Review
from studio.models.tasks import Task, TaskState
from studio.models.versions import Event, PersonaRevision, Revision
