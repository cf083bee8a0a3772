/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suspicions: a value in a packet contradicts a value in another captured packet, and only a packet
 * that was not captured could explain it. A suspicion rests on two captured values, never on the
 * absence of a packet. It is reported in its frame. At the end of the capture it is reported again
 * if it stands: no captured packet explains it, and it is no finding.
 */
#ifndef IPOIB_RULES_SUSPICIONS_H
#define IPOIB_RULES_SUSPICIONS_H

#include "rules/result.h"

/* The values of a group that are compared; packets have some of them, its record has all. */
enum traffic_value {
    TRAFFIC_mlid,
#define ATTRIBUTE(rule, name, at, n, mask, member) TRAFFIC_##member,
#include "rules/attributes.def"
#undef ATTRIBUTE
    TRAFFIC_VALUES
};

/* The value in the SA's record of the group; false: the record was not captured. */
bool group_record_value(const struct group *g, enum traffic_value which, uint32_t *value);

/*
 * What is suspicious: a value of a group's datagrams (enum traffic_value), a QPN, or a result that
 * contradicts a captured fact.
 */
enum { SUSPECTED_QPN = TRAFFIC_VALUES, SUSPECTED_RESULT, SUSPECTED_KINDS };

/*
 * A packet of `sgid` (zero: it is not known) has the value `found` for `about`: an MGID, or, for a
 * QPN, the GID of the port that has it on the partition `pkey`. A result has the bytes of its
 * entity there, and in sgid the GID of the port that its fact is about.
 */
struct suspicion {
    enum rule_number rule;
    unsigned which;
    uint16_t interface, pkey;
    uint8_t about[LLADDR_SIZE], sgid[GID_SIZE]; /* about: GID, MGID or link-layer address */
    uint32_t connection;                        /* of the CM message; 0: none */
    uint32_t expected;
    uint64_t found;
    bool has_number;  /* found is the observed number */
    const char *name; /* SUSPECTED_RESULT: struct finding */
    /*
     * of a result: its entity, whose pointers are not used, and its fact; of a datagram whose value
     * is not that of its link: the broadcast-GID
     */
    struct entity entity;
    uint8_t group[MGID_SIZE];
    enum fact_kind fact;
    bool of_link; /* about is the broadcast-GID of the link; group the one whose record has `found`
                   */
    char texts[2][RESULT_TEXT];  /* expected and found; suspicions_raise() writes them */
    uint32_t frame, other_frame; /* of the packet, and of the other value */
    /*
     * a packet after the datagram has the expected value too, or the SA's record has it; true for a
     * QPN, which the port itself announced to the sender, and for a result
     */
    bool is_confirmed;
    /*
     * it is not reported in its frame: a later packet may prove the result, or must show that the
     * other value is still the same
     */
    bool is_early;
    /*
     * FACT_PARAMETERS: the subnet manager started in this frame, so the group's record must have
     * come again since; 0: it need not
     */
    uint32_t record_since;
    bool of_source;   /* QPN: the interface with `expected` sent from the IP source before */
    bool is_resolved; /* QPN: the sender has resolved an IP address with the expected one */
    bool of_record;   /* the other packet is the SA's record of the group */
    bool is_reported;
    struct sender sender;
};

struct suspicions;
struct suspicions *suspicions_new(void);
void suspicions_free(struct suspicions *all);

/* What group_traffic.c keeps. */
struct traffic_key {
    uint8_t mgid[MGID_SIZE];
    uint16_t interface;
};
struct group_traffic {
    GHashTable *groups; /* NULL: none */
    uint32_t since;     /* frame in which the subnet manager last started or took over; 0: none */
};
struct group_traffic *suspicions_traffic(struct suspicions *all);

/*
 * "unless ...": what a packet that was not captured may have said about the fact. NULL: no
 * suspicion rests on facts of that kind.
 */
const char *suspicion_unless(enum fact_kind kind);

/* A suspicion of the current packet, which has this value. */
struct suspicion suspicion_of(const struct check_context *s, enum rule_number rule, unsigned which,
                              uint64_t found);

/*
 * Reports the suspicion of the current packet, unless it was reported before or is a known
 * deviation. If too many wait, it is reported as one that stands. r: has
 * the texts; NULL: of a datagram. Returns true if it waits for the end of the capture.
 */
bool suspicions_raise(const struct check_context *s, struct suspicion *new, const struct result *r);

/*
 * The responder answers the REQ. A REP with its UD QPN confirms that the REQ has another one. A REJ
 * because of an unknown Service-ID confirms it if the requester has resolved an IP address of the
 * responder: else it may have the QPN from before a restart of the interface.
 */
void suspicions_answered(struct suspicions *all, const struct connection *c, const struct cm *cm);

/*
 * A packet of the source has this value of the group `key`, which is named by MGID and interface.
 * The source is the sender's GID; NULL: the SA's record. The packet confirms suspicions that expect
 * the value. It explains those of other sources that found it: the group's value has changed.
 * Returns true if it explains one.
 */
bool suspicions_see(struct suspicions *all, const struct traffic_key *key, const uint8_t *source,
                    enum traffic_value which, uint32_t value);

/* The rule has a finding about this entity, or a claim of it is decided: they do not wait. */
void suspicions_drop(const struct check_context *s, enum rule_number rule,
                     const struct entity *about);

/*
 * Does an interface of the port on this partition have the QPN, or may it, as its addresses and its
 * datagrams show by now?
 */
bool port_has_qpn(const struct check_context *s, const struct endport *port, uint16_t pkey,
                  uint32_t qpn);

/* Reports those that stand, as if the capture ended here. The context has no packet. */
void suspicions_report(const struct check_context *s);

#endif
