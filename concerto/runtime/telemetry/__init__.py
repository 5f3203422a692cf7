"""Telemetry: spans and metrics of runs, sent by OpenTelemetry's SDK. Loaded only where it is switched on."""
