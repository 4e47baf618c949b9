import type { Session } from "@assent/core";
import type { HostPorts } from "@assent/host";
import type { ComposedAgent } from "../agent-composition.ts";
import type { Cancelling } from "../cancel-on-signal.ts";
import type { FollowedPolicy } from "../follow-policy.ts";
import { hostBy } from "./host-by.ts";
import type { HostDoor } from "./host-door.ts";
import { HostError } from "./host-error.ts";
import type { Steered } from "./host-requests.ts";
import type { RunModel } from "./run-model.ts";
import type { Talk } from "./talk.ts";

/** What a host steers, and by what. */
export type Steering = {
  readonly session: Session;
  readonly ports: HostPorts;
  readonly policy: FollowedPolicy;
  readonly chosen: RunModel;
  readonly cancelling: Cancelling;
  readonly agent: ComposedAgent;
  readonly talk: Talk;
  readonly host: HostDoor;
};

/** The run as a host may steer it. */
export function steeredBy({ session, ports, policy, chosen, cancelling, agent, talk, host }: Steering): Steered {
  const by = hostBy();
  return {
    session,
    dispatcher: agent.dispatcher,
    modes: agent.modes,
    answering: { ledger: session.ledger, ports, policy, by },
    locked: () => policy.source.settings()["permissions.lock"],
    chooseModel: async (asked) => {
      const to = asked ?? chosen.id;
      await Promise.resolve(chosen.model(to)).catch((error: unknown) => {
        throw new HostError("unknown_model", error instanceof Error ? error.message : String(error));
      });
      const from = session.state.model;
      if (from !== to) await session.record([session.draft("model.changed", { from, to, by: by.name })], "normal");
      return to;
    },
    interrupt: async (end) => {
      if (end) cancelling.cancel();
      else await talk.interrupt();
    },
    state: () => (host.isAsking() ? "waiting" : talk.isBusy() ? "running" : "idle"),
    unasked: host.unasked,
    tasks: agent.tasks,
  };
}
