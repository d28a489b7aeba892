/* SPDX-License-Identifier: Apache-2.0 */
/* Manages the connected clients and the data to and from them. A client that does not read is not waited for. */
#include "hold/hold.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ROUNDS = 8,
    SMALL = 4096
}; /* chunks of output per loop iteration; initial size of a buffer */

void client_accept(struct hold *hold) {
    int fd = accept4(hold->server.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    int free_place = -1;
    for (int i = HOLD_CLIENTS - 1; i >= 0; i--)
        if (hold->clients[i].socket.fd < 0)
            free_place = i;
    if (free_place < 0 || !peer_is_us(fd)) {
        close(fd);
        return;
    }
    hold->clients[free_place] = (struct client){.socket.fd = fd};
    loop_poll(hold, &hold->clients[free_place].socket, FROM_CLIENT + (uint32_t)free_place, EPOLLIN);
}

void client_part(struct hold *hold, int number) {
    struct client *client = &hold->clients[number];
    loop_drop(hold, &client->socket);
    input_forget(hold, number);
    free(client->in);
    free(client->out);
    *client = (struct client){.socket.fd = -1};
}

/* Never more than what is needed: a hold is small. */
static bool room_make(char **at, size_t *room, size_t need) {
    size_t size = need < SMALL ? SMALL : need;
    if (need <= *room)
        return true;
    char *grown = realloc(*at, size);
    if (!grown)
        return false;
    *at = grown;
    *room = size;
    return true;
}

/* ---- to clients ---- */

static bool out_room(struct client *client, size_t size) {
    if (client->out_at > 0) {
        memmove(client->out, client->out + client->out_at, client->out_length);
        client->out_at = 0;
    }
    size_t need = client->out_length + size;
    return need <= HOLD_CHUNK + HOLD_REPLIES && room_make(&client->out, &client->out_room, need);
}

void client_say(struct hold *hold, int number, const struct hold_frame *frame) {
    struct client *client = &hold->clients[number];
    if (client->socket.fd < 0)
        return;
    if (!out_room(client, frame_size(frame))) {
        client_part(hold, number);
        return;
    }
    client->out_length += frame_write(frame, client->out + client->out_length);
}

/* False: the client is gone. */
static bool client_flush(struct hold *hold, int number) {
    struct client *client = &hold->clients[number];
    while (client->out_length > 0) {
        ssize_t put = send(client->socket.fd, client->out + client->out_at, client->out_length,
                           MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && errno == EAGAIN)
            return true;
        if (put < 0) {
            client_part(hold, number);
            return false;
        }
        client->out_at += (size_t)put;
        client->out_length -= (size_t)put;
    }
    client->out_at = 0;
    return true;
}

/* The next piece of output: a client that is behind gets it from the log. */
static bool client_fill(struct hold *hold, struct client *client) {
    enum { FRONT = HOLD_HEAD + 8 };
    uint64_t left = hold->output.end - client->sent;
    size_t size = left < HOLD_CHUNK ? (size_t)left : HOLD_CHUNK;
    if (size == 0 || !out_room(client, FRONT + size))
        return false;
    ssize_t got = output_copy(&hold->output, client->sent, client->out + FRONT, size);
    if (got <= 0)
        return false;
    struct hold_frame frame = {
        .kind = HOLD_DATA, .number = client->sent, .bytes = {client->out + FRONT, (size_t)got}};
    client->out_length = frame_write(&frame, client->out);
    client->sent += (uint64_t)got;
    return true;
}

static void end_say(struct hold *hold, int number) {
    struct client *client = &hold->clients[number];
    if (client->end_sent || !client->attached || !hold->ended || client->sent < hold->output.end)
        return;
    client->end_sent = true;
    client_say(hold, number, &(struct hold_frame){.kind = HOLD_END, .number = hold->output.end});
}

static void client_pump(struct hold *hold, int number) {
    struct client *client = &hold->clients[number];
    if (!client_flush(hold, number))
        return;
    for (int i = 0; i < ROUNDS && client->attached && client->out_length == 0; i++) {
        if (!client_fill(hold, client))
            end_say(hold, number);
        if (client->out_length == 0)
            break;
        if (!client_flush(hold, number))
            return;
    }
    bool more = client->out_length > 0 || (client->attached && client->sent < hold->output.end);
    loop_poll(hold, &client->socket, FROM_CLIENT + (uint32_t)number,
              EPOLLIN | (more ? EPOLLOUT : 0));
}

void clients_pump(struct hold *hold) {
    struct hold_status status;
    char bytes[HOLD_STATUS_SIZE];
    hold_status_read(hold, &status);
    bool changed = status.flags != hold->flags_sent;
    hold->flags_sent = status.flags;
    status_write(&status, bytes);
    struct hold_frame frame = {.kind = HOLD_STATUS, .bytes = {bytes, sizeof bytes}};
    for (int i = 0; i < HOLD_CLIENTS; i++) {
        if (changed && hold->clients[i].greeted)
            client_say(hold, i, &frame);
        if (hold->clients[i].socket.fd >= 0)
            client_pump(hold, i);
    }
}

/* ---- from clients ---- */

/* Handles every complete frame; the rest moves to the front. False: the client is gone. */
static bool frames_take(struct hold *hold, int number, size_t *ret_need) {
    struct client *client = &hold->clients[number];
    size_t at = 0;
    for (;;) {
        struct hold_frame frame;
        struct str rest = {client->in + at, client->in_length - at};
        enum frame_found found = frame_read(rest, &frame, ret_need);
        if (found == FRAME_BROKEN ||
            (found == FRAME_WHOLE && frame.kind >= (enum hold_kind)HOLD_KINDS_TAKEN)) {
            client_part(hold, number);
            return false;
        }
        if (found == FRAME_HALF)
            break;
        verb_do(hold, number, &frame);
        if (client->socket.fd < 0)
            return false;
        at += *ret_need;
    }
    client->in_length -= at;
    memmove(client->in, client->in + at, client->in_length);
    return true;
}

/* Frees the buffer for a large frame once it was handled. */
static void in_shrink(struct client *client) {
    if (client->in_length > 0 || client->in_room <= SMALL)
        return;
    free(client->in);
    client->in = NULL;
    client->in_room = 0;
}

void client_event(struct hold *hold, int number, uint32_t events) {
    struct client *client = &hold->clients[number];
    if (client->socket.fd < 0 || !(events & ~(uint32_t)EPOLLOUT))
        return;
    size_t need = client->in_length + 1;
    if (client->in_length >= HOLD_HEAD)
        frame_read((struct str){client->in, client->in_length}, &(struct hold_frame){0}, &need);
    if (!room_make(&client->in, &client->in_room, need)) {
        client_part(hold, number);
        return;
    }
    ssize_t got = recv(client->socket.fd, client->in + client->in_length,
                       client->in_room - client->in_length, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        client_part(hold, number);
        return;
    }
    client->in_length += (size_t)got;
    if (frames_take(hold, number, &need))
        in_shrink(client);
}
