import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { describe, test } from "node:test";
import { startPostgres } from "../../../store-postgres/test/postgres-server.ts";
import { ended, type Place, place, until } from "../support/assent.ts";
import { converseAbout } from "../tui/support/conversation.ts";
import { openScreen } from "../tui/support/screen.ts";

const server = await startPostgres(18);

/** Sends requests to a served inbox as its page does. */
async function logIn(link: string): Promise<(path: string, body?: object) => Promise<ReturnType<typeof JSON.parse>>> {
  const [origin = "", token = ""] = link.split("/#t=");
  const headers = { "content-type": "application/json", origin };
  const login = await fetch(`${origin}/login`, { method: "POST", headers, body: JSON.stringify({ token }) });
  const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
  const { key } = (await login.json()) as { readonly key: string };
  return async (path, body) => {
    const sent = { headers: { ...headers, cookie, "x-assent-key": key }, ...(body && { method: "POST", body: JSON.stringify(body) }) };
    const reply = await fetch(`${origin}${path}`, sent);
    assert.equal(reply.status, 200, path);
    return reply.json();
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout);
  const [chunk] = await once(child.stdout, "data");
  return String(chunk).trim();
}

async function waitingId(at: Place): Promise<string> {
  let id = "";
  await until("an approval is open", async () => {
    id = (await at.hereJson(["approvals"])).value[0]?.id ?? "";
    return id !== "";
  });
  return id;
}

for (const store of ["a directory", "PostgreSQL"] as const)
  describe(`doors with a record in ${store}`, { timeout: 180_000 }, () => {
    const enter = (schema: string): Place => {
      const at = place();
      if (store === "PostgreSQL") at.env["ASSENT_STORE"] = server.url(schema);
      return at;
    };

    test("the inbox lists a call that waits, saves the answer, and continues the run once", async () => {
      using at = enter("inbox");
      at.write(
        "s.json",
        JSON.stringify({ turns: [{ calls: [{ tool: "shell", id: "c1", input: { command: "echo once >> x" } }] }, { say: "Done." }] }),
      );
      assert.equal((await at.here(["run", "go", "--model", "script:s.json", "--on-ask", "park"])).code, 75);
      const inbox = at.start(["inbox", "--no-open"]);
      const end = ended(inbox);
      try {
        const send = await logIn(await firstLine(inbox));
        const [row] = await send("/api/waiting");
        const { revision, fingerprint } = await send(`/api/cards/${row.id}`);
        const answers = [{ id: row.id, revision, fingerprint, outcome: "approve" }];
        assert.deepEqual(
          (await send("/api/answers", { answers })).map(({ result }: { result: string }) => result),
          ["saved"],
        );
        await until("the run is done", async () => (await at.hereJson(["sessions", "--all"])).value[0].state === "done", 60_000);
        assert.deepEqual(await send("/api/waiting"), []);
      } finally {
        inbox.kill("SIGTERM");
        await end;
      }
      assert.equal((await at.here(["log", "--type", "call.claimed", "--json"])).stdout.trim().split("\n").length, 1);
      assert.ok(existsSync(at.path("x")));
      assert.equal((await at.here(["verify"])).code, 0);
    });

    test("a hook that waits gets the answer of another process, and its call ends with the report", async () => {
      using at = enter("hook");
      const call = { tool_name: "Bash", tool_input: { command: "touch ran" }, tool_use_id: "t1" };
      const input = (event: string): string =>
        JSON.stringify({
          session_id: "S1",
          cwd: at.workspace,
          hook_event_name: event,
          permission_mode: "default",
          ...call,
          tool_response: {},
        });
      const hook = at.run(["hook", "claude", "--deadline", "120s"], { input: input("PreToolUse") });
      assert.equal((await at.here(["approve", await waitingId(at)])).code, 0);
      assert.match((await hook).stdout, /"permissionDecision":"allow"/);
      assert.equal((await at.run(["hook", "claude"], { input: input("PostToolUse") })).code, 0);
      const { stdout } = await at.here(["log", "--type", "call.ended", "--json"]);
      assert.match(stdout, /"outcome": ?"succeeded"/);
      assert.equal((await at.here(["verify"])).code, 0);
    });

    test("the terminal asks on a card, and the approved call runs", async () => {
      using at = enter("tui");
      const calls = [{ tool: "shell", id: "c1", input: { command: "touch made" } }];
      using screen = await converseAbout(at, "make it", { turns: [{ calls }, { say: "All made." }] });
      await screen.read("$ touch made");
      screen.press("y");
      await screen.until(/^> y /m);
      screen.press("enter");
      await screen.until("All made.");
      assert.ok(existsSync(at.path("made")));
      screen.press("ctrl+d");
      assert.equal(await screen.exit(), 0);
      assert.match((await at.here(["log", "--type", "approval.answered", "--json"])).stdout, /"outcome": ?"approve/);
      assert.equal((await at.here(["verify"])).code, 0);
    });

    test("assent watch shows what another process answers, and saves an answer of its own", async () => {
      using at = enter("watch");
      const calls = ["one", "two"].map((name) => ({ tool: "shell", id: name, input: { command: `touch ${name}` } }));
      at.write("s.json", JSON.stringify({ turns: [{ calls }, { say: "Done." }] }));
      assert.equal((await at.here(["run", "go", "--model", "script:s.json", "--on-ask", "park"])).code, 75);
      using screen = openScreen({ cwd: at.workspace, env: at.env, args: ["watch", "--by", "Ana"] });
      await screen.until(/^2 waiting/m);
      const [first] = (await at.hereJson(["approvals"])).value;
      assert.equal((await at.here(["reject", first.id, "--by", "Ben"])).code, 0);
      await screen.until(/^1 waiting/m);
      screen.press("y");
      await screen.read("$ touch two");
      screen.press("y");
      await screen.until(/^> y /m);
      screen.press("enter");
      await screen.until(/approved\. Continue with: assent resume/);
      screen.press("q");
      assert.equal(await screen.exit(), 0);
      const rows: readonly { callId: string; state: string }[] = (await at.hereJson(["approvals", "--all"])).value;
      assert.deepEqual(Object.fromEntries(rows.map(({ callId, state }) => [callId, state])), { one: "rejected", two: "approved" });
      assert.match((await at.here(["log", "--type", "approval.answered"])).stdout, /Ben[\s\S]*Ana/);
      assert.equal((await at.here(["verify"])).code, 0);
    });

    for (const verb of ["discard", "release"])
      test(`a command that a killed process left is ended by tasks ${verb}`, async () => {
        using at = enter(`tasks_${verb}`);
        const input = { command: "touch begun; sleep 300", run_in_background: true };
        at.write(
          "s.json",
          JSON.stringify({ turns: [{ calls: [{ tool: "shell", id: "c1", input }] }, { say: "Meanwhile." }], allowUnused: true }),
        );
        const run = at.start(["run", "go", "--model", "script:s.json", "--mode", "yolo"]);
        run.stdin?.end();
        const end = ended(run);
        await until("the command runs", () => existsSync(at.path("begun")));
        run.kill("SIGKILL");
        await end;
        const settled = await at.here(["tasks", verb, "t_c1"]);
        assert.deepEqual(
          [settled.code, settled.stdout],
          [0, "t_c1  ended, outcome unknown: shell: touch begun; sleep 300\n"],
          settled.stderr,
        );
        assert.deepEqual((await at.hereJson(["tasks"])).value, []);
        assert.equal((await at.here(["verify"])).code, 0);
      });
  });
