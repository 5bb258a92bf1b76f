// The errors of the client. index.d.ts says what each means.

export class ServerError extends Error {
    constructor(message, { status, code = '', requestId = '', body = '', maybeDone = false, cause } = {}) {
        super(message, cause === undefined ? undefined : { cause });
        this.status = status;
        this.code = code;
        this.requestId = requestId;
        this.body = body;
        this.maybeDone = maybeDone;
        this.retried = 0;
    }
}

export class BadRequest extends ServerError {}
export class TooLarge extends BadRequest {}
export class Refused extends ServerError {}
export class NotFound extends ServerError {}
export class Gone extends NotFound {}
export class Conflict extends ServerError {}
export class Unavailable extends ServerError {}
export class Timeout extends Unavailable {}

export class SomeRefused extends ServerError {
    constructor(message, answers) {
        super(message, { maybeDone: true });
        this.answers = answers;
    }
}

// error.name stays the same in code that a bundler has shortened.
const NAMED = { ServerError, BadRequest, TooLarge, Refused, NotFound, Gone, Conflict, Unavailable, Timeout, SomeRefused };
for (const [name, kind] of Object.entries(NAMED)) Object.defineProperty(kind.prototype, 'name', { value: name });

const KINDS = {
    400: BadRequest, 401: Refused, 403: Refused, 404: NotFound, 408: Unavailable, 409: Conflict, 410: Gone,
    413: TooLarge, 429: Unavailable,
};

// For an item of a batch only the code is known.
const STATUSES = {
    BadRequest: 400, Unauthorized: 401, Forbidden: 403, NotFound: 404, Conflict: 409, Gone: 410, TooLarge: 413,
    TooManyRequests: 429, Unavailable: 503,
};

const kindOf = (status) => KINDS[status] ?? (status >= 500 ? Unavailable : BadRequest);

// The error for the {code, message} of an item of a batch.
export function errorOfItem({ code = '', message = '' }) {
    const status = STATUSES[code] ?? 500;
    return new (kindOf(status))(message, { status, code });
}

// The error for a response {status, headers, text()} that is not a success.
export function errorOfAnswer(answer) {
    const { status, headers } = answer;
    const body = answer.text();
    let described;
    try {
        described = JSON.parse(body).error;
    } catch {
        // not our server's: a proxy's page, for example
    }
    const { code = '', message } = described ?? {};
    // A proxy may have forwarded the request before it gave up; our server's 503 guarantees that nothing was stored.
    const maybeDone = status >= 500 && code !== 'Unavailable';
    const requestId = headers.get('x-request-id') ?? '';
    return new (kindOf(status))(message ?? plainSentence(status, headers, body), { status, code, requestId, body, maybeDone });
}

function plainSentence(status, headers, body) {
    if (status < 400) return `the server redirects to ${headers.get('location') ?? 'another address'}: use that as the url`;
    const isPage = (headers.get('content-type') ?? '').includes('html');
    const first = isPage ? '' : body.trim().split('\n', 1)[0].slice(0, 200);
    return `the server responded with ${status}${first && `: ${first}`}`;
}
