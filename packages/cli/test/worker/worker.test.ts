import assert from "node:assert/strict";
import { type ChildProcess, execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startPostgres } from "../../../store-postgres/test/postgres-server.ts";
import { ended, type Place, place, type Ran, until } from "../support/assent.ts";

const server = await startPostgres(18);
let count = 0;

/** A workspace with a record, and workers that end with it. */
type Workplace = Place & {
  readonly startWorker: (argv?: readonly string[], cwd?: string) => Promise<WorkerProcess>;
  /** Submits a run of these turns; `write` appends a line to the file `x`. */
  readonly submit: (turns: string, argv?: readonly string[]) => Promise<string>;
  readonly stateOf: (id: string) => Promise<string>;
  readonly reaches: (id: string, state: string) => Promise<void>;
  readonly waits: (count: number) => Promise<readonly string[]>;
  readonly eventsOf: (id: string) => Promise<readonly LoggedEvent[]>;
};
type LoggedEvent = { readonly type: string; readonly body: Readonly<Record<string, unknown>> };
type WorkerProcess = { readonly child: ChildProcess; readonly end: (signal: NodeJS.Signals) => Promise<Ran>; readonly log: () => string };

function workplace(store: "SQLite" | "PostgreSQL"): Workplace {
  const at = place();
  count += 1;
  if (store === "PostgreSQL") at.env["ASSENT_STORE"] = server.url(`worker${count}`);
  const running = new Set<ChildProcess>();
  const rows = async (id: string): Promise<{ state: string } | undefined> =>
    (await at.hereJson(["sessions", "--all"])).value.find((row: { id: string }) => row.id === id);
  const stateOf = async (id: string): Promise<string> => (await rows(id))?.state ?? "";
  return {
    ...at,
    stateOf,
    startWorker: async (argv = [], cwd = at.workspace) => {
      const child = at.start(["worker", "--json", ...argv], { cwd });
      running.add(child);
      let log = "";
      child.stdout?.on("data", (text: Buffer) => (log += text));
      const over = ended(child).finally(() => running.delete(child));
      await until("the worker has started", () => log.includes('"started"') || child.exitCode !== null);
      return {
        child,
        log: () => log,
        end: (signal) => {
          child.kill(signal);
          return over;
        },
      };
    },
    submit: async (turns, argv = []) => {
      count += 1;
      const script = at.write(`run${count}.yaml`, `turns:\n${turns}`);
      const { code, value, stderr } = await at.hereJson(["run", "go", "--detach", "--model", `script:${script}`, ...argv]);
      assert.equal(code, 0, stderr);
      return value.sessionId;
    },
    reaches: async (id, state) => {
      await until(`${id} is ${state}`, async () => (await stateOf(id)) === state, 60_000);
    },
    waits: async (wanted) => {
      let ids: readonly string[] = [];
      await until(`${wanted} approvals are open`, async () => {
        ids = (await at.hereJson(["approvals"])).value.map(({ id }: { id: string }) => id);
        return ids.length === wanted;
      });
      return ids;
    },
    eventsOf: async (id) =>
      (await at.here(["log", id, "--json"])).stdout
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    [Symbol.dispose]: () => {
      for (const child of running) child.kill("SIGKILL");
      at[Symbol.dispose]();
    },
  };
}

const WRITE = '  - calls: [{ tool: shell, id: c1, input: { command: "echo once >> x" } }]\n';
const SLOW =
  '  - calls: [{ tool: shell, id: c1, input: { command: "touch begun; while [ ! -e go ]; do sleep 0.05; done; echo once >> x" } }]\n';
const DONE = "  - say: Done.\n";

function lines(at: Place, name = "x"): string {
  return existsSync(at.path(name)) ? readFileSync(at.path(name), "utf8") : "";
}

function openFiles({ pid }: ChildProcess): readonly string[] {
  const directory = `/proc/${pid}/fd`;
  return readdirSync(directory).map((name) => {
    try {
      return readlinkSync(join(directory, name));
    } catch (_closed) {
      return "";
    }
  });
}

async function isSound(at: Place): Promise<void> {
  const { value } = await at.hereJson(["verify"]);
  assert.deepEqual([value.ok, value.findings], [true, []]);
}

