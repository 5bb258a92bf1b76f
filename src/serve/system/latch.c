#include "latch.h"

void latch_start(latch *self, size_t count)
{
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    self->left = count;
}

void latch_count_down(latch *self)
{
    pthread_mutex_lock(&self->lock);
    if (--self->left == 0) pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void latch_wait(latch *self)
{
    pthread_mutex_lock(&self->lock);
    while (self->left) pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
}
