/* What systemd wants to know and gives: see sd_notify(3), sd_listen_fds(3). By hand, without its library. */
#ifndef EENET_NOTIFY_H
#define EENET_NOTIFY_H

#include <stdbool.h>

/* Sends lines as "READY=1\nSTATUS=..." to $NOTIFY_SOCKET; nothing where there is none. */
void notify_send(const char *lines);
/* The first socket that was handed over, or -1. */
int notify_socket(void);
/* Seconds in which "WATCHDOG=1" must come; 0: none is wanted. */
double notify_watchdog(void);

#endif
