import { parseToolInput } from "@assent/core/parts";
import type { HostPorts } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import type { FollowedPolicy } from "../../compose/follow-policy.ts";
import type { WorkPlace } from "../../compose/place.ts";
import { type ExplainContext, explainCall, MOST_GRANTS } from "../../desk/explain/explain-call.ts";
import { styleOf } from "../../io/style.ts";
import type { Store } from "../../store/store.ts";
import type { TuiSession } from "../conversation/tui-session.ts";
import type { ConversationView } from "../screen/view.ts";

export type ExplainParts = {
  readonly context: Context;
  readonly store: Pick<Store, "ledger">;
  readonly ports: Pick<HostPorts, "clock" | "digest">;
  readonly place: WorkPlace;
  readonly view: ConversationView;
  readonly columns: () => number;
  readonly current: () => TuiSession | undefined;
  /** Undefined until settings are read. */
  readonly policy: () => FollowedPolicy | undefined;
};

/** Explains a call with the conversation's settings, mode and grants. Undefined until settings are read. */
export async function explainWithSession(parts: ExplainParts, tool: string, input: string): Promise<string | undefined> {
  const { store, ports, place, view, context, columns } = parts;
  const policy = parts.policy();
  if (!policy) return undefined;
  const current = parts.current();
  const { tools, facts, rules, source, workspace } = policy;
  const parsed = parseToolInput(input);
  if (!parsed.ok) return `Invalid input: ${parsed.message}`;
  const rows = await store.ledger.pending("grants", { limit: MOST_GRANTS });
  const explaining: ExplainContext = {
    ...{
      tools,
      facts,
      rules,
      digest: ports.digest,
      clock: ports.clock,
      hooks: policy.hooks(),
      stage: source.loaded().stage,
      allows: source.loaded().rules,
    },
    policy: current?.agent.modes.current() ?? { ...source.current(), mode: view.state.status.mode },
    cwd: current?.session.state.created?.cwd ?? place.cwd,
    remembered: { rows, workspace, rules, now: ports.clock.now(), ...(current && { session: current.session.id }) },
  };
  const style = styleOf({ isTTY: false }, context.io.env);
  const explained = await explainCall(explaining, { tool, input: parsed.value, cwd: explaining.cwd });
  return "message" in explained ? explained.message : explained.text({ columns: columns(), style }).trimEnd();
}
