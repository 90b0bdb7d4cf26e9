// Works with the toolset `devworkflow` by both TypeScript SDKs and the Inspector: by the state file and
// by a graph, over standard input and output and over HTTP.
//
//     node devworkflow.mjs BINARY WORKFLOWS
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Agent } from './agent.mjs';
import { SETTINGS, byFile, byGraph } from './guided.mjs';
import { Http, MODERN, Stdio, soon, byPerson } from './place.mjs';

const [binary, workflows] = process.argv.slice(2);
const about = { name: 'clients', version: '1' };

class Guided extends Agent {
  call(params) {
    return this.client.callTool(params);
  }
}

async function drive(label, Kind, client, { Stdio: StdioTransport, Http: HttpTransport }) {
  const place = await Kind.open(binary, workflows, SETTINGS);
  try {
    const transport = place.endpoint
      ? new HttpTransport(new URL(place.endpoint), byPerson)
      : new StdioTransport({ command: binary, args: ['mcp'], cwd: place.folder, env: place.environment });
    await soon(label, async () => {
      await client.connect(transport);
      const agent = new Guided(client);
      await byFile(agent, place);
      await byGraph(agent);
    });
    console.log(`${label}, devworkflow, ${Kind.name.toLowerCase()}: an item and a graph`);
    await client.close();
  } finally {
    await place.close();
  }
}

for (const Kind of [Stdio, Http]) {
  await drive('typescript sdk 1', Kind, new ClientV1(about), { Stdio: StdioV1, Http: HttpV1 });
  for (const mode of ['auto', 'legacy', { pin: MODERN }]) {
    const client = new ClientV2(about, { versionNegotiation: { mode } });
    const label = `typescript client 2, mode ${JSON.stringify(mode)}`;
    await drive(label, Kind, client, { Stdio: StdioV2, Http: HttpV2 });
  }
}
