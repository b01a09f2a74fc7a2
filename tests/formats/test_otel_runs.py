"""Which spans make one run: the nearest agent span, else the trace."""

from __future__ import annotations

from pathlib import Path

from tests.formats.spans import agent, asks, batch, chat, read, span, story, tool, turns


def test_an_agent_below_a_tool_is_a_run_with_a_parent(tmp_path: Path) -> None:
    got = read(
        tmp_path / "x",
        batch(
            chat("a", "r", 1, asks(("c1", "ask_clerk", {}))),
            chat("m1", "in", 2, asks(("c1", "get", {}))),
            tool("m2", "in", 3, "get", "paid", id="c1"),
            chat("m3", "in", 4, asks(text="paid")),
            agent("in", "b", 1.6, "clerk", lasts=3),
            tool("b", "r", 1.5, "ask_clerk", "paid", id="c1", lasts=4),
            chat("d", "r", 6, asks(text="It is paid.")),
            agent("r", None, 0),
        ),
    )
    assert story(got) == [
        "t1/r: ask_clerk({})=paid",
        "t1/r: 'It is paid.'",
        "t1/r: <done>",
        "t1/in: get({})=paid",
        "t1/in: 'paid'",
        "t1/in: <done>",
    ]
    assert {t.run: t.parent for t in turns(got)} == {"t1/r": None, "t1/in": "t1/r"}
    assert {t.run: (t.labels or {})["agent"] for t in turns(got)} == {"t1/r": "desk", "t1/in": "clerk"}


def test_the_users_own_root_span_changes_nothing(tmp_path: Path) -> None:
    spans = [chat("a", "r", 1, asks(text="hi")), agent("r", "web", 0, error="boom"), span("web", None, 0, {})]
    assert story(read(tmp_path / "x", batch(*spans))) == ["t1: 'hi'", "t1: <error>"]


def test_agents_side_by_side_are_runs_of_their_own(tmp_path: Path) -> None:
    spans = [chat("a", "r1", 1, asks(text="spam")), chat("b", "r2", 3, asks(text="spam"))]
    spans += [agent("r1", "job", 0.5), agent("r2", "job", 2.5), span("job", None, 0, {}, lasts=9)]
    got = read(tmp_path / "x", batch(*spans))
    assert story(got) == ["t1/r1: 'spam'", "t1/r1: <done>", "t1/r2: 'spam'", "t1/r2: <done>"]


def test_agents_that_hand_over_to_each_other_are_one_run(tmp_path: Path) -> None:
    spans = []
    for n, (name, other) in enumerate([("Billing", "Sales"), ("Sales", "Billing")] * 2):
        own, call = f"a{n}", f"transfer_to_{other.lower()}"
        spans += [
            chat(f"m{n}", own, n, asks((f"c{n}", call, {}))),
            tool(f"h{n}", own, n + 0.2, call, "ok", id=f"c{n}"),
            agent(own, "task", n, name, lasts=0.9),
        ]
    spans += [span("task", None, 0, {}, lasts=9)]
    got = read(tmp_path / "x", batch(*spans))
    assert {t.run for t in turns(got)} == {"t1"}
    assert [t.calls[0].name for t in turns(got)] == ["transfer_to_sales", "transfer_to_billing"] * 2


def test_a_transfer_of_money_hands_over_nothing(tmp_path: Path) -> None:
    spans = []
    for n in range(2):
        spans += [chat(f"m{n}", f"a{n}", n, asks((f"c{n}", "transfer_funds", {"to": "ACME"})))]
        spans += [tool(f"h{n}", f"a{n}", n + 0.2, "transfer_funds", "ok", id=f"c{n}")]
        spans += [agent(f"a{n}", "job", n, "bank", lasts=0.9)]
    got = read(tmp_path / "x", batch(*spans, span("job", None, 0, {}, lasts=9)))
    assert {t.run for t in turns(got)} == {"t1/a0", "t1/a1"}


def test_a_tree_that_bites_its_tail(tmp_path: Path) -> None:
    spans = [chat("a", "b", 1, asks(text="hi")), agent("b", "c", 0), agent("c", "b", 0)]
    assert story(read(tmp_path / "x", batch(*spans))) == ["t1: 'hi'", "t1: <done>"]
