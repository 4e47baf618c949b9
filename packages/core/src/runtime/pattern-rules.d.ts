import type { Rules } from "../ports.ts";
/**
 * Remembered answers in the `tool:arg=glob` notation; what is offered is the tool's name.
 * A tool that executes has its `command` read narrowly: only a line of plain words is ever covered.
 */
export declare const patternRules: Rules;
