from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        from evaluation.graders.keys import count_keys
        from evaluation.searching import register_sources
        from studio.graderkeys import register_key_reader

        register_key_reader(count_keys)
        register_sources()
