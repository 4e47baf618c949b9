import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { APICallError } from "@ai-sdk/provider";
import { manualClock } from "@assent/core/testing";
import fc from "fast-check";
import { retryDelay, withRetries } from "../../../src/loop/model/retry.ts";
import { BrokenAnswer } from "../../../src/loop/model/stream-answer.ts";

const NOW = Date.UTC(2026, 10, 16, 12, 0, 0);
type Call = Partial<ConstructorParameters<typeof APICallError>[0]>;
const call = (given: Call): APICallError => new APICallError({ message: "no", url: "https://x", requestBodyValues: {}, ...given });
const after = (value: string): APICallError => call({ statusCode: 429, responseHeaders: { "retry-after": value } });
const broken = (cause: unknown, calls = 0): BrokenAnswer => new BrokenAnswer(cause, { calls });

describe("whether a request is made again, and when", () => {
  const rows: readonly [sentence: string, error: unknown, delay: number | undefined][] = [
    ["a rate limit", call({ statusCode: 429 }), 1_000],
    ["a server's failure", call({ statusCode: 500 }), 1_000],
    ["an overload", call({ statusCode: 529 }), 1_000],
    ["a request that took too long", call({ statusCode: 408 }), 1_000],
    ["no answer at all", call({ isRetryable: true }), 1_000],
    ["seconds that were asked for", after("7"), 7_000],
    ["parts of seconds", after("0.5"), 500],
    ["a date that was asked for", after("Mon, 16 Nov 2026 12:00:20 GMT"), 20_000],
    ["a date that is over", after("Mon, 16 Nov 2026 11:00:00 GMT"), 0],
    ["milliseconds before seconds", call({ statusCode: 429, responseHeaders: { "retry-after-ms": "250", "retry-after": "9" } }), 250],
    ["the delay in Gemini's error", call({ statusCode: 429, responseBody: '{"error":{"details":[{"retryDelay":"37s"}]}}' }), 37_000],
    ["a wait that is too long", after("3600"), undefined],
    ["words instead of a time", after("soon"), 1_000],
    ["a request that is wrong", call({ statusCode: 400 }), undefined],
    ["a key that does not open", call({ statusCode: 401 }), undefined],
    ["a conflict", call({ statusCode: 409, isRetryable: true }), undefined],
    ["what its provider calls final", call({ statusCode: 500, isRetryable: false }), undefined],
    ["a spent quota", call({ statusCode: 429, responseBody: '{"error":{"code":"insufficient_quota"}}' }), undefined],
    [
      "a network's failure",
      Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error("reset"), { code: "ECONNRESET" }) }),
      1_000,
    ],
    ["a defect of ours", new TypeError("x is not a function"), undefined],
    ["an answer that broke off", broken(new Error("ended")), 1_000],
    ["an answer whose connection was lost", broken(call({ statusCode: 200, isRetryable: true })), 1_000],
    ["an answer that broke off after a whole call", broken(call({ statusCode: 503 }), 1), undefined],
    ["an answer broken by a failure that passes", broken({ message: "Overloaded", statusCode: 529, isRetryable: true }), 1_000],
    ["an answer broken by one that does not", broken({ message: "No", statusCode: 400, isRetryable: false }), undefined],
    ["an answer broken by a bare code", broken({ message: "No", code: 401 }), undefined],
    ["an answer broken by a bare type", broken({ message: "No", type: "invalid_request_error" }), undefined],
    ["nothing that could be known", undefined, undefined],
  ];
  for (const [sentence, error, delay] of rows)
    test(`${sentence}: ${delay === undefined ? "no" : `after ${delay} ms`}`, () =>
      assert.equal(retryDelay({ error, failures: 1, now: NOW }), delay));

  test("each of four waits is twice the one before", () => {
    const waits = [1, 2, 3, 4, 5].map((failures) => retryDelay({ error: call({ statusCode: 503 }), failures, now: NOW }));
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, undefined]);
  });

  test("any failure leads to a wait of reasonable length or to none", () => {
    fc.assert(
      fc.property(fc.anything(), fc.boolean(), (cause, inside) => {
        const delay = retryDelay({ error: inside ? broken(cause) : cause, failures: 1, now: NOW });
        assert.ok(delay === undefined || (delay >= 0 && delay <= 120_000));
      }),
    );
  });
});

describe("a request with retries", () => {
  const setting = () => {
    const clock = manualClock();
    const stop = new AbortController();
    let made = 0;
    return { clock, stop, signal: stop.signal, made: () => made, count: () => (made += 1) };
  };

  test("is made until it succeeds, and waits on the clock it was given", async () => {
    const { clock, signal, made, count } = setting();
    const waits: number[] = [];
    const answer = withRetries(
      async () => {
        if (count() < 3) throw call({ statusCode: 503 });
        return "done";
      },
      { clock, signal, retrying: ({ delayMs }) => waits.push(delayMs) },
    );
    await clock.advance(999);
    assert.equal(made(), 1);
    await clock.advance(1);
    assert.equal(made(), 2);
    await clock.advance(2_000);
    assert.equal(await answer, "done");
    assert.deepEqual(waits, [1_000, 2_000]);
    assert.equal(clock.pending(), 0);
  });

  test("ends with the last failure", async () => {
    const { clock, signal, made, count } = setting();
    const answer = withRetries(() => Promise.reject(call({ statusCode: 503, message: `failure ${count()}` })), {
      clock,
      signal,
    });
    const ended = assert.rejects(answer, /failure 5/);
    for (const wait of [1_000, 2_000, 4_000, 8_000]) await clock.advance(wait);
    await ended;
    assert.equal(made(), 5);
  });

  test("is not made again once it is called off, not even in the middle of a wait", async () => {
    const { clock, stop, signal, made, count } = setting();
    const answer = withRetries(
      () => {
        count();
        return Promise.reject(call({ statusCode: 503 }));
      },
      { clock, signal },
    );
    const ended = assert.rejects(answer, { name: "AbortError" });
    await clock.advance(500);
    stop.abort();
    await ended;
    assert.equal(made(), 1);
    assert.equal(clock.pending(), 0);
  });

  test("an abort while it is under way is not a failure to be repaired", async () => {
    const { clock, stop, signal, made, count } = setting();
    await assert.rejects(
      withRetries(
        () => {
          count();
          stop.abort();
          return Promise.reject(call({ statusCode: 503 }));
        },
        { clock, signal },
      ),
    );
    assert.equal(made(), 1);
  });
});

const WAITING = `
  import { createSystemClock } from "@assent/host";
  import { withRetries } from "./src/loop/model/retry.ts";
  let requests = 0;
  const request = async () => {
    requests += 1;
    if (requests === 1) throw Object.assign(new Error("reset"), { code: "ECONNRESET" });
    return requests;
  };
  console.log(await withRetries(request, { clock: createSystemClock(), signal: new AbortController().signal }));
`;

test("a request is made again although nothing else keeps the process alive", () => {
  const cwd = fileURLToPath(new URL("../../..", import.meta.url));
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--conditions=@assent/source", "--input-type=module", "-e", WAITING], {
    cwd,
    encoding: "utf8",
  });
  assert.deepEqual([status, stdout], [0, "2\n"], stderr);
});
