/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds and changes places in the tree. Wireshark's dissectors of InfiniBand, ARP and ICMPv6 hand
 * over no subtree, so their items are found among the nodes of the tree.
 */
#include "plugin/place.h"
#include "plugin/protocol.h"

static int icrc = -1, vcrc = -1;

static int field_of(const proto_node *n)
{
    return PNODE_FINFO(n) ? PNODE_FINFO(n)->hfinfo->id : -1;
}

proto_tree *place_below(proto_tree *tree, int proto)
{
    proto_tree *found = NULL;
    for (proto_node *n = tree ? tree->first_child : NULL; n; n = n->next)
        if (field_of(n) == proto)
            found = proto_item_get_subtree(n);
    return found ? found : tree;
}

static bool is_crc(const proto_node *n)
{
    return field_of(n) == icrc || field_of(n) == vcrc;
}

void place_before_crcs(proto_tree *ib)
{
    proto_node *last = NULL, *n = ib ? ib->first_child : NULL;
    if (!ib || !PTREE_DATA(ib)->visible)
        return;
    for (; n && !is_crc(n); n = n->next)
        last = n;
    while (n && last) {
        proto_node *next = n->next;
        if (!is_crc(n)) {
            proto_tree_move_item(ib, last, n);
            last = n;
        }
        n = next;
    }
}

int place_icrc(void)
{
    return icrc;
}

int place_vcrc(void)
{
    return vcrc;
}

void place_handoff(void)
{
    icrc = proto_registrar_get_id_byname("infiniband.invariant.crc");
    vcrc = proto_registrar_get_id_byname("infiniband.variant.crc");
}
