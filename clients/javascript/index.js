// Client for `eenet serve`, for Node.js and browsers. index.d.ts describes each call.
export { BanditClient, Client } from './src/client.js';
export {
    BadRequest, Conflict, Gone, NotFound, Refused, ServerError, SomeRefused, Timeout, TooLarge, Unavailable,
} from './src/errors.js';
export { RewardQueue } from './src/queue.js';
