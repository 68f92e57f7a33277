"""Short questions with one right answer: capitals, sums, opposites, units and the model itself."""

import random
from typing import Callable, NamedTuple

from documents.chat import turn

CAPITALS = [
    ("France", "Paris", "프랑스", "파리"), ("Korea", "Seoul", "한국", "서울"),
    ("Japan", "Tokyo", "일본", "도쿄"), ("Italy", "Rome", "이탈리아", "로마"),
    ("Spain", "Madrid", "스페인", "마드리드"), ("Germany", "Berlin", "독일", "베를린"),
    ("Norway", "Oslo", "노르웨이", "오슬로"), ("Egypt", "Cairo", "이집트", "카이로"),
    ("India", "Delhi", "인도", "델리"), ("Peru", "Lima", "페루", "리마"),
    ("Vietnam", "Hanoi", "베트남", "하노이"), ("Thailand", "Bangkok", "태국", "방콕"),
    ("Canada", "Ottawa", "캐나다", "오타와"), ("Kenya", "Nairobi", "케냐", "나이로비"),
    ("Greece", "Athens", "그리스", "아테네"),
]
OPPOSITES = [
    ("hot", "cold"), ("big", "small"), ("fast", "slow"), ("up", "down"), ("open", "closed"),
    ("light", "dark"), ("early", "late"), ("full", "empty"), ("wet", "dry"), ("hard", "soft"),
    ("old", "new"), ("near", "far"),
]
SMALL_TALK = [
    ("Who are you?", "I am Tandem, a small model that runs on this device."),
    ("너는 누구야?", "저는 이 기기에서 도는 작은 모델, 탠덤이에요."),
    ("Hello", "Hello! What can I do for you?"),
    ("안녕", "안녕하세요! 무엇을 도와드릴까요?"),
    ("Thank you", "You are welcome."),
    ("고마워", "천만에요."),
    ("Does my data leave the device?", "No. Everything runs here."),
]

QuestionAnswer = tuple[str, str]


class Fact(NamedTuple):
    user: str
    answer: str
    text: str


def capital(rng: random.Random) -> QuestionAnswer:
    country, city, country_ko, city_ko = rng.choice(CAPITALS)
    return rng.choice([(f"What is the capital of {country}?", f"{city}."),
                       (f"{country_ko}의 수도는 어디야?", f"{city_ko}예요.")])


def total(rng: random.Random) -> QuestionAnswer:
    x, y = rng.randint(0, 50), rng.randint(0, 49)
    return rng.choice([(f"What is {x} plus {y}?", f"{x + y}."),
                       (f"{x} 더하기 {y}는?", f"{x + y}이에요.")])


def opposite(rng: random.Random) -> QuestionAnswer:
    word, answer = rng.choice(OPPOSITES)
    if rng.random() < 0.5:
        word, answer = answer, word
    return f"What is the opposite of {word}?", f"{answer}."


def small_talk(rng: random.Random) -> QuestionAnswer:
    return rng.choice(SMALL_TALK)


def units(rng: random.Random) -> QuestionAnswer:
    n = rng.randint(1, 9)
    return rng.choice([(f"How many minutes are in {n} hours?", f"{60 * n}."),
                       (f"How many centimeters are in {n} meters?", f"{100 * n}.")])


KINDS: list[Callable[[random.Random], QuestionAnswer]] = [
    capital, total, opposite, small_talk, units,
]


def fact(rng: random.Random) -> Fact:
    user, answer = KINDS[rng.randrange(len(KINDS))](rng)
    return Fact(user, answer, turn("user", user) + turn("assistant", answer))
