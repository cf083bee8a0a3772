/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules: the requirements of the IP over InfiniBand documents, the party that each one binds,
 * and the way in which a violation can be observed. The plugin, the tools and the documentation are
 * generated from this one table (rules/table.def).
 */
#ifndef IPOIB_RULES_RULES_H
#define IPOIB_RULES_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "rules/fact_kinds.h"

/* How a violation counts. */
enum rule_level {
    RULE_MUST,   /* counted as a violation */
    RULE_SHOULD, /* counted only if the user asks for strictness */
    RULE_MAY,    /* permission: its use is never reported */
    RULE_INFO,   /* reported, never counted */
    RULE_DRAFT,  /* superseded text of a draft: recognised and reported, never counted */
};

/* The wording of the document that gives the rule its level. */
enum rule_basis {
    RULE_KEYWORD,    /* an RFC 2119 keyword */
    RULE_LOWER_CASE, /* lower-case "must" or "requires" */
    RULE_FORMAT,     /* a wire format or figure */
    RULE_FACT,       /* a statement without a keyword; a lower-case "should" is none */
    RULE_BY_DRAFT,   /* text of a draft */
    RULE_VENDOR,     /* a vendor's manual */
};

enum rule_document {
    RULE_RFC4391,
    RULE_RFC4755,
    RULE_RFC4390,
    RULE_DRAFT02, /* draft-ietf-ipoib-link-multicast-02 */
    RULE_DRAFT03,
    RULE_DRAFTS,   /* both drafts */
    RULE_CONCEPTS, /* a vendor's manual; script/rule-pages has its title */
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

/* How a violation can be observed. The letters are those of the table: passive, active, self, not.
 */
enum rule_seen {
    RULE_SEEN_P,    /* in a capture */
    RULE_SEEN_A,    /* by a probe only: in the response to its own request */
    RULE_SEEN_PA,   /* in a capture and by a probe */
    RULE_SEEN_S,    /* not from outside; these tools comply with the rule themselves */
    RULE_SEEN_N,    /* neither in a capture nor by the probe */
    RULE_SEEN_NONE, /* not checked: superseded, named only in the documentation */
};

struct rule {
    const char *id; /* "rfc4391.6.reserved-zero" */
    enum rule_document document;
    const char *section; /* "6" */
    const char *title;   /* the fault, or what is noted: "Wrong ND option length" */
    enum rule_level level;
    enum rule_basis basis;
    enum rule_bound bound;
    enum rule_seen seen;
    unsigned rests_on; /* enum rests_on */
    const char *text;  /* one sentence */
};

enum rule_number {
#define RULE(symbol, id, document, section, title, level, basis, bound, seen, rests_on, text)      \
    R_##symbol,
#include "rules/table.def"
#undef RULE
    RULE_COUNT,
};

extern const struct rule rules[RULE_COUNT];

/* The rule with this complete identifier; NULL: there is none. */
const struct rule *rule_find(const char *id);

/*
 * Is the selector the rule's identifier, or whole leading parts of it? "rfc4391.6" selects
 * rfc4391.6.type, but not rfc4391.60.
 */
bool rule_selected(const struct rule *r, const char *selector);
/* The same for the identifier of another thing, such as a stage of the probe. */
bool id_selected(const char *id, const char *selector);

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
/* What the section of the rule is called: "section", or "page" of a manual with page numbers. */
const char *rule_place_word(const struct rule *r);
const char *rule_basis_name(enum rule_basis basis);
const char *rule_bound_name(enum rule_bound bound);
/* Text: why a capture cannot show a violation of the rule; NULL if it can. */
const char *rule_unseen_reason(const struct rule *r);

#endif
