// Works whole workflows from start to end with both TypeScript SDKs: in every era of the protocol,
// over standard input and output and over HTTP.
//
//     node drive.mjs BINARY WORKFLOWS
import assert from 'node:assert/strict';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { Agent, Person, Updates, release, rollout } from './agent.mjs';
import { Http, MODERN, Stdio, soon, byPerson } from './place.mjs';

const [binary, workflows] = process.argv.slice(2);
const about = { name: 'clients', version: '1' };

class AgentV1 extends Agent {
  constructor(client, ...rest) {
    super(client, ...rest);
    const { person, updates } = this;
    client.setRequestHandler(ElicitRequestSchema, async it => person.answer(it));
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, it => updates.put(it));
  }

  call(params, options) {
    return this.client.callTool(params, undefined, options);
  }
}

class AgentV2 extends Agent {
  constructor(client, ...rest) {
    super(client, ...rest);
    const { person, updates } = this;
    client.setRequestHandler('elicitation/create', async it => person.answer(it));
    client.setNotificationHandler('notifications/resources/updated', it => updates.put(it));
  }

  call(params, options) {
    return this.client.callTool(params, options);
  }
}

/** Connects a client of either SDK to the server of a place, and has it work there. */
async function drive(label, Kind, { client, Stdio: StdioTransport, Http: HttpTransport, Agent: Kin }) {
  const place = await Kind.open(binary, workflows);
  try {
    const transport = place.endpoint
      ? new HttpTransport(new URL(place.endpoint), byPerson)
      : new StdioTransport({ command: binary, args: ['mcp'], cwd: place.folder, env: place.environment });
    let agreed;
    if (!client.getNegotiatedProtocolVersion) {
      const set = transport.setProtocolVersion?.bind(transport);
      transport.setProtocolVersion = version => {
        agreed = version;
        set?.(version);
      };
    }
    const version = () => client.getNegotiatedProtocolVersion?.() ?? agreed;
    const agent = new Kin(client, new Person(), new Updates(), version);
    await soon(label, async () => {
      await client.connect(transport);
      await release(agent, place);
      await rollout(agent, place);
    });
    assert.equal(agent.person.will.length, 0, 'the person was not asked');
    console.log(`${label}, ${Kind.name.toLowerCase()}: whole runs in revision ${version()}`);
    await client.close();
  } finally {
    await place.close();
  }
}

for (const Kind of [Stdio, Http]) {
  const capabilities = { elicitation: { form: {} } };
  const client = new ClientV1(about, { capabilities: { elicitation: {} } });
  await drive('typescript sdk 1', Kind, { client, Stdio: StdioV1, Http: HttpV1, Agent: AgentV1 });
  for (const mode of ['auto', 'legacy', { pin: MODERN }]) {
    const client = new ClientV2(about, { capabilities, versionNegotiation: { mode } });
    const label = `typescript client 2, mode ${JSON.stringify(mode)}`;
    await drive(label, Kind, { client, Stdio: StdioV2, Http: HttpV2, Agent: AgentV2 });
  }
}
