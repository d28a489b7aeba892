/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a TOML document. The only file that knows the parser. No exception leaves it, and no C code runs inside it. */
#include <exception>

/* The parser does not handle every input ("[{" is one example). A failed assertion of the parser means an invalid
 * document; it must not end the process. */
struct toml_surprised : std::exception {};
[[noreturn]] static void toml_surprise() {
    throw toml_surprised();
}
#define TOML_ASSERT(promise) \
    do { \
        if (!(promise)) \
            toml_surprise(); \
    } while (false)
#define TOML_ASSERT_ASSUME(promise) TOML_ASSERT(promise)
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_WINDOWS_COMPAT 0
#include <toml++/toml.h>

#include "config/toml.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <vector>

/* Deques, because their elements must stay in place: the values point to them. */
struct toml_doc {
    std::deque<toml_value> values;
    std::deque<std::string> texts;
    std::deque<std::vector<str>> lists;
};

/* Orders values by position: tables may occur in any order, and people read errors from top to bottom. */
static bool is_before(const toml_value &a, const toml_value &b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

static str keep(toml_doc &doc, std::string_view text) {
    doc.texts.emplace_back(text);
    return {doc.texts.back().data(), doc.texts.back().size()};
}

static toml_value &add(toml_doc &doc, toml_type type, std::string_view path,
                       const ::toml::source_region &at) {
    toml_value value = {};
    value.type = type;
    value.path = keep(doc, path);
    value.line = at.begin.line;
    value.column = at.begin.column;
    doc.values.push_back(value);
    return doc.values.back();
}

static bool is_list_of_texts(const ::toml::array &list) {
    return std::all_of(list.begin(), list.end(),
                       [](const auto &entry) { return entry.is_string(); });
}

static bool is_list_of_tables(const ::toml::array &list) {
    return !list.empty() && std::all_of(list.begin(), list.end(),
                                        [](const auto &entry) { return entry.is_table(); });
}

static void add_texts(toml_doc &doc, toml_value &value, const ::toml::array &list) {
    doc.lists.emplace_back();
    for (const auto &entry : list)
        doc.lists.back().push_back(keep(doc, entry.as_string()->get()));
    value.type = TOML_TEXTS;
    value.texts = doc.lists.back().data();
    value.text_count = static_cast<uint32_t>(doc.lists.back().size());
}

static void add_value(toml_doc &doc, const std::string &path, const ::toml::node &node,
                      const ::toml::source_region &at) {
    toml_value &value = add(doc, TOML_OTHER, path, at);
    if (const auto *text = node.as_string()) {
        value.type = TOML_TEXT;
        value.text = keep(doc, text->get());
    } else if (const auto *number = node.as_integer()) {
        value.type = TOML_NUMBER;
        value.number = number->get();
    } else if (const auto *real = node.as_floating_point()) {
        value.type = TOML_REAL;
        value.real = real->get();
    } else if (const auto *flag = node.as_boolean()) {
        value.type = TOML_FLAG;
        value.flag = flag->get();
    } else if (const auto *list = node.as_array(); list && is_list_of_texts(*list)) {
        add_texts(doc, value, *list);
    }
}

static void walk(toml_doc &doc, const std::string &path, const ::toml::table &table);

static void walk_entries(toml_doc &doc, const std::string &path, const ::toml::array &list) {
    for (const auto &entry : list) {
        add(doc, TOML_ENTRY, path, entry.source());
        walk(doc, path, *entry.as_table());
    }
}

/* Walks the dotted path of a section key by key: only sections that begin on a line of their own count. */
static void walk(toml_doc &doc, const std::string &path, const ::toml::table &table) {
    for (const auto &[key, node] : table) {
        std::string full =
            path.empty() ? std::string(key.str()) : path + "." + std::string(key.str());
        if (const auto *below = node.as_table()) {
            add(doc, TOML_TABLE, full, key.source());
            walk(doc, full, *below);
        } else if (const auto *list = node.as_array(); list && is_list_of_tables(*list)) {
            walk_entries(doc, full, *list);
        } else {
            add_value(doc, full, node, key.source());
        }
    }
}

static void say(toml_error *ret, uint32_t line, uint32_t column, const char *why) {
    ret->line = line;
    ret->column = column;
    std::snprintf(ret->why, sizeof ret->why, "%s", why);
}

/* Does this text make the parser fail an assertion? Serves to find the line up to which it does not. */
static bool surprises(std::string_view text) {
    try {
        (void)::toml::parse(text);
    } catch (const toml_surprised &) {
        return true;
    } catch (const ::toml::parse_error &) {
    }
    return false;
}

static std::string_view lines_of(std::string_view text, uint32_t lines) {
    size_t end = 0;
    for (; lines > 0 && end != std::string_view::npos; lines--)
        end = text.find('\n', end + (end > 0));
    return text.substr(0, end);
}

static uint32_t surprising_line(std::string_view text) {
    uint32_t good = 0, bad = static_cast<uint32_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    while (bad - good > 1) {
        uint32_t middle = good + (bad - good) / 2;
        (surprises(lines_of(text, middle)) ? bad : good) = middle;
    }
    return bad;
}

static toml_doc *read(std::string_view text, toml_error *ret) {
    try {
        ::toml::table table = ::toml::parse(text);
        auto doc = std::make_unique<toml_doc>();
        walk(*doc, "", table);
        std::stable_sort(doc->values.begin(), doc->values.end(), is_before);
        return doc.release();
    } catch (const ::toml::parse_error &error) {
        say(ret, error.source().begin.line, error.source().begin.column,
            std::string(error.description()).c_str());
    } catch (const toml_surprised &) {
        say(ret, surprising_line(text), 1, "this is not TOML");
    }
    return nullptr;
}

toml_doc *toml_read(str text, toml_error *ret_error) {
    try {
        return read(std::string_view(text.at ? text.at : "", text.len), ret_error);
    } catch (const std::bad_alloc &) {
        say(ret_error, 0, 0, "out of memory");
    } catch (const std::exception &error) {
        say(ret_error, 1, 1, error.what());
    }
    return nullptr;
}

uint32_t toml_count(const toml_doc *doc) {
    return static_cast<uint32_t>(doc->values.size());
}

const toml_value *toml_at(const toml_doc *doc, uint32_t place) {
    return &doc->values[place];
}

void toml_free(toml_doc *doc) {
    delete doc;
}