for (const store of ["SQLite", "PostgreSQL"] as const) {
  describe(`workers on ${store}`, { timeout: 300_000 }, () => {
    test("a detached run waits for its approval without a process, and an answer continues it once", async () => {
      using at = workplace(store);
      const id = await at.submit(WRITE + DONE);
      assert.equal(await at.stateOf(id), "queued");
      const worker = await at.startWorker(["--label", "os=linux", "--concurrency", "2"]);
      const { workers, waiting } = (await at.hereJson(["workers"])).value;
      assert.deepEqual([workers.length, workers[0].concurrency, workers[0].labels, waiting], [1, 2, { os: "linux" }, []]);
      assert.ok(workers[0].workspaces.includes(at.workspace), JSON.stringify(workers));
      await at.reaches(id, "parked");
      const [approval = ""] = await at.waits(1);
      assert.match((await at.here(["approve", approval])).stderr, /A worker continues it\./);
      await at.reaches(id, "done");
      assert.equal(lines(at), "once\n");
      assert.equal((await worker.end("SIGTERM")).code, 0);
      assert.deepEqual((await at.hereJson(["workers"])).value.workers, []);
      await isSound(at);
    });

    test("two workers share what waits, and each answer is used once", async () => {
      using at = workplace(store);
      const ids = [
        await at.submit(WRITE + DONE),
        await at.submit(WRITE + DONE),
        await at.submit(WRITE + DONE),
        await at.submit(WRITE + DONE),
      ];
      await Promise.all([at.startWorker(), at.startWorker()]);
      const approvals = await at.waits(4);
      await Promise.all(approvals.map((approval) => at.here(["approve", approval])));
      for (const id of ids) await at.reaches(id, "done");
      assert.equal(lines(at), "once\n".repeat(4));
      await isSound(at);
    });

    test("another worker takes over a run whose worker was killed, and does not repeat the call", async () => {
      using at = workplace(store);
      const id = await at.submit(SLOW + DONE, ["--mode", "yolo"]);
      const first = await at.startWorker();
      await until("the call has begun", () => existsSync(at.path("begun")));
      await first.end("SIGKILL");
      await at.startWorker();
      await at.reaches(id, "done");
      const calls = (await at.eventsOf(id)).filter(({ type }) => type === "call.ended");
      assert.deepEqual(
        calls.map(({ body }) => body["outcome"]),
        ["unknown"],
      );
      assert.equal(lines(at), "");
      const { workers } = (await at.hereJson(["workers"])).value;
      assert.equal(workers.length, 1, "the killed worker is gone");
      await isSound(at);
    });

    test("a stopped worker hands its run back, and another one continues it", async () => {
      using at = workplace(store);
      const id = await at.submit(`  - { delayMs: 600000, say: Slow. }\n`, []);
      const first = await at.startWorker();
      await until("the turn has begun", async () => (await at.eventsOf(id)).some(({ type }) => type === "turn.started"));
      const { code, stdout } = await first.end("SIGTERM");
      assert.equal(code, 0, stdout);
      assert.equal(await at.stateOf(id), "queued");
      const second = await at.startWorker();
      await until("it is taken again", () => second.log().includes(`"continues","sessionId":"${id}"`));
      assert.equal((await second.end("SIGINT")).code, 0);
      assert.equal(await at.stateOf(id), "queued");
      await isSound(at);
    });

    test("a worker that is stopped during a call cancels it, and another one continues the run", async () => {
      using at = workplace(store);
      const id = await at.submit(SLOW + DONE, ["--mode", "yolo"]);
      const first = await at.startWorker();
      await until("the call has begun", () => existsSync(at.path("begun")));
      assert.equal((await first.end("SIGTERM")).code, 0);
      assert.equal(await at.stateOf(id), "queued");
      await at.startWorker();
      await at.reaches(id, "done");
      const outcomes = (await at.eventsOf(id)).flatMap(({ type, body }) => (type === "call.ended" ? [body["outcome"]] : []));
      assert.deepEqual([outcomes, lines(at)], [["cancelled"], ""]);
      await isSound(at);
    });

    test("a run whose workspace or label no worker has stays queued, with the reason", async () => {
      using at = workplace(store);
      const elsewhere = join(at.root, "elsewhere");
      mkdirSync(join(elsewhere, ".git"), { recursive: true });
      const id = await at.submit(DONE);
      const labeled = await at.submit(DONE, ["--label", "gpu=yes"]);
      const reasons = async (): Promise<readonly unknown[]> => (await at.hereJson(["workers"])).value.waiting;
      assert.deepEqual((await at.hereJson(["sessions"])).value[0].reason, "no worker is running");
      const far = await at.startWorker([], elsewhere);
      const reason = `no worker has the workspace ${at.workspace}`;
      assert.deepEqual(await reasons(), [
        { sessionId: id, reason },
        { sessionId: labeled, reason },
      ]);
      const { stderr } = await at.here(["sessions"]);
      assert.match(stderr, new RegExp(`${id}: waiting, because no worker has the workspace .* Start one: assent worker --workspace `));
      assert.match(stderr, new RegExp(`${labeled}: waiting, .* Start one: assent worker .*--label gpu=yes`));
      await at.startWorker();
      await at.reaches(id, "done");
      assert.deepEqual(await reasons(), [
        { sessionId: labeled, reason: `no worker with the workspace ${at.workspace} has the labels gpu=yes` },
      ]);
      await at.startWorker(["--label", "gpu=yes", "--workspace", at.root], elsewhere);
      await at.reaches(labeled, "done");
      assert.ok(!far.log().includes("continues"), far.log());
      await isSound(at);
    });

    test("rejections, answered questions and calls continue, too", async () => {
      using at = workplace(store);
      await at.startWorker();
      const rejected = await at.submit(`${WRITE}  - { expect: { result: { call: c1, outcome: rejected } }, say: Not done. }\n`);
      const [approval = ""] = await at.waits(1);
      await at.here(["reject", approval, "--reason", "no"]);
      await at.reaches(rejected, "done");
      const ask =
        "  - calls: [{ tool: ask, id: q1, input: { questions: [{ id: db, question: Which?, options: [{ label: A }, { label: B }] }] } }]\n";
      const asking = await at.submit(`${ask}  - { expect: { result: { call: q1, contains: "selected: B" } }, say: B. }\n`);
      const [question = ""] = await at.waits(1);
      const answered = await at.here(["approve", question, "--answers", '[{"id":"db","selected":["B"]}]']);
      assert.equal(answered.code, 0, answered.stderr);
      await at.reaches(asking, "done");
      const call = await at.hereJson(["call", "shell", "--input", '{"command":"echo call >> x"}', "--on-ask", "park"]);
      await at.here(["approve", call.value.approvalId]);
      await at.reaches(call.value.sessionId, "done");
      assert.equal(lines(at), "call\n");
      await isSound(at);
    });
  });
}

