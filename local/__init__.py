"""The whole service on one machine, from `template.yaml` itself. It translates and calls; it knows no business."""
