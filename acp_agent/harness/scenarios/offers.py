"""What a session offers to be set: modes and config options, and how an answer to setting one may look."""

from __future__ import annotations

from typing import Any

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.endings import NotApplicable, NotExercised
from acp_agent.harness.scenario import Offer, on_end, on_ready, scenario
from acp_agent.harness.scenarios import shown
from acp_agent.harness.stage import Stage
from acp_agent.harness.turn import ClientRequest

_MODES: dict[str, Any] = {
    "currentModeId": "ask",
    "availableModes": [
        {"id": "ask", "name": "Ask", "description": "Ask before each tool"},
        {"id": "code", "name": "Code", "description": None},
    ],
}
_MODE_UPDATE = {"sessionUpdate": "current_mode_update", "currentModeId": "code"}
_MODE_OPTION: dict[str, Any] = {
    "id": "mode",
    "name": "Mode",
    "category": "mode",
    "type": "select",
    "currentValue": "ask",
    "options": [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}],
}
_MODEL_OPTION: dict[str, Any] = {
    "id": "model",
    "name": "Model",
    "description": "Which model answers",
    "category": "model",
    "type": "select",
    "currentValue": "small",
    "options": [
        {"group": "fast", "name": "Fast", "options": [{"value": "small", "name": "Small"}]},
        {
            "group": "good",
            "name": "Good",
            "options": [{"value": "large", "name": "Large", "description": None}],
        },
    ],
}
_SWITCH: dict[str, Any] = {
    "id": "tests",
    "name": "Run tests",
    "category": "model_config",
    "type": "boolean",
    "currentValue": False,
}


def _with(option: dict[str, Any], value: Any) -> dict[str, Any]:
    return {**option, "currentValue": value}


async def _set_first(stage: Stage, method: str) -> ClientRequest:
    """What the user sets before the first prompt."""
    request = await stage.expect_any(method, "session/prompt")
    if request is None or request.method != method:
        # The prompt is answered by the stand-in when the script is over.
        if request is not None:
            request.respond({"stopReason": "end_turn"})
        raise NotExercised(f"the user set nothing: there was no {method} before the first prompt")
    return request


async def _goes_on(stage: Stage) -> None:
    turn = await stage.prompt(or_breaks=None if stage.narrates else "R-304")
    stage.check("R-304", True, "a prompt once it is set", "it came", turn.request.number)
    turn.say("As you like.")
    turn.end()


async def _set_the_mode(
    stage: Stage, result: dict[str, Any] | None, before: tuple[Any, ...], after: tuple[Any, ...]
) -> None:
    """The user sets a mode; updates come before the answer and after it."""
    request = await _set_first(stage, "session/set_mode")
    mode, session = request.params["modeId"], request.params["sessionId"]
    stage.check("R-106", mode in {"ask", "code"}, "a mode that is on offer", mode, request.number)
    for update in before:
        stage.update(session, update)
    request.respond(result, on_purpose=result is None)
    for update in after:
        stage.update(session, update)
    await _goes_on(stage)


def _mode_scenario(
    name: str,
    title: str,
    result: dict[str, Any] | None,
    *,
    before: tuple[Any, ...] = (),
    after: tuple[Any, ...] = (),
) -> None:
    @scenario(
        f"modes/{name}",
        title,
        rules=("R-106", "R-304"),
        offer=Offer(modes=_MODES),
        plays=("session/set_mode",),
        user=(on_ready("set_mode", mode="code"),),
        ask="Choose the mode Code, then send a message.",
        survives=("R-304",),
    )
    async def play(stage: Stage) -> None:
        await _set_the_mode(stage, result, before, after)


_mode_scenario("set-without-notification", "Setting the mode is answered, and no update follows", {})
_mode_scenario(
    "set-answered-with-null", "Setting the mode is answered with null, and no update follows", None
)
_mode_scenario(
    "set-with-notification-before",
    "An update of the mode comes before the answer to setting it",
    {},
    before=(_MODE_UPDATE,),
)
_mode_scenario(
    "set-with-notification-after",
    "An update of the mode comes after the answer to setting it",
    {},
    after=(_MODE_UPDATE,),
)


def _shows_the_mode(after: Aftermath) -> None:
    control = {"sessionUpdate": "current_mode_update", "currentModeId": "code"}
    # A mode that is not on offer may be left out, but must not spoil what follows.
    shown.check_shown_like(after, "R-308", "current_mode_update", {"currentModeId": "ask"}, control)


@scenario(
    "modes/changed-by-the-agent",
    "The agent changes the mode by itself, to one of those on offer, to an unknown one, and back",
    rules=("R-303",),
    display_rules=("R-308",),
    offer=Offer(modes=_MODES),
    survives=("R-303",),
    aftermath=_shows_the_mode,
)
async def changed_by_the_agent(stage: Stage) -> None:
    turn = await stage.prompt()
    for mode in ("code", "zz-unheard-of", "ask"):
        turn.update({"sessionUpdate": "current_mode_update", "currentModeId": mode}, on_purpose=True)
        await stage.barrier(grace_s=0)
    turn.say("I have looked around.")
    await stage.check_alive("R-303", after="updates of the mode")
    turn.end()


