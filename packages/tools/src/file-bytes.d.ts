import type { RegularFile } from "@assent/host";
/** Opens a regular file for the time of `use`, links followed. */
export declare function withRegularFile<T>(path: string, use: (file: RegularFile) => Promise<T>): Promise<T>;
/** The bytes of an open file, piece by piece. A piece is only valid until the next is asked for. */
export declare function pieces({ handle }: RegularFile, signal?: AbortSignal): AsyncGenerator<Buffer>;
/** A file as it is now: its digest, and its text where it is text of a size worth comparing. */
export type CurrentFile = {
  readonly digest: string;
  readonly size: number;
  readonly text: string | undefined;
};
/** Undefined when there is no such file. */
export declare function currentFile(path: string, maxText: number): Promise<CurrentFile | undefined>;
/** The digest under which content will be found again. */
export declare function contentDigest(content: string): string;
