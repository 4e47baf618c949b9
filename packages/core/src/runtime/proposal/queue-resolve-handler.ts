import { stagingUnavailable } from "../../invocation.ts";
import type { Session } from "../session/session.ts";
import type { ResolveHandler } from "./closures.ts";
import type { Proposals } from "./proposals.ts";

/** Where the proposals of each session that has a dispatcher are reached. */
export const DESKS: WeakMap<Session, Proposals> = new WeakMap();

/** Stages an action in a session that has a dispatcher. Resolves with its id once it is on record; rejects with `ToolError`. */
export async function queueResolveHandler(session: Session, handler: ResolveHandler): Promise<{ readonly id: string }> {
  const desk = DESKS.get(session);
  const { id, staged } = desk ? desk.queueResolveHandler(handler) : stagingUnavailable();
  await staged;
  return { id };
}
