/** The words of whatever was thrown; never throws itself. */
export declare function messageOf(thrown: unknown): string;
/** The error type of whatever a body threw: what it says of itself if a body may say so, else by the system's code, else `execution_failed`. */
export declare function errorTypeOf(thrown: unknown): string;
