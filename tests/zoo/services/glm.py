"""GLM at Z.ai (BigModel), thinking by default.

docs.bigmodel.cn/cn/guide/capabilities/thinking-mode (thoughts go back in the tool loop);
openai-agents-python/issues/2669 (no error without them); dev.to/aihubmix/glm-53-api-guide (2026-08, max_tokens up to
131072). Its JSON mode is json_object; a schema is ignored. Read on 24 November 2026.
"""

from __future__ import annotations

from tests.zoo.checks import Refused
from tests.zoo.service import Body, Service


class Glm(Service):
    name = "glm"
    model = "glm-5.3"
    dialect = "glm"
    roles = ("system", "user", "assistant", "tool")
    least_cached, cache_block = 64, 64

    def check(self, body: Body) -> None:
        super().check(body)
        if (body.get("max_tokens") or 0) > 131_072:
            raise Refused(400, "max_tokens参数非法: 取值范围为[1, 131072]", code="1210")

    def check_format(self, body: Body) -> None:
        """Nothing is refused."""

    def error(self, refused: Refused) -> Body:
        return {"error": {"code": refused.code or "1210", "message": refused.message}}
