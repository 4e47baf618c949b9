import { defineTool, type Tool } from "@assent/core";
import { description } from "../description.ts";
import { object } from "../schema/fields.ts";

/** Lets the model plan before it acts. It only tightens, so nobody is asked; the runtime is its body. */
export function enterPlanModeTool(): Tool {
  return defineTool({
    name: "enter_plan_mode",
    title: "Enter plan mode",
    description: description("enter-plan-mode"),
    kind: "think",
    input: object({}),
    runtimeHandler: "enter_plan_mode",
    describe: () => "Enter plan mode",
    permission: () => "allow",
  });
}
