// Reads the document as drivers.Snapshot wants it. Everything is measured and cut here, before the transfer.
({maxBytes, maxText, maxFrames, maxFrameHTML}) => {
  const shadows = [], frames = [], texts = [];
  const walk = root => {
    for (const el of root.querySelectorAll('*')) {
      if (el.shadowRoot) {
        shadows.push(el.shadowRoot);
        walk(el.shadowRoot);
      } else if (el.localName === 'iframe' || el.localName === 'frame') frames.push(el);
    }
  };
  walk(document);

  const markup = () => {
    const root = document.documentElement;
    if (!root) return '';
    const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) + '\n' : '';
    if (!shadows.length || !root.getHTML) return type + root.outerHTML;
    const shell = root.cloneNode(false).outerHTML, end = shell.lastIndexOf('</');
    return type + shell.slice(0, end) + root.getHTML({shadowRoots: shadows}) + shell.slice(end);
  };
  const cut = html => {
    // A UTF-16 unit takes at most 3 bytes of UTF-8.
    const room = new Uint8Array(Math.min(maxBytes, html.length * 3));
    const {read, written} = new TextEncoder().encodeInto(html, room);
    if (read === html.length) return {html, htmlBytes: written, truncated: false};
    return {html: html.slice(0, read), htmlBytes: new Blob([html]).size, truncated: true};
  };

  const body = document.body;
  if (body && body.checkVisibility()) texts.push(body.innerText);
  else if (!body && document.documentElement) texts.push(document.documentElement.textContent);
  // innerText leaves shadow trees out.
  for (const root of shadows) {
    for (const el of root.children) {
      if (el.localName !== 'style' && el.localName !== 'script' && el.innerText && el.checkVisibility()) texts.push(el.innerText);
    }
  }
  const text = texts.join('\n');
  const folded = text.replace(/\s+/g, ' ').trim();
  const pairs = folded.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g);

  const frameOf = el => {
    const r = el.getBoundingClientRect();
    const f = {
      url: el.src || '',
      width: Math.round(r.width),
      height: Math.round(r.height),
      visible: r.width > 1 && r.height > 1 && el.checkVisibility({visibilityProperty: true, opacityProperty: true}),
    };
    try { // another origin's document throws or is null
      f.url = el.contentWindow.location.href;
      f.html = el.contentDocument.documentElement.outerHTML.slice(0, maxFrameHTML).toWellFormed();
    } catch { /* the address in the element has to do */ }
    return f;
  };

  return {
    url: location.href,
    title: document.title.slice(0, 1000).toWellFormed(),
    lang: document.documentElement?.lang || '',
    contentType: document.contentType,
    ...cut(markup()),
    visibleText: text.slice(0, maxText).toWellFormed(),
    visibleLen: folded.length - (pairs ? pairs.length : 0),
    frames: frames.slice(0, maxFrames).map(frameOf),
  };
}
