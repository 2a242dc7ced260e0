"""The whole service on one machine, from `template.yaml` itself. It contains no business logic."""
