import type { HookEvent, HookOpinion, Hooks, JsonObject } from "@assent/core";
import type { Hooking } from "./plan.ts";
import { type Process, plannedCall, type World } from "./world.ts";

/** What hooks write in place of a text: before a call is judged, and when it asks. */
export const REWRITTEN = "six";
export const REWRITTEN_ASKED = "seven";

/** What a hook makes of a result that nobody is to see. */
const HIDDEN = "hidden";

/** The hooks of one process. `die`: the process ends here and now. */
export type Hooked = { readonly world: World; readonly process: Process; readonly die: () => void };

/** Hooks that say what the plan says, when their time comes: at once, after a long while, or after the process that asked has ended. */
export function hooksOf(hooked: Hooked): Hooks {
  const { world, process } = hooked;
  return {
    consult: async (event, input, signal) => {
      const call = String(input["tool_use_id"] ?? "");
      const hook = plannedCall(world, call)?.hook;
      const point = POINTS[event];
      await world.on.step(process.actor, `asks hooks, ${event} ${call}`);
      if (!hook || !point) return undefined;
      await (hook.pace === "dies" ? ended(hooked, `${event} ${call}`) : waited(hooked, hook, signal));
      await world.on.step(process.actor, `hears hooks, ${event} ${call} ${hook[point.says]}`);
      return signal.aborted ? undefined : point.opinion(hook, input);
    },
    tell: (event, input) => {
      if (event !== "on_tool_approval_decision") return;
      world.decisions.push({
        pid: process.pid,
        session: String(input["session_id"]),
        call: String(input["tool_use_id"]),
        decision: String(input["approval_decision"]),
      });
    },
  };
}

/** Longer than anybody is patient. */
const SLOW_MS = 90_000;

/** A hook's program is ended when nobody wants its answer any more. */
function waited({ world, process }: Hooked, { pace }: Hooking, signal: AbortSignal): Promise<void> | undefined {
  if (pace !== "slow" || signal.aborted) return undefined;
  return new Promise((resolve) => {
    const stop = world.on.clock(process.actor).timer(SLOW_MS, resolve);
    signal.addEventListener("abort", () => {
      stop();
      resolve();
    });
  });
}

/** The process ends while its hook runs; one of the same session that asks again is answered. */
function ended({ world: { died }, die }: Hooked, what: string): Promise<void> | undefined {
  if (died.has(what)) return undefined;
  died.add(what);
  die();
  return new Promise(() => undefined);
}

/** Which word of the plan counts at a point, and what it means. */
type Point = {
  readonly says: "before" | "asked" | "after";
  readonly opinion: (hook: Hooking, input: JsonObject) => HookOpinion | undefined;
};

const POINTS: Partial<Readonly<Record<HookEvent, Point>>> = {
  pre_tool_use: { says: "before", opinion: ({ before }, input) => opinion(before, () => rewritten(input, REWRITTEN)) },
  permission_request: { says: "asked", opinion: ({ asked }, input) => opinion(asked, () => rewritten(input, REWRITTEN_ASKED)) },
  tool_response_transform: {
    says: "after",
    opinion: ({ after }) => {
      if (after === "fails") throw new Error("the hook failed");
      return after === "changes" ? { verdict: "none", name: "hook", updatedOutput: HIDDEN } : undefined;
    },
  },
};

function opinion(says: Hooking["before"] | Hooking["asked"], rewrite: () => HookOpinion | undefined): HookOpinion | undefined {
  switch (says) {
    case "none":
      return undefined;
    case "fails":
      throw new Error("the hook failed");
    case "nonsense":
      return { verdict: "perhaps" as never, name: "hook" };
    case "rewrite":
      return rewrite();
    default:
      return { verdict: says, name: "hook" };
  }
}

/** Only what has a text can have another; a permission hook changes what it allows. */
function rewritten({ tool_input: given, hook_event_name: event }: JsonObject, text: string): HookOpinion | undefined {
  const input = given as JsonObject;
  if (typeof input["text"] !== "string") return undefined;
  return { verdict: event === "PermissionRequest" ? "allow" : "none", name: "hook", updatedInput: { ...input, text } };
}
