import {
  type Holder,
  type JsonObject,
  type Ledger,
  openSession,
  readRow,
  type Session,
  type SessionPorts,
  type SessionRow,
} from "@assent/core";
import { currentHolder } from "@assent/host";
import { isHeldElsewhere } from "../io/failure.ts";
import { VERSION } from "../version.ts";
import { readCreated, readLabels, type WorkerOffer } from "./requirements.ts";

/** A worker has a session of its own while it runs. Its lease shows that the worker lives; it has no calls. */
const WORKER_ID = "w_";

export type WorkerPlace = WorkerOffer & { readonly concurrency: number; readonly cwd: string };

/** A worker that runs, or whose process ended without closing its session. */
export type WorkerView = WorkerPlace & {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly sessions: readonly string[];
};

export function isWorkerSession(id: string): boolean {
  return id.startsWith(WORKER_ID);
}

export async function registerWorker(ports: SessionPorts, { cwd, workspaces, labels, concurrency }: WorkerPlace): Promise<Session> {
  const options: JsonObject = { command: "worker", workspaces, labels, concurrency };
  return await openSession(
    { ...ports, ids: { next: () => ports.ids.next(WORKER_ID) } },
    {
      holder: currentHolder("worker"),
      create: { cwd, workspace: "", door: "worker", title: "worker", version: VERSION, options },
    },
  );
}

/** True if this process still has the worker's session. */
export async function isRegistered({ id, ledger, holder }: Session): Promise<boolean> {
  const row = await readRow(ledger, "sessions", id);
  return row?.state === "running" && isSameProcess(row.writer, holder);
}

export function isSameProcess(one: Holder | null, other: Holder): boolean {
  return one !== null && one.pid === other.pid && one.processStart === other.processStart && one.host === other.host;
}

/** Closes the session of a worker whose process is gone. */
export async function closeDeadWorker(ports: SessionPorts, id: string): Promise<void> {
  try {
    const session = await openSession(ports, { holder: currentHolder("worker"), id });
    await session.close("failed", 1);
  } catch (error) {
    if (!isHeldElsewhere(error)) throw error;
  }
}

/** The workers that live, oldest first. */
export async function listWorkers(ledger: Ledger): Promise<readonly WorkerView[]> {
  const rows = await ledger.pending("sessions", { prefix: WORKER_ID });
  const live = rows.filter(({ state, writer }) => state === "running" && writer !== null);
  if (live.length === 0) return [];
  const held = (await ledger.pending("sessions")).filter(({ id, state, parent }) => state === "running" && !parent && !isWorkerSession(id));
  return await Promise.all(live.map((row) => viewWorker(ledger, row, held)));
}

async function viewWorker(ledger: Ledger, { id, writer, startedAt }: SessionRow, held: readonly SessionRow[]): Promise<WorkerView> {
  const created = await readCreated(ledger, id);
  const { workspaces, labels, concurrency } = created?.options ?? {};
  return {
    id,
    startedAt,
    host: writer?.host ?? "",
    pid: writer?.pid ?? 0,
    cwd: created?.cwd ?? "",
    workspaces: Array.isArray(workspaces) ? workspaces.map(String) : [],
    labels: readLabels(labels),
    concurrency: Number(concurrency),
    sessions: held.filter((row) => writer !== null && isSameProcess(row.writer, writer)).map((row) => row.id),
  };
}
