/* Removes the files of uploaded models that no event names any more. */
#ifndef EENET_UPLOAD_SWEEP_H
#define EENET_UPLOAD_SWEEP_H

#include "serve/store/store.h"

/* Only those with versions below `before`: an upload has its file before its event. What fails is left for the next
 * time. */
void upload_sweep(store_reader *log, blobs *models, uint32_t bandit, uint64_t before);

#endif
