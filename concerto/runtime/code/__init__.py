"""Programs that a model writes: the tools of a request as Concerto, and the confined world they run in."""
