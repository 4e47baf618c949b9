import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { DIALECTS } from "../../../../agent/test/wire/dialects.ts";
import { modelServer } from "../../../../agent/test/wire/model-server.ts";
import { place } from "../../support/assent.ts";
import { converse, converseAbout, record, say, type Turn } from "../support/conversation.ts";
import { openScreen, type Screen } from "../support/screen.ts";

const call = (tool: string, id: string, input: object): NonNullable<Turn["calls"]>[number] => ({ tool, id, input });

const idle = (screen: Screen, shows: string): Promise<string> =>
  screen.until((now) => now.includes(shows) && now.includes("? keys") && !now.includes("» working"));

describe("commands of the prompt, in a conversation", { concurrency: 3 }, () => {
  test("/compact makes older turns a summary, and says so where there is nothing to make shorter", async () => {
    using at = place();
    const work = Array.from({ length: 12 }, (_, turn) => ({ calls: [call("glob", `c${turn}`, { pattern: `${turn}*` })] }));
    const turns = [{ say: "Hello." }, ...work, { say: "Worked." }, { say: "SUMMARY" }, { say: "SECOND" }, { say: "Goodbye." }];
    using screen = await converseAbout(at, "/compact", { turns });
    await screen.until("There is nothing to summarize yet.");
    await say(screen, "hello");
    await idle(screen, "Hello.");
    await say(screen, "/compact");
    await idle(screen, "Nothing was summarized: the conversation needs at least two answers.");
    await say(screen, "work");
    await idle(screen, "Worked.");
    await say(screen, "/compact");
    await idle(screen, "Older turns were summarized");
    await say(screen, "/compact");
    await screen.until((now) => now.split("Older turns were summarized").length === 3);
    await say(screen, "goodbye");
    await idle(screen, "Goodbye.");
    const compacted = (await record(at)).filter(({ type }) => type === "history.compacted");
    assert.deepEqual(
      compacted.map(({ body }) => /SUMMARY|SECOND/.exec(body.summary)?.[0]),
      ["SUMMARY", "SECOND"],
      "asked for again, it takes in the newest turns too",
    );
  });

  test("/explain judges by the conversation's mode, its flags and what it remembers", async () => {
    using at = place();
    using screen = await converseAbout(at, "/explain", {
      args: ["--allow", "Shell(touch allowed)"],
      turns: [{ calls: [call("shell", "c1", { command: "touch made" })] }, { say: "Made." }],
      rows: 60,
    });
    await screen.until("Name a tool and its input: /explain shell git push");
    await say(screen, "/explain shell touch made");
    await screen.until(/ASK {2}touch made/);
    await say(screen, "/explain shell touch allowed");
    await screen.until(/ALLOW {2}touch allowed/);
    await say(screen, "/plan");
    await screen.until(" plan ·");
    await say(screen, "/explain shell touch made");
    await screen.until(/DENY {2}touch made/);
    await say(screen, "/plan off");
    await screen.until(" default ·");
    await say(screen, "make it");
    await screen.read("Approval needed");
    screen.press("s");
    await screen.until("> s");
    screen.press("enter");
    await idle(screen, "Made.");
    await say(screen, "/explain shell touch made");
    await screen.until(/would be answered by g_\w+/);
    await say(screen, "/mode plan");
    await screen.until(" plan ·");
    await say(screen, "/explain shell touch again");
    await screen.until(/DENY {2}touch again/);
  });

  test("/explain wraps its text once", async () => {
    using at = place();
    using screen = await converseAbout(at, "/explain shell git -c a.b=c push", { rows: 60 });
    const now = await screen.until("no remembered answer covers it");
    assert.match(now, /^ {2}No rule can allow it, because of what is marked with ! above: it needs$\n^ {2}approval each time\.$/m);
  });

  test("/tools lists and shows a tool that was named at the start, with its file", async () => {
    using at = place();
    const tool = new URL("../../../../../examples/custom-tools/rename.ts", import.meta.url).pathname;
    using screen = await converseAbout(at, "/tools rename_files", { args: ["--tool", tool], columns: 160, rows: 60 });
    await screen.until(/source +.*custom-tools\/rename\.ts/);
  });

  test("Ctrl+J begins a line in the text of a card and of a question, and sends nothing", async () => {
    using at = place();
    const questions = [{ id: "db", question: "Which?", options: [{ label: "A" }, { label: "B" }] }];
    using screen = await converseAbout(at, "go", {
      turns: [
        { calls: [call("shell", "c1", { command: "touch made" })] },
        { calls: [call("ask", "c2", { questions })] },
        { say: "Thanks." },
      ],
    });
    await screen.read("Approval needed");
    screen.press("n");
    await screen.until("> n");
    screen.press("enter");
    await screen.until("Reason for the model");
    screen.type("first");
    screen.press("ctrl+j");
    screen.type("second");
    await screen.until(/> first\n +second/);
    screen.press("enter");
    await screen.read("Which?");
    screen.press("up", "enter");
    await screen.until("Your answer (");
    screen.type("one");
    screen.press("ctrl+j");
    screen.type("two");
    await screen.until(/> one\n +two/);
    screen.press("enter");
    await idle(screen, "Thanks.");
    const [rejected] = (await record(at)).filter(({ type }) => type === "approval.answered");
    assert.equal(rejected?.body.reason, "first\nsecond");
    const [answered] = (await record(at)).filter(({ type }) => type === "question.answered");
    assert.equal(answered?.body.answers[0].custom, "one\ntwo");
  });

  const writes = (id: string, name: string): Turn => ({ calls: [call("write", id, { file_path: name, content: "1\n" })] });

  test("/undo shows the only change there is and takes it back", async () => {
    using at = place();
    using screen = await converseAbout(at, "/undo", {
      turns: [writes("c1", "one.txt"), { say: "Written." }],
      settings: { permissions: { allow: ["Edit(**)"] } },
    });
    await screen.until("There is nothing to undo in this conversation.");
    await say(screen, "write");
    await idle(screen, "Written.");
    await say(screen, "/undo");
    await screen.until(/\/undo: the only change of this conversation\s+p_\w+ .*one\.txt[\s\S]*undone: Write: one\.txt/);
    assert.equal(existsSync(at.path("one.txt")), false);
    await say(screen, "/undo");
    await screen.until((now) => now.split("There is nothing to undo in this conversation").length > 2);
  });

  test("/undo takes nothing back where it could mean several changes: it lists them, and an id may be cut", async () => {
    using at = place();
    const turns = [writes("c1", "one.txt"), writes("c2", "two.txt"), { say: "Written." }];
    using screen = await converseAbout(at, "write", { turns, settings: { permissions: { allow: ["Edit(**)"] } }, columns: 120 });
    await idle(screen, "Written.");
    await say(screen, "/undo");
    const shown = await screen.until(
      /\/undo ID undoes one of these[\s\S]*two\.txt\s+Tab completes an ID\. Its first 6 characters are\s+enough/,
    );
    assert.deepEqual([existsSync(at.path("one.txt")), existsSync(at.path("two.txt"))], [true, true]);
    const [, id] = /\b(p_[a-z2-7]{6})[a-z2-7]{14} .*one\.txt/.exec(shown) ?? [];
    await say(screen, `/undo ${id}`);
    await idle(screen, "undone: Write: one.txt");
    assert.deepEqual([existsSync(at.path("one.txt")), existsSync(at.path("two.txt"))], [false, true]);
  });

  test("Tab completes the ids that a command takes: one at once, several as a list", async () => {
    using at = place();
    const turns = [
      writes("c1", "one.txt"),
      writes("c2", "two.txt"),
      { calls: [call("shell", "c3", { command: "touch x" })] },
      { say: "Done." },
    ];
    using screen = converse(at, { turns, settings: { permissions: { allow: ["Edit(**)"] } }, columns: 120, rows: 40 });
    await idle(screen, "script:");
    screen.type("/explain she");
    await screen.until("/explain she");
    screen.press("tab");
    await screen.until(/^ \/explain shell\s*$/m);
    screen.press("ctrl+c");
    await screen.until((now) => !now.includes("/explain"));
    await say(screen, "write");
    await screen.read("Approval needed");
    screen.press("ctrl+t");
    await screen.until((now) => !now.includes("Approval needed"));
    screen.type("/approvals show ");
    await screen.until("/approvals show");
    screen.press("tab");
    await screen.until(/^ \/approvals show a_[a-z2-7]{20}\s*$/m);
    screen.press("ctrl+c");
    await screen.until((now) => !now.includes("/approvals show"));
    screen.type("/undo p_");
    await screen.until("/undo p_");
    screen.press("tab");
    const listed = await screen.until((now) => now.includes("Write: one.txt") && now.includes("Write: two.txt"));
    assert.match(listed, /p_[a-z2-7]{20} +Write: two\.txt[\s\S]*p_[a-z2-7]{20} +Write: one\.txt/, "the newest first");
    screen.press("enter");
    await screen.until((now) => /undone: Write: two\.txt/.test(now) || /^ \/undo p_[a-z2-7]{20}\s*$/m.test(now));
  });
});

