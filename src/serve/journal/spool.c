#define _DEFAULT_SOURCE /* flock, getrandom */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/file.h"
#include "spool_index.h"

enum { FILE_HEAD = 48, GROUP_HEAD = 56, RECORD_HEAD = 72, ALIGNMENT = 8 };
enum { GENERATED_ID = 1, DEFERRED = 2, WITH_NEXT = 4, ALL_FLAGS = 7 };
static const char file_mark[8] = "eespool1", group_mark[8] = "eespoolg";

typedef struct group_head {
    uint64_t at, first, count, bytes;
    int64_t time;
} group_head;

typedef struct byte_buffer {
    uint8_t *bytes;
    size_t capacity;
} byte_buffer;

struct spool {
    memory memory;
    char *folder, *path;
    int lock; /* descriptor of the folder, which is locked */
    int file; /* -1: there is none */
    char name[SPOOL_NAME_SIZE], owner[SPOOL_OWNER_SIZE];
    uint64_t end;       /* of the file */
    uint64_t next;      /* number of the next record */
    uint64_t delivered; /* the last that is */
    uint64_t read_from; /* place of the first group that is not delivered as a whole */
    int64_t time;       /* of the last record */
    bool cut;           /* behind `end` are bytes that could not be removed */
    spool_index index;
    byte_buffer writing, reading, found;
    store_entry *entries; /* of the batch */
    size_t entry_capacity;
    event earlier;
};

static ee_status fail(const spool *self, const char *what, ee_error *error)
{
    return status_fail(error, EE_FILE_ERROR, "spool: could not %s %s: %s", what, file_tail(self->path),
                       strerror(errno));
}

static ee_status fail_damaged(const spool *self, uint64_t at, ee_error *error)
{
    return status_fail(error, EE_FILE_ERROR,
                       "spool: %s is damaged at byte %" PRIu64
                       ". Restore it from a copy, or move it away: then its events are lost",
                       file_tail(self->path), at);
}

static ee_status reserve(spool *self, byte_buffer *buffer, uint64_t size, ee_error *error)
{
    if (size > SIZE_MAX / 4) return status_no_memory(error, SIZE_MAX);
    return memory_grow(&self->memory, &buffer->bytes, &buffer->capacity, (size_t)size, 1, error);
}

/* ---- numbers ---- */

static uint8_t *put(uint8_t *at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) at[i] = (uint8_t)(value >> 8 * i);
    return at + size;
}

static uint64_t get(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static uint64_t aligned(uint64_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- the file ---- */

/* *got may be less than size at the end of the file. */
static ee_status read_at(const spool *self, uint64_t at, void *bytes, size_t size, size_t *got, ee_error *error)
{
    for (*got = 0; *got < size;) {
        ssize_t count = pread(self->file, (uint8_t *)bytes + *got, size - *got, (off_t)(at + *got));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail(self, "read", error);
        if (count == 0) break;
        *got += (size_t)count;
    }
    return EE_OK;
}

static ee_status write_at(const spool *self, uint64_t at, const uint8_t *bytes, size_t size, ee_error *error)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = pwrite(self->file, bytes + done, size - done, (off_t)(at + done));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail(self, "write", error);
        done += (size_t)count;
    }
    return EE_OK;
}

/* ---- records: bytes ---- */

static uint64_t record_size(const store_entry *entry)
{
    const event *of = &entry->event;
    return aligned(RECORD_HEAD + (uint64_t)of->id.length + of->reward_id.length + of->size);
}

static uint8_t *put_bytes(uint8_t *at, const void *bytes, size_t size)
{
    if (size) memcpy(at, bytes, size);
    return at + size;
}

