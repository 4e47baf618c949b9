import type { Clock } from "@assent/core";
/**
 * The machine's clock. Timers run on the monotonic clock, so a step of the calendar neither shortens nor lengthens them, and they are unreferenced: alone they
 * keep no process alive. A tool's timeout still fires while its child runs, because the child itself keeps the process alive.
 */
export declare function systemClock(): Clock;