test("a server that crashes and loses commits that were not synced ends no run", { timeout: 120_000 }, async () => {
  await server.sql("alter system set wal_writer_delay = '10s'");
  await server.sql("select pg_reload_conf()");
  using at = workplace("PostgreSQL");
  const id = await at.submit(SLOW + DONE, ["--mode", "yolo"]);
  const worker = await at.startWorker();
  await until("the call has begun", () => existsSync(at.path("begun")));
  const seen = (await at.eventsOf(id)).length;
  await server.restart("crash");
  assert.ok((await at.eventsOf(id)).length < seen, "the start of the call was not synced");
  at.write("go", "");
  await at.reaches(id, "done");
  const ends = (await at.eventsOf(id)).filter(({ type }) => type === "call.ended");
  assert.deepEqual([ends.map(({ body }) => body["outcome"]), lines(at)], [["unknown"], "once\n"], worker.log());
  await isSound(at);
});

describe("assent run --detach", () => {
  const REFUSED: readonly (readonly [sentence: string, argv: readonly string[], says: RegExp])[] = [
    ["a run without a model", [], /A detached run needs one/],
    ["an unknown provider", ["--model", "nope:x"], /nope/],
    [
      "a control program",
      ["--input-format", "stream-json", "--output-format", "stream-json", "--model", "script:s.yaml"],
      /'--detach' and '--input-format/,
    ],
    ["a malformed label", ["--model", "script:s.yaml", "--label", "gpu"], /must be KEY=VALUE/],
    [
      "two values for a label",
      ["--model", "script:s.yaml", "--label", "gpu=a", "--label", "gpu=b"],
      /gives gpu twice\. Give each key one value/,
    ],
  ];
  for (const [sentence, argv, says] of REFUSED)
    test(`refuses ${sentence}`, async () => {
      using at = workplace("SQLite");
      at.write("s.yaml", `turns:\n${DONE}`);
      const { code, stderr } = await at.here(["run", "go", "--detach", ...argv]);
      assert.deepEqual([code, says.test(stderr)], [2, true], stderr);
      assert.deepEqual((await at.hereJson(["sessions"])).value, []);
    });

  test("needs no key of the provider, and records none", async () => {
    using at = workplace("SQLite");
    const { code, stdout, stderr } = await at.here(["run", "go", "--detach", "--model", "anthropic:claude-sonnet-4-5"], {
      env: { OPENAI_API_KEY: "sk-secret-of-submitter" },
    });
    assert.deepEqual([code, /^s_[a-z2-7]+\n$/.test(stdout)], [0, true], stderr);
    const worker = await at.startWorker();
    await until("the worker says what it lacks", () => worker.log().includes("continues"));
    assert.equal(await at.stateOf(stdout.trim()), "queued", "another worker may have the key");
    assert.ok(!(await at.here(["log", stdout.trim(), "--json"])).stdout.includes("sk-secret"));
  });

  test("a run that another process finished while this one read its script stays done", async () => {
    using at = workplace("SQLite");
    const id = await at.submit(DONE);
    const script = at.path(`run${count}.yaml`);
    const text = readFileSync(script);
    rmSync(script);
    execFileSync("mkfifo", [script]);
    const pipe = openSync(script, "r+");
    const slow = at.start(["resume", id]);
    const over = ended(slow);
    await until("it reads the script", () => openFiles(slow).includes(script));
    rmSync(script);
    writeFileSync(script, text);
    assert.equal((await at.here(["resume", id])).code, 0);
    const events = await at.eventsOf(id);
    writeSync(pipe, text);
    closeSync(pipe);
    assert.equal((await over).code, 0);
    const isAnswer = ({ type }: LoggedEvent): boolean => type === "message.assistant" || type === "turn.started";
    assert.deepEqual([await at.stateOf(id), (await at.eventsOf(id)).filter(isAnswer)], ["done", events.filter(isAnswer)]);
  });

  test("a workspace behind a link is the worker's as well", async () => {
    using at = workplace("SQLite");
    symlinkSync(at.workspace, join(at.root, "link"));
    const id = await at.submit(DONE);
    await at.startWorker(["--workspace", join(at.root, "link")], at.root);
    await at.reaches(id, "done");
  });

  test("a durable schedule of a finished run starts it again when it is due", async () => {
    using at = workplace("SQLite");
    const worker = await at.startWorker();
    const soon = new Date(Date.now() + 8_000).toISOString();
    at.write("due.json", JSON.stringify([{ at: soon, prompt: "look again", durable: true }]));
    const id = await at.submit(DONE, ["--schedule", at.path("due.json")]);
    await at.reaches(id, "done");
    await until("it is due", () => worker.log().includes(`"sessionId":"${id}","why":"schedule"`));
    await at.reaches(id, "failed"); // the script has no turn for it
    const prompts = (await at.eventsOf(id)).filter(({ type }) => type === "message.user");
    assert.deepEqual(
      prompts.map(({ body }) => body["origin"]),
      ["user", "schedule"],
    );
  });

  test("a fork does not send the prompt again", async () => {
    using at = workplace("SQLite");
    const id = await at.submit(DONE);
    await at.startWorker();
    await at.reaches(id, "done");
    const fork = (await at.hereJson(["sessions", "fork", id])).value.id;
    const { code, stdout, stderr } = await at.here(["resume", fork]);
    assert.equal(code, 0, stdout + stderr);
    assert.deepEqual(
      (await at.eventsOf(fork)).filter(({ type }) => type === "message.user"),
      [],
    );
  });

  test("keeps its limits over every attempt", async () => {
    using at = workplace("SQLite");
    const turn = (n: number): string => `  - calls: [{ tool: shell, id: c${n}, input: { command: "echo ${n} >> x" } }]\n`;
    const id = await at.submit(turn(1) + turn(2) + turn(3), ["--max-turns", "2"]);
    await at.startWorker();
    for (const expected of ["1\n", "1\n2\n"]) {
      const [approval = ""] = await at.waits(1);
      await at.here(["approve", approval]);
      await until(`x is ${expected}`, () => lines(at) === expected);
    }
    await at.reaches(id, "idle");
  });
});
