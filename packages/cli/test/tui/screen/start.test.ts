import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Place, place } from "../../support/assent.ts";
import { converse, converseAbout, endedCalls, record, say, type Turn } from "../support/conversation.ts";
import type { Screen } from "../support/screen.ts";

const shell = (id: string, command: string): NonNullable<Turn["calls"]>[number] => ({ tool: "shell", id, input: { command } });

const idle = (screen: Screen, shows: string): Promise<string> =>
  screen.until((now) => now.includes(shows) && now.includes("? keys") && !now.includes("» working"));

/** Whatever was said to the model, in order. */
async function said(at: Place): Promise<readonly string[]> {
  return (await record(at)).filter(({ type }) => type === "message.user").map(({ body }) => body.content);
}

async function answerYes(screen: Screen): Promise<void> {
  await screen.read("Approval needed");
  screen.press("y");
  await screen.until(/^> y /m);
  screen.press("enter");
}

/** When keys are pressed: before the program has the terminal, and while it shows its first frame. */
const MOMENTS: readonly (readonly [name: string, come: (screen: Screen) => Promise<unknown>])[] = [
  ["before the program has the terminal", async () => undefined],
  ["on the first frame", (screen) => screen.until("starting")],
];

describe("keys in the first instant", { concurrency: 2 }, () => {
  for (const [when, come] of MOMENTS) {
    test(`a line and Enter, typed ${when}, is a message`, async () => {
      using at = place();
      using screen = converse(at, { turns: [{ say: "Hello to you." }] });
      await come(screen);
      screen.type("hello\r");
      await idle(screen, "Hello to you.");
      assert.deepEqual(await said(at), ["hello"]);
    });

    test(`text without Enter, typed ${when}, is in the prompt`, async () => {
      using at = place();
      using screen = converse(at, { turns: [{ say: "Heard." }] });
      await come(screen);
      screen.type("half a thou");
      await screen.until((now) => now.includes("script:") && / half a thou/.test(now));
      screen.type("ght\r");
      await idle(screen, "Heard.");
      assert.deepEqual(await said(at), ["half a thought"]);
    });

    test(`on resume, a message typed ${when} waits behind the call that is open`, async () => {
      using at = place();
      const turns: readonly Turn[] = [
        { calls: [shell("c1", "echo ran >> x")] },
        { expect: { result: { call: "c1", outcome: "succeeded" } }, say: "It ran." },
        { say: "And hello to you." },
      ];
      writeFileSync(join(at.root, "script.json"), JSON.stringify({ turns, allowUnused: true }));
      assert.equal((await at.here(["run", "go", "--model", "script:../script.json", "--on-ask", "park"])).code, 75);
      const [{ sessionId }] = (await at.hereJson(["approvals"])).value;
      using screen = converse(at, { turns, args: ["--resume", sessionId] });
      await come(screen);
      screen.type("hello\r");
      await screen.read((now) => now.includes("Approval needed") && now.includes("queued: hello"));
      assert.deepEqual(await said(at), ["go"], "nothing is said to a model while a call of its turn waits");
      await answerYes(screen);
      await idle(screen, "And hello to you.");
      assert.equal(readFileSync(at.path("x"), "utf8"), "ran\n");
      const order = (await record(at)).flatMap(({ type, body }) =>
        type === "call.ended" ? [body.call] : type === "message.user" ? [body.content] : [],
      );
      assert.deepEqual(order, ["go", "c1", "hello"]);
    });
  }

  test("ctrl+d on the first frame of a resume leaves, and open approvals stay open", async () => {
    using at = place();
    const turns: readonly Turn[] = [{ calls: [shell("c1", "echo ran >> x")] }, { say: "Done." }];
    writeFileSync(join(at.root, "script.json"), JSON.stringify({ turns, allowUnused: true }));
    await at.here(["run", "go", "--model", "script:../script.json", "--on-ask", "park"]);
    const [{ id, sessionId }] = (await at.hereJson(["approvals"])).value;
    using screen = converse(at, { turns, args: ["--resume", sessionId] });
    await screen.until("starting");
    screen.press("ctrl+d");
    await screen.exit();
    assert.deepEqual(
      (await at.hereJson(["approvals"])).value.map((open: { readonly id: string }) => open.id),
      [id],
    );
    assert.equal(existsSync(at.path("x")), false);
    const [{ state }] = (await at.hereJson(["sessions"])).value;
    assert.equal(state, "parked");
  });

  test("ctrl+d before the program has the terminal leaves", async () => {
    using at = place();
    using screen = converse(at, {});
    screen.press("ctrl+d");
    assert.equal(await screen.exit(), 0);
  });

  test("several lines, pasted before the program has the terminal, stay in the input line: nothing is sent by itself", async () => {
    using at = place();
    using screen = converse(at, { turns: [{ say: "Read." }] });
    screen.type("one\rtwo\rthree");
    await screen.until((now) => now.includes("script:") && now.includes("three"));
    assert.deepEqual(await said(at), []);
    screen.press("enter");
    await idle(screen, "Read.");
    assert.deepEqual(await said(at), ["one\ntwo\nthree"]);
  });

  test("an unknown session is reported with where to look, and /quit leaves", async () => {
    using at = place();
    using screen = converse(at, { args: ["--resume", "s_nobodyknowsthis2345"] });
    await screen.until("There is no session 's_nobodyknowsthis2345'. See: assent sessions");
    await say(screen, "/quit");
    assert.equal(await screen.exit(), 0);
  });
});

