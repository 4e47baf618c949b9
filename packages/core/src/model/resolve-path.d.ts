/** A path made absolute from a directory, with `.`, `..` and repeated slashes removed without looking at the disk. */
export declare function resolvePath(cwd: string, path: string): string;
