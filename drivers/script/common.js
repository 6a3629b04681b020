// Shared by the scripts that wait for an element. Answers are {ok: true, ...} or {ok: false, reason: '...'}.
const roots = function* (root) {
  yield root;
  for (const el of root.querySelectorAll('*')) if (el.shadowRoot) yield* roots(el.shadowRoot);
};
const find = selector => {
  const direct = document.querySelector(selector);
  if (direct) return direct;
  for (const root of roots(document)) {
    const el = root.querySelector(selector);
    if (el) return el;
  }
  return null;
};
const visible = el => {
  if (!el.checkVisibility({visibilityProperty: true})) return false;
  const r = el.getBoundingClientRect();
  return r.width > 0 && r.height > 0;
};
const disabled = el => el.matches(':disabled') || !!el.closest('[aria-disabled="true"]');
const name = el => {
  const id = el.id ? '#' + el.id : el.classList.length ? '.' + el.classList[0] : '';
  return (el.localName + id).slice(0, 80);
};
const no = reason => ({ok: false, reason});

// A frame, or 50 ms where the browser draws none.
const frame = () => new Promise(done => {
  const t = setTimeout(done, 50);
  requestAnimationFrame(() => { clearTimeout(t); done(); });
});
// The next change of the document, or 100 ms: no observer sees a style sheet arrive or an animation end.
const change = () => new Promise(done => {
  const stop = () => { observer.disconnect(); clearTimeout(timer); setTimeout(done, 16); };
  const observer = new MutationObserver(stop), timer = setTimeout(stop, 100);
  observer.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
});
// until asks check again and again until it is ok or capMs have passed (0: no limit), and gives its last answer.
const until = (capMs, check) => new Promise((resolve, reject) => {
  let last = no('the page was too busy to look'), over = false;
  const timer = capMs > 0 ? setTimeout(() => { over = true; resolve(last); }, capMs) : 0;
  const loop = async () => {
    while (!over) {
      last = await check();
      if (last.ok || last.final) break;
      await change();
    }
    clearTimeout(timer);
    resolve(last);
  };
  loop().catch(reject);
});
