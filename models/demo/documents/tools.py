"""Dialogues in which the assistant calls a tool of the device, or says that it has none for it."""

import json
import random
from typing import Any, Callable, NamedTuple

from documents.chat import turn
from documents.words import (CITIES, DOORS, ITEMS, LISTS, MESSAGES, MUSIC, PEOPLE, ROOMS, SENSORS,
                             SKIES, pick)

NOT_OFFERED_SHARE = 0.12
KOREAN_SHARE = 0.4
RESULT_SHARE = 0.6


class Request(NamedTuple):
    """What a user says and everything that follows from it."""
    user: str
    arguments: dict[str, Any]
    result: dict[str, Any]
    answer: str


class ToolDialogue(NamedTuple):
    offered: list[str]
    user: str
    call: dict[str, Any] | None  # None when the wanted tool is not offered
    text: str


DONE = {"ok": True}


def set_timer(rng: random.Random, korean: bool) -> Request:
    minutes = rng.randint(1, 90)
    if korean:
        user = rng.choice([f"{minutes}분 타이머 맞춰줘", f"타이머 {minutes}분", f"{minutes}분 뒤에 알려줘"])
        answer = f"{minutes}분 타이머를 시작했어요."
    else:
        user = rng.choice([f"Set a timer for {minutes} minutes", f"timer {minutes} minutes please",
                           f"Wake me in {minutes} minutes", f"Start a {minutes} minute timer"])
        answer = f"Timer set for {minutes} minutes."
    return Request(user, {"minutes": minutes}, DONE, answer)


def set_alarm(rng: random.Random, korean: bool) -> Request:
    hour, minute = rng.randint(0, 23), rng.choice([0, 5, 10, 15, 20, 30, 40, 45, 50])
    time = f"{hour:02d}:{minute:02d}"
    if korean:
        user = rng.choice([f"{time}에 알람 맞춰줘", f"알람 {time}로 설정해", f"{time}에 깨워줘"])
        answer = f"{time}에 알람을 맞췄어요."
    else:
        user = rng.choice([f"Set an alarm for {time}", f"Wake me up at {time}", f"alarm at {time}"])
        answer = f"Alarm set for {time}."
    return Request(user, {"time": time}, DONE, answer)


def control_light(rng: random.Random, korean: bool) -> Request:
    room, state = pick(rng, ROOMS, korean), rng.choice(["on", "off"])
    if korean:
        stem = "켜" if state == "on" else "꺼"
        user = rng.choice([f"{room} 불 {stem}줘", f"{room} 조명 {stem}", f"{room} 전등 좀 {stem}줄래"])
        answer = f"{room} 불을 {'켰' if state == 'on' else '껐'}어요."
    else:
        user = rng.choice([f"Turn {state} the {room} light",
                           f"Turn the lights {state} in the {room}", f"{room} lights {state}",
                           f"Please switch {state} the {room} lamp"])
        answer = f"The {room} light is {state}."
    return Request(user, {"room": room, "state": state}, DONE, answer)


def set_brightness(rng: random.Random, korean: bool) -> Request:
    room, percent = pick(rng, ROOMS, korean), rng.randint(1, 20) * 5
    if korean:
        user = rng.choice([f"{room} 밝기 {percent}퍼센트로 해줘", f"{room} 조명 밝기를 {percent}로"])
        answer = f"{room} 밝기를 {percent}퍼센트로 했어요."
    else:
        user = rng.choice([f"Set {room} brightness to {percent} percent",
                           f"Dim the {room} to {percent}%", f"{room} brightness {percent}"])
        answer = f"The {room} is at {percent} percent."
    return Request(user, {"room": room, "percent": percent}, DONE, answer)


def set_temperature(rng: random.Random, korean: bool) -> Request:
    room, celsius = pick(rng, ROOMS, korean), rng.randint(16, 30)
    if korean:
        user = rng.choice([f"{room} 온도 {celsius}도로 맞춰줘", f"{room} {celsius}도로 해줘",
                           f"{room} 난방 {celsius}도"])
        answer = f"{room} 온도를 {celsius}도로 맞췄어요."
    else:
        user = rng.choice([f"Set the {room} to {celsius} degrees", f"Make the {room} {celsius} C",
                           f"Heat the {room} to {celsius}"])
        answer = f"The {room} is set to {celsius} degrees."
    return Request(user, {"room": room, "celsius": celsius}, DONE, answer)


def play_music(rng: random.Random, korean: bool) -> Request:
    query = pick(rng, MUSIC, korean)
    if korean:
        user = rng.choice([f"{query} 틀어줘", f"{query} 들려줘", f"{query} 재생해"])
        answer = f"{query} 재생할게요."
    else:
        user = rng.choice([f"Play {query}", f"Put on some {query}", f"I want to hear {query}"])
        answer = f"Playing {query}."
    return Request(user, {"query": query}, DONE, answer)


def get_weather(rng: random.Random, korean: bool) -> Request:
    city, day = pick(rng, CITIES, korean), rng.choice(["today", "tomorrow"])
    sky, celsius = pick(rng, SKIES, korean), rng.randint(-9, 36)
    if korean:
        when = "오늘" if day == "today" else "내일"
        user = rng.choice([f"{when} {city} 날씨 어때", f"{city} {when} 날씨 알려줘"])
        answer = f"{when} {city} 날씨는 {sky}, {celsius}도예요."
    else:
        user = rng.choice([f"What is the weather in {city} {day}?", f"weather {city} {day}",
                           f"Will it rain in {city} {day}?"])
        answer = f"{city} {day}: {sky}, {celsius} degrees."
    return Request(user, {"city": city, "day": day}, {"sky": sky, "celsius": celsius}, answer)


