'use strict';
// Limpet starts this file where the library expects playwright-core's own cli.js. It gives node and the browser
// a temporary folder of their own, sends whatever node writes to stderr down a pipe whose end tells Limpet that
// node is gone, and then becomes cli.js. Nothing of the package is changed.
const fs = require('fs');
const path = require('path');
const stage = JSON.parse(fs.readFileSync(path.join(__dirname, 'stage.json'), 'utf8'));

fs.closeSync(2);
fs.openSync(stage.stderr, 'w'); // takes the lowest free descriptor: 2
fs.writeSync(2, `pid ${process.pid}\n`);

if (process.argv[2] === '--version') {
  // The library asks before each start; loading 3.6 MB of bundle to answer would cost 300 ms.
  console.log(require(path.join(stage.core, 'package.json')).version);
} else {
  process.env.TMPDIR = stage.temp;
  require(path.join(stage.core, 'cli.js'));
}