/** Ways to leave a card that waits, once it is put aside. */
const LEAVING: readonly (readonly [name: string, go: (screen: Screen) => Promise<unknown>])[] = [
  ["ctrl+d", async (screen) => screen.press("ctrl+d")],
  ["/quit", (screen) => say(screen, "/quit")],
];

describe("last words", { concurrency: 2 }, () => {
  for (const [name, go] of LEAVING) {
    test(`${name} names each approval that waits, with the commands that answer it and go on`, async () => {
      using at = place();
      using screen = await converseAbout(at, "do it", {
        turns: [{ calls: [shell("c1", "touch one"), shell("c2", "touch two")] }, { say: "Done." }],
        rows: 40,
      });
      await screen.read("1 of 2 waiting");
      screen.press("ctrl+t");
      await screen.until((now) => !now.includes("Approval needed"));
      await go(screen);
      assert.equal(await screen.exit(), 75);
      const [one, two] = (await at.hereJson(["approvals"])).value;
      const words = screen.scrollback().join("\n");
      const block = (open: { readonly id: string }, command: string): string =>
        `Waiting for an answer: Confirm command: ${command}\n  assent approve ${open.id}\n  assent reject ${open.id}\n`;
      const wanted = `${block(one, "touch one")}${block(two, "touch two")}Then continue with: assent resume ${one.sessionId}`;
      assert.ok(words.includes(wanted), words);
      assert.equal(words.includes("An answer is needed"), false, "it is said once");
    });
  }

  test("a question that waits is named by its words", async () => {
    using at = place();
    const questions = [{ id: "db", question: "Which database?", options: [{ label: "SQLite" }, { label: "Postgres" }] }];
    using screen = await converseAbout(at, "ask me", {
      turns: [{ calls: [{ tool: "ask", id: "c1", input: { questions } }] }, { say: "Thanks." }],
      rows: 40,
    });
    await screen.read("Other (type your own)");
    screen.press("ctrl+t");
    await screen.until((now) => !now.includes("Other (type your own)"));
    screen.press("ctrl+d");
    assert.equal(await screen.exit(), 75);
    assert.match(
      screen.scrollback().join("\n"),
      /Waiting for an answer: Which database\?\n {2}assent approve q_\w+ --answers JSON\n {2}assent reject q_\w+\nThen continue with: assent resume s_\w+/,
    );
  });

  for (const args of [[], ["--plain"]])
    test(`${["assent", ...args].join(" ")}: with nothing that waits, only how the conversation goes on`, async () => {
      using at = place();
      using screen = converse(at, { turns: [{ say: "Hello." }], args });
      await screen.until(args.length === 0 ? "script:" : "You: ");
      screen.type("hello\r");
      await screen.until((now) => /Hello\.[\s\S]*(\? keys|You: )/.test(now));
      screen.press("ctrl+d");
      assert.equal(await screen.exit(), 0);
      assert.match(screen.lines().join("\n"), /^Continue with: assent resume s_\w+$/m);
      assert.deepEqual(await endedCalls(at), new Map());
    });
});
