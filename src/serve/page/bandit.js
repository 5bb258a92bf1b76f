// One bandit.
import { h, say } from './elements.js';

export function bandit(name) {
    const words = h('p', { class: 'quiet-words' });
    return {
        name,
        node: h('section', { class: 'card' }, h('h1', {}, name), words),
        describe: (entry) => say(words, `${entry.settings.policy}, version ${entry.version}`),
        wake: () => {},
        stop: () => {},
    };
}
