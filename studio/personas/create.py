"""Creating a persona."""

from __future__ import annotations

from studio.domain.persona import PersonaSpec
from studio.drafts.load import load_episode
from studio.drafts.save_personas import save_personas
from studio.drafts.validate import DraftError, validate_storable
from studio.models import Benchmark, Persona, User
from studio.models.transactions import atomic_with_retry


@atomic_with_retry
def create_persona(benchmark: Benchmark, spec: PersonaSpec, *, by: User | None, note: str = "") -> Persona:
    """Create a persona with an empty episode. Raises DraftError if the id is taken."""
    validate_storable(spec)
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    if (other := benchmark.personas.filter(user_id__iexact=spec.user_id).first()) is not None:
        raise DraftError("user_id", f"A persona “{other.user_id}” already exists. Choose another id.")
    last = benchmark.personas.order_by("-position").values_list("position", flat=True).first()
    row = Persona(benchmark=benchmark, position=(last or 0) + 1)
    row.set_spec(PersonaSpec(user_id=spec.user_id))
    row.episode = {"episode_id": f"ep_{spec.user_id}"[:200]}
    row.save()
    old = load_episode(row)
    save_personas(
        [(row, old, old.model_copy(update={"persona": spec}))],
        by=by,
        note=note,
        verb="created",
    )
    return row
