import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { DIALECTS, type Said } from "../../../../agent/test/wire/dialects.ts";
import { type ModelServer, modelServer } from "../../../../agent/test/wire/model-server.ts";
import { endHosts, isResult, startHost } from "../../headless/host.ts";
import { type Place, place } from "../../support/assent.ts";
import { record, say } from "../support/conversation.ts";
import { openScreen, type Screen } from "../support/screen.ts";

const { id: MODEL, environment, frames } = DIALECTS["chat completions"];

describe("what a model is sent about plan mode", () => {
  let server: ModelServer;
  before(async () => {
    server = await modelServer();
  });
  after(() => server.close());
  beforeEach(() => {
    server.received.length = 0;
    server.replies.length = 0;
  });
  afterEach(endHosts);

  const answers = (...said: readonly Said[]): void => void server.replies.push(...said.map((one) => ({ frames: frames(one) })));
  const call = (id: string, name: string, input: object): Said => ({ calls: [{ id, name, input: JSON.stringify(input) }] });
  const sent = (at: number): string => JSON.stringify(server.received[at]?.body["messages"]);
  const open = (at: Place, args: readonly string[] = []): Screen =>
    openScreen({ cwd: at.workspace, env: { ...at.env, ...environment(server.origin) }, args: [...args, "--model", MODEL], rows: 40 });
  const planFile = async (at: Place): Promise<string> => {
    const main = (await record(at)).findLast(({ type, body }) => type === "session.created" && body.door !== "call");
    return at.path(`.assent/plans/${main?.session}.md`);
  };
  const isTold = async (at: Place, request: number): Promise<void> => {
    assert.match(sent(request), /Plan mode is on\./);
    assert.ok(sent(request).includes(`You may write one file, the plan: ${await planFile(at)}`), sent(request));
  };
  /** A conversation that was finished before anybody thought of a plan. */
  const finished = async (at: Place): Promise<string> => {
    answers({ text: ["Hello."] });
    const { value } = await at.hereJson(["run", "hello", "--model", MODEL], { env: environment(server.origin) });
    return value.at(-1).session_id;
  };

  const WAYS_IN: readonly [sentence: string, first: number, speak: (at: Place) => Promise<void>][] = [
    [
      "/plan before the first message",
      0,
      async (at) => {
        using screen = open(at);
        await screen.until("? keys");
        await say(screen, "/plan");
        await screen.until(" plan ·");
        await say(screen, "plan it");
        await screen.until("Planned.");
      },
    ],
    [
      "Shift+Tab before the first message",
      0,
      async (at) => {
        using screen = open(at);
        await screen.until("? keys");
        screen.press("shift+tab");
        await screen.until(" plan ·");
        await say(screen, "plan it");
        await screen.until("Planned.");
      },
    ],
    [
      "/plan in a conversation line by line",
      0,
      async (at) => {
        using screen = open(at, ["--plain"]);
        await screen.until(/^You: $/m);
        screen.type("/plan\r");
        await screen.until(/^You: \/plan\nMode: plan\.\nYou: $/m);
        screen.type("plan it\r");
        await screen.until("Planned.");
      },
    ],
    [
      "a finished session opened again with --mode plan",
      1,
      async (at) => {
        const session = await finished(at);
        answers({ text: ["Planned."] });
        using screen = open(at, ["--resume", session, "--mode", "plan"]);
        await screen.until(" plan ·");
        await say(screen, "plan it");
        await screen.until("Planned.");
      },
    ],
    [
      "a finished run resumed with --mode plan",
      1,
      async (at) => {
        const session = await finished(at);
        answers({ text: ["Planned."] });
        await at.here(["resume", session, "plan it", "--mode", "plan"], { env: environment(server.origin) });
      },
    ],
    [
      "a host that sets the mode before its first message",
      0,
      async (at) => {
        const host = startHost(at, ["run", "--model", MODEL], environment(server.origin));
        await host.ask("initialize", { protocol: 1 });
        assert.equal((await host.ask("set_permission_mode", { mode: "plan" })).subtype, "success");
        host.say("plan it");
        await host.next("the result", isResult);
      },
    ],
  ];
  for (const [sentence, first, speak] of WAYS_IN) {
    test(`the model learns of plan mode before its first turn: ${sentence}`, async () => {
      using at = place();
      if (first === 0) answers({ text: ["Planned."] });
      await speak(at);
      await isTold(at, first);
    });
  }

  test("the model learns once that a person turned plan mode off", async () => {
    using at = place();
    answers({ text: ["Planned."] }, { text: ["Working."] }, { text: ["Done."] });
    using screen = open(at, ["--mode", "plan"]);
    await screen.until(" plan ·");
    await say(screen, "plan it");
    await screen.until("Planned.");
    await say(screen, "/plan off");
    await screen.until(" default ·");
    await say(screen, "begin");
    await screen.until("Working.");
    await say(screen, "go on");
    await screen.until("Done.");
    assert.equal(sent(0).split("Plan mode is off.").length, 1);
    assert.equal(sent(2).split("Plan mode is off. The mode is now default.").length, 2, sent(2));
  });

  test("after a person's own command the plan is still written, proposed and approved", async () => {
    using at = place();
    using screen = open(at);
    await screen.until("? keys");
    await say(screen, "/plan");
    await screen.until(" plan ·");
    await say(screen, "!true");
    await screen.until("(no output)");
    const file = await planFile(at);
    answers(
      call("w1", "write", { file_path: file, content: "# Do it\n\n1. one\n" }),
      call("r1", "resolve", { action: "apply", reason: "ready" }),
      { text: ["I begin."] },
    );
    await say(screen, "plan it");
    await screen.read("Approval needed: Plan: Do-it");
    assert.equal(readFileSync(file, "utf8"), "# Do it\n\n1. one\n");
    screen.press("y");
    await screen.until("> y");
    screen.press("enter");
    await screen.until("I begin.");
    assert.ok(sent(2).includes("Plan approved: Do-it. Mode: default."));
    assert.equal(sent(2).includes("Plan mode is off."), false, "the result of resolve said it");
    assert.ok(existsSync(at.path(".assent/plans/Do-it.md")));
  });
});
