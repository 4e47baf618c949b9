/** Files that hold secrets by their name or place, whatever the case. */
export declare function isSensitive(path: string): boolean;
/** The kernel's and the devices' trees are no files of anybody's workspace, wherever that is. */
export declare function isSystemTree(path: string): boolean;
