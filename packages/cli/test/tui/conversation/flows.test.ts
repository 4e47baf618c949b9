import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { LONG } from "../../../../../test/support/long.ts";
import { type Place, place } from "../../support/assent.ts";
import { converse, converseAbout, endedCalls, record, say, type Turn } from "../support/conversation.ts";
import { HOSTILE } from "../support/scenes.ts";
import type { Screen } from "../support/screen.ts";

const call = (tool: string, id: string, input: object): NonNullable<Turn["calls"]>[number] => ({ tool, id, input });
const shell = (id: string, command: string): NonNullable<Turn["calls"]>[number] => call("shell", id, { command });
const GIVEN_BACK = { paste: false, cursorHidden: false, isAlternate: false };

/** Chooses an answer of the card in front by its letter, and confirms it. */
async function answer(screen: Screen, { to, with: letter }: { readonly to: string; readonly with: string }): Promise<void> {
  await screen.read((now) => now.includes("Approval needed") && now.includes(to));
  while (/^… \d+ more line/m.test(screen.lines().join("\n"))) {
    const before = screen.lines().join("\n");
    screen.press("pageDown");
    await screen.until((now) => now !== before);
  }
  screen.press(letter);
  await screen.until(new RegExp(`^> ${letter} `, "m"));
  screen.press("enter");
}

const idle = (screen: Screen, shows: string): Promise<string> =>
  screen.until((now) => now.includes(shows) && now.includes("? keys") && !now.includes("» working"));

async function leave(screen: Screen): Promise<number> {
  screen.press("ctrl+d");
  return await screen.exit();
}

describe("a newcomer's walk, without documentation", () => {
  const BEFORE = "export const greeting = 'Hello';\n";
  const TURNS: readonly Turn[] = [
    { say: "I read it.", calls: [call("read", "c0", { file_path: "greet.ts" })] },
    { say: "I change the greeting.", calls: [call("edit", "c1", { file_path: "greet.ts", old_string: "'Hello'", new_string: "'Hi'" })] },
    { say: "It says what you made of it.", calls: [shell("c2", "git push origin main")] },
    {
      say: "I do not push, then.",
      calls: [call("ask", "c3", { questions: [{ id: "db", question: "Which name?", options: [{ label: "Ada" }, { label: "Bob" }] }] })],
    },
    { say: "Your own it is.", calls: [call("write", "c4", { file_path: "src/new.txt", content: "one\n" })] },
    { calls: [call("resolve", "c5", { action: "apply", reason: "as asked" })] },
    { say: "There it is." },
    { say: "Welcome back." },
  ];

  test("a change with edits, a no with a reason, an answer of one's own, undo, who decided what, leave and resume", async () => {
    using at = place();
    at.write("greet.ts", BEFORE);
    const editor = join(at.root, "editor.sh");
    writeFileSync(editor, `sed -i "s/'Hi'/'Good day'/" "$1"\n`);
    const settings = { proposals: { stage: ["Edit(src/**)"] }, permissions: { allow: ["Edit(src/**)"] } };
    const env = { EDITOR: `sh ${editor}` };
    using screen = await converseAbout(at, "change the greeting", { turns: TURNS, settings, env, rows: 40 });
    await answer(screen, { to: "greet.ts", with: "e" });
    const edited = await screen.read("Good day");
    assert.equal(edited.includes("'Hi'"), false, "what the model wanted instead is no longer shown");
    await answer(screen, { to: "Good day", with: "y" });

    await answer(screen, { to: "git push", with: "n" });
    await screen.until("Reason for the model");
    screen.type("not before the review");
    screen.press("enter");

    await screen.read("Other (type your own)");
    screen.press("up", "enter");
    await screen.until("Your answer (");
    screen.type("Grace");
    screen.press("enter");
    await idle(screen, "There it is.");
    assert.equal(readFileSync(at.path("greet.ts"), "utf8"), "export const greeting = 'Good day';\n");
    assert.equal(readFileSync(at.path("src/new.txt"), "utf8"), "one\n");
    const scrolled = screen.scrollback().join("\n");
    assert.match(scrolled, /approved by you/, "who decided what stands at each call");
    assert.match(scrolled, /rejected by you: not before the review/);

    const { value: proposals } = await at.hereJson(["proposals", "--all"]);
    const { id } = proposals.find(({ label }: { readonly label: string }) => label.includes("src/new.txt"));
    await say(screen, `/undo ${id}`);
    await idle(screen, "undone: Write: src/new.txt");
    assert.equal(existsSync(at.path("src/new.txt")), false);
    await say(screen, "/explain shell rm -rf /");
    await screen.until("root-delete");

    assert.equal(await leave(screen), 0);
    assert.deepEqual(screen.modes(), GIVEN_BACK);
    const resume = /assent resume (s_\w+)/.exec(screen.lines().join("\n"))?.[1];
    assert.ok(resume, "it says how to go on");

    using again = converse(at, { turns: TURNS, settings, args: ["--resume", resume], rows: 40 });
    await idle(again, "There it is.");
    assert.match(again.scrollback().join("\n"), /rejected by .*: not before the review/, "the conversation is shown again");
    await say(again, "hello again");
    await idle(again, "Welcome back.");
    const ended = await endedCalls(at);
    assert.deepEqual(
      ["c1", "c2", "c3", "c4", "c5"].map((id) => ended.get(id)?.outcome),
      ["succeeded", "rejected", "succeeded", "succeeded", "succeeded"],
    );
    assert.equal(ended.get("c3")?.content, "User provided custom input: Grace");
    assert.equal(await leave(again), 0);
  });
});

