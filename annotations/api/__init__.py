"""The API of audits."""

from annotations.api.campaigns import CampaignSerializer, CampaignViewSet

__all__ = ["CampaignSerializer", "CampaignViewSet"]
