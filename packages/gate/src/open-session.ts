import { type Approver, type By, createDispatcher, openSession } from "@assent/core";
import { currentHolder } from "@assent/host";
import { openGateHooks } from "./gate-hooks.ts";
import { type Approve, readGateAnswer } from "./gate-options.ts";
import type { GateSessionParts, OpenedSession } from "./gate-session.ts";

/** Opens the session of a gate, with everything that runs its calls. */
export async function openForCalls(parts: GateSessionParts, running: () => AbortSignal | undefined): Promise<OpenedSession> {
  const { options, policy, tools, host, deps, person } = parts;
  const id = parts.id();
  const { clock } = deps;
  const holder = currentHolder("gate");
  const { changes, files, processes, endHolder } = host;
  const { mode } = policy.source.current();
  const ports = { ledger: await parts.ledger(), clock, ids: { next: () => id }, ...(endHolder && { endHolder }) };
  const session = await openSession(
    ports,
    options.session !== undefined ? { holder, id } : { holder, create: { cwd: policy.workspace, mode } },
  );
  const settings = policy.source.settings();
  const { "tools.maxConcurrency": maxConcurrency, "tools.timeoutMs": timeoutMs, "recovery.retryIdempotent": retryIdempotent } = settings;
  const hooks = await openGateHooks(options.hooks, { ...deps, session, policy }, running);
  const dispatcher = createDispatcher({
    ...deps,
    by: person(),
    onAsk: options.approve === "park" ? "park" : "deny",
    ...(typeof options.approve === "function" && { approver: functionApprover(options.approve, person) }),
    ...(hooks && { hooks }),
    ...{ session, policy: policy.source, facts: policy.facts, rules: policy.rules, tools, maxConcurrency, retryIdempotent },
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(changes && { changes }),
    ...(files && { files }),
    ...(processes && { processes }),
  });
  return { session, dispatcher, tools };
}

/** Asks through a program's function. A function that never answers stops waiting when the call is cancelled. */
function functionApprover(approve: Approve, by: (name?: string) => By): Approver {
  return {
    available: () => true,
    ask: async (approval, signal) => {
      const given = await Promise.race([approve(approval, signal), aborted(signal)]);
      if (given === undefined) return undefined;
      const answer = readGateAnswer(given);
      return { ...answer, approval: approval.id, by: by(answer.by) };
    },
  };
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
