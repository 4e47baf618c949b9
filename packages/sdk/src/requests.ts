import { isObject, type JsonObject } from "./json.ts";
import { SdkError } from "./sdk-error.ts";

/** Open requests from the host to Assent. */
export type Requests = {
  /** Rejects with `refused`, or with how the query ended. */
  ask(subtype: string, fields?: JsonObject): Promise<JsonObject>;
  settle(response: JsonObject): void;
  fail(error: Error): void;
};

type PendingRequest = { readonly resolve: (response: JsonObject) => void; readonly reject: (error: Error) => void };

/** Creates the open requests. `lift` applies while one is open, because its answer may come after lines that are not read yet. */
export function createRequests({
  write,
  lift,
}: {
  readonly write: (line: JsonObject) => Promise<void>;
  readonly lift: () => () => void;
}): Requests {
  const open = new Map<string, PendingRequest>();
  let last = 0;
  let failed: Error | undefined;

  async function ask(subtype: string, fields: JsonObject = {}): Promise<JsonObject> {
    if (failed) throw failed;
    last += 1;
    const id = `h${last}`;
    const release = lift();
    try {
      return await new Promise<JsonObject>((resolve, reject) => {
        open.set(id, { resolve, reject });
        write({ type: "control_request", request_id: id, request: { subtype, ...fields } }).catch(reject);
      });
    } finally {
      open.delete(id);
      release();
    }
  }

  return {
    ask,
    settle(response) {
      const waiting = open.get(String(response["request_id"]));
      if (response["subtype"] === "success") waiting?.resolve(isObject(response["response"]) ? response["response"] : {});
      else waiting?.reject(refusal(response));
    },
    fail(error) {
      failed ??= error;
      for (const { reject } of open.values()) reject(failed);
    },
  };
}

function refusal({ error, error_type: type }: JsonObject): SdkError {
  return new SdkError("refused", typeof error === "string" ? error : "Assent refused the request.", {
    reason: typeof type === "string" ? type : "unknown",
  });
}
