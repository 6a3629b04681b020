// Resolves with what ended the wait: 'marker', 'quiet' or 'cap'. Nothing is polled.
({marker, quietMs, capMs}) => new Promise(resolve => {
  let quiet = 0;
  const shown = () => marker !== '' && document.querySelector(marker) !== null;
  const finish = why => {
    observer.disconnect();
    clearTimeout(quiet);
    clearTimeout(cap);
    removeEventListener('DOMContentLoaded', look);
    resolve(why);
  };
  const look = () => {
    clearTimeout(quiet);
    if (shown()) return finish('marker');
    // While the parser waits for bytes the document is still, and not settled.
    if (document.readyState !== 'loading') quiet = setTimeout(finish, quietMs, 'quiet');
  };
  const observer = new MutationObserver(records => {
    // Scripts that animate by hand write style on every frame.
    if (records.some(r => r.attributeName !== 'style')) look();
  });
  const cap = setTimeout(finish, capMs, 'cap');
  if (shown()) return finish('marker');
  observer.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
  addEventListener('DOMContentLoaded', look);
  look();
})
