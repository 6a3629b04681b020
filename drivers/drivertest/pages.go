package drivertest

// pages are the bodies of the site's fixed documents, by path.
var pages = map[string]string{
	"/form": `<style>body{margin:0} #far{margin-top:3000px} #cover{position:absolute;top:0;left:0;width:300px;height:30px}</style>
<form action="/ok" onsubmit="log('submit'); return this.dataset.real === '1'">
<input id=name oninput="log('input')" onchange="log('change')"><textarea id=note></textarea>
<div id=rich contenteditable>old</div>
<input id=day type=date><input id=check type=checkbox><input id=readonly readonly value=fixed>
<select id=size onchange="log('size')"><option value=s>Small<option value=m>Medium<option value=l disabled>Large</select>
<select id=many multiple><option value=a>A<option value=b>B<option value=c>C</select>
<button id=go type=button onclick="log('go ' + event.isTrusted)">Go</button>
<button id=off type=button disabled>Off</button>
<button id=late type=button style="display:none" onclick="log('late')">Late</button>
<button id=hover type=button onmouseover="log('hover')">Hover</button><button hidden>Send</button>
</form>
<div style="position:relative;height:30px"><button id=under>Under</button><div id=cover></div></div>
<div id=host></div><button id=far onclick="log('far')">Far</button>
<pre id=log></pre>
<script>
function log(s) { document.getElementById('log').textContent += s + '\n'; }
const root = document.getElementById('host').attachShadow({mode: 'open'});
root.innerHTML = '<button id=inner>Inner</button>';
root.getElementById('inner').onclick = () => log('inner');
setTimeout(() => { document.getElementById('late').style.display = ''; }, 300);
</script>`,

	"/popup": `<button id=open onclick="window.open('/ok?popup')">Open</button><a id=blank href="/ok?blank" target=_blank>Blank</a>`,

	"/download": `<a id=get href="/file.zip">Get</a>`,

	"/dialogs": `<script>
alert('one');
document.title = JSON.stringify([confirm('two'), prompt('three', 'answer')]);
</script><h1>after</h1>`,

	"/flood": `<script>for (let i = 0; i < 30; i++) alert('again ' + i);</script><h1>after</h1>`,

	"/leave": `<button id=arm onclick="window.addEventListener('beforeunload', e => { e.preventDefault(); e.returnValue = 'x'; })">Arm</button>`,

	"/late": `<script>setTimeout(() => { document.body.innerHTML += '<p id=late>late</p>'; }, 400);</script>`,

	"/restless": `<p id=n>0</p><script>let n = 0; setInterval(() => { document.getElementById('n').textContent = ++n; }, 20);</script>`,

	"/hop": `<script>setTimeout(() => location.replace('/ok?hopped'), 100);</script>`,

	"/push": `<script>setTimeout(() => history.pushState({}, '', '/pushed?x=1'), 200);</script>`,

	"/spin": `<script>setTimeout(() => { const end = Date.now() + 15000; while (Date.now() < end); }, 100);</script>`,

	"/events": `<script>
console.warn('careful', 42);
fetch('/status?code=404&body=none');
fetch('/reset').catch(() => {});
setTimeout(() => { throw new Error('page is at fault'); }, 0);
</script>`,

	"/shadow": `<article id=card></article><iframe src="/frame" width=300 height=120></iframe>
<iframe src="about:blank" style="display:none"></iframe>
<script>
const root = document.getElementById('card').attachShadow({mode: 'open'});
root.innerHTML = '<p class=price>19.99 inside</p><div id=deep></div>';
root.getElementById('deep').attachShadow({mode: 'open'}).innerHTML = '<b>deeper still</b>';
</script>`,

	"/frame": `<p>framed words</p>`,

	"/nested": `<script>
let at = document.body;
for (let i = 0; i < 1000; i++) at = at.appendChild(document.createElement('div'));
at.textContent = 'the bottom';
</script>`,

	"/tall": `<style>body{margin:0}</style><div style="height:20000px;background:linear-gradient(red,blue)"></div>`,
}
