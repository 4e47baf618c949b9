import assert from "node:assert/strict";
import type { ApprovalRow, PageQuery } from "../src/ledger-port.ts";
import {
  answeredDraft,
  claimedDraft,
  closedSessionDraft,
  createdDraft,
  draftOf,
  endedDraft,
  endedTaskDraft,
  grantedDraft,
  judgedDraft,
  openedDraft,
  proposedDraft,
  startedTaskDraft,
} from "./drafts.ts";
import { begin, type LedgerBench, type LedgerCase, readAll, sessionId, type Writer, wonBy } from "./ledger-bench.ts";

const A = sessionId("a");
const B = sessionId("b");

async function ask(writer: Writer, approval: string, tool = "note"): Promise<void> {
  const call = `call-${approval}`;
  const fingerprint = `fingerprint-of-${approval}`;
  const judged = judgedDraft(call, { verdict: "ask", tool, fingerprint });
  await writer.append(proposedDraft(call, { tool }), judged, openedDraft(call, { approval, tool, fingerprint }));
}

/** Five approvals over two sessions; a_3 is answered. */
async function fiveApprovals(bench: LedgerBench): Promise<void> {
  const one = await begin(bench, A);
  const two = await begin(bench, B);
  await ask(one, "a_1");
  await ask(two, "a_2", "shell");
  await ask(one, "a_3");
  await ask(one, "a_4", "shell");
  await ask(two, "a_55");
  const shown = { approval: "a_3", fingerprint: "fingerprint-of-a_3" };
  wonBy(await bench.ledger.answer([answeredDraft(A, "call-a_3", { ...shown, outcome: "rejected" })]));
}

const PAGES: readonly (readonly [string, PageQuery, readonly string[]])[] = [
  ["all open ones, oldest first", {}, ["a_1", "a_2", "a_4", "a_55"]],
  ["a first page", { limit: 2 }, ["a_1", "a_2"]],
  ["the next page", { limit: 2, after: "a_2" }, ["a_4", "a_55"]],
  ["the newest first", { limit: 2, newestFirst: true }, ["a_55", "a_4"]],
  ["the next page of the newest first", { newestFirst: true, after: "a_4" }, ["a_2", "a_1"]],
  ["what comes after one that is no longer open", { after: "a_3" }, ["a_4", "a_55"]],
  ["those of a session", { session: A }, ["a_1", "a_4"]],
  ["those of a tool", { tool: "shell" }, ["a_2", "a_4"]],
  ["those of a session and a tool", { session: B, tool: "note" }, ["a_55"]],
  ["also what is answered", { all: true }, ["a_1", "a_2", "a_3", "a_4", "a_55"]],
  ["those of a prefix", { prefix: "a_5" }, ["a_55"]],
  ["one by its id", { prefix: "a_3", all: true, limit: 1 }, ["a_3"]],
  ["none for another prefix", { prefix: "b", all: true }, []],
];

const APPROVALS: readonly LedgerCase[] = [
  ...PAGES.map(
    ([title, query, expected]): LedgerCase => ({
      id: `approvals-${title.replaceAll(/[ ,]+/g, "-")}`,
      title: `the list of approvals gives ${title}`,
      run: async (bench) => {
        await fiveApprovals(bench);
        assert.deepEqual(
          (await bench.ledger.pending("approvals", query)).map(({ id }) => id),
          expected,
        );
      },
    }),
  ),
  {
    id: "approval-of-an-id-that-others-begin-with",
    title: "a page of one approval has the one of exactly the id, although an older one begins with it",
    run: async (bench) => {
      const writer = await begin(bench);
      await ask(writer, "a_33");
      await ask(writer, "a_3");
      for (const [prefix, expected] of [
        ["a_3", "a_3"],
        ["a_33", "a_33"],
        ["a_", "a_33"],
      ])
        assert.deepEqual(
          (await bench.ledger.pending("approvals", { prefix, limit: 1 } as PageQuery)).map(({ id }) => id),
          [expected],
        );
    },
  },
  {
    id: "approval-row",
    title: "an open approval is listed as it was opened",
    run: async (bench) => {
      const writer = await begin(bench);
      const over = {
        title: "Run it",
        suggestions: ["note"],
        facts: { path: "/x" },
        expiresAt: "2100-01-01T00:00:00.000Z",
        explicitAsk: true,
      };
      const { body, at } = openedDraft("c1", { ...over, rule: { text: "ask note", line: 3 } });
      await writer.append(proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), draftOf("approval.opened", body, at));
      const { approval: id, ...shown } = body;
      const expected: ApprovalRow = {
        ...shown,
        id,
        session: writer.session,
        requestedAt: at,
        state: "open",
        answeredBy: null,
        answeredAt: null,
        answerReason: null,
        covers: null,
        remember: null,
        consumed: false,
      };
      assert.deepEqual(await bench.ledger.pending("approvals"), [expected]);
    },
  },
  {
    id: "reopen-approvals",
    title: "1,000 open approvals are there after a restart, with the same ids",
    run: async (bench) => {
      const writer = await begin(bench);
      const calls = Array.from({ length: 1_000 }, (_, at) => `c${at}`);
      await writer.append(...calls.flatMap((call) => [proposedDraft(call), judgedDraft(call, { verdict: "ask" }), openedDraft(call)]));
      const before = await bench.ledger.pending("approvals");
      assert.equal(before.length, 1_000);
      const ledger = await bench.reopen();
      assert.deepEqual(await ledger.pending("approvals"), before);
      assert.deepEqual(await ledger.pending("approvals", { limit: 3, after: "a_c500" }), before.slice(501, 504));
      wonBy(await ledger.answer([answeredDraft(writer.session, "c500")]));
    },
  },
];

