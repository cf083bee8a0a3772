/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of IP over InfiniBand: what the documents say, who is bound by it, and who can see
 * whether it is kept. The plugin, the tools and the documentation are all made from this one table
 * (rules/table.def).
 */
#ifndef IPOIB_RULES_RULES_H
#define IPOIB_RULES_RULES_H

#include <stdbool.h>
#include <stddef.h>

/* How a breach counts. */
enum rule_level {
    RULE_MUST,   /* counted as a violation */
    RULE_SHOULD, /* counted where the user asks for strictness */
    RULE_MAY,    /* a freedom: its use must never be reported */
    RULE_INFO,   /* shown, never counted */
    RULE_DRAFT,  /* superseded text of a draft: recognised and named, never counted */
};

/* What the level stands on: the document's own words. */
enum rule_basis {
    RULE_KEYWORD,    /* an RFC 2119 keyword */
    RULE_LOWER_CASE, /* a lower-case "must" or "requires" */
    RULE_FORMAT,     /* a wire format or figure */
    RULE_FACT,       /* a plain statement */
    RULE_BY_DRAFT,   /* text of a draft */
    RULE_VENDOR,     /* a vendor's chapter on InfiniBand concepts */
};

enum rule_document {
    RULE_RFC4391,
    RULE_RFC4755,
    RULE_RFC4390,
    RULE_DRAFT02, /* draft-ietf-ipoib-link-multicast-02 */
    RULE_DRAFT03,
    RULE_DRAFTS, /* both */
    RULE_CONCEPTS,
};

enum rule_bound {
    RULE_SENDER,
    RULE_RECEIVER,
    RULE_NODE,
    RULE_ROUTER,
    RULE_FABRIC,
    RULE_TOOL,
    RULE_IETF
};

/* Who can see a breach. */
enum rule_seen {
    RULE_SEEN_P,    /* a capture */
    RULE_SEEN_A,    /* a probe alone: only the answer to a question of one's own shows it */
    RULE_SEEN_PA,   /* both */
    RULE_SEEN_S,    /* nobody from outside: these tools keep it themselves */
    RULE_SEEN_N,    /* nobody: no packet shows it */
    RULE_SEEN_NONE, /* not looked for: superseded, named in the documentation alone */
};

struct rule {
    const char *id; /* "rfc4391.6.reserved-zero" */
    enum rule_document document;
    const char *section; /* "6" */
    const char *title;   /* what it is about: "ND option length" */
    enum rule_level level;
    enum rule_basis basis;
    enum rule_bound bound;
    enum rule_seen seen;
    const char *text; /* one sentence */
};

enum rule_number {
#define RULE(symbol, id, document, section, title, level, basis, bound, seen, text) R_##symbol,
#include "rules/table.def"
#undef RULE
    RULE_COUNT,
};

extern const struct rule rules[RULE_COUNT];

/* By its whole identifier; NULL where there is none. */
const struct rule *rule_find(const char *id);

/*
 * Does the rule's identifier begin with the selector, at a border of its parts? "rfc4391.6" selects
 * 6, not 60.
 */
bool rule_selected(const struct rule *r, const char *selector);

static inline bool rule_in_capture(const struct rule *r)
{
    return r->seen == RULE_SEEN_P || r->seen == RULE_SEEN_PA;
}

static inline bool rule_by_probe(const struct rule *r)
{
    return r->seen == RULE_SEEN_A || r->seen == RULE_SEEN_PA;
}

const char *rule_level_name(enum rule_level level); /* "MUST" */
const char *rule_document_name(enum rule_document document);
const char *rule_basis_name(enum rule_basis basis);
const char *rule_bound_name(enum rule_bound bound);
/* Why a capture does not show the rule, in words; NULL where it does. */
const char *rule_unseen_reason(const struct rule *r);

#endif
