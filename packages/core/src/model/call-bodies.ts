import type { EventBodies } from "./events.ts";
import { type Plain, plain } from "./plain.ts";

type Body<T extends keyof EventBodies> = { -readonly [K in keyof EventBodies[T]]: EventBodies[T][K] };

// What every call leaves on record, without what only some have.

export const ProposedBody: Plain<Body<"call.proposed">> = plain(function (this: Body<"call.proposed">, body: Body<"call.proposed">) {
  this.call = body.call;
  this.turn = body.turn;
  this.index = body.index;
  this.tool = body.tool;
  this.raw = body.raw;
  this.givenId = body.givenId;
});

export const JudgedBody: Plain<Body<"call.judged">> = plain(function (this: Body<"call.judged">, body: Body<"call.judged">) {
  this.call = body.call;
  this.revision = body.revision;
  this.tool = body.tool;
  this.toolDigest = body.toolDigest;
  this.kind = body.kind;
  this.safe = body.safe;
  this.input = body.input;
  this.cwd = body.cwd;
  this.binds = body.binds;
  this.verdict = body.verdict;
  this.explicitAsk = body.explicitAsk;
  this.reason = body.reason;
  this.source = body.source;
  this.rule = body.rule;
  this.trace = body.trace;
  this.units = body.units;
  this.policy = body.policy;
});

export const ClaimedBody: Plain<Body<"call.claimed">> = plain(function (this: Body<"call.claimed">, body: Body<"call.claimed">) {
  this.call = body.call;
  this.answer = body.answer;
  this.attempt = body.attempt;
  this.durability = body.durability;
  this.idempotencyKey = body.idempotencyKey;
  this.plan = body.plan;
});

export const EndedBody: Plain<Body<"call.ended">> = plain(function (this: Body<"call.ended">, body: Body<"call.ended">) {
  this.call = body.call;
  this.outcome = body.outcome;
  this.type = body.type;
  this.content = body.content;
  this.durationMs = body.durationMs;
});
