// What the shop sells, and how it describes it to the bandit.

export const CATEGORIES = ['coffee', 'running', 'books', 'light'];

export const PRODUCTS = [
    { id: 'espresso', name: 'Espresso, dark', category: 'coffee', price: 12, words: 'Beans from Huila, roasted on Tuesday.' },
    { id: 'dripper', name: 'Pour-over set', category: 'coffee', price: 38, words: 'Glass, cork and ten filters.' },
    { id: 'shoes', name: 'Trail shoes', category: 'running', price: 89, words: 'Light, and sure on wet stones.' },
    { id: 'belt', name: 'Running belt', category: 'running', price: 19, words: 'For keys, a phone and two gels.' },
    { id: 'atlas', name: 'Atlas of winds', category: 'books', price: 42, words: 'Forty maps, and a story to each.' },
    { id: 'novel', name: 'The long ferry', category: 'books', price: 14, words: 'A novel for two evenings.' },
    { id: 'lamp', name: 'Reading lamp', category: 'light', price: 64, words: 'Warm, dimmed by a touch.' },
    { id: 'lantern', name: 'Paper lantern', category: 'light', price: 16, words: 'Folds flat, glows for years.' },
];
export const PRODUCT = new Map(PRODUCTS.map((product) => [product.id, product]));

export const isVisitor = (visitor) =>
    ['phone', 'desktop'].includes(visitor?.device) &&
    Number.isInteger(visitor.hour) &&
    visitor.hour >= 0 &&
    visitor.hour < 24 &&
    (visitor.past === null || CATEGORIES.includes(visitor.past)) &&
    (visitor.key === undefined || /^[\w-]{1,64}$/.test(visitor.key));

// A round: the visitor, and the products that could be shown. The key says which decisions are for
// the same person; guardrails need it.
export const roundFor = (visitor, id) => ({
    ...(id && { id }),
    ...(visitor.key && { key: visitor.key }),
    context: { visitor: { device: visitor.device, hour: visitor.hour, past: visitor.past ?? 'nothing' } },
    actions: PRODUCTS.map(({ id: product, category, price }) => ({
        id: product,
        features: { product: { id: product, category, price } },
    })),
});
