"""Stuck: words instead of work; agents that hand the same thing round."""

from __future__ import annotations

from tests.cases.build import bash, call, stuck, text

_ANNOUNCE = (
    "I will now write the migration file.",
    "Let me write the migration file now.",
    "Now I'm going to write the migration file.",
    "I'll write the migration file right away.",
    "Next, I will write the migration file.",
    "Writing the migration file now; I will create it.",
    "Let me go ahead and write the migration file.",
    "I'll now create the migration file.",
    "Going to write the migration file next, let me do it.",
    "I will write the migration file for you now.",
)
_ASK = (
    "Please verify the market analysis and tell me whether the figures are complete.",
    "Could you verify whether the figures of the market analysis are complete?",
    "Kindly check that the market analysis figures are complete and verify them.",
    "Verify the completeness of the figures in the market analysis, please.",
    "Please tell me whether the market analysis figures are complete; verify them.",
    "Are the figures of the market analysis complete? Please verify and tell me.",
    "Can you verify again that the figures in the market analysis are complete?",
)
_REPLY = (
    "The figures need further analysis before I can verify that they are complete.",
    "Before I can verify the figures, further analysis is needed to be complete.",
    "Further analysis of the figures is needed; I cannot verify yet that they are complete.",
    "I cannot verify the figures yet: they need further analysis to be complete.",
    "To verify that the figures are complete, further analysis is needed.",
    "The figures are not complete yet, further analysis is needed before I verify them.",
    "I need further analysis before the figures can be verified as complete.",
)
_THANKS = (
    "Thank you for your help, it was great working with you!",
    "You're welcome! Happy to help any time.",
    "Thanks again! Have a great day.",
    "Likewise, have a wonderful day!",
    "Thank you, goodbye!",
    "Bye, take care!",
    "Thanks, you too!",
)
_INERT = ("echo ready", "true", "echo 'I will call the tool'", ":", "printf 'go\\n'", "echo done", "true", "echo next")

CASES = [
    stuck("textonly-announce", 4, bash("ls", "a"), *map(text, _ANNOUNCE)),
    stuck("textonly-inside", 2, bash("ls", "a"), text("I will check the file now.\n" * 80)),
    stuck("textonly-word", 1, text("I think the answer is " + "that " * 900)),
    stuck("textonly-blank", 3, bash("ls", "a"), *(text("") for _ in range(8))),
    stuck(
        "textonly-nudge",
        4,
        bash("ls", "a"),
        *(
            turn
            for n in range(6)
            for turn in (
                text("You have sent the same message again. You have to do something else!"),
                text(f"I have sent the same message again, as the note ({n + 2}) says."),
            )
        ),
    ),
    stuck("textonly-echo", 4, bash("ls", "x"), *(bash(f"echo {w!r}", w, text=w) for w in _ANNOUNCE)),
    stuck(
        "sameout-inert",
        3,
        *(bash(c, "ready" if "echo" in c else "", text="I have to use the memory tool now.") for c in _INERT),
    ),
    stuck(
        "pingpong-reworded",
        6,
        *(
            turn
            for a, r in zip(_ASK, _REPLY, strict=True)
            for turn in (call("ask_verifier", {"message": a}, r), call("ask_analyst", {"message": r}, a))
        ),
    ),
    stuck("pingpong-thanks", 5, text("The total is 41,200. DONE."), *map(text, _THANKS)),
    stuck(
        "pingpong-again",
        4,
        call("plan", {}, "ok"),
        *(
            call(
                "spawn_agent",
                {"role": "tester", "task": q},
                "The suite was already run: 88 passed. Nothing left to do.",
            )
            for q in (
                "Run the test suite and report.",
                "Please run all tests once more and report.",
                "Execute the suite, report the outcome.",
                "Run the whole test suite again, then report.",
                "Report after running the test suite.",
                "Run the tests and write the report.",
            )
        ),
    ),
    stuck(
        "pingpong-handoff",
        4,
        *(
            turn
            for _ in range(5)
            for turn in (call("transfer_to_billing", {}, "transferred"), call("transfer_to_support", {}, "transferred"))
        ),
    ),
    stuck(
        "todo-rewrite",
        3,
        call("edit", {"path": "a"}, "ok"),
        *(call("todo_write", {"todos": []}, "todo list is empty") for _ in range(6)),
    ),
    stuck(
        "textonly-compacted",
        7,
        bash("make", "ok"),
        *(
            turn
            for n in range(6)
            for turn in (
                text(f"[context compacted: {189_000 + n * n * 31} -> {171_000 + n * 7} tokens, summary kept]"),
                call("read_file", {"path": "build.log"}, "<large log>"),
            )
        ),
    ),
    stuck(
        "sameout-stub",
        3,
        *(
            call("tool_search", {"query": q}, "ok")
            for q in ("edit", "jira", "send mail", "calendar", "pdf", "sheet", "sql", "chart", "maps", "ocr")
        ),
    ),
    stuck(
        "volarg-refonly",
        3,
        call("open", {"url": "a"}, "page"),
        *(call("click", {"ref": f"s{n}e{7 * n}"}, "Clicked. Page unchanged.") for n in range(1, 8)),
    ),
    stuck("sameout-ticks", 3, *(bash(f"sleep 5; echo tick {w}", f"tick {w}") for w in "abcdefg")),
]