def send_message(rng: random.Random, korean: bool) -> Request:
    person, text = pick(rng, PEOPLE, korean), pick(rng, MESSAGES, korean)
    if korean:
        user = rng.choice([f"{person}에게 '{text}'라고 보내줘", f"{person}한테 메시지 보내: {text}"])
        answer = f"{person}에게 메시지를 보냈어요."
    else:
        user = rng.choice([f"Tell {person}: {text}", f"Send {person} a message: {text}",
                           f"Text {person} '{text}'"])
        answer = f"Message sent to {person}."
    return Request(user, {"to": person, "text": text}, DONE, answer)


def add_list_item(rng: random.Random, korean: bool) -> Request:
    name, item = pick(rng, LISTS, korean), pick(rng, ITEMS, korean)
    if korean:
        user = rng.choice([f"{name} 목록에 {item} 추가해줘", f"{item} {name} 목록에 넣어줘"])
        answer = f"{name} 목록에 {item} 추가했어요."
    else:
        user = rng.choice([f"Add {item} to the {name} list", f"Put {item} on my {name} list"])
        answer = f"Added {item} to the {name} list."
    return Request(user, {"list": name, "item": item}, DONE, answer)


def read_sensor(rng: random.Random, korean: bool) -> Request:
    sensor, value = pick(rng, SENSORS, korean), rng.randint(0, 99)
    if korean:
        user = rng.choice([f"{sensor} 센서 값 알려줘", f"지금 {sensor} 얼마야"])
        answer = f"{sensor} 값은 {value}이에요."
    else:
        user = rng.choice([f"Read the {sensor} sensor", f"What does the {sensor} sensor say?",
                           f"{sensor} reading please"])
        answer = f"The {sensor} sensor reads {value}."
    return Request(user, {"sensor": sensor}, {"value": value}, answer)


def lock_door(rng: random.Random, korean: bool) -> Request:
    door, state = pick(rng, DOORS, korean), rng.choice(["locked", "unlocked"])
    if korean:
        user = rng.choice([f"{door} {'잠가' if state == 'locked' else '열어'}줘"])
        answer = f"{door}을 {'잠갔' if state == 'locked' else '열었'}어요."
    else:
        verb = "lock" if state == "locked" else "unlock"
        user = rng.choice([f"{verb.capitalize()} the {door}", f"Please {verb} the {door}"])
        answer = f"The {door} is {state}."
    return Request(user, {"door": door, "state": state}, DONE, answer)


def start_vacuum(rng: random.Random, korean: bool) -> Request:
    room = pick(rng, ROOMS, korean)
    if korean:
        user = rng.choice([f"{room} 청소해줘", f"{room} 청소기 돌려줘"])
        answer = f"{room} 청소를 시작했어요."
    else:
        user = rng.choice([f"Vacuum the {room}", f"Clean the {room} floor",
                           f"Start the vacuum in the {room}"])
        answer = f"Vacuuming the {room}."
    return Request(user, {"room": room}, DONE, answer)


class Tool(NamedTuple):
    parameters: list[str]
    request: Callable[[random.Random, bool], Request]


TOOLS = {
    "set_timer": Tool(["minutes"], set_timer),
    "set_alarm": Tool(["time"], set_alarm),
    "control_light": Tool(["room", "state"], control_light),
    "set_brightness": Tool(["room", "percent"], set_brightness),
    "set_temperature": Tool(["room", "celsius"], set_temperature),
    "play_music": Tool(["query"], play_music),
    "get_weather": Tool(["city", "day"], get_weather),
    "send_message": Tool(["to", "text"], send_message),
    "add_list_item": Tool(["list", "item"], add_list_item),
    "read_sensor": Tool(["sensor"], read_sensor),
    "lock_door": Tool(["door", "state"], lock_door),
    "start_vacuum": Tool(["room"], start_vacuum),
}
INTEGER_PARAMETERS = {"minutes", "percent", "celsius"}


def schema(name: str) -> dict[str, Any]:
    """The tool in the form of the OpenAI API, as a client would send it."""
    properties = {
        parameter: {"type": "integer" if parameter in INTEGER_PARAMETERS else "string"}
        for parameter in TOOLS[name].parameters
    }
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def system_text(names: list[str]) -> str:
    """The system message that offers tools, as the chat template writes it."""
    offers = "; ".join(f"{name}({', '.join(TOOLS[name].parameters)})" for name in names)
    return f"You are Tandem, an assistant on this device.\ntools: {offers}"


def call_text(call: dict[str, Any]) -> str:
    return f"<tool_call>{json.dumps(call, ensure_ascii=False)}</tool_call>"


def tool_dialogue(rng: random.Random) -> ToolDialogue:
    """A request, the call that answers it and often the result; sometimes a refusal."""
    korean = rng.random() < KOREAN_SHARE
    offered = rng.sample(sorted(TOOLS), rng.randint(2, 5))
    name = rng.choice(offered)
    request = TOOLS[name].request(rng, korean)
    if rng.random() < NOT_OFFERED_SHARE:
        offered = [other for other in offered if other != name]
        refusal = ("그 기능은 지금 쓸 수 없어요." if korean
                   else "I cannot do that with the tools I have.")
        text = (turn("system", system_text(offered)) + turn("user", request.user) +
                turn("assistant", refusal))
        return ToolDialogue(offered, request.user, None, text)
    call = {"name": name, "arguments": request.arguments}
    text = (turn("system", system_text(offered)) + turn("user", request.user) +
            turn("assistant", call_text(call)))
    if rng.random() < RESULT_SHARE:
        text += turn("tool", json.dumps(request.result, ensure_ascii=False))
        text += turn("assistant", request.answer)
    return ToolDialogue(offered, request.user, call, text)
