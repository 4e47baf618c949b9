// Shows what a deployment would do, and deploys only when `resolve` applies it.
import type { CustomToolFactory } from "@assent/tools";

const deploy: CustomToolFactory = ({ zod, tool, exec }) =>
  // `tool` infers the type of `params` from the schema below.
  tool({
    name: "deploy",
    label: "Deploy",
    description: "Prepares a deployment of one service. It happens when it is applied.",

    // The preview only reads. Assent decides separately about the apply, as `deploy.apply`, and asks a person.
    kind: "read",

    parameters: zod.object({
      service: zod.string().regex(/^[a-z]+$/),
      copies: zod.number().int().min(1).max(9).default(1),
    }),

    async execute(_toolCallId, { service, copies }, _onUpdate, ctx) {
      const label = `Deploy ${copies} of ${service}`;
      ctx.pushPendingAction({
        label,
        sourceToolName: "deploy",
        details: { service, copies },
        apply: async (reason) => {
          const { code, stderr } = await exec("sh", ["-c", `echo "${service} ${copies}" >> deployed.txt`]);
          if (code !== 0) throw new Error(stderr);
          return { content: [{ type: "text", text: `Deployed ${copies} of ${service}: ${reason}` }] };
        },
        reject: () => ({ content: [{ type: "text", text: `${service} stays as it is.` }] }),
      });
      return { content: [{ type: "text", text: `${label}: nothing has happened yet.` }] };
    },
  });

export default deploy;
