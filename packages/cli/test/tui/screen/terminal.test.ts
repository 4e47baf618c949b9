import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { groupRuns, place, until } from "../../support/assent.ts";
import { converse, converseAbout, endedCalls, READY, record, say } from "../support/conversation.ts";
import { matchesGolden, sinceLastSaid } from "../support/golden.ts";
import { openScreen, type Screen } from "../support/screen.ts";

const WRITES = { tool: "write", id: "c1", input: { file_path: "x.txt", content: "one\ntwo\n" } } as const;
const PROMPT = "esc interrupts";

/** Reads what is in front to its end. */
async function readAll(screen: Screen): Promise<void> {
  await screen.read("Approval needed");
  while (screen.lines().some((line) => line.includes("once you have seen all of it"))) {
    const before = screen.lines().join("\n");
    screen.press("pageDown");
    await screen.until((now) => now !== before);
  }
}

/** Approves what is in front, all of it having been seen. */
async function approve(screen: Screen): Promise<void> {
  await readAll(screen);
  screen.press("y");
  await screen.until("> y");
  screen.press("enter");
}

describe("the screen, as people see it", () => {
  const SIZES = [
    [80, 24],
    [160, 50],
  ] as const;
  for (const [columns, rows] of SIZES) {
    test(`from the greeting to the end of a turn, at ${columns} by ${rows}`, async () => {
      using at = place();
      const golden = (name: string): void => matchesGolden(`shell-${name}-${columns}x${rows}`, sinceLastSaid(screen));
      using screen = converse(at, {
        columns,
        rows,
        settings: { permissions: { allow: ["Shell(printf *)"] } },
        turns: [
          {
            say: "I look **first**:\n\n1. the files\n2. the tests\n\n```ts\nconst one: number = 1; // a comment\n```\n\nThen I write.",
            calls: [
              {
                tool: "todo",
                id: "c0",
                input: {
                  todos: [
                    { id: "1", content: "look", status: "completed" },
                    { id: "2", content: "write", status: "in_progress" },
                  ],
                },
              },
              { tool: "list", id: "c2", input: { path: "." } },
              WRITES,
            ],
          },
          { say: "Now a command.", calls: [{ tool: "shell", id: "c3", input: { command: "printf 'a\\nb\\n'" } }] },
          { say: "Done." },
        ],
      });
      await screen.until(READY);
      golden("start");
      screen.press("?");
      await screen.until((now) => now.includes("escape ") && now.includes("run a shell command"));
      golden("help");
      await say(screen, "please do it");
      await screen.read("Approval needed");
      golden("card");
      await approve(screen);
      await screen.until((now) => now.includes("◆ Done.") && now.includes("? keys"));
      golden("done");
      screen.press("ctrl+o");
      await screen.until("q goes back");
      golden("reader");
      screen.press("q");
      await screen.until((now) => now.includes("? keys") && !now.includes("goes back"));
      assert.ok(existsSync(at.path("x.txt")));
    });
  }
});

