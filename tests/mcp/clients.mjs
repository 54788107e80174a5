// Drives `lease mcp`, or a daemon's /mcp, through an official client, as a host would.
//
//   node clients.mjs FOLDER sdk|legacy|auto|modern stdio LEASE WORKSPACE
//   node clients.mjs FOLDER sdk|legacy|auto|modern http ADDRESS
//
// FOLDER is where tests/mcp/install put the clients. Exit status 0: all went as it should.
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const [folder, kind, carrier, where, workspace] = process.argv.slice(2);
const require = createRequire(folder + '/package.json');
// What is only exported for `import` is found beside what is exported for `require`, too.
const load = (name) => import(pathToFileURL(require.resolve(name)));

const about = {name: 'clients-' + kind, version: '1'};
const VERSIONS = {legacy: 'legacy', auto: 'auto', modern: {pin: '2026-07-28'}};
const hasHandshake = kind === 'sdk' || kind === 'legacy';
const UPDATED = 'notifications/resources/updated';

async function transportFor(name) {
  if (carrier === 'http') {
    const {StreamableHTTPClientTransport} = await load(
        kind === 'sdk' ? '@modelcontextprotocol/sdk/client/streamableHttp.js' : '@modelcontextprotocol/client');
    return new StreamableHTTPClientTransport(new URL(`${where}?agent_id=${about.name}&session_id=${name}`));
  }
  const {StdioClientTransport} = await load(
      kind === 'sdk' ? '@modelcontextprotocol/sdk/client/stdio.js' : '@modelcontextprotocol/client/stdio');
  return new StdioClientTransport(
      {command: where, args: ['mcp', '-C', workspace, '--session', name], stderr: 'inherit'});
}

async function client(name) {
  const {Client} = await load(
      kind === 'sdk' ? '@modelcontextprotocol/sdk/client/index.js' : '@modelcontextprotocol/client');
  const made = kind === 'sdk' ? new Client(about) :
                                new Client(about, {versionNegotiation: {mode: VERSIONS[kind]}});
  const transport = await transportFor(name);
  await made.connect(transport);
  made.end = async () => {
    if (carrier === 'http' && hasHandshake) await transport.terminateSession();
    await made.close();
  };
  return made;
}

// Calls `tell` with the URI whenever the resource changes from now on.
async function follow(who, uri, tell) {
  let what = UPDATED;
  if (kind === 'sdk') {
    what = (await load('@modelcontextprotocol/sdk/types.js')).ResourceUpdatedNotificationSchema;
  }
  who.setNotificationHandler(what, ({params}) => tell(params.uri));
  if (hasHandshake) await who.subscribeResource({uri});
  else await who.listen({resourceSubscriptions: [uri]});
}

const call = (who, name, args, options) => kind === 'sdk' ?
    who.callTool({name, arguments: args}, undefined, options) :
    who.callTool({name, arguments: args}, options);

const ann = await client('ann');
const bob = await client('bob');

const {tools} = await ann.listTools();
assert.equal(tools.length, 6);
assert.ok(tools.every((tool) => tool.inputSchema && tool.outputSchema && tool.annotations));
assert.ok(JSON.stringify(tools).length / 4 < 1500);

// Looking changes nothing.
assert.deepEqual((await call(ann, 'lease_status', {})).structuredContent.leases, []);

const granted = await call(ann, 'lease_acquire', {paths: ['src/a.ts'], reason: 'rename'});
assert.equal(granted.structuredContent.decision, 'granted');
assert.ok(!granted.isError);
assert.ok(granted.structuredContent.leases.some((one) => one.path === '/tests/a.test.ts'));

const refused = await call(bob, 'lease_acquire', {paths: ['src/a.ts']});
assert.equal(refused.isError, true);
assert.equal(refused.structuredContent.error.code, 'busy');
assert.equal(refused.structuredContent.blocked[0].session_id, 'ann');
assert.equal(refused.structuredContent.next.tool, 'lease_acquire');

// A wait that is given up leaves nothing behind; and it tells how it goes on.
const gone = new AbortController();
let told = 0;
const waiting = call(bob, 'lease_acquire', {paths: ['src/a.ts'], wait_seconds: 60}, {
  signal: gone.signal,
  onprogress: () => {
    if (++told === 2) gone.abort('enough');
  },
});
await assert.rejects(waiting);
assert.equal(told, 2);
for (;;) {
  const {leases} = (await call(ann, 'lease_status', {paths: ['src/a.ts']})).structuredContent;
  if (leases.every((one) => one.status === 'active')) break;
}

// A wait that is not ends with the release.
const next = call(bob, 'lease_acquire', refused.structuredContent.next.arguments);
await call(ann, 'lease_release', {all: true});
assert.equal((await next).structuredContent.decision, 'granted');

const gate = await call(ann, 'lease_gate', {paths: ['src/a.ts']});
assert.equal(gate.structuredContent.code, 'retry_later');
const moved = await call(bob, 'lease_transfer', {to: about.name, to_session: 'ann', paths: ['src/a.ts']});
assert.ok(!moved.isError, JSON.stringify(moved));
// What was handed over goes with its tests, and is the new owner's to give back.
const back = await call(ann, 'lease_release', {all: true});
assert.equal(back.structuredContent.outcomes.length, 2);
const history = await call(ann, 'lease_history', {path: 'src/a.ts'});
assert.ok(history.structuredContent.events.length >= 3);

// Resources.
const {resources} = await ann.listResources();
assert.equal(resources[0].uri, 'lease://board');
const board = await ann.readResource({uri: 'lease://board'});
assert.deepEqual(JSON.parse(board.contents[0].text).leases, []);

await assert.rejects(call(ann, 'no_such_tool', {}));

// What another one does is told to who follows it.
const told_of = new Promise((tell) => follow(ann, 'lease://file/docs', tell).then(async () => {
  assert.ok(!(await call(bob, 'lease_acquire', {paths: ['docs/x.md']})).isError);
}));
assert.equal(await told_of, 'lease://file/docs');

// It is still held when its client goes; but where there are no sessions, nobody notices that.
if (carrier === 'http' && !hasHandshake) await call(bob, 'lease_release', {all: true});
await ann.end();
await bob.end();
console.log('done');
