"""Properties that hold for programs nobody wrote: random ones, and broken ones."""
