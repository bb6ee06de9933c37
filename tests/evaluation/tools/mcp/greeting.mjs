import readline from "node:readline";
const tool = {name: "greet", description: "Greets.", inputSchema: {type: "object", properties: {name: {type: "string"}}}};
const answers = {
  initialize: (p) => ({protocolVersion: p.protocolVersion, capabilities: {tools: {}}, serverInfo: {name: "n", version: "1"}}),
  "tools/list": () => ({tools: [tool]}),
  "tools/call": (p) => ({content: [{type: "text", text: `Hello ${p.arguments.name}`}]}),
};
for await (const line of readline.createInterface({input: process.stdin})) {
  const {id, method, params} = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const body = answer ? {result: answer(params)} : {error: {code: -32601, message: "no"}};
  console.log(JSON.stringify({jsonrpc: "2.0", id, ...body}));
}
