"""Prepared queries give what Django's own give, and pooled connections that ended are noticed."""

from __future__ import annotations

import socket
from types import SimpleNamespace

import pytest
from django.db import DataError, connection
from django.db.models import F, Sum
from django.test.utils import CaptureQueriesContext

from evaluation.models import Session
from studio.models import Task
from studio.models.statements import AnyOf, PreparedQuery, binding_cursor
from studio.web.pooling.base import DatabaseWrapper, _is_over
from tests.evaluation.builders import benchmark_of, pilot_of, task


@pytest.mark.django_db
def test_a_prepared_query_gives_objects_with_their_relations_in_no_further_query(django_assert_num_queries):
    pilot = pilot_of(benchmark_of(task("one")))
    session = Session.objects.select_related("run__pilot__agent").get(run__pilot=pilot)
    query = PreparedQuery(lambda pk: Session.objects.select_related("run__pilot__agent").filter(pk=pk).order_by())
    for _ in range(2):
        with django_assert_num_queries(1):
            [found] = query.objects(session.pk)
            agent = found.run.pilot.agent
        assert found == session and agent == pilot.agent
        assert (found.tokens, found.closing, found.cost) == (session.tokens, session.closing, session.cost)
    assert query.objects(session.pk + 1) == []


@pytest.mark.django_db
def test_a_prepared_query_gives_rows_with_values_as_django_reads_them():
    pilot = pilot_of(benchmark_of(task("one")))
    sums = PreparedQuery(
        lambda pilot, state: (
            Session.objects.filter(run__pilot=pilot, state=state)
            .order_by()
            .values("run__pilot")
            .annotate(paid=Sum("cost"))
            .values_list("run__pilot", "paid")
        ),
        2_000_000_001,
        "a state",
    )
    assert sums.rows(pilot.pk, "waiting") == [(pilot.pk, 0)]
    assert not sums.exists(pilot.pk, "finished")


@pytest.mark.django_db
def test_values_travel_beside_the_statement():
    with binding_cursor() as cursor:
        cursor.execute("select %s::text, %s::int", ["it's; --", 7])
        assert cursor.fetchone() == ("it's; --", 7)


@pytest.mark.django_db
def test_a_statement_has_a_pooled_connection_for_as_long_as_it_takes():
    options = {**connection.settings_dict["OPTIONS"], "pool": {"min_size": 1, "max_size": 1, "timeout": 20}}
    pooled = DatabaseWrapper({**connection.settings_dict, "OPTIONS": options, "CONN_MAX_AGE": 0}, "one only")
    try:
        for _ in range(2):
            with pooled.statement_cursor() as cursor:
                cursor.execute("select %s::text, pg_backend_pid()", ["it's"])
                assert cursor.fetchone()[0] == "it's"
            with pytest.raises(DataError), pooled.statement_cursor() as cursor:
                cursor.execute("select 1 / %s::int", [0])
        assert pooled.connection is None
    finally:
        pooled.close_pool()


def test_a_pooled_connection_whose_server_went_away_is_noticed():
    ours, theirs = socket.socketpair()
    try:
        pooled = SimpleNamespace(fileno=ours.fileno)
        assert not _is_over(pooled)
        theirs.close()
        assert _is_over(pooled)
    finally:
        ours.close()


@pytest.mark.django_db
def test_a_prepared_query_takes_lists_of_keys_and_a_number_of_rows(django_assert_num_queries):
    tasks = sorted(
        Task.objects.filter(persona__benchmark=benchmark_of(task("one"), task("two"))), key=lambda row: -row.pk
    )
    query = PreparedQuery(lambda keys: Task.objects.filter(AnyOf("pk", keys)).order_by("-pk").annotate(n=F("n_errors")))
    keys = [row.pk for row in tasks]
    with django_assert_num_queries(3):
        assert query.objects(keys) == tasks and query.objects(keys, most=1) == tasks[:1]
        assert query.objects([]) == []
    assert query.objects(keys)[0].n == Task.objects.annotate(n=F("n_errors")).get(pk=keys[0]).n


@pytest.mark.django_db
def test_constants_are_written_into_the_statement():
    query = PreparedQuery(
        lambda state, title: Task.objects.filter(state=state, title=title).exclude(category="100% 'sure' %s"),
        *("a state", "a title"),
    )
    with CaptureQueriesContext(connection) as asked:
        assert query.objects("draft", "50% off") == []
    [statement] = asked.captured_queries
    assert "100% ''sure'' %s" in statement["sql"]
