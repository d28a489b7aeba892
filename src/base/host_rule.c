/* SPDX-License-Identifier: Apache-2.0 */
/* What can be read in two ways is refused: hosts also come from agents. */
#include "base/host_rule.h"

#include <stdio.h>

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

/* ---- hosts ---- */

/* Lower case, without a final dot. False: it is empty, too long, or has other characters than a name. */
static bool name_copy(struct str from, char ret[HOST_NAME + 1]) {
    if (from.len > 0 && from.at[from.len - 1] == '.')
        from.len--;
    if (from.len == 0 || from.len > HOST_NAME)
        return false;
    char before = '.';
    for (size_t i = 0; i < from.len; i++) {
        char c = lower(from.at[i]);
        bool fits = (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_' ||
                    (c == '.' && before != '.');
        if (!fits)
            return false;
        ret[i] = before = c;
    }
    ret[from.len] = 0;
    return before != '.';
}

/* Digits, colons and dots; whether they make an address is found out when it is connected to. */
static bool six_copy(struct str from, char ret[HOST_NAME + 1]) {
    uint32_t colons = 0;
    if (from.len == 0 || from.len > HOST_NAME)
        return false;
    for (size_t i = 0; i < from.len; i++) {
        char c = lower(from.at[i]);
        if (!is_hex(c) && c != ':' && c != '.')
            return false;
        colons += c == ':';
        ret[i] = c;
    }
    ret[from.len] = 0;
    return colons >= 2;
}

static bool port_parse(struct str text, uint32_t *ret) {
    uint32_t port = 0;
    if (text.len == 0 || text.len > 5)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit(text.at[i]))
            return false;
        port = port * 10 + (uint32_t)(text.at[i] - '0');
    }
    *ret = port;
    return port > 0 && port <= UINT16_MAX;
}

static size_t place_of(struct str text, char c) {
    size_t at = 0;
    while (at < text.len && text.at[at] != c)
        at++;
    return at;
}

/* The host, and what follows its colon. `ret_port`: empty: nothing does. */
static bool host_split(struct str text, char ret_host[HOST_NAME + 1], struct str *ret_port) {
    bool six = text.len > 0 && text.at[0] == '[';
    size_t end = place_of(text, six ? ']' : ':');
    struct str host = {text.at + six, end - six};
    if (six && end == text.len)
        return false;
    struct str rest = {text.at + end + six, text.len - end - six};
    if (rest.len > 0 && (rest.at[0] != ':' || rest.len == 1))
        return false;
    *ret_port = rest.len > 0 ? (struct str){rest.at + 1, rest.len - 1} : (struct str){0};
    return six ? six_copy(host, ret_host) : name_copy(host, ret_host);
}

bool host_parse(struct str text, char ret_host[HOST_NAME + 1], uint32_t *ret_port) {
    struct str port;
    *ret_port = 0;
    return host_split(text, ret_host, &port) && (port.len == 0 || port_parse(port, ret_port));
}

bool host_is_address(const char *host) {
    const char *last = host;
    for (const char *at = host; *at; at++) {
        if (*at == ':')
            return true;
        if (*at == '.')
            last = at + 1;
    }
    bool hexadecimal = last[0] == '0' && last[1] == 'x';
    for (last += hexadecimal ? 2 : 0; *last; last++)
        if (hexadecimal ? !is_hex(*last) : !is_digit(*last))
            return false;
    return true;
}

/* Four numbers from 0 to 255 without leading zeros. Loopback, unspecified, link-local, multicast and reserved addresses
 * do not count. */
static bool is_plain_address(const char *host) {
    uint32_t parts[4] = {0}, count = 0, digits = 0;
    for (const char *at = host;; at++) {
        if (*at == '.' || *at == 0) {
            if (digits == 0 || parts[count] > 255 || ++count > 4)
                return false;
            digits = 0;
            if (*at == 0)
                break;
            if (count == 4)
                return false;
        } else if (!is_digit(*at) || digits == 3 || (digits == 1 && parts[count] == 0))
            return false;
        else {
            parts[count] = parts[count] * 10 + (uint32_t)(*at - '0');
            digits++;
        }
    }
    bool link_local = parts[0] == 169 && parts[1] == 254;
    return count == 4 && parts[0] != 0 && parts[0] != 127 && parts[0] < 224 && !link_local;
}