static uint8_t *put_record(uint8_t *start, const store_entry *entry)
{
    const event *of = &entry->event;
    uint64_t size = record_size(entry), value;
    unsigned flags = (entry->generated_id ? GENERATED_ID : 0) | (entry->deferred ? DEFERRED : 0) |
                     (entry->with_next ? WITH_NEXT : 0);
    memcpy(&value, &of->value, sizeof value);
    uint8_t *at = put(start + 8, size, 8);
    at = put(at, entry->bandit, 4);
    at = put(at, of->kind, 1);
    at = put(at, flags, 3);
    at = put(at, entry->slot_index, 4);
    at = put(at, entry->slot_count, 4);
    at = put(at, of->id.length, 4);
    at = put(at, of->reward_id.length, 4);
    at = put(at, of->size, 8);
    at = put(at, entry->request[0], 8);
    at = put(at, entry->request[1], 8);
    at = put(at, value, 8);
    at = put_bytes(at, of->id.bytes, of->id.length);
    at = put_bytes(at, of->reward_id.bytes, of->reward_id.length);
    at = put_bytes(at, of->body, of->size);
    uint8_t *end = start + size;
    memset(at, 0, (size_t)(end - at));
    put(start, checksum_64(start + 8, (size_t)size - 8), 8);
    return end;
}

/* The record at the start of bytes; what it has is borrowed from them. Returns its size; 0: it is damaged. */
static uint64_t get_record(const uint8_t *bytes, uint64_t most, store_entry *out)
{
    if (most < RECORD_HEAD) return 0;
    uint64_t size = get(bytes + 8, 8), id = get(bytes + 32, 4), reward_id = get(bytes + 36, 4),
             body = get(bytes + 40, 8);
    if (size > most || size < RECORD_HEAD || size % ALIGNMENT || body > size) return 0;
    if (aligned(RECORD_HEAD + id + reward_id + body) != size) return 0;
    if (get(bytes, 8) != checksum_64(bytes + 8, (size_t)size - 8)) return 0;
    unsigned flags = bytes[21];
    event_kind kind = (event_kind)bytes[20];
    if (!spool_takes(kind) || flags & ~(unsigned)ALL_FLAGS) return 0;
    uint64_t value = get(bytes + 64, 8);
    const char *texts = (const char *)bytes + RECORD_HEAD;
    *out = (store_entry){.bandit = (uint32_t)get(bytes + 16, 4),
                         .event = {.kind = kind, .id = {texts, (size_t)id}, .size = (size_t)body},
                         .request = {get(bytes + 48, 8), get(bytes + 56, 8)},
                         .generated_id = flags & GENERATED_ID,
                         .deferred = flags & DEFERRED,
                         .with_next = flags & WITH_NEXT,
                         .slot_index = (size_t)get(bytes + 24, 4),
                         .slot_count = (size_t)get(bytes + 28, 4)};
    memcpy(&out->event.value, &value, sizeof value);
    if (reward_id) out->event.reward_id = (json_text){texts + id, (size_t)reward_id};
    if (body) out->event.body = texts + id + reward_id;
    return size;
}

/* ---- groups: bytes ---- */

/* With the name, so that bytes that a client sent are never taken for a group. */
static uint64_t group_checksum(const spool *self, const uint8_t *head)
{
    uint8_t bytes[GROUP_HEAD - 8 + SPOOL_NAME_SIZE];
    memcpy(bytes, head, GROUP_HEAD - 8);
    memcpy(bytes + GROUP_HEAD - 8, self->name, SPOOL_NAME_SIZE);
    return checksum_64(bytes, sizeof bytes);
}

static void put_group_head(const spool *self, uint8_t *bytes, const group_head *head)
{
    uint8_t *at = put_bytes(bytes, group_mark, sizeof group_mark);
    at = put(at, head->at, 8);
    at = put(at, head->first, 8);
    at = put(at, (uint64_t)head->time, 8);
    at = put(at, head->count, 8);
    at = put(at, head->bytes, 8);
    put(at, group_checksum(self, bytes), 8);
}

/* false: there is none. */
static bool get_group_head(const spool *self, const uint8_t *bytes, uint64_t at, group_head *out)
{
    if (memcmp(bytes, group_mark, sizeof group_mark) != 0) return false;
    *out = (group_head){.at = get(bytes + 8, 8),
                        .first = get(bytes + 16, 8),
                        .time = (int64_t)get(bytes + 24, 8),
                        .count = get(bytes + 32, 8),
                        .bytes = get(bytes + 40, 8)};
    return out->at == at && get(bytes + 48, 8) == group_checksum(self, bytes);
}

