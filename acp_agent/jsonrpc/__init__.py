"""JSON-RPC 2.0 over lines of UTF-8, and nothing of ACP: lines, JSON, envelopes, calls in flight."""
