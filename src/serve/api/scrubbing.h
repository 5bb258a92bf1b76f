/* Overwriting what the database still has of removed data, in portions between other transactions. For the eraser. */
#ifndef EENET_SCRUBBING_H
#define EENET_SCRUBBING_H

#include "service_state.h"

/* EE_FILE_ERROR also if the server stops meanwhile. */
ee_status service_scrub(service *of, ee_error *error);

#endif