describe("approvals in assent", { concurrency: 3 }, () => {
  test("answered in another process: the card goes, and it is said by whom", async () => {
    using at = place();
    using screen = await converseAbout(at, "do it", { turns: [{ calls: [shell("c1", "echo ran >> x")] }, { say: "Done." }] });
    await screen.until("Approval needed");
    const [{ id }] = (await at.hereJson(["approvals"])).value;
    await at.here(["approve", id, "--by", "Ada"]);
    await idle(screen, "Done.");
    assert.match(screen.lines().join("\n"), /approved by Ada/);
    assert.equal(readFileSync(at.path("x"), "utf8"), "ran\n");
    assert.equal(await leave(screen), 0);
  });

  test("a question answered in another process: the dialog goes, and it is said by whom", async () => {
    using at = place();
    const questions = [{ id: "db", question: "Which database?", options: [{ label: "SQLite" }, { label: "Postgres" }] }];
    using screen = await converseAbout(at, "ask me", { turns: [{ calls: [call("ask", "c1", { questions })] }, { say: "Thanks." }] });
    await screen.until("Other (type your own)");
    const [{ id }] = (await at.hereJson(["approvals"])).value;
    await at.here(["approve", id, "--answers", JSON.stringify([{ id: "db", selected: ["Postgres"] }]), "--by", "Ada"]);
    await idle(screen, "Thanks.");
    assert.equal((await endedCalls(at)).get("c1")?.content, "User selected: Postgres");
    assert.match(screen.lines().join("\n"), /Ada/);
  });

  test("what was parked is asked when the session is opened, under the same id", async () => {
    using at = place();
    const questions = [{ id: "db", question: "Which database?", options: [{ label: "SQLite" }, { label: "Postgres" }] }];
    const turns = [{ calls: [call("ask", "c1", { questions })] }, { calls: [shell("c2", "echo ran >> x")] }, { say: "Done." }];
    writeFileSync(join(at.root, "script.json"), JSON.stringify({ turns, allowUnused: true }));
    const ran = await at.here(["run", "go", "--model", "script:../script.json", "--on-ask", "park"]);
    assert.equal(ran.code, 75, ran.stderr);
    const [{ id, sessionId }] = (await at.hereJson(["approvals"])).value;
    using screen = converse(at, { turns, args: ["--resume", sessionId] });
    await screen.read("Other (type your own)");
    assert.equal((await at.hereJson(["approvals"])).value[0].id, id);
    screen.press("down", "enter");
    await answer(screen, { to: "echo ran", with: "y" });
    await idle(screen, "Done.");
    assert.equal(readFileSync(at.path("x"), "utf8"), "ran\n");
    assert.equal((await endedCalls(at)).get("c1")?.content, "User selected: Postgres");
  });

  test("left while something waits: exit 75, it waits on, and nothing has run", async () => {
    using at = place();
    using screen = await converseAbout(at, "do it", { turns: [{ calls: [shell("c1", "echo ran >> x")] }, { say: "Done." }] });
    await screen.read("Approval needed");
    screen.press("ctrl+t");
    await screen.until((now) => !now.includes("Approval needed"));
    screen.press("ctrl+d");
    assert.equal(await screen.exit(), 75);
    assert.equal((await at.hereJson(["approvals"])).value.length, 1);
    assert.equal(existsSync(at.path("x")), false);
    assert.deepEqual(screen.modes(), GIVEN_BACK);
  });

  test("codes of a model, a command and its output never reach the terminal", async () => {
    using at = place();
    at.write("out.txt", `${HOSTILE}\n`);
    const turns = [
      { say: `hello ${HOSTILE}`, calls: [shell("c1", `cat out.txt # ${HOSTILE}`), call("read", "c2", { file_path: `no${HOSTILE}.txt` })] },
      { say: "Done." },
    ];
    using screen = converse(at, { turns, env: { NO_COLOR: "1" }, rows: 50 });
    await idle(screen, "script:");
    const before = screen.rawBytes().length;
    await say(screen, "do it");
    await answer(screen, { to: "1 of 2 waiting", with: "y" });
    await answer(screen, { to: "1 waiting", with: "y" });
    await idle(screen, "Done.");
    const raw = screen.rawBytes().slice(before);
    for (const code of [
      "\u001b[2J",
      "\u001b]8;;http",
      "\u001b]52",
      "\u001b]0;",
      "\u001b]2;",
      "\b",
      "\u202e",
      "\u2066",
      "\u200b",
      "\u{e0069}",
    ])
      assert.equal(raw.includes(code), false, `${JSON.stringify(code)} reached the terminal`);
    assert.equal(await leave(screen), 0);
  });

  test("keys typed without pause while an approval appears answer nothing, and the text is kept", async () => {
    using at = place();
    using screen = await converseAbout(at, "do it", { turns: [{ delayMs: 700, calls: [shell("c1", "echo ran >> x")] }, { say: "Done." }] });
    await screen.until("» working");
    const typing = setInterval(() => screen.type("y"), 40);
    await screen.until("waiting for your answer");
    screen.type("yyyy\r a\r");
    clearInterval(typing);
    await screen.read("Approval needed");
    assert.equal(existsSync(at.path("x")), false);
    assert.equal(/^> y/m.test(screen.lines().join("\n")), false, "nothing is chosen");
    await answer(screen, { to: "echo ran", with: "n" });
    await screen.until("Reason for the model");
    screen.press("enter");
    await screen.until((now) => /y{3,}/.test(now), 45_000);
    assert.equal(existsSync(at.path("x")), false);
  });

  test("two approvals wait; keys for both at once answer only the first", async () => {
    using at = place();
    using screen = await converseAbout(at, "do it", {
      turns: [{ calls: [shell("c1", "echo one >> x"), shell("c2", "echo two >> x")] }, { say: "Done." }],
    });
    await screen.read("1 of 2 waiting");
    screen.press("y", "enter", "enter", "y", "enter");
    await screen.read((now) => now.includes("echo two >> x") && !now.includes("1 of 2 waiting"));
    assert.equal(readFileSync(at.path("x"), "utf8"), "one\n");
    assert.deepEqual((await at.hereJson(["approvals"])).value.length, 1);
    await answer(screen, { to: "echo two", with: "y" });
    await idle(screen, "Done.");
    assert.equal(readFileSync(at.path("x"), "utf8"), "one\ntwo\n");
  });

  test("two cards of one turn come up in the order of the calls, and each says which one it is", async () => {
    using at = place();
    const calls = [call("write", "c1", { file_path: "a.txt", content: "one\n" }), shell("c2", "echo two >> x")];
    using screen = await converseAbout(at, "do it", { turns: [{ calls }, { say: "Done." }], rows: 40 });
    await screen.read((now) => now.includes("1 of 2 waiting") && now.includes("tool    write"));
    screen.press("ctrl+n");
    await screen.read((now) => now.includes("2 of 2 waiting") && now.includes("tool    shell"));
    screen.press("ctrl+n");
    await screen.read((now) => now.includes("1 of 2 waiting") && now.includes("tool    write"));
    await answer(screen, { to: "tool    write", with: "y" });
    await answer(screen, { to: "tool    shell", with: "y" });
    await idle(screen, "Done.");
  });

  test("line ends and encoding marks of what is written are those that were shown", async () => {
    using at = place();
    writeFileSync(at.path("dos.txt"), "\ufeffone\r\ntwo\r\n");
    const turns = [
      { calls: [call("read", "c0", { file_path: "dos.txt" })] },
      { calls: [call("edit", "c1", { file_path: "dos.txt", old_string: "two", new_string: "2" })] },
      { say: "Done." },
    ];
    using screen = await converseAbout(at, "do it", { turns, rows: 40 });
    await screen.read("Approval needed");
    assert.match(screen.lines().join("\n"), /two\\r/);
    await answer(screen, { to: "dos.txt", with: "y" });
    await idle(screen, "Done.");
    assert.equal(readFileSync(at.path("dos.txt"), "utf8"), "\ufeffone\r\n2\r\n");
  });

  test("always, in this session: the rule is shown before it is stored, and the next like it passes", async () => {
    using at = place();
    using screen = await converseAbout(at, "do it", {
      rows: 40,
      turns: [{ calls: [shell("c1", "touch a")] }, { calls: [shell("c2", "touch a")] }, { say: "Done." }],
    });
    await answer(screen, { to: "Shell(touch a)", with: "s" });
    await idle(screen, "Done.");
    const [grant] = (await at.hereJson(["grants"])).value;
    assert.deepEqual([grant.scope, grant.rule], ["session", "Shell(touch a)"]);
  });

  test("reject and stop ends the turn", async () => {
    using at = place();
    using screen = await converseAbout(at, "do it", { turns: [{ calls: [shell("c1", "echo ran >> x")] }, { say: "I go on as told." }] });
    await answer(screen, { to: "echo ran", with: "x" });
    await screen.until("Reject and stop. Reason");
    screen.press("enter");
    await idle(screen, "Tell the model what to do instead");
    await say(screen, "go on");
    await idle(screen, "I go on as told.");
    assert.equal(existsSync(at.path("x")), false);
  });
});

