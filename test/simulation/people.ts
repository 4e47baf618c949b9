import {
  type Answer,
  AnswerError,
  type Approver,
  answerApproval,
  LedgerError,
  type LedgerEvent,
  patternRules,
  requestsFrom,
} from "@assent/core";
import { digest, toolsOf } from "./tools.ts";
import { answerFor, type Process, plannedCall, type World } from "./world.ts";

/** The person in front of a process: answers, or says nothing for as long as they are asked, or leaves it to others. */
export function approverOf(world: World, { actor }: Process): Approver {
  return {
    available: () => true,
    ask: async (open, signal) => {
      const where = plannedCall(world, open.callId)?.person.where ?? "here";
      if (where === "late") {
        await world.on.step(actor, `nobody answers ${open.id}`);
        return undefined;
      }
      if (where === "elsewhere")
        return await new Promise<Answer | undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
      await world.on.step(actor, `the person answers ${open.id}`);
      return answerFor(world, open);
    },
  };
}

/** Somebody at a terminal of their own, who answers as soon as an approval is on record; or twice. */
export function attend(world: World, { body }: LedgerEvent<"approval.opened">): void {
  const person = plannedCall(world, body.call)?.person;
  if (!person || person.where === "here" || person.where === "late") return;
  for (let times = person.twice ? 2 : 1; times > 0; times -= 1) answerElsewhere(world, body);
}

/** Opens a terminal and answers there. What it was told is kept: it may be relied on. */
export function answerElsewhere(
  world: World,
  {
    approval: id,
    call: callId,
    revision,
    fingerprint,
  }: Pick<LedgerEvent<"approval.opened">["body"], "approval" | "call" | "revision" | "fingerprint">,
): void {
  const { on } = world;
  world.pids += 1;
  const actor = on.actor(`terminal${world.pids}`);
  world.terminals.push(actor);
  const ledger = world.ledgerOf(actor);
  const tools = toolsOf({ on, actor, things: world.things });
  const ports = { ledger, clock: on.clock(actor), ids: world.ids, rules: patternRules, requests: requestsFrom({ ledger, tools, digest }) };
  on.submit(actor, `answers ${id}`, () => {
    answerApproval(ports, answerFor(world, { callId, id, revision, fingerprint })).then(
      (report) => void world.told.push({ what: "answer", approval: id, call: callId, outcome: report.outcome }),
      (error: unknown) => {
        if (error instanceof AnswerError || error instanceof LedgerError) return;
        world.violations.push({ rule: "U", message: `an answer failed: ${String(error)}` });
      },
    );
  });
}
