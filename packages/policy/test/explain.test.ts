import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { explain } from "../src/explain.ts";
import { bench } from "./workspace-bench.ts";

const settings = {
  permissions: { allow: ["Shell(make)"], deny: [{ rule: "Shell(curl)", because: "no network" }] },
  proposals: { stage: ["Edit(src/**)"] },
};

describe("an explanation", () => {
  test("says who decided by which rule, and under which policy", async (t) => {
    const { assess, source } = bench(t, settings);
    const { verdict, reason, rule, unit, units, revision, facts, staging } = explain(await assess("shell", { command: "make; curl x" }));
    assert.deepEqual([verdict, reason, unit, units], ["deny", "checker", 1, 2]);
    assert.deepEqual([rule?.text, rule?.because, rule?.source], ["Shell(curl)", "no network", "user permissions"]);
    assert.deepEqual([revision, facts, staging], [source.current().revision, undefined, undefined]);
  });

  test("of a shell line has the plan, and of each command what is decided about it alone", async (t) => {
    const { plan } = explain(await bench(t, settings).assess("shell", { command: "make; curl x; ls; foo" }));
    assert.match(plan?.digest ?? "", /^sha256:/u);
    assert.deepEqual(
      plan?.commands.map(({ argv, verdict, rule, source }) => [argv[0]?.text, verdict, rule, source]),
      [
        ["make", "allow", "Shell(make)", "user permissions"],
        ["curl", "deny", "Shell(curl)", "user permissions"],
        ["ls", "allow", undefined, "readonly_hint"],
        ["foo", "ask", undefined, "default"],
      ],
    );
  });

  test("of a path has the facts and no plan, and names no rule where none spoke", async (t) => {
    const { workspace, assess } = bench(t);
    const { plan, facts, rule } = explain(await assess("read", { file_path: "a" }));
    assert.deepEqual([plan, rule], [undefined, null]);
    assert.deepEqual(facts, {
      paths: [{ lexical: `${workspace}/a`, real: `${workspace}/a`, inside: true, sensitive: false, control: false }],
    });
  });

  test("of a tool without places has neither", async (t) => {
    const told = explain(await bench(t).assess("deploy", {}));
    assert.deepEqual(["plan" in told, "facts" in told], [false, false]);
  });

  for (const [sentence, file_path, by] of [
    ["names the rule that stages it", "src/a", "Edit(src/**)"],
    ["names none where the tool always stages", "lib/a", undefined],
  ] as const) {
    test(`of a call that is staged ${sentence}`, async (t) => {
      const { assess, source, workspace } = bench(t, settings);
      const applying = await assess("write", { file_path: `${workspace}/${file_path}`, content: "" });
      const reading = await assess("read", { file_path });
      const { verdict, staging } = explain(applying, { reading, rules: source.loaded().stage });
      assert.equal(verdict, "ask");
      assert.deepEqual([staging?.by?.text, staging?.verdict, staging?.reason, staging?.units], [by, "allow", "readonly_hint", 1]);
      assert.deepEqual([staging?.rule, staging?.trace.length], [null, reading.decision.trace.length]);
    });
  }
});
