"""Names that requests are made of, as (English, Korean) pairs."""

import random

Pairs = list[tuple[str, str]]

ROOMS: Pairs = [
    ("living room", "거실"), ("kitchen", "부엌"), ("bedroom", "침실"), ("bathroom", "욕실"),
    ("office", "서재"), ("hallway", "복도"), ("garage", "차고"), ("nursery", "아이방"),
    ("balcony", "베란다"), ("basement", "지하실"),
]
CITIES: Pairs = [
    ("Seoul", "서울"), ("Busan", "부산"), ("Incheon", "인천"), ("Daegu", "대구"), ("Jeju", "제주"),
    ("Tokyo", "도쿄"), ("London", "런던"), ("Paris", "파리"), ("Berlin", "베를린"),
    ("Madrid", "마드리드"), ("Rome", "로마"), ("Oslo", "오슬로"), ("Cairo", "카이로"),
    ("Delhi", "델리"), ("Sydney", "시드니"), ("Toronto", "토론토"), ("Chicago", "시카고"),
    ("Lima", "리마"), ("Hanoi", "하노이"), ("Bangkok", "방콕"),
]
PEOPLE: Pairs = [
    ("Mina", "미나"), ("Jun", "준"), ("Sora", "소라"), ("Hana", "하나"), ("Alex", "알렉스"),
    ("Maria", "마리아"), ("Tom", "톰"), ("Grace", "그레이스"), ("Leo", "레오"), ("Nari", "나리"),
]
ITEMS: Pairs = [
    ("milk", "우유"), ("eggs", "계란"), ("bread", "빵"), ("apples", "사과"), ("rice", "쌀"),
    ("coffee", "커피"), ("soap", "비누"), ("batteries", "건전지"), ("onions", "양파"), ("tea", "차"),
    ("cheese", "치즈"), ("tomatoes", "토마토"),
]
LISTS: Pairs = [("shopping", "장보기"), ("todo", "할 일"), ("travel", "여행")]
MUSIC: Pairs = [
    ("jazz", "재즈"), ("piano music", "피아노 음악"), ("rain sounds", "빗소리"),
    ("classical music", "클래식"), ("lullabies", "자장가"), ("rock", "록 음악"),
    ("morning news", "아침 뉴스"), ("folk songs", "포크 음악"),
]
SENSORS: Pairs = [
    ("temperature", "온도"), ("humidity", "습도"), ("air quality", "공기질"), ("water level", "수위"),
    ("smoke", "연기"), ("motion", "움직임"),
]
DOORS: Pairs = [("front door", "현관문"), ("back door", "뒷문"), ("garage door", "차고문")]
MESSAGES: Pairs = [
    ("I will be late", "늦을 것 같아"), ("dinner is ready", "저녁 다 됐어"),
    ("call me back", "전화해 줘"), ("see you at seven", "일곱 시에 보자"),
    ("happy birthday", "생일 축하해"), ("the parcel arrived", "택배 왔어"),
]
SKIES: Pairs = [("sunny", "맑음"), ("cloudy", "흐림"), ("rain", "비"), ("snow", "눈")]


def pick(rng: random.Random, pairs: Pairs, korean: bool) -> str:
    """One of `pairs` in the wanted language."""
    return rng.choice(pairs)[1 if korean else 0]
