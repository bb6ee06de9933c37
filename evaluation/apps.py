from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        from evaluation.assistance.assistant import enable_in_sample
        from evaluation.assistance.opinions import known_opinions, request_opinions
        from evaluation.assistance.provenance import told_origins
        from evaluation.sandbox.documents import may_read_documents, read_document
        from evaluation.search import register_sources
        from evaluation.tools.for_authors import app_declarations, tool_cards
        from evaluation.tools.mcp.servers import list_server_tools
        from evaluation.trials.analyses import analyse_later, analyse_scripts
        from evaluation.trials.script_analysis import count_keys
        from studio.domain.app_data import register_apps
        from studio.domain.text_origins import register_origins_reader
        from studio.domain.tool_catalog import register_card_reader
        from studio.domain.tool_servers import register_lister
        from studio.files.previews.documents import Confinement, register_confinement
        from studio.findings.hooks import register_key_reader, register_report_makers, register_second_opinions
        from studio.imports.sample import register_sample_data

        register_card_reader(tool_cards)
        register_lister(list_server_tools)
        register_apps(app_declarations())
        register_key_reader(count_keys)
        register_report_makers(now=analyse_scripts, later=analyse_later)
        register_second_opinions(read=known_opinions, request=request_opinions)
        register_origins_reader(told_origins)
        register_sources()
        register_confinement(Confinement(may_read_documents, read_document))
        register_sample_data(enable_in_sample)
