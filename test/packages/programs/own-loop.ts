import { createGate } from "@assent/gate";
import { askPerson, calls, functions, sent } from "./application.ts";

const gate = await createGate({
  rules: { allow: ["mail:to=*@example.test"], deny: ["shell:command=rm*"] },
  approve: async (approval) => ((await askPerson(approval)) ? "approve" : { reject: "not now" }),
});
gate.functions(functions);
const turn = await gate.run(calls); // the calls of one answer; then append turn.calls to the history
console.log(turn.calls.length === 3 ? "Done." : "", sent.join());
