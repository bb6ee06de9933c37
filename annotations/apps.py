from django.apps import AppConfig


class AnnotationsConfig(AppConfig):
    name = "annotations"
    verbose_name = "Audits"

    def ready(self) -> None:
        from annotations.todo import register_todo

        register_todo()