describe("answers, interruptions and leaving", () => {
  test("a card is approved, and what was shown is what was written", async () => {
    using at = place();
    using screen = await converseAbout(at, "go", { turns: [{ calls: [WRITES] }, { say: "Done." }] });
    await approve(screen);
    await screen.until("approved by you");
    await screen.until("◆ Done.");
    assert.equal(readFileSync(at.path("x.txt"), "utf8"), "one\ntwo\n");
  });

  test("the model receives the reason of a rejection", async () => {
    using at = place();
    using screen = await converseAbout(at, "go", { turns: [{ calls: [WRITES] }, { say: "As you like." }] });
    await screen.read("Approval needed");
    screen.press("n");
    await screen.until("> n");
    screen.press("enter");
    await screen.until("Reason for the model");
    screen.type("use another file");
    await screen.until("use another file▏");
    screen.press("enter");
    await screen.until("As you like.");
    const ended = (await endedCalls(at)).get("c1");
    assert.equal(ended?.outcome, "rejected");
    assert.match(ended?.content ?? "", /use another file/);
    assert.ok(!existsSync(at.path("x.txt")));
  });

  test("keys typed while a card appears answer nothing, and stay in the text", async () => {
    using at = place();
    using screen = await converseAbout(at, "go", { turns: [{ calls: [WRITES], delayMs: 300 }, { say: "Done." }] });
    await screen.until(PROMPT);
    for (let at = 0; at < 12; at += 1) {
      screen.type("y");
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    screen.type("\r");
    await screen.read("Approval needed");
    assert.equal((await endedCalls(at)).get("c1"), undefined);
    screen.press("ctrl+t");
    await screen.until(/ y{2,}/);
    assert.ok(!existsSync(at.path("x.txt")));
  });

  test("Esc interrupts a running command, and the conversation continues", async () => {
    using at = place();
    using screen = await converseAbout(at, "wait", {
      args: ["--mode", "yolo"],
      turns: [
        { say: "I wait.", calls: [{ tool: "shell", id: "c1", input: { command: "echo begun; sleep 60" } }] },
        { say: "Something else." },
      ],
    });
    await screen.until("begun");
    screen.press("escape");
    await screen.until("Interrupted.");
    assert.equal((await endedCalls(at)).get("c1")?.outcome, "cancelled");
    await say(screen, "do something else");
    await screen.until("Something else.");
  });

  test("what is said while the model works is queued, and said next", async () => {
    using at = place();
    using screen = await converseAbout(at, "one", { turns: [{ say: "First.", delayMs: 1500 }, { say: "Second." }] });
    await screen.until("working");
    await say(screen, "two");
    await screen.until("queued: two");
    await screen.until((now) => now.includes("First.") && now.includes("Second.") && !now.includes("queued"));
  });

  test("Ctrl-C clears the text first, then asks, then leaves; the terminal is as it was", async () => {
    using at = place();
    using screen = converse(at, {});
    await screen.until(READY);
    screen.type("half a thought");
    await screen.until("half a thought");
    screen.press("ctrl+c");
    await screen.until((now) => !now.includes("half a thought"));
    screen.press("ctrl+c");
    await screen.until("Press Ctrl-C again to leave.");
    screen.press("ctrl+c");
    assert.equal(await screen.exit(), 0);
    assert.deepEqual(screen.modes(), { paste: false, cursorHidden: false, isAlternate: false });
    assert.ok(!screen.lines().join("\n").includes("? keys"), "the live part is gone");
  });

  test("a card stays open after leaving, continues in another process, and an answer from elsewhere says by whom", async () => {
    using at = place();
    const turns = [{ say: "I make it.", calls: [WRITES] }, { say: "Done." }];
    using screen = await converseAbout(at, "go", { turns });
    await screen.read("Approval needed");
    screen.press("ctrl+d");
    assert.equal(await screen.exit(), 75);
    const [, session] = /assent resume (s_\w+)/.exec(screen.lines().join("\n")) ?? [];
    assert.ok(session);
    using again = openScreen({ cwd: at.workspace, env: at.env, args: ["resume", session] });
    await again.read("Approval needed");
    assert.match(again.scrollback().join("\n"), /> go\n\n◆ I make it\./);
    const [, approval] = /(a_\w+)/.exec(again.lines().join("\n")) ?? [];
    assert.equal((await at.here(["approve", approval ?? "", "--by", "Ada"])).code, 0);
    await again.until(/was approved by Ada \(.+\), elsewhere/);
    await again.until("◆ Done.");
    assert.ok(existsSync(at.path("x.txt")));
  });

  test("a signal ends it, puts everything away and restores the terminal", async () => {
    using at = place();
    using screen = await converseAbout(at, "wait", {
      args: ["--mode", "yolo"],
      turns: [{ calls: [{ tool: "shell", id: "c1", input: { command: "echo begun; sleep 60" } }] }],
    });
    await screen.until("begun");
    screen.kill("SIGTERM");
    assert.equal(await screen.exit(), 130);
    assert.deepEqual(screen.modes(), { paste: false, cursorHidden: false, isAlternate: false });
    assert.equal((await endedCalls(at)).get("c1")?.outcome, "cancelled");
  });
});

describe("the prompt", () => {
  test("pasted lines stay lines and send nothing; what was written is there again in the next process, for its owner alone", async () => {
    using at = place();
    {
      using screen = converse(at, { turns: [{ say: "Seen." }] });
      await screen.until(READY);
      screen.paste("first line\nsecond line");
      await screen.until("second line");
      screen.press("enter");
      await screen.until("Seen.");
      const [said] = (await record(at)).filter(({ type }) => type === "message.user");
      assert.equal(said?.body.content, "first line\nsecond line");
      screen.press("ctrl+d");
      await screen.exit();
    }
    const directory = join(at.store, "prompts");
    const [file] = readdirSync(directory);
    assert.equal(statSync(join(directory, file ?? "")).mode & 0o777, 0o600);
    using screen = converse(at, {});
    await screen.until(READY);
    screen.press("up");
    await screen.until("second line");
    screen.type(", and more");
    await screen.until("second line, and more");
  });

  test("files are completed after @, commands after a slash", async () => {
    using at = place();
    mkdirSync(at.path("src"));
    writeFileSync(at.path("src/apple.ts"), "");
    using screen = converse(at, {});
    await screen.until(READY);
    screen.type("look at @appl");
    await screen.until("src/apple.ts");
    screen.press("tab");
    await screen.until("look at @src/apple.ts");
    screen.press("ctrl+c");
    screen.type("/appro");
    await screen.until("list what is waiting for an answer");
  });

  test("a command of the person's own is judged, shown, and told to the model with their next words", async () => {
    using at = place();
    using screen = await converseAbout(at, "!rm -rf build", {
      settings: { permissions: { allow: ["Shell(echo *)"], deny: ["Shell(rm *)"] } },
      turns: [{ say: "I see it." }],
    });
    await screen.until(/denied/);
    await say(screen, "!echo forty-two");
    await screen.until(/✓ ! echo forty-two[\s\S]*forty-two/);
    await say(screen, "what was it?");
    await screen.until("I see it.");
    const [said] = (await record(at)).filter(({ type }) => type === "message.user");
    const texts = said?.body.content.map(({ text }: { text: string }) => text);
    assert.match(texts[0], /rm -rf build/);
    assert.match(texts[1], /\$ echo forty-two\nforty-two/);
    assert.equal(texts[2], "what was it?");
    assert.match(screen.lines().join("\n"), /> what was it\?/);
  });

  for (const [mode, shown] of [
    ["plan", /✗ ! touch made\n +denied by mode plan/],
    ["yolo", /✓ ! touch made/],
  ] as const) {
    test(`a command of the person's own is judged in the conversation's mode: ${mode}`, async () => {
      using at = place();
      using screen = converse(at, { args: mode === "yolo" ? ["--mode", mode] : [] });
      await screen.until(READY);
      if (mode === "plan") screen.press("shift+tab");
      await screen.until(` ${mode} ·`);
      await say(screen, "!touch made");
      await screen.until(shown);
      assert.equal(existsSync(at.path("made")), mode === "yolo");
      assert.doesNotMatch(screen.lines().join("\n"), /Mode: default|was plan/, "the command has no mode of its own to tell of");
    });
  }

  for (const [name, settings, shown] of [
    ["at its card", { permissions: { ask: ["Shell(sleep)"] } }, "Approval needed"],
    ["while it runs", {}, /running \d+ s/],
  ] as const) {
    test(`leaving ${name} ends the person's own command: its session is closed, and nothing of it waits`, async () => {
      using at = place();
      using screen = await converseAbout(at, "!echo begun; sleep 60", { settings });
      await (typeof shown === "string" ? screen.read(shown) : screen.until(shown));
      screen.press("ctrl+d");
      assert.equal(await screen.exit(), 0);
      const events = await record(at);
      const own = events.find(({ type, body }) => type === "session.created" && body.door === "call")?.session;
      assert.deepEqual(
        events.flatMap(({ type, session, body }) =>
          session === own && /^(call\.ended|session\.closed)$/.test(type) ? [body.outcome ?? body.reason] : [],
        ),
        ["cancelled", "done"],
      );
      assert.equal((await at.here(["approvals", "--json"])).stdout, "[]\n");
    });
  }

  for (const [how, settings, isAsked] of [
    ["by a rule", { permissions: { allow: ["Shell(echo *)", "Shell(sleep 600)"] } }, false],
    ["after approval", {}, true],
  ] as const) {
    for (const key of ["ctrl+c", "escape"]) {
      test(`a command of the person's own that runs ${how} is shown as it comes, and ${key} ends it with its processes`, async () => {
        using at = place();
        using screen = await converseAbout(at, "!echo begun; sleep 600", { settings, turns: [{ say: "I see it." }] });
        if (isAsked) await approve(screen);
        await screen.until(/» ! echo begun; sleep 600\n +running \d+ s[^\n]*\n +begun\n[\s\S]*esc interrupts/);
        let pids: readonly number[] = [];
        await until("a process of it runs", async () => {
          pids = (await record(at)).filter(({ type }) => type === "call.started").map(({ body }) => body.pid);
          return pids.some(groupRuns); // echo has ended; sleep may not have begun
        });
        screen.press(key);
        await screen.until(/– ! echo begun; sleep 600\n +cancelled[^\n]*\n +begun\n/);
        await until("its processes have ended", () => !pids.some(groupRuns));
        await screen.until("? keys");
        await say(screen, "what was it?");
        await screen.until("I see it.");
        assert.deepEqual(
          [...(await endedCalls(at)).values()].map(({ outcome }) => outcome),
          ["cancelled"],
        );
      });
    }
  }

  test("with a command of the person's own beside the model, the first key ends the command, the next the turn", async () => {
    using at = place();
    const settings = { permissions: { allow: ["Shell(sleep 600)", "Shell(echo *)"] } };
    using screen = await converseAbout(at, "work", {
      settings,
      turns: [{ calls: [{ tool: "shell", id: "c1", input: { command: "echo model; sleep 600" } }] }],
    });
    await screen.until(/» shell echo model[\s\S]* +model\n/);
    await say(screen, "!echo person; sleep 600");
    await screen.until(/» ! echo person[\s\S]* +person\n/);
    screen.press("escape");
    await screen.until((now) => /» shell echo model/.test(now) && /– ! echo person/.test(now));
    screen.press("escape");
    await screen.until(/– shell echo model[\s\S]*Interrupted/);
  });

  test("line by line, Ctrl-C ends a command of the person's own, says what it had written, and the next line is asked for", async () => {
    using at = place();
    const settings = { permissions: { allow: ["Shell(echo *)", "Shell(sleep 600)"] } };
    using screen = converse(at, { settings, args: ["--plain"] });
    await screen.until("You: ");
    screen.type("!echo begun; sleep 600\r");
    await until("it runs", async () => (await record(at)).filter(({ type }) => type === "call.started").length === 2);
    screen.press("ctrl+c");
    await screen.until(/Call: shell echo begun; sleep 600: cancelled[^\n]*\n(?:.*\n)?begun\n[\s\S]*You:\s*$/);
  });

  test("Ctrl-C at the card of a command of one's own takes the command back", async () => {
    using at = place();
    using screen = await converseAbout(at, "!touch made", {});
    await screen.read("Approval needed");
    screen.press("ctrl+c");
    await screen.until(/– ! touch made\n +cancelled/);
    assert.equal(existsSync(at.path("made")), false);
    assert.equal((await at.here(["approvals", "--json"])).stdout, "[]\n");
  });

  test("commands of the program show their text; one that is not there is said", async () => {
    using at = place();
    using screen = await converseAbout(at, "/explain shell rm -rf /", {});
    await screen.until(/rm -rf \/[\s\S]*(deny|ask)/i);
    await say(screen, "/nonsense");
    await screen.until("Unknown command /nonsense");
    await say(screen, "/cost");
    await screen.until("0 tokens");
    await say(screen, "/quit");
    assert.equal(await screen.exit(), 0);
  });
});

describe("modes, trust and models", () => {
  test("shift+tab cycles through the modes but never into yolo, which needs a confirmation", async () => {
    using at = place();
    using screen = converse(at, {});
    await screen.until(READY);
    for (const mode of [" plan ·", " auto-edit ·", " default ·"]) {
      screen.press("shift+tab");
      await screen.until(mode);
    }
    await say(screen, "/mode yolo");
    await screen.read("Mode yolo: run calls without asking?");
    screen.press("enter");
    screen.press("y");
    await screen.until("> y");
    screen.press("escape");
    await screen.until((now) => !now.includes("Mode yolo") && now.includes(" default ·"));
    screen.press("ctrl+c");
    await say(screen, "/mode yolo");
    await screen.read("Mode yolo: run calls without asking?");
    screen.press("y");
    await screen.until("> y");
    screen.press("enter");
    await screen.until(" yolo ·");
  });

  test("an untrusted workspace is asked about once, with what would become active", async () => {
    using at = place();
    mkdirSync(at.path(".assent"));
    writeFileSync(at.path(".assent/settings.json"), JSON.stringify({ permissions: { allow: ["Shell(make *)"] } }));
    {
      using screen = converse(at, {});
      await screen.read("Trust them?");
      assert.match(screen.lines().join("\n"), /Shell\(make \*\)/);
      screen.press("y");
      await screen.until("> y");
      screen.press("enter");
      await screen.until(READY);
      screen.press("ctrl+d");
      await screen.exit();
    }
    using screen = converse(at, {});
    const shown = await screen.until(READY);
    assert.ok(!shown.includes("Trust them?"));
  });

  test("without a model it says how to get one, and offers the demonstration", async () => {
    using at = place();
    using screen = openScreen({ cwd: at.workspace, env: { ...at.env, NO_PROXY: "*" } });
    await screen.read("No model is set up yet");
    assert.match(screen.scrollback().join("\n"), /--model provider:name/);
    screen.press("n");
    await screen.until("> n");
    screen.press("enter");
    await screen.until("? keys");
  });

  test("keys of the person's own count; an action that is not there is one warning", async () => {
    using at = place();
    mkdirSync(join(at.root, ".config", "assent"), { recursive: true });
    writeFileSync(join(at.root, ".config", "assent", "keys.json"), JSON.stringify({ mode: ["ctrl+g"], fly: "f1" }));
    using screen = converse(at, {});
    await screen.until(READY);
    await screen.until(/keys\.json: unknown action, or not a key:\s+fly/);
    screen.press("ctrl+g");
    await screen.until(" plan ·");
  });
});

describe("what a terminal is spared", () => {
  test("sequences in answers and outputs are shown as escapes, and reach no terminal", async () => {
    using at = place();
    const hostile = "a\u001b]52;c;eA==\u0007b\u001b[2Jc\u202ed";
    using screen = await converseAbout(at, "go", {
      args: ["--mode", "yolo"],
      turns: [
        {
          say: `${hostile} [link](http://example.org)`,
          calls: [{ tool: "shell", id: "c1", input: { command: `printf '\\033]52;c;eA==\\007\\033[31mred\\033[0m\\n'` } }],
        },
        { say: "Done." },
      ],
    });
    await screen.until("◆ Done.");
    const raw = screen.rawBytes();
    for (const sequence of ["\u001b]52", "\u001b[2J", "\u202e", "\u001b]8;"]) assert.ok(!raw.includes(sequence), JSON.stringify(sequence));
    assert.match(screen.lines().join("\n"), /a\\x1b\]52;c;eA==\\x07b\\x1b\[2Jc\\u\{202e\}d/);
    assert.match(screen.lines().join("\n"), /red/);
  });

  test("NO_COLOR: the same words, and no colours", async () => {
    using at = place();
    using screen = await converseAbout(at, "go", { env: { NO_COLOR: "1" }, turns: [{ say: "**Bold** and `code`.", calls: [WRITES] }] });
    await screen.until("Approval needed");
    assert.ok(!/[34]8;5;\d+m/.test(screen.rawBytes()));
  });

  test("another size is drawn anew, and nothing that was said is lost or doubled", async () => {
    using at = place();
    const lines = Array.from({ length: 40 }, (_, at) => `Sentence number ${at} is here.`).join("\n\n");
    using screen = await converseAbout(at, "go", { turns: [{ say: lines }] });
    await screen.until((now) => now.includes("number 39") && now.includes("? keys"));
    for (const [columns, rows] of [
      [60, 20],
      [120, 40],
      [90, 12],
      [80, 24],
    ] as const) {
      screen.resize(columns, rows);
      await screen.until(
        (now) => now.split("\n").some((line) => line.length >= columns - 1 && /^─+$/.test(line)) && now.includes("? keys"),
      );
    }
    const all = screen.scrollback().join("\n");
    for (let at = 0; at < 40; at += 1) assert.equal(all.split(`Sentence number ${at} is`).length, 2, `sentence ${at}`);
    assert.equal(all.split("? keys").length, 2, "one status line");
  });

  const SIZES: readonly (readonly [sentence: string, sizes: readonly (readonly [columns: number, rows: number])[]])[] = [
    ["lower", [[80, 12]]],
    [
      "lower in steps, and high again",
      [
        [80, 16],
        [80, 10],
        [80, 24],
      ],
    ],
    [
      "small, and large",
      [
        [40, 12],
        [160, 50],
      ],
    ],
  ];
  for (const [sentence, sizes] of SIZES) {
    test(`a card in a window that becomes ${sentence} is there once, with its head`, async () => {
      using at = place();
      const content = Array.from({ length: 8 }, (_, line) => `line ${line}\n`).join("");
      using screen = await converseAbout(at, "go", {
        turns: [{ calls: [{ tool: "write", id: "c1", input: { file_path: "long.txt", content } }] }],
      });
      await screen.until((now) => now.includes("Approval needed") && now.includes("puts it aside"));
      for (const [columns, rows] of sizes) {
        screen.resize(columns, rows);
        const rule = "─".repeat(columns);
        const now = await screen.until((now) => now.split("\n").includes(rule) && now.includes("x  press one") === rows < 24);
        assert.equal(now.split("Approval needed").length, 2, `at ${columns} by ${rows}:\n${now}`);
      }
    });
  }

  test("the reader in a window of another height has each of its rows once, and its last", async () => {
    using at = place();
    const lines = Array.from({ length: 40 }, (_, at) => `Sentence number ${at} is here.`).join("\n\n");
    using screen = await converseAbout(at, "go", { turns: [{ say: lines }] });
    await screen.until((now) => now.includes("number 39") && now.includes("? keys"));
    screen.press("ctrl+o");
    await screen.until("q goes back");
    for (const rows of [12, 20]) {
      screen.resize(80, rows);
      await screen.until((now) => {
        const said = now.match(/number \d+/g) ?? [];
        return said.length >= rows / 2 - 2 && new Set(said).size === said.length && now.trimEnd().endsWith("q goes back");
      });
    }
  });
});

describe("agents, plans and editors", () => {
  test("the end of a background agent is one line of its own kind, and its card says who asks", async () => {
    using at = place();
    const agents = join(at.root, ".config", "assent", "agents");
    mkdirSync(agents, { recursive: true });
    writeFileSync(join(agents, "worker.md"), "---\nname: worker\ndescription: works\n---\nYou work.\n");
    using screen = await converseAbout(at, "look for it", {
      args: ["--allow", "Agent"],
      turns: [
        {
          calls: [{ tool: "agent", id: "c1", input: { agent: "worker", description: "find it", prompt: "find", run_in_background: true } }],
        },
        { say: "It runs." },
        { say: "It is found." },
      ],
      agents: { worker: { turns: [{ calls: [{ tool: "shell", id: "k1", input: { command: "touch found" } }] }, { say: "Found." }] } },
    });
    await screen.read(/Approval needed: worker \(t_\w+\)/);
    assert.match(screen.lines().join("\n"), /● worker: find it/);
    await approve(screen);
    await screen.until("It is found.");
    const notices = screen.scrollback().filter((line) => line.startsWith("● Background task"));
    assert.deepEqual(notices, ['● Background task "worker: find it" completed.']);
    assert.ok(existsSync(at.path("found")));
  });

  test("a plan is shown whole and approved into a mode", async () => {
    using at = place();
    using screen = converse(at, {
      args: ["--mode", "plan"],
      turns: [
        { say: "I plan." },
        { calls: [{ tool: "resolve", id: "c1", input: { action: "apply", reason: "ready", extra: { title: "Do it" } } }] },
        { say: "I begin." },
      ],
    });
    await screen.until(" plan · script:");
    await say(screen, "plan it");
    await screen.until("I plan.");
    const [created] = (await record(at)).filter(({ type }) => type === "session.created");
    mkdirSync(at.path(".assent/plans"), { recursive: true });
    writeFileSync(at.path(`.assent/plans/${created?.session}.md`), "# Do it\n\n1. one\n2. two\n");
    await say(screen, "propose it");
    await screen.read("Approval needed: Plan: Do-it");
    assert.match(screen.lines().join("\n"), /2\. two/);
    await readAll(screen);
    screen.press("a");
    await screen.until("> a");
    screen.press("enter");
    await screen.until("I begin.");
    await screen.until(" auto-edit ·");
    assert.match(screen.scrollback().join("\n"), /Accept \[plan_mode\] Plan: Do-it/);
  });

  test("what the person made of it in their editor is what is written", async () => {
    using at = place();
    const editor = join(at.root, "editor.sh");
    writeFileSync(editor, `printf 'mine\\n' > "$1"\n`);
    using screen = await converseAbout(at, "go", { env: { EDITOR: `sh ${editor}` }, turns: [{ calls: [WRITES] }, { say: "Done." }] });
    await screen.read("Approval needed");
    screen.press("e");
    await screen.until("> e");
    screen.press("enter");
    await screen.read("+ mine");
    await approve(screen);
    await screen.until("◆ Done.");
    assert.equal(readFileSync(at.path("x.txt"), "utf8"), "mine\n");
  });

  test("line by line, for those who draw nothing: asked, answered, and left", async () => {
    using at = place();
    using screen = converse(at, { args: ["--plain"], rows: 50, turns: [{ say: "I make it.", calls: [WRITES] }, { say: "Done." }] });
    await screen.until("You: ");
    screen.type("go\r");
    await screen.read("Type a letter, then Enter:");
    screen.type("y\r");
    await screen.until(/Call: write x\.txt: ok, approved by you\.[\s\S]*Done\.\nYou: /);
    assert.ok(!/[─│▾✓]/.test(screen.lines().join("\n")), "no boxes");
    screen.press("ctrl+d");
    assert.equal(await screen.exit(), 0);
  });
});
