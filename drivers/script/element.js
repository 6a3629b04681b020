// ready says why the element cannot be acted upon yet; null when it can.
const ready = (selector, el) => {
  if (!el) return no('no element matches');
  if (!visible(el)) return no('the element is not visible');
  return null;
};

const waitVisible = ({selector, capMs}) => until(capMs, () => ready(selector, find(selector)) || {ok: true});

// point waits for the element to be visible, enabled, still and on top, scrolls it into view and gives its middle in
// CSS pixels of the viewport.
const point = ({selector, enabled, capMs}) => until(capMs, async () => {
  const el = find(selector), wait = ready(selector, el);
  if (wait) return wait;
  if (enabled && disabled(el)) return no('the element is disabled');
  el.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
  const before = el.getBoundingClientRect();
  await frame();
  const r = el.getBoundingClientRect();
  if (!el.isConnected || r.x !== before.x || r.y !== before.y || r.width !== before.width || r.height !== before.height) {
    return no('the element is moving');
  }
  // An inline element that wraps has a middle outside of itself: its first box is meant.
  const box = el.getClientRects().length > 1 ? el.getClientRects()[0] : r;
  const x = box.x + box.width / 2, y = box.y + box.height / 2;
  let hit = document.elementFromPoint(x, y);
  while (hit && hit.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  if (!hit) return no('the middle of the element is outside the viewport');
  for (let up = hit; up; up = up.parentNode || up.host) if (up === el) return {ok: true, x, y};
  if (hit.closest('label')?.control === el || hit.contains(el)) return {ok: true, x, y};
  return no('the element is covered by ' + name(hit));
});

const focus = ({selector, capMs}) => until(capMs, () => {
  const el = find(selector), wait = ready(selector, el);
  if (wait) return wait;
  el.focus({preventScroll: false});
  return {ok: true};
});

const scroll = ({selector, dx, dy, capMs}) => {
  if (!selector) {
    scrollBy({left: dx, top: dy, behavior: 'instant'});
    return {ok: true};
  }
  return until(capMs, () => {
    const el = find(selector);
    if (!el) return no('no element matches');
    el.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
    return {ok: true};
  });
};
