import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import { CallError, GateUsageError } from "../../src/index.ts";
import { withGate } from "../gate-scene.ts";

const city = z.object({ city: z.string() });

describe("gate.functions", () => {
  test("calls are decided, values come back with their types, refusals throw", async () => {
    await withGate({ rules: { deny: ["book:city=Atlantis"] } }, async (gate) => {
      const { weather, book } = gate.functions(
        {
          weather: { description: "Tells the weather.", input: city, run: (input: { city: string }) => ({ in: input.city, degrees: 20 }) },
          book: { description: "Books.", input: { type: "object", properties: { city: { type: "string" } } }, run: () => "booked" },
        },
        { weather: { kind: "read" }, book: { permission: "allow" } },
      );
      const { degrees } = await weather({ city: "Oslo" });
      assert.equal(degrees, 20);
      assert.equal(await book({ city: "Rome" }), "booked");
      await assert.rejects(book({ city: "Atlantis" }), (error) => error instanceof CallError && error.call.outcome === "denied");
      await assert.rejects(weather({ city: [] } as never), /Invalid parameters/);
      const { calls } = await gate.run([{ id: "1", name: "weather", arguments: '{"city":"Bonn"}' }]);
      assert.deepEqual(calls[0]?.content, [{ type: "json", value: { in: "Bonn", degrees: 20 } }]);
    });
  });

  test("a function that throws fails, and the error names the reason", async () => {
    await withGate({ rules: { allow: ["f"] } }, async (gate) => {
      const run = (): never => {
        throw new Error("no line");
      };
      const { f } = gate.functions({ f: { description: "Fails.", input: z.object({}), run } });
      await assert.rejects(
        f({}),
        (error) => error instanceof CallError && error.call.outcome === "failed" && /no line/.test(error.message),
      );
    });
  });

  test("a function may return null", async () => {
    await withGate({}, async (gate) => {
      const { find } = gate.functions({ find: { description: "Finds.", input: city, run: () => null } }, { find: { kind: "read" } });
      assert.equal(await find({ city: "Rome" }), null);
    });
  });

  test("a name that every object has is a name like any other", async () => {
    await withGate({}, async (gate) => {
      const { toString: shown } = gate.functions({ toString: { description: "Shows.", input: city, run: () => "shown" } });
      await assert.rejects(shown({ city: "Rome" }), /requires approval/);
    });
  });

  test("a function without run, or without a schema, is a clear error", async () => {
    await withGate({}, async (gate) => {
      assert.throws(() => gate.functions({ f: { description: "x", input: city } as never }), /needs run/);
      assert.throws(() => gate.functions({ f: { description: "x", run: () => "" } as never }), GateUsageError);
    });
  });
});
