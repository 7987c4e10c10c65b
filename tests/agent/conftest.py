"""The conversation of one turn, wired in this process: Bob's Peer, a client's eyes, a model and tools by hand."""
