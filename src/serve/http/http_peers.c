/* Connections by address of the client. */
#include "data/values/id_set.h"
#include "http_inside.h"

enum { BUCKETS = 1024 };

typedef struct peer_entry {
    char address[48];
    size_t count;
    struct peer_entry *next;
} peer_entry;

struct http_peers {
    memory memory;
    pthread_mutex_t lock; /* of: */
    peer_entry *buckets[BUCKETS];
};

ee_status http_peers_create(http_peers **out, ee_error *error)
{
    ee_status status = memory_create_owner(NULL, out, sizeof **out, error);
    if (!status) pthread_mutex_init(&(*out)->lock, NULL);
    return status;
}

void http_peers_free(http_peers *self)
{
    if (!self) return;
    for (size_t i = 0; i < BUCKETS; i++) {
        for (peer_entry *entry = self->buckets[i], *next; entry; entry = next) {
            next = entry->next;
            memory_free(entry);
        }
    }
    pthread_mutex_destroy(&self->lock);
    memory_release(&self->memory);
}

/* Where the entry of an address is linked, or would be: *link is NULL then. */
static peer_entry **find(http_peers *self, const char *peer)
{
    peer_entry **link = &self->buckets[id_hash(peer, strlen(peer)) % BUCKETS];
    while (*link && strcmp((*link)->address, peer) != 0) link = &(*link)->next;
    return link;
}

bool http_peers_add(http_peers *self, const char *peer, size_t most)
{
    pthread_mutex_lock(&self->lock);
    peer_entry **link = find(self, peer);
    if (!*link && !memory_create(NULL, link, 1, sizeof **link, NULL)) memcpy((*link)->address, peer, strlen(peer) + 1);
    bool added = *link && (!most || (*link)->count < most);
    if (added) (*link)->count++;
    pthread_mutex_unlock(&self->lock);
    return added;
}

void http_peers_remove(http_peers *self, const char *peer)
{
    pthread_mutex_lock(&self->lock);
    peer_entry **link = find(self, peer), *entry = *link;
    if (entry && !--entry->count) {
        *link = entry->next;
        memory_free(entry);
    }
    pthread_mutex_unlock(&self->lock);
}
