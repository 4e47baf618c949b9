import { constants } from "node:os";
import { getSystemErrorMessage } from "node:util";

/** Every place where a run can be broken. A name that is not here is a mistake of the test, not a run without a fault. */
export const FAILPOINTS = [
  "append.before",
  "append.before_commit",
  "append.after_commit",
  "snapshot.before_commit",
  "migrate.mid",
  "lease.after_epoch",
  "call.after_proposed",
  "call.after_judged",
  "approval.after_opened",
  "approval.before_answer",
  "approval.after_answer",
  "grant.after_used",
  "claim.before",
  "claim.after",
  "effect.before",
  "effect.after_spawn",
  "effect.mid",
  /** Hit by each effect and each opened approval. If it is armed, no effect ends before the kill. */
  "batch.under_way",
  "effect.after",
  "end.after",
  "recover.each",
  "close.before",
  "lease.before",
  "proposal.after_staged",
  "proposal.before_applying",
  "proposal.after_applying",
  "proposal.before_applied",
  "proposal.after_applied",
  "proposal.before_discarded",
  "proposal.after_discarded",
  "proposal.before_undone",
  "proposal.after_undone",
  "proposal.before_requested",
  "proposal.after_requested",
  "file.step",
  "file.open",
  "file.write",
  "file.half",
  "file.chmod",
  "file.sync",
  "file.mkdir",
  "file.link",
  "file.rename",
  "file.unlink",
  "file.rmdir",
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

/** The armed points of one process. */
export type Failpoints = {
  /** The run has come to this point. It may not return. */
  readonly hit: (name: Failpoint) => void;
  readonly isArmed: (name: Failpoint) => boolean;
};

type Armed = { readonly name: Failpoint; readonly nth: number; readonly on: boolean; readonly action: string };

/**
 * Reads `name[@n][=action]`, several separated by commas: at the n-th hit (the 1st by default; `@n+` from there on) `kill` (by default), `throw`, `hang`,
 * `stop`, `delay:MS`, or `fail:CODE` as the system would.
 * Everything is done to the process as it stands, in the middle of whatever it does: nothing of it gets a chance to tidy up.
 */
export function parseFailpoints(text: string | undefined): Failpoints {
  const armed = (text ?? "").split(",").filter(Boolean).map(parseOne);
  const hits = new Map<Failpoint, number>();
  return {
    isArmed: (name) => armed.some((one) => one.name === name),
    hit: (name) => {
      const count = (hits.get(name) ?? 0) + 1;
      hits.set(name, count);
      for (const one of armed) if (one.name === name && (one.nth === count || (one.on && count > one.nth))) act(one);
    },
  };
}

function parseOne(text: string): Armed {
  const parts = /^([a-z_.]+)(?:@([1-9]\d*)(\+)?)?(?:=(kill|throw|hang|stop|delay:\d+|fail:E[A-Z]+))?$/.exec(text);
  const name = FAILPOINTS.find((known) => known === parts?.[1]);
  if (!parts || name === undefined) throw new Error(`'${text}' is no failpoint. Known: ${FAILPOINTS.join(", ")}`);
  return { name, nth: Number(parts[2] ?? 1), on: parts[3] !== undefined, action: parts[4] ?? "kill" };
}

function act({ name, action }: Armed): void {
  if (action === "throw") throw new Error(`thrown at ${name}`);
  if (action.startsWith("fail:")) throw refusal(action.slice("fail:".length));
  if (action === "stop") process.kill(process.pid, "SIGSTOP");
  else if (action.startsWith("delay:")) block(Number(action.slice("delay:".length)));
  else {
    if (action === "kill") process.kill(process.pid, "SIGKILL");
    block(Number.POSITIVE_INFINITY);
  }
}

function refusal(code: string): Error {
  const number = -Number(Object.entries(constants.errno).find(([name]) => name === code)?.[1]);
  return Object.assign(new Error(`${code}: ${getSystemErrorMessage(number)}`), { code, errno: number });
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
