const never = reason => ({ok: false, final: true, reason});
const fire = el => {
  el.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
  el.dispatchEvent(new Event('change', {bubbles: true}));
};

const fill = ({selector, value, capMs}) => until(capMs, () => {
  const el = find(selector), wait = ready(selector, el);
  if (wait) return wait;
  if (disabled(el)) return no('the element is disabled');
  if (el.readOnly) return no('the element is read-only');
  const input = el instanceof HTMLInputElement;
  if (input && ['checkbox', 'radio', 'file', 'button', 'submit', 'reset', 'image'].includes(el.type)) {
    return never('an input of type ' + el.type + ' cannot be filled');
  }
  if (!input && !(el instanceof HTMLTextAreaElement) && !el.isContentEditable) {
    return never('the element is no input, textarea or contenteditable');
  }
  el.focus();
  if (el.isContentEditable) {
    el.textContent = value;
  } else {
    // The prototype's setter: frameworks put one of their own on the element, and would take the change for theirs.
    const type = input ? HTMLInputElement : HTMLTextAreaElement;
    Object.getOwnPropertyDescriptor(type.prototype, 'value').set.call(el, value);
    const kept = ['date', 'time', 'month', 'week', 'datetime-local', 'number', 'range', 'color'];
    if (value !== '' && el.value !== value && kept.includes(el.type)) {
      return never('the value is not a valid ' + el.type);
    }
  }
  fire(el);
  return {ok: true};
});

const select = ({selector, values, capMs}) => until(capMs, () => {
  const el = find(selector), wait = ready(selector, el);
  if (wait) return wait;
  if (!(el instanceof HTMLSelectElement)) return never('the element is no select');
  if (disabled(el)) return no('the element is disabled');
  if (values.length > 1 && !el.multiple) return never('the element takes one option only');
  const options = [...el.options];
  const wanted = new Set();
  for (const value of values) {
    const option = options.find(o => o.value === value) || options.find(o => o.label.trim() === value.trim());
    if (!option) return no('the element has no option ' + JSON.stringify(value.slice(0, 80)));
    if (option.disabled) return no('the option ' + JSON.stringify(value.slice(0, 80)) + ' is disabled');
    wanted.add(option);
  }
  if (el.multiple) for (const option of options) option.selected = wanted.has(option);
  else if (wanted.size) [...wanted][0].selected = true;
  else el.selectedIndex = -1;
  fire(el);
  return {ok: true};
});
