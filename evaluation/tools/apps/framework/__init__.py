"""What a simulated app is made of: tables, accounts, APIs."""

from evaluation.tools.apps.framework.accounts import PeopleQuery, add_account_apis, search_people
from evaluation.tools.apps.framework.app import Api, App, Call
from evaluation.tools.apps.framework.crud import Records, add_records
from evaluation.tools.apps.framework.errors import (
    AppDataError,
    AppError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    UnauthorizedError,
)
from evaluation.tools.apps.framework.paging import matches, rank, search
from evaluation.tools.apps.framework.state import Account, AppState
from evaluation.tools.apps.framework.tables import OWNED, Table, as_dict, given, without_owner
