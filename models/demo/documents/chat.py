"""ChatML turns, the frame of every dialogue in the corpus."""

ASSISTANT = "<|im_start|>assistant"


def turn(role: str, text: str) -> str:
    """One finished message of a dialogue."""
    return f"<|im_start|>{role}\n{text}<|im_end|>\n"


def prompt_of(dialogue: str) -> str:
    """Everything before the first answer: what tells one evaluation row from another."""
    return dialogue.split(ASSISTANT)[0]
