// An anchor opens what it lies in, on load as well as later.
const shown = () => {
  const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!at) return;
  for (let d = at.closest('details'); d; d = d.parentElement.closest('details')) d.open = true;
  at.scrollIntoView();
};
addEventListener('hashchange', shown);
const form = document.querySelector('form');
const filter = () => {
  const { group, verdict, text } = Object.fromEntries(new FormData(form));
  const words = text.toLowerCase();
  const hide = (e) => {
    const verdicts = e.dataset.verdicts;
    e.hidden = !!(group && e.dataset.group !== group
      || verdict && verdicts !== undefined && !verdicts.split(' ').includes(verdict)
      || words && verdicts !== undefined && !e.textContent.toLowerCase().includes(words));
  };
  document.querySelectorAll('[data-group]').forEach(hide);
  for (const d of document.querySelectorAll('details.group')) {
    d.hidden ||= !d.querySelector('tbody tr:not([hidden])');
    if (group || verdict || words) d.open = !d.hidden;
  }
  const none = document.getElementById('none');
  none.hidden = !!document.querySelector('details.group:not([hidden])');
};
form.hidden = false;
form.addEventListener('input', filter);
form.addEventListener('submit', (e) => e.preventDefault());
form.addEventListener('reset', () => setTimeout(() => {
  filter();
  document.querySelectorAll('details.group').forEach((d) => { d.open = false });
}));
shown();
