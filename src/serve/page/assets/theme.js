// Light or dark theme: the system's, until the visitor chooses.

const PLACE = 'eenet-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

function chosen() {
    try {
        return localStorage.getItem(PLACE);
    } catch {
        return null;
    }
}

function now() {
    return chosen() ?? (dark.matches ? 'dark' : 'light');
}

function apply(button) {
    document.documentElement.dataset.theme = now();
    const other = now() === 'dark' ? 'Light' : 'Dark';
    button.textContent = other;
    button.setAttribute('aria-label', `${other} theme`);
}

export function startTheme(button) {
    button.addEventListener('click', () => {
        const next = now() === 'dark' ? 'light' : 'dark';
        try {
            localStorage.setItem(PLACE, next);
        } catch {
            document.documentElement.dataset.theme = next;
            return;
        }
        apply(button);
    });
    dark.addEventListener('change', () => apply(button));
    apply(button);
}
