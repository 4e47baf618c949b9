import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger } from "@assent/core";
import { startAudit } from "../../audit/background.ts";
import { type AuditTarget, openTargets } from "../../audit/stream.ts";
import type { Context } from "../../command-line/spec.ts";
import { withTimer } from "../../compose/keep-alive.ts";
import { settingsFault } from "../../compose/own-settings.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { cancelOnSignal, untilAborted } from "../../io/cancel-on-signal.ts";
import { CommandError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";
import { whenText } from "../../io/who.ts";
import { withStoreIfAny } from "../../store/open.ts";

type TargetStatus = {
  readonly destination: string;
  readonly sent: number;
  readonly head: number;
  readonly sentAt: string | null;
  readonly problem: { readonly since: string | null; readonly triedAt: string | null; readonly reason: string } | null;
  readonly note: string | null;
};

export function showAudit(context: Context): Promise<number> {
  return withTargets(context, async (targets, ledger) => {
    const head = await ledger.head();
    const rows = targets.map((target) => statusOf(target, head));
    if (context.options.flag("json")) await printJson(context.io, { destinations: rows });
    else await context.io.stdout.write(rows.length === 0 ? "The setting audit names no destination.\n" : rows.map(statusText).join(""));
    return 0;
  });
}

export function sendAudit(context: Context): Promise<number> {
  if (context.options.flag("follow")) return followAudit(context);
  return withTargets(context, (targets, ledger) =>
    withTimer(async () => {
      refuseNone(targets);
      const stopping = cancelOnSignal(context.io, hostPortsFor(context, "").clock);
      try {
        const results = await Promise.all(targets.map((target) => drain(target, stopping.signal)));
        const head = await ledger.head();
        const rows = targets.map((target, index) => ({ ...statusOf(target, head), ...results[index] }));
        if (context.options.flag("json")) await printJson(context.io, { destinations: rows });
        else await context.io.stdout.write(rows.map(statusText).join(""));
        return stopping.signal.aborted ? 130 : rows.every(({ problem }) => problem === null) ? 0 : 1;
      } finally {
        stopping.release();
      }
    }),
  );
}

function followAudit(context: Context): Promise<number> {
  return withTargets(context, (targets, ledger, directory) =>
    withTimer(async () => {
      refuseNone(targets);
      const stream = startAudit({ ...context, streams: "aloud" }, { ledger, directory });
      const stopping = cancelOnSignal(context.io, hostPortsFor(context, directory).clock);
      await untilAborted(stopping.signal);
      await stream.close();
      stopping.release();
      return 130;
    }),
  );
}

function withTargets(
  context: Context,
  work: (targets: readonly AuditTarget[], ledger: Ledger, directory: string) => Promise<number>,
): Promise<number> {
  const fault = settingsFault(context.io);
  if (fault) return Promise.reject(fault);
  return withStoreIfAny(context, async (store) => {
    const targets = openTargets(context, store, hostPortsFor(context, store.directory).clock);
    try {
      return await work(targets, store.ledger, store.directory);
    } finally {
      for (const target of targets) target.close();
    }
  });
}

function refuseNone(targets: readonly AuditTarget[]): void {
  if (targets.length > 0) return;
  throw new CommandError("audit_not_set", 2, {
    message: "The setting audit names no destination.",
    hint: 'Add one to your own settings: { "audit": [{ "file": "~/assent-audit.jsonl" }] }',
  });
}

const BUSY_TRIES = 600;
const BUSY_MS = 50;

async function drain(target: AuditTarget, signal: AbortSignal): Promise<Partial<TargetStatus>> {
  let problem = "another process is sending to it";
  for (let tries = 0; tries < BUSY_TRIES && !signal.aborted; ) {
    const result = await target.send(signal);
    if (result === "all sent") return {};
    if (typeof result === "object") {
      problem = result.problem;
      break;
    }
    if (result === "busy") await sleep(BUSY_MS);
    tries = result === "busy" ? tries + 1 : 0;
  }
  const { since = null, triedAt = null } = target.state().problem ?? {};
  return { problem: { since, triedAt, reason: problem } };
}

function statusOf(target: AuditTarget, head: number): TargetStatus {
  const { pos, sentAt = null, problem = null, note = null } = target.state();
  return { destination: target.name, sent: pos, head, sentAt, problem, note };
}

function statusText({ destination, sent, head, sentAt, problem, note }: TargetStatus): string {
  const when = sentAt === null ? "nothing was sent yet" : `last sent ${whenText(sentAt)}`;
  const lines = [
    `${destination}: sent up to position ${sent} of ${head} (${when})`,
    ...(problem ? [`  not reached${problem.since === null ? "" : ` since ${whenText(problem.since)}`}: ${problem.reason}`] : []),
    ...(note === null ? [] : [`  ${note}`]),
  ];
  return `${lines.map(oneLine).join("\n")}\n`;
}
