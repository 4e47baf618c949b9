import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { place } from "../../support/assent.ts";
import { converse, converseAbout, endedCalls, record, say, type Turn } from "../support/conversation.ts";
import type { Screen } from "../support/screen.ts";

const call = (tool: string, id: string, input: object): NonNullable<Turn["calls"]>[number] => ({ tool, id, input });
const write = (id: string, name: string): Turn => ({ calls: [call("write", id, { file_path: name, content: "one\n" })] });
const RESOLVE: Turn = { calls: [call("resolve", "r1", { action: "apply", reason: "as asked" })] };

/** Everything in `src` is staged. The model is not led to settle it, so that the person does. */
const STAGED = { proposals: { stage: ["Edit(src/**)"], steering: "none" } };
const FOR_PERSON = { proposals: { ...STAGED.proposals, resolver: "person" } };

const idle = (screen: Screen, shows: string): Promise<string> =>
  screen.until((now) => now.includes(shows) && now.includes("? keys") && !now.includes("» working"));

async function press(screen: Screen, letter: string): Promise<void> {
  screen.press(letter);
  await screen.until(new RegExp(`^> ${letter} `, "m"));
  screen.press("enter");
}

describe("a person settles previewed changes at the terminal", { concurrency: 2 }, () => {
  test("/apply makes the only one, /discard drops one with a reason, and each lists them where there are several", async () => {
    using at = place();
    const turns = [write("c1", "src/a.txt"), { say: "First." }, write("c2", "src/b.txt"), write("c3", "src/c.txt"), { say: "More." }];
    using screen = await converseAbout(at, "/apply", { turns, settings: STAGED, columns: 120, rows: 50 });
    await screen.until("No previewed change is waiting in this conversation.");
    await say(screen, "go");
    assert.match(await idle(screen, "First."), /write src\/a\.txt\s+previewed; nothing has changed yet/);
    await say(screen, "/apply a.txt");
    await screen.until("'a.txt' is not the ID of a previewed change.");
    assert.equal(existsSync(at.path("src/a.txt")), false);
    await say(screen, "/apply");
    await idle(screen, "applied: Write: src/a.txt");
    assert.equal(readFileSync(at.path("src/a.txt"), "utf8"), "one\n");
    await say(screen, "go on");
    await idle(screen, "More.");
    await say(screen, "/discard");
    await screen.until(/\/discard ID settles one of these\s+p_\w+ {2}Write: src\/b\.txt\s+p_\w+ {2}Write: src\/c\.txt/);
    const { value } = await at.hereJson(["proposals"]);
    const id = value.find(({ label }: { readonly label: string }) => label.includes("b.txt")).id;
    await say(screen, `/discard ${id} wrong folder`);
    await idle(screen, "discarded: Write: src/b.txt");
    await say(screen, "/apply");
    await idle(screen, "applied: Write: src/c.txt");
    assert.deepEqual([existsSync(at.path("src/b.txt")), existsSync(at.path("src/c.txt"))], [false, true]);
    const [discarded] = (await record(at)).filter(({ type }) => type === "proposal.discarded");
    assert.deepEqual([discarded?.body.resolution.by, discarded?.body.resolution.reason], ["person", "wrong folder"]);
    assert.doesNotMatch(screen.scrollback().join("\n"), /elsewhere/, "what was done here is not told as another terminal's");
  });

  test("a change that only a person may apply is a card: shown whole, applied by y, discarded by d with a reason", async () => {
    using at = place();
    const turns = [write("c1", "src/a.txt"), write("c2", "src/b.txt"), { say: "Both wait." }, { say: "I see." }];
    using screen = await converseAbout(at, "go", { turns, settings: FOR_PERSON, rows: 40 });
    await screen.until("Both wait.");
    await screen.read(/Apply this change\? Write: src\/a\.txt[\s\S]*\+ ?one/);
    assert.doesNotMatch(screen.lines().join("\n"), /"Always allow" is not available/, "there is nothing to remember about it");
    await press(screen, "y");
    await screen.until("applied: Write: src/a.txt");
    assert.equal(readFileSync(at.path("src/a.txt"), "utf8"), "one\n");
    await screen.read("Apply this change? Write: src/b.txt");
    await press(screen, "d");
    await screen.until("Discard. Reason");
    screen.type("not that one");
    screen.press("enter");
    await idle(screen, "discarded: Write: src/b.txt");
    assert.equal(existsSync(at.path("src/b.txt")), false);
  });

  test("such a change is a card again when the session is opened again, and one settled elsewhere goes away", async () => {
    using at = place();
    const turns = [write("c1", "src/a.txt"), { say: "It waits." }];
    {
      using screen = await converseAbout(at, "go", { turns, settings: FOR_PERSON });
      await screen.until("It waits.");
      await screen.read("Apply this change?");
      screen.press("ctrl+d");
      await screen.exit();
    }
    const [{ id, sessionId }] = (await at.hereJson(["proposals"])).value;
    using screen = converse(at, { turns, settings: FOR_PERSON, args: ["--resume", sessionId] });
    await screen.read("Apply this change? Write: src/a.txt");
    assert.equal((await at.run(["apply", id, "--by", "Ada"])).code, 0);
    await screen.until((now) => !now.includes("Apply this change?") && /was applied by Ada/.test(now));
    assert.equal(readFileSync(at.path("src/a.txt"), "utf8"), "one\n");
  });

  for (const [action, did] of [
    ["apply", "applied"],
    ["discard", "discarded"],
  ] as const) {
    test(`a change that another terminal ${did} is a line`, async () => {
      using at = place();
      using screen = await converseAbout(at, "go", {
        turns: [write("c1", "src/a.txt"), { say: "Staged." }],
        settings: STAGED,
        columns: 120,
      });
      await idle(screen, "Staged.");
      const [{ id }] = (await at.hereJson(["proposals"])).value;
      assert.equal((await at.run([action, id, "--by", "Ada"])).code, 0);
      await screen.until(new RegExp(`${id} \\(Write: src/a\\.txt\\) was ${did} by Ada.*, elsewhere\\.`));
    });
  }

  const plain = (screen: Screen): Promise<string> => screen.until(/You: \s*$/);
  for (const [door, args] of [
    ["on a card", []],
    ["line by line", ["--plain"]],
  ] as const) {
    test(`no, and discard, ${door}: the call is rejected with the reason, and the change is gone`, async () => {
      using at = place();
      const settings = { ...STAGED, permissions: { ask: ["Edit(src/**)"] } };
      using screen = converse(at, { turns: [write("c1", "src/a.txt"), RESOLVE, { say: "As you like." }], settings, args, rows: 50 });
      if (door === "on a card") {
        await idle(screen, "script:");
        await say(screen, "go");
        await screen.read("Approval needed");
        await press(screen, "d");
        await screen.until("Discard. Reason");
        screen.type("not at all");
        screen.press("enter");
        await idle(screen, "discarded: Write: src/a.txt");
      } else {
        await plain(screen);
        screen.type("go\r");
        await screen.read("no, and discard the change");
        screen.type("d\r");
        await screen.until("Reason for the model");
        screen.type("not at all\r");
        await screen.until("discarded: Write: src/a.txt");
      }
      const ended = (await endedCalls(at)).get("r1");
      assert.equal(ended?.outcome, "rejected");
      assert.match(ended?.content ?? "", /not at all/);
      assert.deepEqual((await at.hereJson(["proposals"])).value, []);
      assert.equal(existsSync(at.path("src/a.txt")), false);
    });
  }
});
