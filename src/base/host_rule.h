/* SPDX-License-Identifier: Apache-2.0 */
/* A list of hosts and ports that may be reached, and hosts as they are written in it and in requests. */
#pragma once

#include "base/str.h"

#include <stdint.h>

enum {
    HOST_NAME = 253,            /* bytes of a name */
    HOST_ENTRY = HOST_NAME + 10 /* with brackets, a port and a NUL */
};

struct host_rule {
    char host[HOST_NAME + 1]; /* lower case; an address as it is written */
    bool below;               /* "*.example.org": every name below it, and not the name itself */
    uint32_t port;            /* 0: every port */
};

/* "example.org", which means port 443, "example.org:8080", "*.example.org:443", "example.org:*", "127.0.0.1:8080",
 * "[::1]:443". False: it is none of these. */
bool host_rule_parse(struct str text, struct host_rule *ret);

/* Does the entry allow this host and port? */
bool host_rule_allows(const struct host_rule *rule, const char *host, uint32_t port);

/* An address of the machine's own loopback, with a port that a program without privileges can listen on. */
bool host_rule_is_loopback(const struct host_rule *rule);

/* "HOST:PORT": a name, or an IPv4 address in its usual form, that cannot mean this machine, its network segment or a
 * metadata service. Such an entry can be shown to a person who decides about it; every other one needs a look at the settings. */
bool host_entry_is_plain(struct str entry);

/* "HOST", "HOST:PORT", "[ADDRESS]:PORT". The host is in lower case, without a final dot and without brackets. `ret_port`: 0:
 * none is given. */
bool host_parse(struct str text, char ret_host[HOST_NAME + 1], uint32_t *ret_port);

/* The host of an http, https, ws or wss URL, as an entry of a list: with its port, if that is not 443. localhost is
 * 127.0.0.1. False: it is no such URL. */
bool host_of_url(struct str url, char ret_entry[HOST_ENTRY]);

/* True: the host is written as an address, in any form that a resolver understands: its last part is a number. */
bool host_is_address(const char *host);