@scenario(
    "modes/only-modes",
    "The session has modes and no config options: the mode is set the old way",
    rules=("R-106", "R-111"),
    offer=Offer(modes=_MODES),
    plays=("session/set_mode",),
    user=(
        on_ready("set_mode", mode="code"),
        on_end("set_mode", mode="ask"),
        on_end("prompt", text="And now?"),
    ),
    ask="Choose the mode Code, send a message, choose the mode Ask, send another.",
)
async def only_modes(stage: Stage) -> None:
    for mode in ("code", "ask"):
        request = await _set_first(stage, "session/set_mode")
        chosen = request.params["modeId"]
        stage.check("R-106", chosen in {"ask", "code"}, "a mode that is on offer", chosen, request.number)
        stage.check("R-111", True, "session/set_mode", "it came", request.number)
        request.respond({"_meta": None})
        turn = await stage.prompt()
        turn.say(f"This is the mode {mode}.")
        turn.end()


async def _set_an_option(stage: Stage, result: list[dict[str, Any]], *, notify: str = "") -> ClientRequest:
    """The user sets an option; the answer is the whole list, and perhaps an update has the same."""
    request = await _set_first(stage, "session/set_config_option")
    update = {"sessionUpdate": "config_option_update", "configOptions": result}
    if notify == "before":
        stage.update(request.params["sessionId"], update)
    request.respond({"configOptions": result})
    if notify == "after":
        stage.update(request.params["sessionId"], update)
    return request


def _select_scenario(name: str, title: str, notify: str) -> None:
    @scenario(
        f"config/{name}",
        title,
        rules=("R-123", "R-304"),
        offer=Offer(config_options=(_MODEL_OPTION, _MODE_OPTION)),
        plays=("session/set_config_option",),
        user=(on_ready("set_config", configId="model", value="large"),),
        ask="Choose the model Large, then send a message.",
        survives=("R-304",),
    )
    async def play(stage: Stage) -> None:
        result = [_with(_MODEL_OPTION, "large"), _MODE_OPTION]
        request = await _set_an_option(stage, result, notify=notify)
        value = request.params["value"]
        fits = value in {"small", "large", "ask", "code"}
        stage.check("R-123", fits, "a value that is on offer", value, request.number)
        await _goes_on(stage)


_select_scenario(
    "set-without-notification", "Setting an option is answered with the list, and no update follows", ""
)
_select_scenario(
    "set-with-notification-before", "The new list comes as an update and then as the answer", "before"
)
_select_scenario(
    "set-with-notification-after", "The new list comes as the answer and then as an update", "after"
)


@scenario(
    "config/set-a-switch",
    "An option that is on or off",
    rules=("R-114", "R-304"),
    needs=("session.configOptions.boolean",),
    plays=("session/new", "session/set_config_option"),
    user=(on_ready("set_config", configId="tests", value=True),),
    ask="Switch Run tests on, then send a message.",
    survives=("R-304",),
)
async def set_a_switch(stage: Stage) -> None:
    setup = await stage.expect("session/new")
    if not stage.advertises("session.configOptions.boolean"):
        # Then no agent may offer it.
        setup.respond({"sessionId": "without-switches"})
        raise NotApplicable("the client does not advertise session.configOptions.boolean")
    setup.respond({"sessionId": "with-switches", "configOptions": [_SWITCH, _MODEL_OPTION]})
    request = await _set_an_option(stage, [_with(_SWITCH, True), _MODEL_OPTION])
    typed = request.params.get("type") == "boolean" and request.params["value"] is True
    saw = f"type {request.params.get('type')}, value {request.params['value']}"
    stage.check("R-114", typed, "the type boolean and the value true", saw, request.number)
    await _goes_on(stage)


@scenario(
    "config/option-of-unknown-type",
    "One of the options is of a type that does not exist yet",
    rules=("R-116", "R-123"),
    offer=Offer(
        config_options=(
            {
                "id": "heat",
                "name": "Temperature",
                "type": "zz_slider",
                "currentValue": 0.5,
                "from": 0,
                "to": 1,
            },
            _MODEL_OPTION,
        )
    ),
    plays=("session/set_config_option",),
    user=(on_ready("set_config", configId="model", value="large"),),
    ask="Choose the model Large, then send a message.",
    survives=("R-116",),
)
async def option_of_unknown_type(stage: Stage) -> None:
    request = await stage.expect_any("session/set_config_option", "session/prompt")
    if request is None:
        raise NotExercised("the client sent nothing in the session")
    stage.check("R-116", True, "the client goes on with the session", "it did", request.number)
    if request.method == "session/prompt":
        request.respond({"stopReason": "end_turn"})
        return
    value = request.params["value"]
    stage.check("R-123", value in {"small", "large"}, "a value that is on offer", value, request.number)
    request.respond({"configOptions": [_with(_MODEL_OPTION, value)]})
    turn = await stage.prompt()
    turn.end()


