import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { query } from "@assent/sdk";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { openScreen } from "../../packages/cli/test/tui/support/screen.ts";
import { expectAttackCounts } from "../../packages/inbox/test/attack-table.ts";
import { withoutProgram } from "../support/programs.ts";
import { InboxScene, openBrowser, program, withoutChromium } from "./inbox-scene.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TEN = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
  .map((word) => `${word}\n`)
  .join("");
const XSS = [
  "<img src=x onerror=alert(1)>",
  "<script>alert(1)</script>",
  '"><svg onload=alert(1)>',
  "javascript:alert(1)",
  "{{constructor.constructor('alert(1)')()}}",
  "</pre><iframe srcdoc='<script>alert(1)</script>'>",
  "[x](javascript:alert(1))",
  "&lt;script&gt;",
];

describe("the inbox in a real browser", { skip: withoutChromium() }, () => {
  let browser: Browser;
  const attacks: string[] = [];
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser.close());

  type Opened = { readonly scene: InboxScene; readonly page: Page; readonly context: BrowserContext; readonly origin: string };
  const opened = async (
    scene: InboxScene,
    act: (opened: Opened) => Promise<void>,
    viewport = { width: 1280, height: 900 },
  ): Promise<void> => {
    const context = await browser.newContext({ viewport });
    try {
      const page = await context.newPage();
      const problems: string[] = [];
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("dialog", (dialog) => {
        problems.push(`a dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on(
        "console",
        (message) => message.type() === "error" && !/409|Failed to load/.test(message.text()) && problems.push(message.text()),
      );
      const link = await scene.serve();
      await page.goto(link);
      await page.waitForSelector("main");
      await act({ scene, page, context, origin: link.split("/#")[0] ?? "" });
      assert.deepEqual(problems, []);
    } finally {
      await context.close();
      await scene.close();
    }
  };
  const openCard = async (page: Page, subject: string): Promise<void> => {
    await page.locator(".group li a", { hasText: subject }).click();
    await page.waitForSelector("article.card:not(.inert)");
  };
  const waitingCount = (scene: InboxScene): number => scene.waiting().length;
  const shell = (command: string): { readonly tool: string; readonly input: object } => ({ tool: "shell", input: { command } });

  test("a command is shown with its reasons, and approving it is on the record", async () => {
    const scene = new InboxScene();
    scene.park("clean up", [shell("npm run build")]);
    await opened(scene, async ({ page }) => {
      await openCard(page, "npm run build");
      const card = await page.locator("article.card").innerText();
      assert.match(card, /\$ npm run build/);
      assert.match(card, /risk\s+npm runs scripts/);
      let sent = 0;
      page.on("request", (request) => {
        if (request.url().endsWith("/api/answers")) sent += 1;
      });
      await page.locator("button.approve").dblclick();
      await page.waitForSelector(".notice.saved");
      assert.equal(sent, 1, "a double click is one answer");
      assert.equal(waitingCount(scene), 0);
      assert.match(scene.assent("approvals", "--all"), /approved/);
    });
  });

  test("by keyboard only: the next card, wait until it is not inert, approve, reject with a reason", async () => {
    const scene = new InboxScene();
    scene.park("two", [shell("npm run one"), shell("npm run two")]);
    await opened(scene, async ({ page }) => {
      await page.waitForSelector(".group li");
      await page.keyboard.press("j");
      await page.keyboard.press("y"); // too early: inert
      await page.waitForSelector("article.card:not(.inert)");
      assert.equal(waitingCount(scene), 2);
      assert.equal(await page.evaluate("document.activeElement.tagName"), "H2", "focus is never on a button");
      await page.keyboard.press("y");
      await page.waitForSelector(".notice.saved");
      await page.keyboard.press("j");
      await page.waitForSelector("article.card:not(.inert)");
      await page.keyboard.press("n");
      await page.keyboard.type("not today");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.waitForSelector("text=Nothing waits for an answer.");
      assert.match(scene.assent("approvals", "--all", "--json"), /"state":\s*"rejected"/);
    });
  });

  test("y right after j or a click on another row does not approve the card that was left", async () => {
    const scene = new InboxScene();
    scene.park("two", [shell("npm run one"), shell("npm run two")]);
    await opened(scene, async ({ page, origin }) => {
      const press = (key: string): string => `document.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}", bubbles: true }))`;
      const leavings = { j: press("j"), click: 'document.querySelectorAll(".group li a")[1].click()', Escape: press("Escape") };
      for (const [name, leave] of Object.entries(leavings)) {
        await page.goto(`${origin}/#/`);
        await page.waitForSelector("article.card", { state: "detached" });
        await openCard(page, "npm run one");
        const sent: string[] = [];
        page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
        await page.evaluate(`${leave}; ${press("y")}`);
        if (name === "Escape") await page.waitForSelector("article.card", { state: "detached" });
        else await page.waitForSelector("article.card:has-text('npm run two')");
        assert.deepEqual(sent, [], name);
        assert.equal(waitingCount(scene), 2, name);
      }
    });
  });

  test("what was typed stays when e is pressed again, and when another card or the list was looked at", async () => {
    const scene = new InboxScene();
    scene.park("two", [shell("npm run one"), shell("npm run two")]);
    await opened(scene, async ({ page }) => {
      await openCard(page, "npm run one");
      await page.locator("input[placeholder='shown to the model']").fill("because");
      await page.keyboard.press("Escape");
      await page.keyboard.press("e");
      await page.locator("textarea").fill('{ "command": "npm run typed" }');
      await page.keyboard.press("Escape");
      await page.keyboard.press("e");
      await page.keyboard.press("Escape");
      await page.keyboard.press("j");
      await page.waitForSelector("article.card h2:focus");
      await openCard(page, "npm run two");
      await page.keyboard.press("Escape");
      await openCard(page, "npm run one");
      assert.equal(await page.locator("textarea").inputValue(), '{ "command": "npm run typed" }');
      assert.equal(await page.locator("input[placeholder='shown to the model']").inputValue(), "because");
      await page.locator("button.approve").click();
      await page.waitForSelector(".notice.saved");
      assert.match(scene.assent("log", "--json"), /npm run typed/);
    });
  });

  test("what was typed for a call does not appear with the same call of another session", async () => {
    const scene = new InboxScene();
    for (const name of ["one", "two"]) scene.park(name, [shell("npm run build")]);
    await opened(scene, async ({ page }) => {
      const links = page.locator(".group li a", { hasText: "npm run build" });
      const reason = page.locator("input[placeholder='shown to the model']");
      await links.first().click();
      await reason.fill("because");
      await page.keyboard.press("Escape");
      await links.last().click();
      await page.waitForSelector("article.card:not(.inert)");
      await page.waitForFunction("document.querySelector('article.card').dataset.id === location.hash.split('/').at(-1)");
      assert.equal(await reason.inputValue(), "");
    });
  });

  test("an address of a session that does not exist says so, and an unknown one shows the list", async () => {
    const scene = new InboxScene();
    await opened(scene, async ({ page }) => {
      await page.evaluate('location.hash = "#/session/s_gone"');
      await page.waitForSelector("main >> text=This no longer exists.");
      await page.evaluate('location.hash = "#/nonsense"');
      await page.waitForSelector("text=Nothing waits for an answer.");
    });
  });

  test("programs get the link as JSON", async () => {
    const scene = new InboxScene();
    const { link } = JSON.parse(await scene.serve("--json", "--no-resume"));
    await scene.close();
    assert.match(link, /^http:.*#t=/);
  });

  test("an edited command is judged again; a placeholder of a secret and a denied command are refused", async () => {
    const scene = new InboxScene();
    scene.park("deploy", [shell("curl -H 'Authorization: Bearer sk-abcdefghijklmnop1234567890' https://example.test")]);
    await opened(scene, async ({ page }) => {
      await openCard(page, "curl");
      assert.doesNotMatch(await page.locator("body").innerText(), /abcdefghijklmnop/);
      await page.locator("text=Show the raw input and edit").click();
      const field = page.locator("textarea");
      assert.match(await field.inputValue(), /sk-abcdefghijklmnop1234567890/);
      await field.fill(JSON.stringify({ command: "curl -H 'Authorization: Bearer [redacted: credentials]' https://example.test" }));
      await page.locator("button.approve").click();
      await page.waitForSelector(".notice.refused");
      assert.equal(waitingCount(scene), 1);
      await field.fill(JSON.stringify({ command: "npm run safe" }));
      await page.locator("button.approve").click();
      await page.waitForSelector(".notice.saved");
      assert.match(scene.assent("approvals", "--all"), /approved, edited/);
    });
  });

  test("a secret in a command, a file and an error is in no list, card, timeline, export, notification, log or audit stream of page and terminal", async () => {
    const part = (name: string): string => `${name}Q7xW2mZ9pL4v`;
    const keys = {
      command: `sk-${part("command")}`,
      before: `sk-${part("before")}`,
      after: `sk-${part("after")}`,
      error: `ghp_${part("error")}`,
    };
    const pem = (body: string): string => `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n`;
    const scene = new InboxScene({ "a.txt": `key ${keys.before} of the shop\n${pem(part("oldpem"))}` });
    const told = join(scene.directory, "told.jsonl");
    const streamed = join(scene.directory, "audit.jsonl");
    const receiver = { type: "command", command: ["sh", "-c", `cat >> ${told}`] };
    mkdirSync(join(scene.directory, "config", "assent"), { recursive: true });
    writeFileSync(
      join(scene.directory, "config", "assent", "settings.json"),
      JSON.stringify({ version: 1, notify: { receivers: { file: receiver } }, audit: [{ file: streamed }] }),
    );
    // A secret of the project that titles and lists would cut.
    const literal = `${part("project")}${"0123456789".repeat(5)}`;
    mkdirSync(join(scene.workspace, ".assent"));
    writeFileSync(
      join(scene.workspace, ".assent", "settings.json"),
      JSON.stringify({ version: 1, redaction: { patterns: [{ name: "shop", literal }] } }),
    );
    const content = `key ${keys.after} of the shop\n${pem(part("newpem"))}`;
    scene.park(
      `release with ${keys.command} and then also with this other one: ${literal}`,
      [
        shell(`npm run release -- ${keys.command} ${"x".repeat(120)} ${literal}`),
        { tool: "write", input: { file_path: "a.txt", content } },
      ],
      [{ tool: "read", input: { file_path: "a.txt" } }, shell(`cat ${keys.error}`)],
      `I use ${keys.command}.`,
    );
    const [{ sessionId = "" } = {}] = scene.waiting();
    const secrets = ["command", "before", "after", "error", "oldpem", "newpem", "project"].map(part);
    const expectHidden = (view: string, text: string): void => {
      assert.match(text, /\[redacted: /, `${view} shows that something is hidden`);
      for (const secret of secrets) assert.ok(!text.includes(secret), `${view} contains ${secret}: ${text}`);
    };
    const printed = [["approvals"], ["approvals", "--json"], ["sessions"], ["log"], ["log", "--json"]];
    for (const args of [...printed, ["log", "--format", "jsonl"], ["log", "--format", "otlp"]])
      expectHidden(args.join(" "), scene.assent(...args));
    for (const format of ["md", "jsonl"])
      expectHidden(`export ${format}`, scene.assent("sessions", "export", sessionId, "--format", format));
    expectHidden("the notification", readFileSync(told, "utf8"));
    expectHidden("the audit stream", readFileSync(streamed, "utf8"));
    using watch = openScreen({ cwd: scene.directory, env: scene.env as Record<string, string>, args: ["watch"], columns: 400 });
    expectHidden("watch", await watch.until("npm run release"));
    watch.press("q");
    await watch.exit();
    scene.workspace = scene.directory; // the page shows sessions of all directories
    await opened(scene, async ({ page }) => {
      const unfolded = async (): Promise<string> => {
        await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
        return await page.locator("body").innerText();
      };
      await page.waitForSelector(".group li");
      expectHidden("the list", await unfolded());
      for (const subject of ["npm run release", "edit a.txt"]) {
        await openCard(page, subject);
        expectHidden(`the card of ${subject}`, await unfolded());
      }
      await page.evaluate(`location.hash = "#/sessions"`);
      await page.waitForSelector(".lines li");
      expectHidden("the sessions", await unfolded());
      await page.locator(".lines a").click();
      await page.waitForSelector(".timeline li");
      expectHidden("the timeline", await unfolded());
      for (const path of [
        "waiting",
        "sessions",
        `sessions/${sessionId}`,
        `export/${sessionId}`,
        ...scene.waiting().map(({ id }) => `cards/${id}`),
      ])
        expectHidden(
          path,
          await page.evaluate<string>(
            `fetch("/api/${path}", { headers: { "x-assent-key": localStorage.getItem("assent-key") } }).then((answer) => answer.ok ? answer.text() : Promise.reject(answer.status))`,
          ),
        );
      for (const command of ["log", "approvals"])
        assert.match(scene.assent(command, "--json", "--raw"), new RegExp(keys.command), `the owner can see it with ${command} --raw`);
    });
  });

  test("some hunks of an edit are approved, the others are not written", async () => {
    const scene = new InboxScene({ "a.txt": TEN });
    const content = TEN.replace("one", "ONE").replace("twelve", "TWELVE");
    scene.park("change", [{ tool: "write", input: { file_path: "a.txt", content } }], [{ tool: "read", input: { file_path: "a.txt" } }]);
    await opened(scene, async ({ page }) => {
      await openCard(page, "a.txt");
      await page.keyboard.press("c");
      await page.locator(".hunk-head input").nth(1).uncheck();
      await page.keyboard.press("y"); // at once
      await page.waitForSelector(".notice.saved");
      await scene.until("the run is done", () => scene.sessionStates().includes("done"));
      assert.equal(scene.read("a.txt"), TEN.replace("one", "ONE"));
    });
  });

  test("of what a command changed on a copy, only the chosen hunks are written", { skip: withoutProgram("bwrap") }, async () => {
    const hidden = "sk-abcdefghijklmnop1234567890.txt"; // files are named by their number, because a name may be redacted
    const scene = new InboxScene({ "a.txt": TEN, [hidden]: TEN });
    mkdirSync(join(scene.directory, "config", "assent"), { recursive: true });
    writeFileSync(join(scene.directory, "config", "assent", "settings.json"), JSON.stringify({ version: 1, preview: "always" }));
    const hook = "mkdir -p .git/hooks && echo hooked > .git/hooks/pre-push";
    scene.park("change", [shell(`sed -i 's/one/ONE/;s/twelve/TWELVE/' *.txt && ${hook} && seq 20001 > long`)]);
    await opened(scene, async ({ page }) => {
      await openCard(page, "sed -i");
      const [{ id = "" } = {}] = scene.waiting();
      const send = (path: string, body?: object): Promise<ReturnType<typeof JSON.parse>> =>
        page.evaluate(`fetch("/api/${path}", {
          ...${JSON.stringify(body ? { method: "POST", body: JSON.stringify(body) } : {})},
          headers: { "content-type": "application/json", "x-assent-key": localStorage.getItem("assent-key") },
        }).then((reply) => reply.json())`);
      const { revision, fingerprint, effect } = await send(`cards/${id}`);
      const answer = { id, revision, fingerprint, outcome: "approve" };
      const files = [{ path: "1" }];
      const rows: readonly [name: string, answer: object, result: string][] = [
        ["files without the preview", { ...answer, files }, "refused"],
        ["a file that is not shown", { ...answer, write: effect.write, files: [{ path: "4" }] }, "refused"],
        ["a hunk that is not shown", { ...answer, write: effect.write, files: [{ path: "1", hunks: ["h_0"] }] }, "refused"],
        ["files of an earlier preview", { ...answer, write: "v_earlier", files }, "changed"],
        ["files of an earlier revision", { ...answer, revision: revision - 1, write: effect.write, files }, "changed"],
      ];
      for (const [name, wrong, expected] of rows) {
        const [{ result, message }] = await send("answers", { answers: [wrong] });
        assert.equal(result, expected, `${name}: ${message}`);
      }
      const choosing = page.locator(".choosing input");
      await page.keyboard.press("c");
      assert.equal(await choosing.count(), 5);
      await page.route("**/api/cards/*", async (route) => {
        const response = await route.fetch();
        const card = await response.json();
        await route.fulfill({ response, json: { ...card, effect: { ...card.effect, write: "v_later" } } });
      });
      scene.park("later", [shell("npm run later")]);
      await page.waitForSelector("text=npm run later");
      await choosing.nth(1).waitFor({ state: "detached" }); // nothing is chosen of another preview
      await page.unroute("**/api/cards/*");
      await page.reload();
      await page.waitForSelector("article.card:not(.inert)");
      const shown = await page.locator("article.card").innerText();
      assert.doesNotMatch(shown, /abcdefghijklmnop/);
      assert.match(shown, /\.git modify.*chosen together.*hooked.*a\.txt modify.*long create.*too long to choose parts/s);
      await page.keyboard.press("c");
      assert.equal(await page.locator(".hunk-head input").count(), 4, "a long file and those in .git are chosen as a whole");
      await choosing.nth(2).uncheck(); // a.txt
      await page.locator(".hunk-head input").nth(2).uncheck(); // the first hunk of the other file
      await page.keyboard.press("y");
      await page.waitForSelector(".notice.saved");
      await scene.until("the run is done", () => scene.sessionStates().includes("done"));
      assert.deepEqual([scene.read("a.txt"), scene.read(hidden)], [TEN, TEN.replace("twelve", "TWELVE")]);
      assert.deepEqual([scene.read(".git/hooks/pre-push"), scene.read("long").length], ["hooked\n", 108_900]);
    });
  });

  test("from parked to done without typing: a run parks, a phone approves, the run finishes once", async () => {
    const scene = new InboxScene();
    scene.park("note it", [shell("echo once >> notes.txt")]);
    await opened(
      scene,
      async ({ page }) => {
        await scene.serve(); // a second inbox sees the same answer
        await openCard(page, "echo once");
        await page.locator("button.approve").click();
        await page.waitForSelector(".notice.saved");
        await scene.until("the run is done", () => scene.sessionStates().includes("done"));
        assert.equal(scene.read("notes.txt"), "once\n");
      },
      { width: 360, height: 740 },
    );
  });

  test("several are reviewed in full and answered together, each with its own record", async () => {
    const scene = new InboxScene();
    const commands = ["a", "b", "c", "d", "e", "f"].map((name) => shell(`npm run ${name}`));
    scene.park("six", commands);
    await opened(scene, async ({ page }) => {
      await page.waitForSelector(".group li");
      for (const at of [0, 1, 2, 3, 4]) await page.locator(".group li input").nth(at).check();
      const read: string[] = [];
      page.on("request", (request) => {
        if (request.url().includes("/api/cards/")) read.push(request.url());
      });
      await page.locator("text=Review and answer 5 together").click();
      await page.waitForSelector(".review article");
      assert.equal(await page.locator(".review article").count(), 5);
      await page.locator(".review button.approve:not([disabled])").click();
      await page.waitForSelector(".notice.saved");
      assert.deepEqual(await page.locator(".notice").allInnerTexts(), ["5 answers are saved.\n×"]);
      assert.equal(new Set(read).size, read.length, "each card is read once");
      assert.equal(waitingCount(scene), 1);
      assert.equal(scene.assent("log", "--type", "approval.answered").trim().split("\n").length, 5);
    });
  });

  test("an answer in a terminal closes the card in both browsers, and they say who gave it", async () => {
    const scene = new InboxScene();
    scene.park("one", [shell("npm run one")]);
    await opened(scene, async ({ page }) => {
      const other = await browser.newContext();
      const second = await other.newPage();
      const link = await scene.serve();
      await second.goto(link);
      await openCard(page, "npm run one");
      await openCard(second, "npm run one");
      const [{ id = "" } = {}] = scene.waiting();
      scene.assent("reject", id, "--reason", "no");
      await page.waitForSelector("text=/rejected by/");
      await second.waitForSelector("text=/rejected by/");
      assert.equal(await page.locator("button.approve").count(), 0);
      await other.close();
    });
  });

  test("two browsers, a terminal and an SDK host answer the same approval at once: one wins, the others are told", async () => {
    const scene = new InboxScene();
    const asked = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    let host: "answered" | "withdrawn" | undefined;
    const run = query({
      prompt: "once",
      executable: program,
      cwd: scene.workspace,
      env: scene.env,
      model: scene.model([shell("echo once >> notes.txt")]),
      canUseTool: async (_request, { signal }) => {
        asked.resolve();
        signal.addEventListener("abort", () => {
          host = "withdrawn";
        });
        await go.promise;
        host ??= "answered";
        return { behavior: "allow" };
      },
    });
    const results: string[] = [];
    const over = (async () => {
      for await (const message of run) if (message.type === "result") results.push(message.subtype);
    })();
    await asked.promise;
    await opened(scene, async ({ page }) => {
      const other = await browser.newContext();
      const second = await other.newPage();
      await second.goto(await scene.serve());
      for (const one of [page, second]) await openCard(one, "echo once");
      const [{ id = "" } = {}] = scene.waiting();
      const approve = async (one: Page): Promise<boolean> => {
        await one
          .locator("button.approve")
          .click({ timeout: 5_000 })
          .catch(() => undefined); // the card may be closed already
        const saved = one.locator(".notice.saved");
        const late = one.locator(".notice", { hasText: /answered before|approved by|No longer open/ });
        await saved.or(late).first().waitFor();
        return (await saved.count()) > 0;
      };
      const terminal = scene.start("approve", id, "--by", "Ana");
      go.resolve();
      const browsers = await Promise.all([approve(page), approve(second)]);
      const { code, said } = await terminal;
      await over;
      const answers = scene.assent("log", "--type", "approval.answered", "--json").trim().split("\n");
      assert.equal(answers.length, 1, "one answer is on the record");
      const { by } = JSON.parse(answers[0] ?? "").body;
      const isTerminalFirst = !/before|earlier|already/i.test(said);
      const winners = [...browsers.map((won) => (won ? "inbox" : "")), isTerminalFirst ? "command" : ""].filter((won) => won !== "");
      const expected = ["inbox", "command"].includes(by.door) ? [by.door] : [];
      assert.deepEqual(winners, expected, `only the winner is told that its answer counts: ${said}`);
      if (expected.length === 0) assert.equal(host, "answered");
      assert.equal(code, 0, said);
      assert.equal(scene.read("notes.txt"), "once\n", "and it ran once");
      assert.deepEqual(results, ["success"]);
      await other.close();
    });
  });

  test("a running command is cancelled on the timeline of its session, and the record says who did it", async () => {
    const scene = new InboxScene();
    const over = scene.start("run", "wait", "--mode", "yolo", "--model", scene.model([shell("touch begun; sleep 60")]));
    await scene.until("the command runs", () => existsSync(join(scene.workspace, "begun")));
    await opened(scene, async ({ page }) => {
      await page.locator("nav a", { hasText: "Sessions" }).click();
      await page.locator(".lines a", { hasText: "wait" }).click();
      await page.locator(".timeline button", { hasText: "Cancel" }).click();
      await page.waitForSelector(".notice.saved");
      const { code, said } = await over;
      assert.deepEqual([code, /Done\./.test(said)], [0, true], said);
      assert.match(scene.assent("log", "--type", "cancel.requested", "--json"), /"door":\s*"inbox"/);
      await page.waitForSelector("text=/cancelled it/");
    });
  });

  test("a background task is cancelled on the timeline, a change is undone there, and the session is exported", async () => {
    const scene = new InboxScene();
    const agents = join(scene.directory, "config", "assent", "agents");
    mkdirSync(agents, { recursive: true });
    writeFileSync(join(agents, "helper.md"), "---\nname: helper\ndescription: Helps.\n---\nYou help.\n");
    const helper = { description: "help", prompt: "Do it.", agent: "helper", run_in_background: true };
    const script = join(scene.directory, "tasks.json");
    const write = { tool: "write", id: "w1", input: { file_path: "notes.txt", content: "written\n" } };
    const turns = [{ calls: [write, { tool: "agent", id: "a1", input: helper }] }, { say: "Meanwhile." }, { say: "It goes on." }];
    const sleeping = { turns: [{ calls: [{ ...shell("touch begun; sleep 60"), id: "c1" }] }, { say: "Never." }], allowUnused: true };
    writeFileSync(script, JSON.stringify({ turns, agents: { helper: sleeping } }));
    const over = scene.start("run", "go", "--mode", "yolo", "--allow", "Agent", "--model", `script:${script}`);
    await scene.until("the command runs", () => existsSync(join(scene.workspace, "begun")));
    await opened(scene, async ({ page }) => {
      await page.locator("nav a", { hasText: "Sessions" }).click();
      await page.locator(".lines a", { hasText: "go" }).click();
      const entry = page.locator(".timeline li", { hasText: "task started" });
      await entry.locator("button", { hasText: "Cancel" }).click();
      await page.waitForSelector(".notice.saved");
      const { code, said } = await over;
      assert.deepEqual([code, /It goes on\./.test(said)], [0, true], said);
      await page.locator(".timeline button", { hasText: "Undo" }).click();
      await page.waitForSelector(".timeline >> text=change undone");
      assert.equal(existsSync(join(scene.workspace, "notes.txt")), false);
      assert.equal(await page.locator(".timeline button", { hasText: "Undo" }).count(), 0);
      const download = page.waitForEvent("download");
      await page.locator("text=Export as Markdown").click();
      const file = await (await download).path();
      assert.match(readFileSync(file, "utf8"), /It goes on\./);
    });
  });

  test("another site cannot show the page in a frame, and the token of the link is in no address, Referer, log or file", async () => {
    const scene = new InboxScene();
    scene.env["ASSENT_LOG"] = join(scene.directory, "debug.log");
    scene.park("one", [shell("npm run secret-plan")]);
    const link = await scene.serve();
    const context = await browser.newContext();
    const evil = createServer((_request, response) => response.end(`<iframe src="${link.split("/#")[0]}/"></iframe>`));
    await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
    try {
      const page = await context.newPage();
      const addresses: string[] = [];
      const referrers: string[] = [];
      page.on("request", (request) => {
        addresses.push(request.url().split("#")[0] ?? "");
        referrers.push(request.headers()["referer"] ?? "");
      });
      await page.goto(link);
      await page.waitForSelector(".group li");
      const shown = page.url();
      await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`);
      const [, framed] = page.frames();
      assert.ok(framed);
      attacks.push("clickjacking");
      assert.doesNotMatch((await framed.content().catch(() => "")) ?? "", /Inbox|secret-plan|id="app"/);
      await scene.stopServers();
      const files = readdirSync(scene.directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const stored = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));
      assert.ok(stored.some((text) => text.includes("secret-plan")));
      for (const [place, texts] of Object.entries({
        "an address": addresses,
        "a Referer": referrers,
        "the page's address": [shown],
        stored,
      })) {
        attacks.push("token in a Referer, log or page");
        assert.ok(!texts.join("\n").includes(link.split("#t=")[1] ?? ""), `the token is in ${place}`);
      }
    } finally {
      evil.close();
      await context.close();
      await scene.close();
    }
  });

  test("a server of another user on this machine gets the cookie from the browser, but cannot use it", async () => {
    let cookie = "";
    const evil = createServer(({ headers }, response) => {
      cookie ||= headers.cookie ?? "";
      response.end();
    }).listen(0, "127.0.0.1");
    try {
      await opened(new InboxScene(), async ({ context, origin }) => {
        const { port } = evil.address() as AddressInfo;
        await (await context.newPage()).goto(`http://127.0.0.1:${port}/`);
        assert.match(cookie, /^assent_/);
        attacks.push("stolen cookie");
        const { status } = await fetch(`${origin}/api/waiting`, { headers: { cookie } });
        assert.equal(status, 401);
      });
    } finally {
      evil.close();
    }
  });

  test("what a model, a file or a path contains never becomes part of the page", async () => {
    const PLACES = ["command", "prompt", "message", "file name", "diff", "result", "tool name", "question", "option"] as const;
    const inName = (text: string): string => text.replaceAll("/", "∕");
    const quotable = (text: string): string => text.replaceAll("'", "`");
    const markup = (place: (typeof PLACES)[number]): readonly string[] => {
      const texts = XSS.map((text) => `${text} in ${place}`);
      if (place === "command") return texts.map(quotable);
      return place === "file name" ? texts.map(inName) : texts;
    };
    const scene = new InboxScene({ "a.txt": markup("result").join("\n") });
    const options = markup("option").map((label) => ({ label, description: label }));
    const ask = { questions: [{ id: "q", question: markup("question").join(" "), options }] };
    const content = markup("diff").join("\n");
    scene.park(
      markup("prompt").join(" "),
      [
        ...markup("command").map((text) => shell(`npm run '${text}'`)),
        ...markup("file name").map((text) => ({ tool: "write", input: { file_path: `${text}.md`, content } })),
      ],
      [{ tool: "read", input: { file_path: "a.txt" } }, ...markup("tool name").map((tool) => ({ tool, input: {} }))],
      `# ${markup("message").join("\n\n")}\n![x](https://example.test/x.png)`,
    );
    scene.park("ask", [{ tool: "ask", input: ask }]);
    await opened(scene, async ({ page }) => {
      await page.waitForSelector(".group li");
      const count = await page.locator(".group li").count();
      assert.equal(count, 2 * XSS.length + 1);
      const texts: string[] = [];
      const look = async (): Promise<void> => {
        await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
        texts.push(await page.locator("body").innerText());
        assert.equal(await page.locator("#app img, #app script, #app iframe, #app svg").count(), 0);
        assert.deepEqual(
          await page.evaluate("[...document.querySelectorAll('#app a')].filter((a) => !/^(#|.api)/.test(a.getAttribute('href')))"),
          [],
        );
      };
      for (let at = 0; at < count; at += 1) {
        await page.keyboard.press("j");
        const [, id = ""] = page.url().split("#/card/");
        await page.waitForSelector(`article.card[data-id="${id}"]`);
        await look();
      }
      const [{ sessionId = "" } = {}] = scene.waiting();
      await page.evaluate(`location.hash = "#/session/${sessionId}"`);
      await page.waitForSelector(".timeline li");
      await look();
      const shown = texts.join("\n");
      for (const text of PLACES.flatMap(markup)) {
        attacks.push("markup");
        assert.ok(shown.includes(text), `${text} is shown as text`);
      }
    });
  });

  test("calls of a guarded agent are one group; a card names its session, and has the arguments as a table", async () => {
    const scene = new InboxScene();
    const hooks = [
      ["mcp__github__create_issue", { title: "Crash at start", labels: ["bug"], accessToken: "Q7xW2mZ9pL4v" }],
      ["mcp__github__close_issue", { number: 7 }],
    ].map(([tool, input]) => {
      const event = { hook_event_name: "PreToolUse", session_id: "other", transcript_path: "/x", permission_mode: "default" };
      const hook = spawn(process.execPath, [program, "hook", "claude", "--deadline", "5m"], { cwd: scene.workspace, env: scene.env });
      hook.stdin.end(JSON.stringify({ ...event, cwd: scene.workspace, tool_name: tool, tool_input: input, tool_use_id: tool }));
      return hook;
    });
    try {
      await opened(scene, async ({ page }) => {
        await page.waitForSelector(".group li >> nth=1");
        assert.deepEqual(await page.locator(".group h2").allInnerTexts(), ["Claude Code"]);
        await openCard(page, "create_issue");
        assert.equal(await page.locator("article h2").innerText(), "mcp__github__create_issue");
        assert.match(await page.locator("article .about").innerText(), /^Claude Code · timeline of the call · .* · default$/);
        assert.deepEqual(await page.locator("table.fields th").allInnerTexts(), ["accessToken", "labels", "title"]);
        assert.match(await page.locator("table.fields").innerText(), /\[redacted: secret\]/);
        assert.doesNotMatch(await page.locator("body").innerText(), /Q7xW2mZ9pL4v/);
        assert.equal(await page.getByText("Crash at start", { exact: true }).count(), 1, "the arguments are shown once");
        await page.evaluate('location.hash = "#/sessions"');
        await page.waitForSelector(".lines li");
        await page.setViewportSize({ width: 360, height: 740 });
        assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "a long title is wrapped");
      });
    } finally {
      for (const hook of hooks) hook.kill();
    }
  });

  for (const [name, width] of [
    ["a phone", 360],
    ["a wide screen", 1280],
  ] as const)
    test(`${name}, light and dark: nothing is wider than the screen, and axe finds nothing`, async () => {
      const scene = new InboxScene({ "a.txt": TEN });
      scene.park(
        "look",
        [shell(`npm run ${"x".repeat(300)}`), { tool: "write", input: { file_path: "a.txt", content: TEN.replace("two", "TWO") } }],
        [{ tool: "read", input: { file_path: "a.txt" } }],
      );
      const options = [{ label: "SQLite", description: "in a file" }, { label: "PostgreSQL" }];
      scene.park("ask", [{ tool: "ask", input: { questions: [{ id: "db", question: "Which database?", options, recommended: 0 }] } }]);
      await opened(
        scene,
        async ({ page }) => {
          const check = async (): Promise<void> => {
            for (const colors of ["light", "dark"] as const) {
              await page.emulateMedia({ colorScheme: colors });
              await checkColors();
            }
          };
          const checkColors = async (): Promise<void> => {
            assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "no horizontal scrolling");
            await page.evaluate(AXE);
            const { violations } = await page.evaluate<{
              readonly violations: readonly { readonly id: string }[];
            }>("axe.run()");
            assert.deepEqual(
              violations.map(({ id }) => id),
              [],
            );
          };
          await page.waitForSelector(".group li");
          await check();
          for (const at of [0, 1]) await page.locator(".group li input").nth(at).check();
          for (const subject of ["a.txt", "Which database?"]) {
            await page.evaluate(`location.hash = "#/"`);
            await openCard(page, subject);
            await check();
            await page.keyboard.press("c"); // choose files and changes
            await check();
          }
          await page.keyboard.press("?");
          const [{ sessionId = "" } = {}] = scene.waiting();
          for (const view of ["review", "sessions", "grants", `session/${sessionId}`]) {
            await page.evaluate(`location.hash = "#/${view}"`);
            await page.waitForSelector("main h2 >> visible=true");
            await check();
          }
        },
        { width, height: 800 },
      );
    });

  test("a new approval appears by itself; the page says when it is not connected, and catches up", async () => {
    const scene = new InboxScene();
    await opened(scene, async ({ page, context, origin }) => {
      await page.waitForSelector("text=Nothing waits for an answer.");
      scene.park("later", [shell("npm run later")]);
      await page.waitForSelector("text=npm run later");
      await context.route("**/api/stream", (route) => route.abort());
      const second = await context.newPage();
      await page.close(); // the other tab takes over the stream, and cannot open it
      await second.goto(`${origin}/`);
      await second.waitForSelector(".offline");
      scene.park("missed", [shell("npm run missed")]);
      await context.unroute("**/api/stream");
      await second.waitForSelector("text=npm run missed");
      await second.waitForSelector(".offline", { state: "detached" });
    });
  });

  test("after the server was killed, what was typed stays; an answer is not called saved; a new link works in the same tab", async () => {
    const scene = new InboxScene();
    scene.park("one", [shell("npm run one"), ...["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => shell(`npm run ${name}`))]);
    await opened(scene, async ({ page, context, origin }) => {
      await openCard(page, "npm run one");
      await page.keyboard.press("e");
      const field = page.locator("textarea");
      await field.fill('{ "command": "npm run typed" }');
      await page.evaluate("scrollTo(0, document.body.scrollHeight)");
      await scene.stopServers();
      await page.waitForSelector(".offline");
      const place = await page.locator(".offline").boundingBox();
      assert.ok(place && place.y >= 0 && place.y < 900, "also where the page is scrolled");
      await page.locator("button.approve").click();
      assert.match(await page.locator(".notice.refused").innerText(), /^No reply came, so the answer may not be saved/);
      const { port } = new URL(origin);
      const link = await scene.serve("--port", port);
      await page.waitForSelector("text=/Open the link/");
      const other = await context.newPage();
      await other.goto(link);
      await other.waitForSelector(".group li");
      await field.waitFor(); // the login of the other tab counts here, too
      assert.equal(await field.inputValue(), '{ "command": "npm run typed" }');
      await scene.stopServers();
      await page.waitForSelector(".offline");
      const newest = await scene.serve("--port", port);
      await page.waitForSelector("text=/Open the link/");
      await page.goto(newest); // only the part after # differs
      await page.waitForSelector(".group li");
    });
  });

  test("a long timeline shows its newest events, and earlier ones on request", async () => {
    const scene = new InboxScene({ "a.txt": TEN });
    const reads = Array.from({ length: 70 }, () => ({ tool: "read", input: { file_path: "a.txt" } }));
    scene.park("long", [shell("npm run last")], reads, "Look.");
    await opened(scene, async ({ page }) => {
      const [{ sessionId = "" } = {}] = scene.waiting();
      await page.evaluate(`location.hash = "#/session/${sessionId}"`);
      await page.waitForSelector(".timeline >> text=npm run last");
      assert.equal(await page.locator(".timeline li").count(), 200);
      await page.locator(".timeline summary").last().click();
      const open = page.locator(".timeline li:has(details[open])");
      const read = await open.innerText();
      await page.locator("button", { hasText: "earlier events" }).click();
      await page.waitForSelector(".timeline li:first-child >> text=long");
      assert.equal(await open.innerText(), read, "an opened entry stays open");
      assert.ok((await page.locator(".timeline li").count()) > 200);
    });
  });

  test("SECURITY.md has the number of these attacks", () => expectAttackCounts("Chromium", attacks));
});
