/* The protocol of systemd, without its library: see sd_notify(3) and sd_listen_fds(3). */
#ifndef EENET_NOTIFY_H
#define EENET_NOTIFY_H

#include <stdbool.h>

/* Sends lines such as "READY=1\nSTATUS=..." to $NOTIFY_SOCKET, if it is set. */
void notify_send(const char *lines);
/* The first socket that systemd passed, or -1. */
int notify_socket(void);
/* Seconds within which "WATCHDOG=1" must be sent; 0: no watchdog. */
double notify_watchdog(void);

#endif