const OTHERS: readonly LedgerCase[] = [
  {
    id: "grants",
    title: "grants are listed oldest first, by session and tool, those that ended only on request",
    run: async (bench) => {
      await begin(bench, A);
      const made = [
        grantedDraft("g_1", { scope: "session", session: A }),
        grantedDraft("g_2", { tool: "shell", rule: "Shell(git status)", scope: "project", workspace: "/workspace" }),
        grantedDraft("g_3"),
      ];
      for (const draft of made) wonBy(await bench.ledger.answer([draft]));
      wonBy(await bench.ledger.answer([draftOf("grant.revoked", { grant: "g_3", by: "Tester" })]));
      const ids = async (query: PageQuery): Promise<readonly string[]> => (await bench.ledger.pending("grants", query)).map(({ id }) => id);
      assert.deepEqual(await ids({}), ["g_1", "g_2"]);
      assert.deepEqual(await ids({ all: true }), ["g_1", "g_2", "g_3"]);
      assert.deepEqual(await ids({ session: A }), ["g_1"]);
      assert.deepEqual(await ids({ tool: "shell" }), ["g_2"]);
      assert.deepEqual(await ids({ after: "g_1", limit: 1 }), ["g_2"]);
      const [row] = await bench.ledger.pending("grants", { prefix: "g_2" });
      assert.deepEqual(
        { ...row },
        {
          id: "g_2",
          scope: "project",
          workspace: "/workspace",
          rule: "Shell(git status)",
          tool: "shell",
          madeBy: "Tester",
          madeAt: made[1]?.at,
          fromApproval: "a_first",
          state: "active",
        },
      );
    },
  },
  {
    id: "sessions",
    title: "sessions are listed with what they did and how they stand",
    run: async (bench) => {
      const one = await begin(bench, A);
      await begin(bench, B);
      await one.append(draftOf("model.changed", { from: null, to: "model-1", by: "Tester" }));
      await ask(one, "a_1");
      await ask(one, "a_2");
      await one.append(proposedDraft("c3", { turn: 2 }), judgedDraft("c3"));
      await one.claim(claimedDraft("c3"));
      await one.append(endedDraft("c3", { outcome: "unknown", type: "execution_unknown" }));
      const asked = draftOf("turn.started", { turn: 3, origin: "user", promptId: "u_1", model: "model-1", toolChoice: null });
      await one.append(asked, asked);
      const [row, other] = await bench.ledger.pending("sessions");
      assert.deepEqual([row?.id, row?.state, row?.cwd, row?.title, row?.model], [A, "running", "/workspace", "a test", "model-1"]);
      assert.deepEqual([row?.turns, row?.calls, row?.openApprovals, row?.unknownOutcomes], [3, 3, 2, 1]);
      assert.deepEqual(row?.writer, bench.holder);
      assert.deepEqual([other?.id, other?.calls], [B, 0]);
      assert.deepEqual(
        (await bench.ledger.pending("sessions", { prefix: B })).map(({ id }) => id),
        [B],
      );
      await one.append(openedDraft("call-a_1", { approval: "a_1", revision: 2, fingerprint: "fingerprint-of-a_1" }));
      wonBy(await bench.ledger.answer([answeredDraft(A, "call-a_2", { approval: "a_2", fingerprint: "fingerprint-of-a_2" })]));
      assert.equal((await bench.ledger.pending("sessions"))[0]?.openApprovals, 1);
    },
  },
  {
    id: "sessions-ended",
    title: "a closed session is listed by how it closed, and an ended one only on request",
    run: async (bench) => {
      const reasons = ["done", "failed", "cancelled", "parked"] as const;
      for (const [at, reason] of reasons.entries()) {
        const lease = await bench.ledger.acquire(sessionId("cdef"[at] ?? ""), bench.holder);
        await bench.ledger.append(lease, 0, { events: [createdDraft(), closedSessionDraft(reason)], durability: "full" });
      }
      const all = await bench.ledger.pending("sessions", { all: true });
      assert.deepEqual(
        all.map(({ state, writer }) => [state, writer]),
        reasons.map((reason) => [reason, null]),
      );
      assert.deepEqual(
        (await bench.ledger.pending("sessions")).map(({ state }) => state),
        ["parked"],
      );
    },
  },
  {
    id: "sessions-tasks",
    title: "sessions are listed with their unfinished tasks, the task they are of, and where they were forked",
    run: async (bench) => {
      const parent = { session: A, call: "c1", task: "t_1" };
      const forked = { session: A, seq: 2 };
      const one = await begin(bench, A);
      for (const [session, created] of [
        [B, createdDraft({ parent })],
        [sessionId("c"), createdDraft({ forked })],
      ] as const) {
        const lease = await bench.ledger.acquire(session, bench.holder);
        await bench.ledger.append(lease, 0, { events: [created], durability: "full" });
      }
      await one.append(proposedDraft("c1"), endedDraft("c1", { outcome: "cancelled" }));
      await one.append(startedTaskDraft("t_1"), startedTaskDraft("t_2"), startedTaskDraft("t_3"));
      await one.append(draftOf("task.paused", { task: "t_1", reason: "restart", blocked: null }), endedTaskDraft("t_2"));
      const rows = await bench.ledger.pending("sessions");
      const open = [
        { task: "t_1", state: "paused" },
        { task: "t_3", state: "running" },
      ];
      assert.deepEqual(
        rows.map((row) => [row.tasks, row.parent, row.forked]),
        [
          [open, null, null],
          [[], parent, null],
          [[], null, forked],
        ],
      );
    },
  },
  {
    id: "call-mentioned",
    title: "a task and a notice may name a call that has ended, and change nothing about it",
    run: async (bench) => {
      const writer = await begin(bench);
      await writer.append(proposedDraft("c1"), judgedDraft("c1"));
      await writer.append(startedTaskDraft("t_1", { call: "c1" }));
      await writer.claim(claimedDraft("c1"));
      await writer.append(endedDraft("c1"));
      const notice = { notice: "n_1", kind: "task", modelText: "x", displayText: "x", task: "t_1", call: "c1" };
      await writer.append(endedTaskDraft("t_1"), draftOf("notice.queued", notice), startedTaskDraft("t_2", { call: "c1" }));
      await assert.rejects(writer.append(endedDraft("c1")), { type: "event_invalid" });
    },
  },
  {
    id: "snapshot",
    title: "the newest snapshot that its chain reaches is given back",
    run: async (bench) => {
      const { session } = await begin(bench);
      assert.equal(await bench.ledger.latest(session), undefined);
      await bench.ledger.snapshot(session, 1, { calls: [] });
      await bench.ledger.snapshot(session, 2, { calls: ["c1"] });
      assert.deepEqual(await bench.ledger.latest(session), { seq: 2, state: { calls: ["c1"] } });
      await bench.ledger.snapshot(session, 99, { calls: ["c2"] }).catch(() => undefined); // refused or ignored
      assert.equal((await bench.ledger.latest(session))?.seq, 2);
      assert.equal(await bench.ledger.latest(sessionId("z")), undefined);
    },
  },
  {
    id: "resolve",
    title: "a value of 200 KiB comes back whole, also after what a reader was given instead",
    run: async (bench) => {
      const writer = await begin(bench);
      const text = "0123456789abcdef".repeat((200 * 1024) / 16);
      const raw = { text, nested: [{ text: `${text}!` }], small: "x" };
      await writer.append(proposedDraft("c1", { raw }));
      const [event] = await readAll(bench.ledger, { session: writer.session, seq: 2 });
      assert.ok(event);
      const body = await bench.ledger.resolve(event.body);
      assert.deepEqual(body["raw"], raw);
      assert.deepEqual(await bench.ledger.resolve({ a: [1, null, "x"] }), { a: [1, null, "x"] });
    },
  },
];

/** Lists, snapshots and large values. */
export const LISTING_CASES: readonly LedgerCase[] = [...APPROVALS, ...OTHERS];
