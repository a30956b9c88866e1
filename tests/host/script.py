"""What the agents of a test do: each plays the steps that stand in its prompt, one step per answer of its model.

    [say("go", spawn("W0", bash("make"), report("ok")), wait(), text("done"))]

What wakes a conversation later, and when, a test cannot know; so a prompt may also say what to do `when` certain words come:

    say("go", spawn(agent("W0")), when={"is held": [[spawn(agent("W0"))]]})

plays the first list when a message with these words comes, the second at the next one, and so on.

A step is a plain object that travels in a prompt as JSON behind a marker; the makers below spell them. A subagent finds its
own steps in the task that its parent was told to give it.
"""

from __future__ import annotations

import json
from typing import Any

MARKER = "[[steps]]"
Step = dict[str, Any]
When = dict[str, list[list[Step]]]


def say(words: str, *steps: Step, when: When | None = None) -> str:
    """A prompt, to which the agent answers with these steps."""
    return f"{words} {MARKER}{json.dumps({'steps': steps, 'when': when or {}})}"


# -- steps


def text(words: str) -> Step:
    """Says something, which ends the turn."""
    return {"text": words}


def bash(command: str, **more: Any) -> Step:
    """Calls the tool bash."""
    return {"tool": "bash", "args": {"command": command, **more}}


def tool(name: str, **args: Any) -> Step:
    return {"tool": name, "args": args}


def spawn(*agents: Step) -> Step:
    """Starts subagents, all in one call."""
    return {"tool": "task", "args": {"context": "a test", "tasks": list(agents)}}


def agent(name: str, *steps: Step, type: str = "task") -> Step:
    """A subagent with its own steps, for `spawn`."""
    return {"name": name, "agent": type, "task": say("do it", *steps), "solutionSpace": "fixed"}


def wait() -> Step:
    """omp's own tool: returns when a subagent has something to say."""
    return tool("wait")


def report(result: str = "ok") -> Step:
    """A subagent's end."""
    return {"tool": "yield", "args": {"data": result}}


def fails(status: int, words: str) -> Step:
    """The provider answers with an HTTP error."""
    return {"status": status, "message": words}


def at(gate: str, step: Step) -> Step:
    """The step comes only when the test opens that gate; until then the agent's model is thinking."""
    return {**step, "gate": gate}


# -- finding the step that comes next


def words_of(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


def next_step(request: dict[str, Any]) -> Step:
    """The step that the conversation has come to: as many are done as the model has answered since they were said. When
    there are no more, a subagent reports, and everybody else is done."""
    messages = request["messages"]
    tools = {one["function"]["name"] for one in request.get("tools", [])}
    steps, since = _due(messages)
    done = sum(message["role"] == "assistant" for message in messages[since:])
    if done < len(steps):
        step: Step = steps[done]
        return step
    return report() if "yield" in tools else text("done")


def _due(messages: list[dict[str, Any]]) -> tuple[list[Step], int]:
    """The steps that are being played, those of the last prompt with a marker or of what came after it, and where in the
    conversation they begin."""
    heard = [(place, words_of(one)) for place, one in enumerate(messages) if one["role"] in ("user", "developer")]
    prompts = [(place, words) for place, words in heard if MARKER in words]
    if not prompts:
        return [], 0
    start, words = prompts[-1]
    try:
        script: dict[str, Any] = json.JSONDecoder().raw_decode(words.partition(MARKER)[2].lstrip())[0]
    except ValueError:
        return [], 0  # a prompt that omp shortened, to have something said about it
    due: list[Step] = script["steps"]
    since = start
    for trigger, lists in script["when"].items():
        places = [place for place, words in heard if place > start and trigger in words]
        if places and places[-1] > since:
            due, since = (lists[len(places) - 1] if len(places) <= len(lists) else []), places[-1]
    return due, since


# -- what several stories' agents do

HELD = "is held for this session"
"""What a session is told when a slot is kept for it."""


def marks(name: str, gate: str | None = None) -> tuple[Step, ...]:
    """Steps that write `+ name` and `- name` into the file `marks` of the project, the second once the gate is open."""
    last = bash(f"echo '- {name}' >>marks")
    return bash(f"echo '+ {name}' >>marks"), at(gate, last) if gate else last, report()


def marked(name: str, gate: str | None = None, type: str = "task") -> Step:
    """A subagent that does no more than these."""
    return agent(name, *marks(name, gate), type=type)