describe("broken settings", { concurrency: 2 }, () => {
  for (const args of [[], ["--plain"]])
    test(`${["assent", ...args].join(" ")} ends as any other command: exit 2, with the file and the place in it`, async () => {
      using at = place();
      writeFileSync(join(at.root, "bad.json"), '{\n  "ask.timeout": 2\n}\n');
      using screen = openScreen({ cwd: at.workspace, env: at.env, args: [...args, "--policy", "../bad.json", "--model", "x:y"] });
      assert.equal(await screen.exit(), 2);
      const shown = screen.scrollback().join("\n");
      assert.match(shown, /bad\.json:2:3/);
      assert.equal(shown.includes("No model is set up yet"), false);
      assert.deepEqual(screen.modes(), { paste: false, cursorHidden: false, isAlternate: false });
    });

  test("a model that wants a key is said; no demonstration is offered for it", async () => {
    using at = place();
    using screen = openScreen({ cwd: at.workspace, env: { ...at.env, ANTHROPIC_API_KEY: "" }, args: ["--model", "anthropic:claude-x"] });
    const shown = await screen.until(/ANTHROPIC_API_KEY[\s\S]*\? keys/);
    assert.equal(shown.includes("No model is set up yet"), false);
  });
});

describe("paused background agents", () => {
  test("assent resume SESSION --tasks on a screen lets them go on; without it they stay paused", async () => {
    using at = place();
    const config = join(at.root, ".config", "assent");
    mkdirSync(join(config, "agents"), { recursive: true });
    writeFileSync(join(config, "agents", "helper.md"), "---\nname: helper\ndescription: helps\n---\nYou help.\n");
    writeFileSync(join(config, "settings.json"), JSON.stringify({ version: 1, permissions: { allow: ["Agent"] } }));
    const input = { description: "find it", prompt: "look", agent: "helper", run_in_background: true };
    const turns = [{ calls: [call("agent", "c1", input)] }, { say: "Started." }, { say: "It was found." }];
    const helper = (delayMs: number) => ({ helper: { turns: [{ say: "found", delayMs }], allowUnused: true } });

    using killed = converse(at, { turns, agents: helper(600_000) });
    await idle(killed, "script:");
    await say(killed, "go");
    await killed.until((now) => now.includes("Started.") && now.includes("helper: find it  running"));
    killed.kill("SIGKILL");
    await killed.ended;
    const [{ id }] = (await at.hereJson(["sessions"])).value;

    using without = converse(at, { turns, agents: helper(0), args: ["resume", id] });
    await idle(without, "helper: find it  paused");
    without.press("ctrl+d");
    assert.equal(await without.exit(), 0);

    using screen = converse(at, { turns, agents: helper(0), args: ["resume", id, "--tasks"] });
    await idle(screen, "It was found.");
    assert.match(screen.scrollback().join("\n"), /t_c1 {2}helper: find it resumed/);
    const [ended] = (await record(at)).filter(({ type }) => type === "task.ended");
    assert.equal(ended?.body.status, "completed");
    screen.press("ctrl+d");
    assert.equal(await screen.exit(), 0);
  });
});

