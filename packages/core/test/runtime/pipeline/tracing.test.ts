import assert from "node:assert/strict";
import { test } from "node:test";
import type { Span, Tracer } from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import { type Tracer as OpenTelemetryTracer, trace as openTelemetry } from "@opentelemetry/api";
import { type BenchOptions, bench, call, outcomes, textTool, until } from "../harness.ts";

type Recorded = {
  readonly name: string;
  readonly kind: number | undefined;
  readonly attributes: Record<string, unknown>;
  readonly links: readonly unknown[];
  readonly context: unknown;
  readonly events: string[];
  status: { readonly code: number; readonly message?: string } | undefined;
  ended: number;
};

function recordingTracer(): Tracer & { readonly spans: Recorded[] } {
  const spans: Recorded[] = [];
  return {
    spans,
    startSpan: (name, options = {}) => {
      const span: Recorded = {
        name,
        kind: options.kind,
        attributes: { ...options.attributes },
        links: options.links ?? [],
        context: { spanId: String(spans.length) },
        events: [],
        status: undefined,
        ended: 0,
      };
      spans.push(span);
      const made: Span = {
        setAttribute: (key, value) => (span.attributes[key] = value),
        addEvent: (event) => span.events.push(event),
        setStatus: (status) => (span.status = status),
        spanContext: () => span.context,
        end: () => (span.ended += 1),
      };
      return made;
    },
  };
}

const ofTools = ({ spans }: { readonly spans: readonly Recorded[] }): readonly Recorded[] =>
  spans.filter(({ name }) => name.startsWith("execute_tool"));

/** The compiler's word that a tracer of OpenTelemetry is one of ours. */
const assignable: (tracer: OpenTelemetryTracer) => Tracer = (tracer) => tracer;

test("OpenTelemetry's own tracer can be given as it is", async (t) => {
  const b = await bench(t, { policy: { mode: "yolo" }, deps: { tracer: assignable(openTelemetry.getTracer("test")) } });
  assert.deepEqual(outcomes(await b.process([call("edit", "x")])), ["succeeded"]);
  assert.deepEqual(b.warnings, []);
});

test("one span per body, with the conventions' names and ours, and neither arguments nor results", async (t) => {
  const tracer = recordingTracer();
  const b = await bench(t, { person: scriptedApprover({ edit: "approve" }), deps: { tracer } });
  await b.process([call("edit", "secret", "c1")], { agentName: "explorer" });
  const [span, ...more] = ofTools(tracer);
  const [claimed] = await b.stored("call.claimed");
  assert.deepEqual(more, []);
  assert.deepEqual([span?.name, span?.kind, span?.ended, span?.status], ["execute_tool edit", 0, 1, undefined]);
  assert.deepEqual(span?.attributes, {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "edit",
    "gen_ai.tool.call.id": "c1",
    "gen_ai.tool.description": "A tool for tests: edit.",
    "gen_ai.tool.type": "function",
    "gen_ai.agent.name": "explorer",
    "gen_ai.conversation.id": b.session.id,
    "assent.decision": "allow",
    "assent.decision.source": "user_approved",
    "assent.tool.kind": "edit",
    "assent.fingerprint": claimed?.body.fingerprint,
  });
  assert.doesNotMatch(JSON.stringify(tracer.spans), /secret/);
});

test("the source of a verdict without an answer is the stable string of the notification", async (t) => {
  const tracer = recordingTracer();
  const b = await bench(t, { policy: { rules: { user: { allow: ["edit"] } } }, deps: { tracer } });
  await b.process([call("edit", "x")]);
  assert.equal(ofTools(tracer)[0]?.attributes["assent.decision.source"], b.notices[0]?.source);
});

type Row = readonly [name: string, options: BenchOptions, tool: string, type: string, error: boolean];

const failing = textTool("failing", "edit", { permission: () => "allow", run: () => Promise.reject(new Error("broken")) });
const rows: readonly Row[] = [
  ["a body that failed", { tools: [failing] }, "failing", "execution_failed", true],
  ["a denied call", { policy: { rules: { team: { deny: ["edit"] } } } }, "edit", "denied_by_rule", true],
  ["a rejected call", { person: scriptedApprover({ edit: "reject" }) }, "edit", "rejected_by_user", false],
  ["a call nobody could be asked about", { person: "nobody" }, "edit", "denied_unattended", true],
  ["an unknown tool", {}, "nope", "tool_not_registered", true],
];
for (const [name, options, tool, type, error] of rows) {
  test(`${name} has one span that is ended, with error.type ${type}${error ? " and an error status" : " and no status"}`, async (t) => {
    const tracer = recordingTracer();
    const b = await bench(t, { ...options, deps: { tracer } });
    await b.process([call(tool, "x", "c1")]);
    const spans = ofTools(tracer);
    assert.deepEqual(
      spans.map((span) => [span.name, span.attributes["error.type"], span.status, span.ended]),
      [[`execute_tool ${tool}`, type, error ? { code: 2, message: type } : undefined, 1]],
    );
    assert.equal(spans[0]?.attributes["gen_ai.tool.call.id"], "c1");
  });
}

test("a cancelled body leaves the status unset", async (t) => {
  const tracer = recordingTracer();
  const b = await bench(t, { policy: { mode: "yolo" }, deps: { tracer } });
  const running = b.process([call("slow_edit", "x", "c1")]);
  await b.gates.reached("x");
  b.dispatcher.cancel("c1");
  b.gates.fail("x", new Error("aborted"));
  await running;
  assert.deepEqual(
    ofTools(tracer).map(({ attributes, status, ended }) => [attributes["error.type"], status, ended]),
    [["cancelled", undefined, 1]],
  );
});

test("no span is open while a person thinks; asking and answering are events on short spans, which the tool's span links to", async (t) => {
  const tracer = recordingTracer();
  const b = await bench(t, { deps: { tracer } });
  const running = b.process([call("edit", "x", "c1")]);
  await until(() => b.dispatcher.pending().length === 1);
  assert.ok(tracer.spans.length > 0 && tracer.spans.every(({ ended }) => ended === 1));
  assert.deepEqual(
    tracer.spans.flatMap(({ events }) => events),
    ["assent.approval.requested"],
  );
  await b.dispatcher.answer({
    approval: b.dispatcher.pending()[0]!.id,
    outcome: "approve",
    by: { kind: "person", user: "u", name: "U", door: "test", pid: 1 },
  });
  await running;
  assert.deepEqual(
    tracer.spans.flatMap(({ events }) => events),
    ["assent.approval.requested", "assent.approval.answered"],
  );
  const contexts = tracer.spans.filter(({ events }) => events.length > 0).map(({ context }) => ({ context }));
  assert.deepEqual(ofTools(tracer)[0]?.links, contexts);
  assert.ok(tracer.spans.every(({ ended }) => ended === 1));
});

const broken: readonly (readonly [name: string, tracer: Tracer])[] = [
  ["that cannot start a span", { startSpan: throwing }],
  [
    "whose spans throw at everything",
    { startSpan: () => ({ setAttribute: throwing, addEvent: throwing, setStatus: throwing, spanContext: throwing, end: throwing }) },
  ],
];

function throwing(): never {
  throw new Error("tracer");
}

for (const [name, tracer] of broken) {
  test(`a tracer ${name} changes nothing`, async (t) => {
    const b = await bench(t, { person: scriptedApprover({ edit: "approve" }), deps: { tracer } });
    assert.deepEqual(outcomes(await b.process([call("edit", "x"), call("nope", "y")])), ["succeeded", "invalid tool_not_registered"]);
    assert.deepEqual(b.world.lines, ["x"]);
  });
}
