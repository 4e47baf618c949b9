import type { Clock, Digest, Hooks, Session } from "@assent/core";
import { GateUsageError } from "./gate-error.ts";
import type { GateHooks } from "./gate-options.ts";
import type { GatePolicy } from "./gate-policy.ts";

/** True for the `Hooks` port; otherwise it is an object of functions. */
function isHooksPort(hooks: Hooks | GateHooks): hooks is Hooks {
  return "consult" in hooks && "tell" in hooks;
}

type HookParts = {
  readonly session: Session;
  readonly policy: GatePolicy;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly warn: (message: string) => void;
};

/** Runs the hooks of the settings file and the functions of the program; undefined if there are none. */
export async function openGateHooks(
  given: Hooks | GateHooks | undefined,
  { session, policy, clock, digest, warn }: HookParts,
  running: () => AbortSignal | undefined,
): Promise<Hooks | undefined> {
  const configured = policy.hooks().length > 0;
  if (given && isHooksPort(given)) {
    if (!configured) return limitHooks(given, clock, running);
    const text = "Option 'hooks' of createGate is a Hooks port, but the settings file has hooks, too. Give an object of functions instead.";
    throw new GateUsageError("bad_option", text);
  }
  if (!given && !configured) return undefined;
  const { createHookRunner, readFunctionHooks } = await import("@assent/host");
  const own = readFunctionHooks(given ?? {});
  const { secretEnv, projectSecretEnv } = policy.source.settings();
  const runner = createHookRunner({
    ...{ clock, digest, cwd: policy.workspace, projectDir: policy.workspace, sessionId: session.id, secretEnv, projectSecretEnv, warn },
    entries: () => [...policy.hooks(), ...own.entries],
    functions: own.functions,
    environment: process.env,
    record: (ran) => session.record([session.draft("hook.ran", ran)], "normal"),
  });
  return limitHooks(runner, clock, running);
}

/** Longer than any sensible check in this process. */
const LIMIT_MS = 60_000;
/** Hooks after an effect still run when the call is cancelled, but not for long. */
const GRACE_MS = 1_000;

/** Hooks of a program that cannot block forever. One that does not answer counts as failed, and a failed hook blocks. */
function limitHooks(hooks: Hooks, clock: Clock, running: () => AbortSignal | undefined): Hooks {
  return {
    consult: (event, input, signal) =>
      new Promise((resolve, reject) => {
        const ends: (() => void)[] = [];
        const failAfter = (ms: number): void =>
          void ends.push(clock.timer(ms, () => reject(new Error(`The hook of ${event} did not answer in time.`))));
        const failOnAbort = (aborting: AbortSignal | undefined, ms: number): void => {
          const fail = (): void => failAfter(ms);
          if (aborting?.aborted) fail();
          aborting?.addEventListener("abort", fail, { once: true });
          ends.push(() => aborting?.removeEventListener("abort", fail));
        };
        failAfter(LIMIT_MS);
        failOnAbort(signal, 0);
        failOnAbort(running(), GRACE_MS);
        const consulted = Promise.resolve().then(() => hooks.consult(event, input, signal));
        void consulted.then(resolve, reject).finally(() => {
          for (const end of ends) end();
        });
      }),
    ...(hooks.applies && { applies: (event, tool) => hooks.applies?.(event, tool) ?? true }),
    tell: (event, input) => hooks.tell(event, input),
  };
}