/** What is on the screen, and how to come there. */
const STATES: readonly (readonly [name: string, turns: readonly Turn[], come: (screen: Screen) => Promise<unknown>])[] = [
  ["an empty prompt", [], async () => undefined],
  [
    "a text that is being written",
    [],
    async (screen) => {
      screen.type("half a thought");
      await screen.until("half a thought");
    },
  ],
  [
    "a model that works",
    [{ delayMs: 60_000, say: "late" }],
    async (screen) => {
      await say(screen, "think");
      await screen.until("» working");
    },
  ],
  [
    "a command that runs",
    [{ calls: [shell("c1", "sleep 60")] }],
    async (screen) => {
      await say(screen, "run it");
      await screen.until("running");
    },
  ],
  [
    "a card",
    [{ calls: [shell("c1", "echo ran >> x")] }],
    async (screen) => {
      await say(screen, "do it");
      await screen.read("Approval needed");
    },
  ],
  [
    "a question",
    [{ calls: [call("ask", "c1", { questions: [{ id: "q", question: "Which?", options: [{ label: "A" }] }] })] }],
    async (screen) => {
      await say(screen, "ask");
      await screen.read("Other (type your own)");
    },
  ],
  [
    "everything opened",
    [{ say: "Hello." }],
    async (screen) => {
      await say(screen, "hello");
      await idle(screen, "Hello.");
      screen.press("ctrl+o");
      await screen.until("q goes back");
    },
  ],
];

