/* This server as a member of a fleet: joining, starting to own bandits, draining. See docs/fleet.md. */
#ifndef EENET_FLEET_MEMBER_H
#define EENET_FLEET_MEMBER_H

#include "serve/api/service_state.h"

/* Joins the fleet of settings.store, and opens the store. Events get the time of the database. */
ee_status fleet_member_join(service *self, journal_options *written, ee_error *error);
/* The server listens: it can take bandits. */
ee_status fleet_member_start(service *self, ee_error *error);
/* Its settings or its certificate have changed: other servers learn its address again. */
ee_status fleet_member_publish(service *self, ee_error *error);
/* Hands all bandits over, within FLEET_DRAIN_SECONDS. */
enum { FLEET_DRAIN_SECONDS = 15 };
void fleet_member_drain(service *self, const volatile bool *hurry);

#endif