/* Reads the group at a place into self->reading, after its head. *whole false: it is damaged, or not there. */
static ee_status read_group(spool *self, uint64_t at, uint64_t file_end, group_head *head, bool *whole, ee_error *error)
{
    uint8_t bytes[GROUP_HEAD];
    size_t got;
    *whole = false;
    ee_status status = read_at(self, at, bytes, sizeof bytes, &got, error);
    if (status || got < sizeof bytes || !get_group_head(self, bytes, at, head)) return status;
    if (head->bytes > file_end - at - GROUP_HEAD) return EE_OK;
    status = reserve(self, &self->reading, head->bytes, error);
    if (!status) status = read_at(self, at + GROUP_HEAD, self->reading.bytes, (size_t)head->bytes, &got, error);
    *whole = !status && got == head->bytes;
    return status;
}

/* ---- decisions by their ids ---- */

/* Ids of slots begin with the round's, and that is what the round is found by. */
static json_text key_of(const store_entry *entry)
{
    return entry->slot_count ? slot_round_id(entry->event.id, NULL) : entry->event.id;
}

static bool is_indexed(const store_entry *entry)
{
    return entry->event.kind == EVENT_DECISION && entry->slot_index == 0;
}

/* Reads a record, from the group that is being written or from the file. */
static ee_status load_record(spool *self, uint64_t at, store_entry *out, uint64_t *size, ee_error *error)
{
    uint8_t head[RECORD_HEAD];
    size_t got;
    *size = 0;
    if (at >= self->end) {
        *size = get_record(self->writing.bytes + (at - self->end), self->writing.capacity - (at - self->end), out);
        return EE_OK;
    }
    ee_status status = read_at(self, at, head, sizeof head, &got, error);
    if (status) return status;
    uint64_t bytes = got < sizeof head ? 0 : get(head + 8, 8);
    if (bytes < RECORD_HEAD || bytes > self->end - at) return fail_damaged(self, at, error);
    status = reserve(self, &self->found, bytes, error);
    if (!status) status = read_at(self, at, self->found.bytes, (size_t)bytes, &got, error);
    if (status) return status;
    *size = get_record(self->found.bytes, got, out);
    return *size ? EE_OK : fail_damaged(self, at, error);
}

