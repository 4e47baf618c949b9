/** The media type of a file that can be given as it is, by its first bytes and not by its name; undefined for all others. */
export declare function mediaTypeOf(start: Uint8Array): string | undefined;
