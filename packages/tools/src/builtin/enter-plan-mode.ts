import { defineTool, type Tool } from "@assent/core";
import { object } from "../schema/fields.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

export const ENTER_PLAN_MODE: ToolListing = { name: "enter_plan_mode", title: "Enter plan mode", kind: "think" };

/** Lets the model switch to plan mode. It never asks, because plan mode only restricts. The runtime implements it. */
export function enterPlanModeTool(): Tool {
  return defineTool({
    ...listedFields(ENTER_PLAN_MODE),
    input: object({}),
    runtimeHandler: "enter_plan_mode",
    describe: () => "Enter plan mode",
    permission: () => "allow",
  });
}
