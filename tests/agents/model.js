// Plays the model for coding agents: no network, no account, the same answers every time.
//
// A prompt brings its own script, so nothing is remembered here between two requests:
//
//   [[{"log": FILE, "steps": [{"tool": "Write", "input": {...}}, {"until": FILE, "tool": ...}]}]]
//
// or, for a host that rewrites what it is told, names a file with it: [[script:FILE]].
//
// As many steps as the request already shows calls of tools are done. The next one is answered, once the file
// that it waits for (`until`) is there. What the last call gave goes into the log, one JSON string per line.
// Then "done".
//
// Prints the port it listens on.
'use strict';
const fs = require('fs');
const http = require('http');

const LONGEST_WAIT_MS = 120000;

const texts = (content) =>
    typeof content === 'string' ? content : (content || []).map((part) => part.text || '').join('\n');

// The conversation in the one form that all hosts have in common.
function conversation(body) {
  // What a host says beside a result belongs to it.
  const turns = {user: [], calls: 0, results: [], aside: ''};
  for (const item of body.messages || []) {
    if (item.role === 'assistant') {
      turns.calls += [].concat(item.content).filter((part) => part && part.type === 'tool_use').length;
      turns.calls += (item.tool_calls || []).length;
      turns.aside = '';
    } else if (item.role === 'tool') {
      turns.results.push(texts(item.content));
    } else {
      turns.user.push(texts(item.content));
      turns.aside += texts(item.content);
      for (const part of [].concat(item.content)) {
        if (part.type === 'tool_result') turns.results.push(texts(part.content));
      }
    }
  }
  for (const item of body.input || []) {
    if (item.type === 'function_call' || item.type === 'custom_tool_call') {
      turns.calls += 1;
      turns.aside = '';
    }
    if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
      turns.results.push(typeof item.output === 'string' ? item.output : JSON.stringify(item.output));
    }
    if (item.type === 'message' && item.role === 'user') turns.user.push(texts(item.content));
    if (item.type === 'message' && item.role !== 'assistant') turns.aside += texts(item.content);
  }
  for (const item of body.contents || []) {
    for (const part of item.parts || []) {
      if (part.functionCall) turns.calls += 1;
      if (part.functionResponse) turns.results.push(JSON.stringify(part.functionResponse.response));
      if (part.text && item.role === 'user') turns.user.push(part.text);
    }
  }
  return turns;
}

function scriptOf(turns) {
  for (const text of turns.user) {
    const file = text.match(/\[\[script:(\S+?)\]\]/);
    if (file) return JSON.parse(fs.readFileSync(file[1]));
    const begin = text.indexOf('[[{');
    const end = text.lastIndexOf('}]]');
    if (begin >= 0 && end > begin) return JSON.parse(text.slice(begin + 2, end + 1));
  }
  return {steps: []};
}