static bool is_same_text(json_text a, json_text b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

/* *place: of the record; 0: there is none. */
static ee_status find_decision(spool *self, uint32_t bandit, json_text key, uint64_t *place, store_entry *out,
                               ee_error *error)
{
    uint64_t hash = spool_index_hash(bandit, key), size;
    size_t at = 0;
    while ((*place = spool_index_next(&self->index, hash, &at))) {
        ee_status status = load_record(self, *place, out, &size, error);
        if (status) return status;
        if (out->bandit == bandit && is_same_text(key_of(out), key)) return EE_OK;
    }
    return EE_OK;
}

ee_status spool_find(spool *self, uint32_t bandit, json_text id, uint64_t *place, ee_error *error)
{
    store_entry found;
    return find_decision(self, bandit, id, place, &found, error);
}

ee_status spool_earlier(spool *self, uint64_t place, const event **out, ee_error *error)
{
    store_entry found = {0};
    uint64_t size;
    ee_status status = load_record(self, place, &found, &size, error);
    self->earlier = found.event;
    *out = status ? NULL : &self->earlier;
    return status;
}

/* ---- opening ---- */

/* Takes over a group that self->reading has. false: it is damaged. */
static ee_status take_group(spool *self, const group_head *head, bool *whole, ee_error *error)
{
    uint64_t at = 0;
    *whole = head->first == self->next && head->count > 0;
    for (uint64_t i = 0; i < head->count && *whole; i++) {
        store_entry entry;
        uint64_t size = get_record(self->reading.bytes + at, head->bytes - at, &entry);
        *whole = size > 0;
        if (!size || !is_indexed(&entry)) {
            at += size;
            continue;
        }
        ee_status status = spool_index_reserve(&self->index, 1, error);
        if (status) return status;
        spool_index_add(&self->index, spool_index_hash(entry.bandit, key_of(&entry)), head->at + GROUP_HEAD + at);
        at += size;
    }
    *whole = *whole && at == head->bytes;
    return EE_OK;
}

/* Whether there is the head of a group behind a place. Groups are synced one after the other, so what is before it was
 * acknowledged. */
static ee_status has_group_after(spool *self, uint64_t at, uint64_t file_end, bool *has, ee_error *error)
{
    enum { PORTION = 1 << 20 };
    group_head head;
    *has = false;
    ee_status status = reserve(self, &self->found, PORTION + GROUP_HEAD, error);
    for (at += ALIGNMENT; !status && !*has && at + GROUP_HEAD <= file_end; at += PORTION) {
        size_t got = 0;
        status = read_at(self, at, self->found.bytes, PORTION + GROUP_HEAD, &got, error);
        for (size_t i = 0; !status && !*has && i + GROUP_HEAD <= got; i += ALIGNMENT)
            *has = get_group_head(self, self->found.bytes + i, at + i, &head);
    }
    return status;
}

/* Removes what is behind the last group. */
static ee_status cut(spool *self, ee_error *error)
{
    self->cut = ftruncate(self->file, (off_t)self->end) != 0;
    return self->cut ? fail(self, "shorten", error) : EE_OK;
}

static ee_status read_groups(spool *self, uint64_t file_end, ee_error *error)
{
    ee_status status = EE_OK;
    bool whole = true;
    self->end = self->read_from = FILE_HEAD;
    while (!status && whole && self->end < file_end) {
        group_head head;
        status = read_group(self, self->end, file_end, &head, &whole, error);
        if (!status && whole) status = take_group(self, &head, &whole, error);
        if (!whole) spool_index_remove(&self->index, self->end);
        if (status || !whole) break;
        self->end += GROUP_HEAD + head.bytes;
        self->next += head.count;
        self->time = head.time;
    }
    bool acknowledged = false;
    if (status || whole) return status;
    status = has_group_after(self, self->end, file_end, &acknowledged, error);
    if (!status && acknowledged) status = fail_damaged(self, self->end, error);
    return status ? status : cut(self, error);
}

/* The file of an earlier process, if there is one. */
static ee_status open_file(spool *self, ee_error *error)
{
    uint8_t head[FILE_HEAD];
    struct stat about;
    size_t got;
    self->file = open(self->path, O_RDWR | O_CLOEXEC);
    if (self->file < 0) return errno == ENOENT ? EE_OK : fail(self, "open", error);
    if (fstat(self->file, &about)) return fail(self, "open", error);
    ee_status status = read_at(self, 0, head, sizeof head, &got, error);
    if (status) return status;
    if (got < sizeof head || memcmp(head, file_mark, sizeof file_mark) != 0 ||
        get(head + FILE_HEAD - 8, 8) != checksum_64(head, FILE_HEAD - 8))
        return fail_damaged(self, 0, error);
    memcpy(self->name, head + sizeof file_mark, SPOOL_NAME_SIZE - 1);
    return read_groups(self, (uint64_t)about.st_size, error);
}

static void forget_file(spool *self)
{
    if (self->file >= 0) close(self->file);
    self->file = -1;
    self->name[0] = '\0';
    self->end = self->delivered = self->read_from = 0;
    self->next = 1;
    self->cut = false;
    spool_index_remove(&self->index, 0);
}

static ee_status lock_folder(spool *self, ee_error *error)
{
    self->lock = open(self->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (self->lock < 0) return fail(self, "open the folder of", error);
    if (flock(self->lock, LOCK_EX | LOCK_NB) == 0) return EE_OK;
    return errno == EWOULDBLOCK
               ? status_fail(error, EE_FILE_ERROR, "spool: another process is using %s", file_tail(self->folder))
               : fail(self, "lock the folder of", error);
}

ee_status spool_open(const char *folder, spool **out, ee_error *error)
{
    spool *self;
    *out = NULL;
    ee_status status = memory_create_owner(NULL, &self, sizeof *self, error);
    if (status) return status;
    self->file = self->lock = -1;
    self->index.owner = &self->memory;
    forget_file(self);
    status = file_join(folder, "spool", &self->folder, error);
    if (!status) status = file_join(self->folder, "events", &self->path, error);
    if (!status) status = file_make_private_folder(self->folder, error);
    if (!status) status = lock_folder(self, error);
    if (!status) status = open_file(self, error);
    if (status)
        spool_close(self);
    else
        *out = self;
    return status;
}

bool spool_exists(const char *folder)
{
    char *path = NULL, *file = NULL;
    bool exists =
        !file_join(folder, "spool", &path, NULL) && !file_join(path, "events", &file, NULL) && access(file, F_OK) == 0;
    memory_free(path);
    memory_free(file);
    return exists;
}

void spool_close(spool *self)
{
    if (!self) return;
    if (self->file >= 0) close(self->file);
    if (self->lock >= 0) close(self->lock);
    memory_free(self->folder);
    memory_free(self->path);
    memory_release(&self->memory);
}

/* ---- what it has ---- */

bool spool_takes(event_kind kind)
{
    return kind == EVENT_DECISION || kind == EVENT_REWARD || kind == EVENT_ACTIVATED;
}

uint64_t spool_count(const spool *self)
{
    return self->next - 1 - self->delivered;
}

int64_t spool_time(const spool *self)
{
    return self->time;
}

ee_status spool_claim(spool *self, const char *owner, ee_error *error)
{
    snprintf(self->owner, sizeof self->owner, "%s", owner);
    if (!spool_count(self) || strncmp(self->name, self->owner, strlen(self->owner)) == 0) return EE_OK;
    return status_fail(error, EE_FILE_ERROR,
                       "spool: %s has %" PRIu64
                       " events that another database has not received; start a server on that "
                       "database with this folder first, or use another folder",
                       file_tail(self->folder), spool_count(self));
}

const char *spool_name(const spool *self)
{
    return self->name;
}

/* ---- appending ---- */

static ee_status make_name(const char *owner, char name[SPOOL_NAME_SIZE], ee_error *error)
{
    uint8_t random[(SPOOL_NAME_SIZE - 1) / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return status_fail(error, EE_FILE_ERROR, "spool: could not get random numbers: %s", strerror(errno));
    for (size_t i = 0; i < sizeof random; i++) snprintf(name + 2 * i, 3, "%02x", random[i]);
    memcpy(name, owner, strlen(owner));
    return EE_OK;
}

/* Makes the file with its head; after a crash it has all of it or does not exist. */
static ee_status create_file(spool *self, ee_error *error)
{
    uint8_t head[FILE_HEAD];
    ee_status status = make_name(self->owner, self->name, error);
    if (!status) {
        memcpy(head, file_mark, sizeof file_mark);
        memcpy(head + sizeof file_mark, self->name, SPOOL_NAME_SIZE - 1);
        put(head + FILE_HEAD - 8, checksum_64(head, FILE_HEAD - 8), 8);
        status = file_write_private(self->path, head, sizeof head, error);
    }
    if (!status) {
        self->file = open(self->path, O_RDWR | O_CLOEXEC);
        if (self->file < 0) status = fail(self, "open", error);
    }
    if (status) self->name[0] = '\0';
    if (!status) self->end = self->read_from = FILE_HEAD;
    return status;
}

static store_entry *next_slot(const store_entry *entry)
{
    return entry->with_next ? entry->next : NULL;
}

/* Sets the verdicts of a decision, or of all slots of a round, that the spool has. */
static ee_status recognize(spool *self, uint64_t place, const store_entry *known, store_entry *first, ee_error *error)
{
    bool same = memcmp(known->request, first->request, sizeof first->request) == 0;
    for (store_entry *entry = first; entry; entry = first->slot_count ? next_slot(entry) : NULL) {
        store_entry slot;
        uint64_t size = 0;
        entry->verdict = same ? ENTRY_REPEATED : ENTRY_CONFLICT;
        entry->event.number = place;
        if (!same) {
            status_fail(&entry->error, EE_BAD_INPUT, "decide: this id was used for another request");
            continue;
        }
        ee_status status = load_record(self, place, &slot, &size, error);
        if (status) return status;
        place += size;
    }
    return EE_OK;
}

/* What is to be written. */
typedef struct appending {
    group_head head;
    size_t size; /* bytes so far, in self->writing */
} appending;

static ee_status add_record(spool *self, appending *to, store_entry *entry, ee_error *error)
{
    uint64_t size = record_size(entry), place = self->end + to->size;
    ee_status status = reserve(self, &self->writing, to->size + size, error);
    if (!status && is_indexed(entry)) status = spool_index_reserve(&self->index, 1, error);
    if (status) return status;
    put_record(self->writing.bytes + to->size, entry);
    if (is_indexed(entry)) spool_index_add(&self->index, spool_index_hash(entry->bandit, key_of(entry)), place);
    to->size += (size_t)size;
    to->head.count++;
    entry->verdict = ENTRY_SPOOLED;
    entry->event.time = to->head.time;
    return EE_OK;
}

/* Adds an entry, or all slots of a round; *after: the entry after them. */
static ee_status add_entry(spool *self, appending *to, store_entry *first, store_entry **after, ee_error *error)
{
    uint64_t place = 0;
    store_entry known;
    ee_status status = EE_OK;
    bool is_round = first->event.kind == EVENT_DECISION && first->slot_count;
    if (is_indexed(first)) status = find_decision(self, first->bandit, key_of(first), &place, &known, error);
    if (!status && place) status = recognize(self, place, &known, first, error);
    store_entry *entry = first, *next = first;
    do {
        entry = next;
        if (!status && !place && first->refused)
            entry->verdict = ENTRY_REFUSED;
        else if (!status && !place)
            status = add_record(self, to, entry, error);
        next = is_round ? next_slot(entry) : NULL;
    } while (next && !status);
    *after = entry->next;
    return status;
}

static ee_status write_group(spool *self, appending *group, ee_error *error)
{
    group->head.bytes = group->size - GROUP_HEAD;
    put_group_head(self, self->writing.bytes, &group->head);
    ee_status status = write_at(self, self->end, self->writing.bytes, group->size, error);
    return !status && fdatasync(self->file) ? fail(self, "sync", error) : status;
}

ee_status spool_append(spool *self, store_entry *first, int64_t time, ee_error *error)
{
    ee_status status = self->file < 0 ? create_file(self, error) : EE_OK;
    if (!status && self->cut) status = cut(self, error);
    if (status) return status;
    appending group = {.head = {.at = self->end, .first = self->next, .time = time}, .size = GROUP_HEAD};
    status = reserve(self, &self->writing, GROUP_HEAD, error);
    for (store_entry *entry = first, *next = NULL; entry && !status; entry = next)
        status = add_entry(self, &group, entry, &next, error);
    if (!status && group.head.count) status = write_group(self, &group, error);
    if (status) {
        spool_index_remove(&self->index, self->end);
        cut(self, NULL); /* or before the next group */
        return status;
    }
    if (!group.head.count) return EE_OK;
    self->end += group.size;
    self->next += group.head.count;
    self->time = time;
    return EE_OK;
}

/* ---- delivering ---- */

/* The group of the next records, without those that are delivered. */
static ee_status read_next_group(spool *self, group_head *head, ee_error *error)
{
    for (;;) {
        bool whole;
        ee_status status = read_group(self, self->read_from, self->end, head, &whole, error);
        if (!status && !whole) status = fail_damaged(self, self->read_from, error);
        if (status || head->first + head->count > self->delivered + 1) return status;
        self->read_from += GROUP_HEAD + head->bytes;
    }
}

ee_status spool_read(spool *self, spool_batch *out, ee_error *error)
{
    group_head head;
    uint64_t at = 0;
    *out = (spool_batch){0};
    if (!spool_count(self)) return EE_OK;
    ee_status status = read_next_group(self, &head, error);
    if (!status)
        status = memory_grow(&self->memory, &self->entries, &self->entry_capacity, (size_t)head.count,
                             sizeof *self->entries, error);
    for (uint64_t i = 0; i < head.count && !status; i++) {
        store_entry *entry = &self->entries[out->count];
        uint64_t size = get_record(self->reading.bytes + at, head.bytes - at, entry);
        if (!size) status = fail_damaged(self, self->read_from + GROUP_HEAD + at, error);
        at += size;
        if (head.first + i <= self->delivered) continue;
        if (out->count) self->entries[out->count - 1].next = entry;
        out->count++;
    }
    out->first = self->entries;
    out->time = head.time;
    out->last = head.first + head.count - 1;
    return status;
}

void spool_delivered(spool *self, uint64_t number)
{
    if (self->file < 0) return;
    if (number > self->delivered) self->delivered = number;
    if (self->delivered + 1 < self->next) return;
    /* A file that cannot be removed, or comes back after a crash, does no harm: its name says that it is delivered. */
    unlink(self->path);
    forget_file(self);
}
