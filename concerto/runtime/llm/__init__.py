"""Model servers: connections, HTTP, limits of rate, and a file a wire."""