describe("Ctrl-C in each state", { concurrency: 3 }, () => {
  for (const [name, turns, come] of STATES) {
    test(`${name}: a few times leaves, the terminal is given back, and nothing ran by it`, async () => {
      using at = place();
      using screen = converse(at, { turns });
      await idle(screen, "script:");
      await come(screen);
      for (let pressed = 0; pressed < 8 && !(await hasEnded(screen)); pressed += 1) screen.press("ctrl+c");
      await screen.exit();
      assert.deepEqual(screen.modes(), GIVEN_BACK);
      assert.equal(existsSync(at.path("x")), false);
      const events = await record(at);
      const proposed = events.filter(({ type }) => type === "call.proposed").length;
      const open = (await at.hereJson(["approvals"])).value.length;
      assert.equal(events.filter(({ type }) => type === "call.ended").length + open, proposed, "each call has ended or waits");
    });
  }
});

/** Whether the program is gone a moment after a key. */
async function hasEnded(screen: Screen): Promise<boolean> {
  return await Promise.race([screen.ended.then(() => true), moment(250).then(() => false)]);
}

/** Random keys have no text to wait for. */
function moment(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

describe("the terminal itself", { concurrency: 3 }, () => {
  test("a signal, and a kill of the program's terminal, leave it as it was", async () => {
    for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) {
      using at = place();
      using screen = converse(at, {});
      await idle(screen, "script:");
      screen.kill(signal);
      await screen.exit();
      assert.deepEqual(screen.modes(), GIVEN_BACK, signal);
    }
  });

  test("a crash leaves it as it was, and says what happened", async () => {
    using at = place();
    const crash = join(at.root, "crash.mjs");
    writeFileSync(crash, `process.on("SIGUSR2", () => { throw new Error("boom"); });\n`);
    using screen = converse(at, { env: { NODE_OPTIONS: `--import=${crash}` } });
    await idle(screen, "script:");
    screen.kill("SIGUSR2");
    assert.notEqual(await screen.exit(), 0);
    assert.deepEqual(screen.modes(), GIVEN_BACK);
    assert.match(screen.scrollback().join("\n"), /boom/);
  });

  test("a paste of many lines is one text, and sends nothing by itself", async () => {
    using at = place();
    using screen = converse(at, { turns: [{ say: "Read." }] });
    await idle(screen, "script:");
    const text = Array.from({ length: 30 }, (_, line) => `line ${line}\u001b[31m`).join("\n");
    screen.paste(text);
    await screen.read((now) => now.includes("line 29") || /paste/i.test(now));
    assert.equal((await record(at)).filter(({ type }) => type === "message.user").length, 0);
    screen.press("enter");
    await idle(screen, "Read.");
    const [said] = (await record(at)).filter(({ type }) => type === "message.user");
    assert.match(JSON.stringify(said?.body.content), /line 0.*line 29/);
  });

  test("another size: a card that was read in part is read on, and one that was read to its end can be approved", async () => {
    using at = place();
    const long = Array.from({ length: 40 }, (_, line) => `: line ${line}`).join("\n");
    using screen = await converseAbout(at, "do it", {
      turns: [{ calls: [shell("c1", `echo ran >> x\n${long}`)] }, { say: "Done." }],
      rows: 24,
    });
    await screen.read(/… \d+ more lines/);
    screen.resize(40, 12);
    await screen.until((now) => /… \d+ more lines/.test(now) && now.includes("press one to read it"));
    screen.press("y", "enter");
    await screen.until("There is more to read");
    assert.equal(existsSync(at.path("x")), false);
    screen.resize(100, 70);
    await screen.until(": line 39");
    for (const line of screen.lines()) assert.ok(line.length <= 100);
    screen.resize(40, 12);
    await screen.until((now) => now.includes("press one to read it"));
    screen.press("y");
    await screen.until("Enter: Allow once");
    screen.press("enter");
    await idle(screen, "Done.");
    assert.equal(readFileSync(at.path("x"), "utf8"), "ran\n");
  });
});

