import { stagingUnavailable } from "../invocation.ts";
import type { QueuedAction } from "../tool-definition.ts";
import type { ResolveHandler } from "./closures.ts";
import type { Proposals } from "./proposals.ts";
import type { Session } from "./session.ts";

/** Where the proposals of each session that has a dispatcher are reached. */
export const DESKS: WeakMap<Session, Proposals> = new WeakMap();

/** Stages an action in a session that has a dispatcher. It has its id at once, or this throws `ToolError`. */
export function queueResolveHandler(session: Session, handler: ResolveHandler): QueuedAction {
  const desk = DESKS.get(session);
  return desk ? desk.queueResolveHandler(handler) : stagingUnavailable();
}
