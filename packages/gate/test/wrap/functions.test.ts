import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import { CallError, GateUsageError } from "../../src/index.ts";
import { newStore, withGate } from "../gate-scene.ts";

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

  const values: readonly (readonly [sentence: string, value: unknown])[] = [
    ["null", null],
    ["nothing", undefined],
    ["an empty text", ""],
    ["blanks", " \n"],
    ["a text that is too long for a model", "x".repeat(300_000)],
    ["a text with many lines", "line\n".repeat(3_000)],
    ["false", false],
    ["zero", 0],
    ["a list", [1, null, "x"]],
    ["an object with fields of a result", { content: "x", error: { message: "y" } }],
  ];
  for (const store of [undefined, "durable"])
    for (const [sentence, value] of values)
      test(`a function that returns ${sentence} returns the same behind the gate, ${store ?? "in memory"}`, async () => {
        await withGate({ ...(store !== undefined && { store: newStore() }) }, async (gate) => {
          const { find } = gate.functions({ find: { description: "Finds.", input: city, run: () => value } }, { find: { kind: "read" } });
          assert.deepEqual(await find({ city: "Rome" }), value);
        });
      });

  test("a text comes back as it was, also if a person edited the input; the model learns of the edit", async () => {
    const approve = async () => ({ outcome: "approve", updatedInput: { city: "Rome" } }) as const;
    await withGate({ approve }, async (gate) => {
      const { book } = gate.functions({
        book: { description: "Books.", input: city, run: (given: { city: string }) => `Booked ${given.city}.` },
      });
      assert.equal(await book({ city: "Rom" }), "Booked Rome.");
      const { calls } = await gate.run([{ id: "1", name: "book", arguments: { city: "Rom" } }]);
      assert.deepEqual(
        [calls[0]?.value, calls[0]?.content],
        ["Booked Rome.", 'The input was edited before it ran: {"city":"Rome"}\nBooked Rome.'],
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
