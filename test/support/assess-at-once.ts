import { type Assessment, type AssessmentInput, decideRequest } from "@assent/core/parts";

/** Judges a request whose facts and tool opinion are given without a promise, for properties and fuzzers that are synchronous. */
export function assessAtOnce(input: AssessmentInput): Assessment {
  const { tool, invocation, cwd, facts: gather } = input;
  const opinion = invocation.opinion();
  if (opinion instanceof Promise) throw new Error(`the opinion of ${tool.name} is a promise`);
  const plain = { units: [{ subject: tool.name }], binds: {} };
  try {
    const facts = gather?.({ tool: tool.name, kind: tool.kind, input: invocation.input, cwd, locations: invocation.locations() }) ?? plain;
    if (!(facts instanceof Promise)) return decideRequest(input, { facts, failure: undefined }, opinion);
  } catch (error) {
    return decideRequest(input, { facts: plain, failure: String(error) }, opinion);
  }
  throw new Error(`the facts of ${tool.name} are a promise`);
}
