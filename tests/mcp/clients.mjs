// Drives `lease mcp` through an official client, as a host would.
//
//   node clients.mjs FOLDER sdk|legacy|auto|modern LEASE WORKSPACE
//
// FOLDER is where tests/mcp/install put the clients. Exit status 0: all went as it should.
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const [folder, kind, lease, workspace] = process.argv.slice(2);
const require = createRequire(folder + '/package.json');
// What is only exported for `import` is found beside what is exported for `require`, too.
const load = (name) => import(pathToFileURL(require.resolve(name)));

const about = {name: 'clients-' + kind, version: '1'};
const VERSIONS = {legacy: 'legacy', auto: 'auto', modern: {pin: '2026-07-28'}};

async function client(name) {
  const command = {command: lease, args: ['mcp', '-C', workspace, '--session', name], stderr: 'inherit'};
  let made, transport;
  if (kind === 'sdk') {
    const {Client} = await load('@modelcontextprotocol/sdk/client/index.js');
    const {StdioClientTransport} = await load('@modelcontextprotocol/sdk/client/stdio.js');
    made = new Client(about);
    transport = new StdioClientTransport(command);
  } else {
    const {Client} = await load('@modelcontextprotocol/client');
    const {StdioClientTransport} = await load('@modelcontextprotocol/client/stdio');
    made = new Client(about, {versionNegotiation: {mode: VERSIONS[kind]}});
    transport = new StdioClientTransport(command);
  }
  await made.connect(transport);
  return made;
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
assert.equal(granted.structuredContent.status, 'granted');
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
assert.equal((await next).structuredContent.status, 'granted');

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

// Still held when its client goes.
assert.ok(!(await call(bob, 'lease_acquire', {paths: ['docs/x.md']})).isError);

await ann.close();
await bob.close();
console.log('done');