/** A reproducible series of numbers below one. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const FUZZ_KEYS = [
  "enter",
  "up",
  "down",
  "left",
  "right",
  "tab",
  "space",
  "pageDown",
  "home",
  "backspace",
  "y",
  "n",
  "s",
  "h",
  "f",
  "p",
  "1",
  "?",
  "/",
  "@",
  "ctrl+n",
  "ctrl+o",
  "ctrl+t",
  "ctrl+l",
  "shift+tab",
  "q",
  "x",
  "é",
  "世",
];

type Next = () => number;

/** A turn with one call of a random kind. */
function randomTurn(next: Next, turn: number): Turn {
  const id = `c${turn}`;
  const multi = next() < 0.5;
  const kinds = [
    shell(id, `echo ran${turn} >> x`),
    call("ask", id, { questions: [{ id: "q", question: "Which?", options: [{ label: "A" }, { label: "B" }], multi }] }),
    call("write", id, { file_path: `f${turn}.txt`, content: "one\ntwo\n" }),
  ];
  const kind = Math.floor(next() * kinds.length);
  return { say: `turn ${turn}`, calls: kinds.slice(kind, kind + 1) };
}

/** A key, now and then another size or a paste. */
function disturb(screen: Screen, next: Next): void {
  const chance = next();
  if (chance < 0.06) screen.resize(20 + Math.floor(next() * 140), 6 + Math.floor(next() * 50));
  else if (chance < 0.09) screen.paste("pasted\ntext");
  else screen.press(FUZZ_KEYS[Math.floor(next() * FUZZ_KEYS.length)] ?? "up");
}