describe("what runs in the background", () => {
  test("its end opens to what it wrote, /tasks shows one, and leaving says what ends by it", async () => {
    using at = place();
    const config = join(at.root, ".config", "assent");
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, "settings.json"), JSON.stringify({ version: 1, permissions: { allow: ["Shell(sleep 300)"] } }));
    const behind = (id: string, command: string) => call("shell", id, { command, run_in_background: true });
    const turns = [
      { calls: [behind("c1", "echo brought-back")] },
      { say: "Started." },
      { say: "It is done." },
      { calls: [behind("c2", "sleep 300")] },
      { say: "Sleeping." },
    ];
    using screen = await converseAbout(at, "go", { turns });
    await idle(screen, "It is done.");
    assert.match(
      screen.lines().join("\n"),
      /● Background task "shell: echo brought-back" completed\.\n +\d+ lines? of output: ctrl\+o or \/tasks t_c1/,
    );
    screen.press("ctrl+o");
    await screen.until((now) => /^ {4}.*brought-back/m.test(now) && /Full output: /.test(now) && now.includes("q goes back"));
    await say(screen, "q");
    await idle(screen, "It is done.");
    await say(screen, "/tasks t_c1");
    await screen.until((now) => /t_c1 {2}completed {2}shell: echo brought-back[\s\S]*Full output:[\s\S]*brought-back/.test(now));
    await say(screen, "sleep");
    await idle(screen, "Sleeping.");
    screen.press("ctrl+d");
    await screen.until((now) => now.includes("Leaving ends sleep 300 (t_c2). Repeat to leave."));
    screen.press("ctrl+d");
    assert.equal(await screen.exit(), 0);
    assert.match(screen.scrollback().join("\n"), /^Ended: sleep 300 \(t_c2\)\nContinue with: assent resume s_\w+$/m);
  });
});

describe("/force", () => {
  test("the next request on the wire forces the tool, and the one after it does not", async () => {
    using at = place();
    const chat = DIALECTS["chat completions"];
    const server = await modelServer();
    try {
      server.replies.push(
        { frames: chat.frames({ calls: [{ id: "l1", name: "list", input: '{"path":"."}' }] }) },
        { frames: chat.frames({ text: ["Listed."] }) },
      );
      const env = { ...at.env, ...chat.environment(server.origin) };
      using screen = openScreen({ cwd: at.workspace, env, args: ["--model", chat.id], columns: 100, rows: 30 });
      await screen.until("? keys");
      screen.type("/force nothing\r");
      await screen.until("There is no tool 'nothing'.");
      screen.type("/force list\r");
      await screen.until("The model must call list first");
      screen.type("look around\r");
      await screen.until("Listed.");
      screen.press("ctrl+d");
      assert.equal(await screen.exit(), 0);
      const [first, second] = server.received.map(({ body }) => body["tool_choice"] as unknown);
      assert.deepEqual(first, { type: "function", function: { name: "list" } });
      assert.notDeepEqual(second, first);
    } finally {
      await server.close();
    }
  });
});
