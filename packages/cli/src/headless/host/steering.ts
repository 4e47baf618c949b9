import type { Session } from "@assent/core";
import { messageOf } from "@assent/core";
import type { HostPorts } from "@assent/host";
import type { ComposedAgent } from "../../compose/agent.ts";
import type { FollowedPolicy } from "../../compose/follow-policy.ts";
import type { RunModel } from "../../compose/model.ts";
import type { Cancelling } from "../../io/cancel-on-signal.ts";
import type { Talk } from "../run/talk.ts";
import { hostBy } from "./by.ts";
import type { HostDoor } from "./door.ts";
import { HostError } from "./error.ts";
import type { Steered } from "./requests.ts";
import type { HostSettings } from "./settings.ts";

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
  readonly settings: HostSettings;
  readonly joined: () => Promise<void>;
};

/** The run as a host may steer it. */
export function steeredBy(steering: Steering): Steered {
  const { session, ports, policy, cancelling, agent, talk, host, settings, joined } = steering;
  const by = hostBy();
  return {
    session,
    dispatcher: agent.dispatcher,
    changeMode: (mode) => settings.atOnce(agent.modes.change(mode, by.name)),
    answering: { ledger: session.ledger, ports, policy, by },
    locked: () => policy.source.settings()["permissions.lock"],
    chooseModel: (asked) => settings.inOrder(() => chooseModel(steering, asked)),
    interrupt: async (end) => {
      if (end) cancelling.cancel();
      else await talk.interrupt();
    },
    state: () => (host.isAsking() ? "waiting" : talk.isBusy() ? "running" : "idle"),
    unasked: host.unasked,
    tasks: agent.tasks,
    joined,
  };
}

async function chooseModel({ session, chosen }: Steering, asked: string | null): Promise<string> {
  const to = asked ?? chosen.id;
  await Promise.resolve(chosen.model(to)).catch((error: unknown) => {
    throw new HostError("unknown_model", messageOf(error));
  });
  const from = session.state.model;
  if (from !== to) await session.record([session.draft("model.changed", { from, to, by: hostBy().name })], "normal");
  return to;
}
