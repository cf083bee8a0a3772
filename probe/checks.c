/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of checks. See checks.h. */
#include "probe/checks.h"

#define RULES(...) {__VA_ARGS__}, sizeof((enum rule_number[]){__VA_ARGS__}) / sizeof(enum rule_number)

const struct check checks[] = {
    {"multicast", NEEDS_NOTHING, check_answers_multicast,
     "ARP request, sender 0.0.0.0, to the broadcast group (IPv6: NS from :: to the solicited-node group)",
     "an answer by unicast UD to the probe's QPN (IPv6: to all nodes)",
     RULES(R_RFC4391_2_UD_SUPPORTED, R_RFC4391_2_MULTICAST_SUPPORTED, R_RFC4755_7_RESOLUTION_OVER_UD,
           R_RFC4391_9_1_1_FORMAT, R_RFC4391_13_QKEY_CONTROLLED)},
    {"membership", NEEDS_ADAPTER, check_membership,
     "to the SA: MCMemberRecord of the peer's port in the broadcast group, with OpenSM's default SM_Key",
     "a FullMember", RULES(R_RFC4391_5_FULL_MEMBER_JOIN)},
    {"arp-fields", NEEDS_IPV4, check_arp_fields, "the same, by unicast",
     "operation 2, the addresses as RFC 826 has them",
     RULES(R_RFC4391_9_2_ARP_AS_RFC826, R_RFC4391_9_2_ARP_HARDWARE_TYPE, R_RFC4391_9_2_ARP_HARDWARE_LENGTH,
           R_RFC4391_6_TYPE, R_RFC4391_6_RESERVED_ZERO)},
    {"reply-qpn", NEEDS_IPV4 | NEEDS_ADAPTER, check_reply_qpn,
     "the same from a second QP, with the link-layer address of the first", "the answer comes to the first",
     RULES(R_RFC4391_9_1_1_ARP_REPLY_QPN, R_RFC4755_3_1_REPLY_TO_UD_QPN)},
    {"one-qp", NEEDS_ADAPTER, check_one_qp, "the same, by unicast",
     "every answer is sent by the QPN that the peer announces", RULES(R_RFC4755_2_2_ONE_UD_QP)},
    {"grh", NEEDS_ADAPTER, check_grh, "the same by unicast, without a GRH and with one", "answers to both",
     RULES(R_RFC4391_6_GRH_OPTIONAL)},
    {"reserved", NEEDS_NOTHING, check_reserved, "the same with Reserved 0xbeef in the encapsulation header",
     "an answer all the same", RULES(R_RFC4391_6_RESERVED_IGNORED)},
    {"flags", NEEDS_IPV4, check_flags,
     "the same with the unknown flag bits 0x3f in the probe's link-layer address", "an answer all the same",
     RULES(R_RFC4391_9_1_1_FLAGS_IGNORED, R_RFC4755_3_1_FLAGS_IGNORED)},
    {"connected-flags", NEEDS_IPV4, check_connected_flags,
     "to a peer without connected mode: the same with the flags RC and UC (0xc0)",
     "an answer over UD, flags 0 in it", RULES(R_RFC4755_3_1_UD_ONLY_FLAGS)},
    {"ud-with-connected", NEEDS_ADAPTER, check_ud_with_connected, "to a peer with connected mode: the same",
     "an answer over UD", RULES(R_RFC4755_2_RFC4391_SUPPORTED)},
    {"solicitation", NEEDS_SOURCE | NEEDS_IPV6, check_solicitation,
     "NS from the probe's address, by unicast, with its link-layer address: plain, with the unknown flag bits 0x3f, from a "
     "second QP, and with a padding that is not 0",
     "an NA to the QPN of that address; of the last it is told what comes",
     RULES(R_RFC4391_9_1_1_FORMAT, R_RFC4391_9_1_1_FLAGS_IGNORED, R_RFC4391_9_1_1_TRAFFIC_TO_QPN)},
    {"path", NEEDS_ADAPTER, check_path, "to the SA: PathRecord from this port to the peer's GID",
     "a path, to the LID that the peer's answers come from, with the partition's P_Key and at least the group's MTU",
     RULES(R_RFC4391_9_1_1_GID_OF_PORT, R_RFC4391_4_1_GROUP_MTU, R_RFC4391_9_1_PKEY_COMPATIBLE)},
    {"port-guid", NEEDS_ADAPTER, check_port_guid, "to the SA: NodeRecord of the peer's LID",
     "the peer's GID is the subnet prefix and the port's GUID", RULES(R_RFC4391_9_1_1_GID_FROM_PORT_GUID)},
    {"partitions", NEEDS_ADAPTER, check_partitions, "to the SA: P_KeyTableRecord of the peer's LID",
     "the peer or this port is full member of the partition",
     RULES(R_PARTITION_LIMITED_TO_LIMITED, R_PARTITION_MEMBERSHIP_TWINS, R_PARTITION_OVERLAP)},
    {"link-local", NEEDS_NOTHING, check_link_local,
     "NS from :: for the link-local address that the peer's GUID makes, to the peer's QPN",
     "an NA: it has that address",
     RULES(R_RFC4391_8_LINK_LOCAL, R_RFC4391_8_1_LINK_LOCAL_FORM, R_RFC4391_8_U_BIT)},
    {"q-key", NEEDS_DISRUPTIVE | NEEDS_ADAPTER, check_wrong_qkey, "the same with a wrong Q_Key", "no answer",
     RULES(R_RFC4391_9_1_QKEY_MATCH)},
    {"reply-to-ud", NEEDS_IPV4 | NEEDS_CONNECTIONS, check_reply_to_ud,
     "ARP request, sender 0.0.0.0, by unicast over UD, with the flags RC and UC (0xc0) in the probe's link-layer address",
     "an answer at the probe's UD QPN", RULES(R_RFC4755_3_1_REPLY_TO_UD_QPN)},
    {"connection", NEEDS_CONNECTIONS, check_connection,
     "CM REQ with the RFC's Service-ID; if it is unknown there, with Linux's (0x10...). Then DREQ, as behind each of these",
     "a REP with the peer's UD QPN, its Receive MTU and Reserved 0; it answers over UD meanwhile",
     RULES(R_RFC4755_3_5_SERVICE_ID, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, R_RFC4755_6_PRIVATE_DATA,
           R_RFC4755_6_RESERVED_ZERO, R_RFC4755_2_RFC4391_SUPPORTED)},
    {"connection-second", NEEDS_CONNECTIONS, check_connection_second,
     "a second REQ while a connection stands", "any answer: it is told, not judged",
     RULES(R_RFC4755_3_2_FURTHER_REQ)},
    {"connection-modes", NEEDS_CONNECTIONS, check_connection_modes,
     "REQ for each mode that the peer announces; with --disruptive for the other too", "a REP, and a REJ",
     RULES(R_RFC4755_3_1_FLAGS, R_RFC4755_7_ANY_MODE_ACCEPTED)},
    {"connection-resolution", NEEDS_CONNECTIONS, check_connection_resolution,
     "ARP request, sender 0.0.0.0 (IPv6: NS from ::), over a connection", "an answer over UD, or none",
     RULES(R_RFC4755_7_RESOLUTION_OVER_UD, R_RFC4755_3_1_REPLY_TO_UD_QPN)},
    {"connection-end", NEEDS_CONNECTIONS, check_connection_end,
     "DREQ, then a question over UD and a further REQ", "an answer over UD; what comes of the rest is told",
     RULES(R_RFC4755_2_RFC4391_SUPPORTED)},
    {"connection-unseen", NEEDS_CONNECTIONS, check_connection_unseen,
     "nothing: this host's kernel takes the peer's REQs, and writes 0 into the Reserved octet of the probe's",
     "nothing: what that hides is told as skipped",
     RULES(R_RFC4755_3_3_SIMULTANEOUS, R_RFC4755_5_1_RECEIVE_MTU, R_RFC4755_5_1_SMALLER_MTU_ACCEPTED,
           R_RFC4755_6_RESERVED_IGNORED)},
    {"connection-echo", NEEDS_SOURCE | NEEDS_CONNECTIONS, check_connection_echo,
     "ICMP echo request of 84 octets over a connection of each mode, then with Reserved 0xbeef",
     "echo replies over any mode; the peer's multicast over UD",
     RULES(R_RFC4755_7_ANY_MODE_ACCEPTED, R_RFC4755_4_ENCAPSULATION_HEADER, R_RFC4755_4_TYPE,
           R_RFC4755_2_1_MULTICAST_OVER_UD, R_RFC4391_6_RESERVED_IGNORED)},
    {"connection-sizes", NEEDS_SOURCE | NEEDS_CONNECTIONS, check_connection_sizes,
     "REQ with Receive MTU 65524; ICMP echo requests of 68 (IPv6: 1280) octets up to the connection's MTU",
     "none of them ends the connection; replies to the smallest",
     RULES(R_RFC4755_5_1_CONNECTION_MTU, R_RFC4755_5_MINIMUM_MTU)},
    {"connection-small", NEEDS_SOURCE | NEEDS_CONNECTIONS, check_connection_small,
     "REQ with Receive MTU 1284; then an ICMP echo request of 2000 octets over UD",
     "nothing of more than 1280 octets of IP over the connection", RULES(R_RFC4755_5_1_CONNECTION_MTU)},
    {"echo", NEEDS_SOURCE, check_echo, "ICMP echo request of 84 octets over UD; again from a second QP",
     "echo replies at the QPN of the probe's address",
     RULES(R_RFC4391_9_1_1_TRAFFIC_TO_QPN, R_RFC4755_7_ANY_MODE_ACCEPTED)},
    {"echo-header", NEEDS_SOURCE, check_echo_header, "the same with a GRH, then with Reserved 0xbeef",
     "echo replies all the same", RULES(R_RFC4391_6_GRH_OPTIONAL, R_RFC4391_6_RESERVED_IGNORED)},
    {"sizes", NEEDS_SOURCE, check_sizes,
     "ICMP echo requests of 68 (IPv6: 1280), 576, 1280, 1500, 2044 octets and the link's MTU",
     "echo replies of the same size, each in one packet",
     RULES(R_RFC4391_7_MTU_2044, R_RFC4755_5_MINIMUM_MTU, R_RFC4391_5_JOIN_PARAMETERS_USED)},
};
const unsigned n_checks = sizeof checks / sizeof checks[0];

void tell_kept(struct probe *p, enum rule_number rule, enum kept k, const struct kept_words *words)
{
    static const enum outcome outcomes[] = {[KEPT_YES] = OUTCOME_PASS,
                                            [KEPT_NO] = OUTCOME_FAIL,
                                            [KEPT_UNKNOWN] = OUTCOME_INCONCLUSIVE,
                                            [KEPT_UNASKED] = OUTCOME_INCONCLUSIVE};
    const char *actual[] = {[KEPT_YES] = words->passed,
                            [KEPT_NO] = words->failed,
                            [KEPT_UNKNOWN] = words->unknown,
                            [KEPT_UNASKED] = p->results->came};
    results_add(p->results, rule, outcomes[k], k == KEPT_YES ? "" : words->expected, actual[k]);
}

bool check_selected(const struct check *c, const struct selection *s)
{
    for (unsigned i = 0; i < c->n_rules; i++)
        if (s->rule[c->rules[i]])
            return true;
    return false;
}
