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
  "effect.after",
  "end.after",
  "recover.each",
  "close.before",
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

/** The armed points of one process. */
export type Failpoints = {
  /** The run has come to this point. It may not return. */
  readonly hit: (name: Failpoint) => void;
  readonly isArmed: (name: Failpoint) => boolean;
};

type Armed = { readonly name: Failpoint; readonly nth: number; readonly action: string };

/**
 * Reads `name[@n][=action]`, several separated by commas: at the n-th hit (the 1st by default) `kill` (by default), `throw`, `hang`, `stop` or `delay:MS`.
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
      for (const one of armed) if (one.name === name && one.nth === count) act(one);
    },
  };
}

function parseOne(text: string): Armed {
  const parts = /^([a-z_.]+)(?:@([1-9]\d*))?(?:=(kill|throw|hang|stop|delay:\d+))?$/.exec(text);
  const name = FAILPOINTS.find((known) => known === parts?.[1]);
  if (!parts || name === undefined) throw new Error(`'${text}' is no failpoint. Known: ${FAILPOINTS.join(", ")}`);
  return { name, nth: Number(parts[2] ?? 1), action: parts[3] ?? "kill" };
}

function act({ name, action }: Armed): void {
  if (action === "throw") throw new Error(`thrown at ${name}`);
  if (action === "stop") process.kill(process.pid, "SIGSTOP");
  else if (action.startsWith("delay:")) block(Number(action.slice("delay:".length)));
  else {
    if (action === "kill") process.kill(process.pid, "SIGKILL");
    block(Number.POSITIVE_INFINITY);
  }
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