def _option(name: str, **members: Any) -> dict[str, Any]:
    return {**_MODE_OPTION, "id": name, "name": name.title(), **members}


_NO_CATEGORY = {name: value for name, value in _option("none").items() if name != "category"}
_CATEGORIES = (
    _NO_CATEGORY,
    _option("null", category=None),
    _option("own", category="_example.org/own"),
    _option("future", category="zz_future"),
    _option("again", category="mode"),
    _option("mixed", category="model_config"),
)


@scenario(
    "config/odd-categories",
    "Options without a category, with null, unknown and repeated ones",
    rules=("R-117", "R-118"),
    offer=Offer(config_options=_CATEGORIES),
    plays=("session/set_config_option",),
    user=(
        on_ready("set_config", configId="none", value="code"),
        on_ready("set_config", configId="future", value="code"),
    ),
    ask="Set the option None to Code, then the option Future, then send a message.",
    survives=("R-118",),
)
async def odd_categories(stage: Stage) -> None:
    current = {str(option["id"]): option for option in _CATEGORIES}
    while True:
        request = await stage.expect_any("session/set_config_option", "session/prompt")
        if request is None:
            raise NotExercised("the client sent nothing in the session")
        stage.check("R-118", True, "the client goes on with the session", "it did", request.number)
        if request.method == "session/prompt":
            request.respond({"stopReason": "end_turn"})
            return
        id_ = request.params["configId"]
        stage.check("R-117", id_ in current, "an option is set whatever its category", id_, request.number)
        current[id_] = _with(current[id_], request.params["value"])
        request.respond({"configOptions": list(current.values())})


@scenario(
    "config/options-before-modes",
    "The session offers the mode both ways: the config option is used",
    rules=("R-110", "R-123"),
    offer=Offer(modes=_MODES, config_options=(_MODE_OPTION,)),
    plays=("session/set_config_option", "session/set_mode"),
    user=(on_ready("set_config", configId="mode", value="code"),),
    ask="Choose the mode Code, then send a message.",
)
async def options_before_modes(stage: Stage) -> None:
    request = await stage.expect_any("session/set_config_option", "session/set_mode", "session/prompt")
    if request is None or request.method == "session/prompt":
        if request is not None:
            request.respond({"stopReason": "end_turn"})
        raise NotExercised("the user set nothing before the first prompt")
    by_option = request.method == "session/set_config_option"
    stage.check("R-110", by_option, "session/set_config_option", request.method, request.number)
    if by_option:
        value = request.params["value"]
        stage.check("R-123", value in {"ask", "code"}, "a value that is on offer", value, request.number)
        request.respond({"configOptions": [_with(_MODE_OPTION, value)]})
    else:
        request.respond({})
    turn = await stage.prompt()
    turn.end()


_EFFORT = _option(
    "effort", category="thought_level", currentValue="low", options=[{"value": "low", "name": "Low"}]
)
_MORE_EFFORT = {**_EFFORT, "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}]}


@scenario(
    "config/list-that-changes",
    "Setting one option gives another one new values, and the user chooses one of them",
    rules=("R-123",),
    offer=Offer(config_options=(_MODEL_OPTION, _EFFORT)),
    plays=("session/set_config_option",),
    user=(
        on_ready("set_config", configId="model", value="large"),
        on_ready("set_config", configId="effort", value="high"),
    ),
    ask="Choose the model Large, then the effort High, then send a message.",
)
async def list_that_changes(stage: Stage) -> None:
    await _set_an_option(stage, [_with(_MODEL_OPTION, "large"), _MORE_EFFORT])
    request = await _set_an_option(stage, [_with(_MODEL_OPTION, "large"), _with(_MORE_EFFORT, "high")])
    if request.params["configId"] != "effort":
        raise NotExercised("the user did not choose from the new values")
    value = request.params["value"]
    stage.check("R-123", value in {"low", "high"}, "a value of the new list", value, request.number)
    turn = await stage.prompt()
    turn.end()


def _shows_the_options(after: Aftermath) -> None:
    control = {"configOptions": [_with(_MODEL_OPTION, "large"), _MODE_OPTION]}
    shown.check_shown_like(after, "R-308", "config_option_update", {"configOptions": []}, control)


@scenario(
    "config/changed-by-the-agent",
    "The agent changes an option by itself, then leaves one out, then all",
    rules=("R-303",),
    display_rules=("R-308",),
    offer=Offer(config_options=(_MODEL_OPTION, _MODE_OPTION)),
    user=(on_end("prompt", text="And now?"),),
    ask="When the turn has ended, send another message.",
    survives=("R-303",),
    aftermath=_shows_the_options,
)
async def options_changed_by_the_agent(stage: Stage) -> None:
    turn = await stage.prompt()
    for options in ([_with(_MODEL_OPTION, "large"), _MODE_OPTION], [_with(_MODEL_OPTION, "small")], []):
        turn.update({"sessionUpdate": "config_option_update", "configOptions": options})
    turn.say("Nothing is left to be set.")
    await stage.check_alive("R-303", after="lists of options")
    turn.end()