static bool is_below(struct str host, struct str name) {
    struct str tail = {host.at + host.len - name.len, name.len};
    return host.len > name.len && tail.at[-1] == '.' && str_equal(tail, name);
}

bool host_entry_is_plain(struct str entry) {
    struct host_rule rule;
    if (!host_rule_parse(entry, &rule) || rule.below || rule.port == 0 ||
        place_of(entry, ':') == entry.len)
        return false;
    struct str host = str_of(rule.host), local = STR("localhost");
    if (host_is_address(rule.host))
        return is_plain_address(rule.host);
    return !str_equal(host, local) && !is_below(host, local);
}

/* ---- URLs ---- */

/* True: the text begins with the word, in upper or lower case; it is removed. */
static bool word_take(struct str *text, struct str word) {
    if (text->len < word.len)
        return false;
    for (size_t i = 0; i < word.len; i++)
        if (lower(text->at[i]) != word.at[i])
            return false;
    *text = (struct str){text->at + word.len, text->len - word.len};
    return true;
}

static bool scheme_take(struct str *url, uint32_t *ret_port) {
    bool plain = word_take(url, STR("http://")) || word_take(url, STR("ws://"));
    *ret_port = plain ? 80 : 443;
    return plain || word_take(url, STR("https://")) || word_take(url, STR("wss://"));
}

bool host_of_url(struct str url, char ret_entry[HOST_ENTRY]) {
    char host[HOST_NAME + 1];
    uint32_t usual, port;
    if (!scheme_take(&url, &usual))
        return false;
    size_t len = 0;
    while (len < url.len && url.at[len] != '/' && url.at[len] != '?' && url.at[len] != '#')
        len++;
    url.len = len;
    for (size_t at;
         (at = place_of(url, '@')) < url.len;) /* a name and password in front of the host */
        url = (struct str){url.at + at + 1, url.len - at - 1};
    if (!host_parse(url, host, &port))
        return false;
    port = port ? port : usual;
    const char *shown = str_equal(str_of(host), STR("localhost")) ? "127.0.0.1" : host;
    bool six = place_of(str_of(shown), ':') < str_of(shown).len;
    snprintf(ret_entry, HOST_ENTRY, port == 443 ? "%s%s%s" : "%s%s%s:%u", six ? "[" : "", shown,
             six ? "]" : "", port);
    return true;
}

/* ---- entries ---- */

bool host_rule_parse(struct str text, struct host_rule *ret) {
    struct str port;
    bool below = text.len > 2 && text.at[0] == '*' && text.at[1] == '.';
    *ret = (struct host_rule){.below = below, .port = 443};
    if (below)
        text = (struct str){text.at + 2, text.len - 2};
    if (!host_split(text, ret->host, &port))
        return false;
    if (below &&
        (host_is_address(ret->host) || place_of(str_of(ret->host), '.') == str_of(ret->host).len))
        return false;
    if (port.len == 1 && port.at[0] == '*')
        ret->port = 0;
    return port.len == 0 || ret->port == 0 || port_parse(port, &ret->port);
}

bool host_rule_allows(const struct host_rule *rule, const char *host, uint32_t port) {
    struct str name = str_of(host), end = str_of(rule->host);
    if (rule->port && rule->port != port)
        return false;
    if (!rule->below)
        return str_equal(name, end);
    if (name.len <= end.len + 1 || host_is_address(host))
        return false;
    struct str tail = {name.at + name.len - end.len, end.len};
    return tail.at[-1] == '.' && str_equal(tail, end);
}

/* Four numbers, of which the first is 127. */
static bool is_loopback(const char *host) {
    uint32_t dots = 0, digits = 0;
    if (!str_begins(str_of(host), STR("127.")) || !host_is_address(host))
        return str_equal(str_of(host), STR("::1"));
    for (; *host; host++) {
        if (!is_digit(*host) && *host != '.')
            return false;
        digits = *host == '.' ? 0 : digits + 1;
        dots += *host == '.';
        if (digits > 3)
            return false;
    }
    return dots == 3;
}

bool host_rule_is_loopback(const struct host_rule *rule) {
    enum { PRIVILEGED = 1024 };
    return is_loopback(rule->host) && rule->port >= PRIVILEGED;
}
