/** The `code` of a system error, if the thrown thing has one. */
export declare function errorCode(error: unknown): string | undefined;