async function waitFor(file) {
  const began = Date.now();
  while (!fs.existsSync(file) && Date.now() - began < LONGEST_WAIT_MS) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function nextStep(body) {
  // Titles and summaries are asked for without tools.
  if (!body.tools || body.tools.length === 0) return {say: 'a title'};
  const turns = conversation(body);
  const script = scriptOf(turns);
  if (script.log && turns.results.length > 0) {
    fs.appendFileSync(script.log, JSON.stringify(turns.results[turns.results.length - 1] + turns.aside) + '\n');
  }
  const step = script.steps[turns.calls] || {say: 'done'};
  if (step.until) await waitFor(step.until);
  return {...step, id: 'call_' + turns.calls};
}

// For Copilot and OpenCode.
function chat(response, body, step) {
  const delta = step.tool ? {
    role: 'assistant',
    tool_calls: [{
      index: 0,
      id: step.id,
      type: 'function',
      function: {name: step.tool, arguments: JSON.stringify(step.input)}
    }]
  } :
                            {role: 'assistant', content: step.say};
  const chunk = (change, reason) => ({
    id: 'c_1',
    object: 'chat.completion.chunk',
    created: 1,
    model: body.model,
    choices: [{index: 0, delta: change, finish_reason: reason}]
  });
  response.writeHead(200, {'Content-Type': 'text/event-stream'});
  for (const one of [chunk(delta, null), chunk({}, step.tool ? 'tool_calls' : 'stop')]) {
    response.write(`data: ${JSON.stringify(one)}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}

function gemini(response, step, isStream) {
  const part = step.tool ? {functionCall: {name: step.tool, args: step.input}} : {text: step.say};
  const answer = {
    candidates: [{content: {role: 'model', parts: [part]}, finishReason: 'STOP', index: 0}],
    usageMetadata: {promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2}
  };
  response.writeHead(200, {'Content-Type': isStream ? 'text/event-stream' : 'application/json'});
  response.end(isStream ? `data: ${JSON.stringify(answer)}\n\n` : JSON.stringify(answer));
}

function send(response, events) {
  response.writeHead(200, {'Content-Type': 'text/event-stream'});
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}

function claude(response, body, step) {
  const block = step.tool ? {type: 'tool_use', id: 'toolu_' + step.id, name: step.tool, input: {}} :
                            {type: 'text', text: ''};
  const delta = step.tool ? {type: 'input_json_delta', partial_json: JSON.stringify(step.input)} :
                            {type: 'text_delta', text: step.say};
  const usage = {input_tokens: 1, output_tokens: 1};
  const message = {
    id: 'msg_' + step.id,
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  send(response, [
    {type: 'message_start', message},
    {type: 'content_block_start', index: 0, content_block: block},
    {type: 'content_block_delta', index: 0, delta},
    {type: 'content_block_stop', index: 0},
    {
      type: 'message_delta',
      delta: {stop_reason: step.tool ? 'tool_use' : 'end_turn', stop_sequence: null},
      usage
    },
    {type: 'message_stop'},
  ]);
}

function codexItem(step) {
  if (!step.tool) {
    return {type: 'message', role: 'assistant', id: 'm_1', content: [{type: 'output_text', text: step.say}]};
  }
  if (typeof step.input === 'string') {
    return {
      type: 'custom_tool_call',
      id: 'i_' + step.id,
      call_id: step.id,
      name: step.tool,
      input: step.input
    };
  }
  return {
    type: 'function_call',
    id: 'i_' + step.id,
    call_id: step.id,
    name: step.tool,
    arguments: JSON.stringify(step.input),
    ...(step.namespace ? {namespace: step.namespace} : {}),
  };
}

function codex(response, step) {
  const usage = {input_tokens: 1, output_tokens: 1, total_tokens: 2};
  send(response, [
    {type: 'response.created', response: {id: 'r_1'}},
    {type: 'response.output_item.done', output_index: 0, item: codexItem(step)},
    {type: 'response.completed', response: {id: 'r_1', usage}},
  ]);
}

const server = http.createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', async () => {
    const url = new URL(request.url, 'http://localhost');
    const body = parts.length > 0 && request.method === 'POST' ? JSON.parse(Buffer.concat(parts)) : {};
    if (process.env.MODEL_TRACE) {
      fs.appendFileSync(
          process.env.MODEL_TRACE, `${request.method} ${request.url} ${JSON.stringify(body)}\n`);
    }
    if (url.pathname === '/v1/messages')
      claude(response, body, await nextStep(body));
    else if (url.pathname === '/v1/responses')
      codex(response, await nextStep(body));
    else if (url.pathname === '/v1/chat/completions')
      chat(response, body, await nextStep(body));
    else if (/enerateContent$/.test(url.pathname))
      gemini(response, await nextStep(body), url.pathname.includes(':stream'));
    else {
      response.writeHead(
          url.pathname.endsWith('count_tokens') ? 200 : 404, {'Content-Type': 'application/json'});
      response.end(JSON.stringify({input_tokens: 1}));
    }
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
