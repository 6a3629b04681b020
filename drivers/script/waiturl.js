// Resolves once the address matches the pattern, in which * stands for any characters. A new document ends the
// script: the driver runs it again there.
({pattern, capMs}) => new Promise(resolve => {
  const parts = pattern.split('*').map(p => p.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  const want = new RegExp('^' + parts.join('.*') + '$', 's');
  const finish = answer => {
    navigation.removeEventListener('currententrychange', look);
    clearTimeout(cap);
    resolve(answer);
  };
  const look = () => { if (want.test(location.href)) finish({ok: true}); };
  const cap = capMs > 0 ? setTimeout(() => finish({ok: false, reason: 'the address is ' + location.origin + location.pathname}), capMs) : 0;
  navigation.addEventListener('currententrychange', look);
  look();
})
