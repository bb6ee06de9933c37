from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        from evaluation.assisting.helpers import help_in_sample
        from evaluation.examining import examine_later, examine_scripts
        from evaluation.graders.keys import count_keys
        from evaluation.searching import register_sources
        from evaluation.tools.cards import tool_cards
        from studio.graderkeys import register_examiners, register_key_reader
        from studio.samples import register_furnisher
        from studio.toolcatalog import register_reader

        register_reader(tool_cards)
        register_key_reader(count_keys)
        register_examiners(now=examine_scripts, later=examine_later)
        register_sources()
        register_furnisher(help_in_sample)