describe("keys and sizes at random", { concurrency: 2 }, () => {
  const seeds = LONG ? Array.from({ length: 40 }, (_, at) => at + 1) : [1];
  for (const seed of seeds) {
    test(`seed ${seed}: it lives, keeps its record whole, and runs nothing that was not approved`, async () => {
      using at = place();
      const next = numbers(seed);
      const turns = Array.from({ length: 6 }, (_, turn) => randomTurn(next, turn));
      using screen = await converseAbout(at, "go", { turns: [...turns, { say: "the end" }] });
      await screen.until("turn 0");
      for (let step = 0; step < 120; step += 1) {
        disturb(screen, next);
        if (step % 10 === 0) await moment(60);
      }
      assert.equal(await hasEnded(screen), false, `it lives:\n${screen.scrollback().join("\n")}`);
      screen.resize(80, 24);
      screen.kill("SIGTERM");
      await screen.exit();
      assert.deepEqual(screen.modes(), GIVEN_BACK);
      await allApproved(at);
      const { code, stdout, stderr } = await at.here(["verify"]);
      assert.equal(code, 0, stdout + stderr);
    });
  }
});

/** Whatever ran that had to be asked for was approved by the person. */
async function allApproved(at: Place): Promise<void> {
  const events = await record(at);
  const asked = new Set(events.filter(({ type, body }) => type === "call.judged" && body.verdict === "ask").map(({ body }) => body.call));
  const approved = new Set(
    events.filter(({ type, body }) => type === "approval.answered" && body.outcome === "approve").map(({ body }) => body.call),
  );
  const changed = events.some(({ type, body }) => type === "mode.changed" && body.to === "auto-edit");
  for (const { body } of events.filter(({ type }) => type === "call.claimed"))
    if (asked.has(body.call)) assert.ok(approved.has(body.call) || changed, `${body.call} ran without a yes`);
}
