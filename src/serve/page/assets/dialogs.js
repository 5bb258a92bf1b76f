// Modal dialogs. The browser's own dialog keeps the focus inside, closes on Escape, and restores the focus.
import { h, say, show } from './elements.js';
import { Away, Refused } from './server.js';

export function sentence(words) {
    return `${words[0].toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`;
}

export function reason(error) {
    if (!(error instanceof Refused || error instanceof Away)) throw error;
    return sentence(error.message);
}

let made = 0;

// A form in a dialog. act(form data) is awaited; if it throws, the dialog shows the error and stays open. Resolves when it
// closes: with the result of act, or undefined if cancelled.
export function question({ title, words, fields = [], confirm, danger = false, act, leave = 'Cancel' }) {
    return new Promise((resolve) => {
        const id = `dialog-${++made}`;
        const wrong = h('p', { class: 'wrong', role: 'alert', hidden: true });
        const yes = h('button', { type: 'submit', class: danger ? 'danger' : 'main' }, confirm);
        let result;
        const box = h('dialog', { 'aria-labelledby': id },
            h('form', { novalidate: true, onsubmit: submit },
                h('h2', { id }, title),
                (Array.isArray(words) ? words : [words]).map((line) => line && h('p', { class: 'quiet-words' }, line)),
                fields,
                wrong,
                h('div', { class: 'row' }, leave && h('button', { type: 'button', onclick: () => box.close() }, leave), yes)));
        async function submit(event) {
            event.preventDefault();
            yes.disabled = true;
            show(wrong, false);
            try {
                result = (await act?.(new FormData(event.target))) ?? true;
                box.close();
            } catch (error) {
                say(wrong, reason(error));
                show(wrong, true);
            } finally {
                yes.disabled = false;
            }
        }
        box.addEventListener('close', () => {
            box.remove();
            resolve(result);
        });
        document.body.append(box);
        box.showModal();
        (box.querySelector('input, select, textarea') ?? yes).focus();
    });
}

// A control with its label, and a hint that is read after it.
export function field(label, control, hint) {
    const id = `field-${++made}`;
    control.id = id;
    if (hint) control.setAttribute('aria-describedby', `${id}-hint`);
    return h('div', { class: 'field' }, h('label', { for: id }, label), control, hint && h('small', { id: `${id}-hint` }, hint));
}
