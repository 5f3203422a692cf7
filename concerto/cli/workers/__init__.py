"""Commands of submitted runs, queues and workers."""
