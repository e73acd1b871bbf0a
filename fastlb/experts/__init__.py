"""Experts of mixture-of-experts models on GPUs, by the names that serving engines know."""

from __future__ import annotations

from .policy import rebalance_experts

__all__ = ["rebalance_experts"]
