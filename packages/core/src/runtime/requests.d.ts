import type { Ledger } from "../ledger-port.ts";
import type { Digest, Facts } from "../ports.ts";
import type { Registry } from "../registry.ts";
import { type AnswerPorts, type Requests } from "./answer-approval.ts";
import type { DispatcherDeps } from "./dispatch.ts";
/** What it takes to get from an approval to its request, in any process. */
export type RequestPorts = {
  readonly ledger: Ledger;
  readonly tools: Registry;
  readonly digest: Digest;
  readonly facts?: Facts;
};
/** Reads requests back from the ledger, and makes what an edit would run. */
export declare function requestsFrom(ports: RequestPorts): Requests;
/** How the dispatcher itself answers. */
export declare function answerPorts(deps: DispatcherDeps, tools: Registry): AnswerPorts;
