"""Language models: the port that turns call, the HTTP exchange, errors, tool calls.

    extractive  Answers without a model: at most five sentences of the notes, quoted and cited.
    failures    What a failed call means: a provider's status and words become one typed error.
    http        One call to a model as it goes over the network: what was sent, what came, and how
                to cut it off.
    images      How many tokens a picture takes: by its size in pixels and the rule of the model's
                provider.
    port        What a chain asks a model through: where it is, what it answers, and how that
                ends.
    tool_calls  Messages as chat services write them, and the pieces in which texts and calls come
                in.

May import: `chains.cancel`, `chains.errors`, `chains.events`, context.
"""
