"""Four-sentence stories, so that the model also sees plain prose."""

import random

from documents.words import PEOPLE

PETS = ["cat", "dog", "bird", "rabbit", "turtle", "fox"]
PLACES = ["park", "forest", "garden", "beach", "hill", "market"]
THINGS = ["ball", "kite", "hat", "shell", "key", "book", "lamp"]
MOODS = ["happy", "sad", "tired", "brave", "curious"]
LOOKS = ["red", "blue", "green", "yellow", "small", "old"]


def story(rng: random.Random) -> str:
    who, pet = rng.choice(PEOPLE)[0], rng.choice(PETS)
    place, thing = rng.choice(PLACES), rng.choice(THINGS)
    mood, look = rng.choice(MOODS), rng.choice(LOOKS)
    sentences = [
        rng.choice([
            f"Once upon a time there was a {pet} named {who}.",
            f"{who} was a {mood} little {pet}.",
            f"One day {who} went to the {place} with a {pet}.",
        ]),
        rng.choice([
            f"In the {place}, {who} found a {look} {thing}.",
            f"They saw a {look} {thing} near the {place}.",
            f"{who} lost a {look} {thing} and looked everywhere.",
        ]),
        rng.choice([
            f'"Whose {thing} is this?" asked {who}.',
            f"The {pet} wanted to keep the {thing}.",
            f"{who} felt {mood} and sat down to think.",
        ]),
        rng.choice([
            f"A friend came and they played with the {thing} until night.",
            f"They gave the {thing} back, and everyone smiled.",
            f"In the end the {thing} was home again, and {who} slept well.",
        ]),
    ]
    return " ".join(sentences)
