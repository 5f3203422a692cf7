"""Programs that no person writes compile, or get a diagnostic; nothing crashes."""
