/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/rules.h"

#include <string.h>

/* The abbreviations of the table. */
#define RULE_SEEN(seen)       RULE_SEEN_##seen
#define RULE_BASIS_KEYWORD    RULE_KEYWORD
#define RULE_BASIS_LOWER_CASE RULE_LOWER_CASE
#define RULE_BASIS_FORMAT     RULE_FORMAT
#define RULE_BASIS_FACT       RULE_FACT
#define RULE_BASIS_DRAFT      RULE_BY_DRAFT
#define RULE_BASIS_VENDOR     RULE_VENDOR

const struct rule rules[RULE_COUNT] = {
#define RULE(symbol, id, document, section, title, level, basis, bound, seen, rests_on, text)      \
    [R_##symbol] = {                                                                               \
        id,           RULE_##document, section,  title, RULE_##level, RULE_BASIS_##basis,          \
        RULE_##bound, RULE_SEEN(seen), rests_on, text},
#include "rules/table.def"
#undef RULE
};

const struct rule *rule_find(const char *id)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (strcmp(rules[i].id, id) == 0)
            return &rules[i];
    return NULL;
}

bool id_selected(const char *id, const char *selector)
{
    size_t n = strlen(selector);
    return strncmp(id, selector, n) == 0 &&
           (id[n] == '\0' || id[n] == '.' || (n && selector[n - 1] == '.'));
}

bool rule_selected(const struct rule *r, const char *selector)
{
    return id_selected(r->id, selector);
}

const char *rule_level_name(enum rule_level level)
{
    static const char *const names[] = {"MUST", "SHOULD", "MAY", "INFO", "DRAFT"};
    return names[level];
}

const char *rule_document_name(enum rule_document document)
{
    static const char *const names[] = {"RFC 4391",
                                        "RFC 4755",
                                        "RFC 4390",
                                        "draft-ietf-ipoib-link-multicast-02",
                                        "draft-ietf-ipoib-link-multicast-03",
                                        "draft-ietf-ipoib-link-multicast-02, -03",
                                        "InfiniBand concepts"};
    return names[document];
}

const char *rule_place_word(const struct rule *r)
{
    return r->document == RULE_CONCEPTS ? "page" : "section";
}

const char *rule_basis_name(enum rule_basis basis)
{
    static const char *const names[] = {"RFC 2119 keyword", "lower-case must", "wire format",
                                        "statement",        "draft",           "vendor"};
    return names[basis];
}

const char *rule_bound_name(enum rule_bound bound)
{
    static const char *const names[] = {"sender", "receiver",    "node", "router",
                                        "fabric", "these tools", "IETF"};
    return names[bound];
}

const char *rule_unseen_reason(const struct rule *r)
{
    switch (r->seen) {
    case RULE_SEEN_A:
        return "only the reply to a probe shows it";
    case RULE_SEEN_S:
        return "kept by these tools themselves";
    case RULE_SEEN_N:
        return "neither a capture nor the probe shows it";
    case RULE_SEEN_NONE:
        return "superseded text, named only in the documentation";
    case RULE_SEEN_P:
    case RULE_SEEN_PA:
        break;
    }
    return NULL;
}
