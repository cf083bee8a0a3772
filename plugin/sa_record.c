/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SA records that IPoIB uses (IBA 15.2.5): group memberships, paths, services, event
 * subscriptions and notices. Each component has its own field. Of requests, only the components in
 * the component mask are shown.
 */
#include "plugin/sa.h"
#include "plugin/mgid.h"
#include "plugin/protocol.h"

#include "wire/sa.h"

static int hf_ipoib_sa_gid = -1, hf_ipoib_sa_port_gid = -1, hf_ipoib_sa_qkey = -1,
           hf_ipoib_sa_mlid = -1, hf_ipoib_sa_mtu = -1, hf_ipoib_sa_mtu_selector = -1;
static int hf_ipoib_sa_tclass = -1, hf_ipoib_sa_pkey = -1, hf_ipoib_sa_rate = -1,
           hf_ipoib_sa_rate_selector = -1, hf_ipoib_sa_life = -1;
static int hf_ipoib_sa_life_selector = -1, hf_ipoib_sa_sl = -1, hf_ipoib_sa_flow_label = -1,
           hf_ipoib_sa_hop_limit = -1, hf_ipoib_sa_scope = -1, hf_ipoib_sa_join_state = -1;
static int hf_ipoib_sa_proxy_join = -1, hf_ipoib_sa_dgid = -1, hf_ipoib_sa_sgid = -1,
           hf_ipoib_sa_dlid = -1, hf_ipoib_sa_slid = -1, hf_ipoib_sa_service_id = -1;
static int hf_ipoib_sa_service_gid = -1, hf_ipoib_sa_service_name = -1, hf_ipoib_sa_lease = -1,
           hf_ipoib_sa_trap = -1, hf_ipoib_sa_subscribe = -1;
static int hf_ipoib_sa_issuer_lid = -1, hf_ipoib_sa_issuer_gid = -1, hf_ipoib_sa_producer = -1,
           hf_ipoib_sa_qpn = -1;
static int ett_ipoib_record = -1;

static void add_gid_field(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int offset)
{
    if (!mgid_add(tree, pinfo, tvb, offset))
        proto_tree_add_item(tree, hf_ipoib_sa_gid, tvb, offset, GID_SIZE, ENC_NA);
}

char *sa_mtu_text(wmem_allocator_t *scope, uint8_t code)
{
    const char *opa = names_find(opa_mtu_names, code);
    if (ib_mtu_bytes(code))
        return wmem_strdup_printf(scope, "%u", ib_mtu_bytes(code));
    return wmem_strdup_printf(scope, "code %u%s%s%s", code, opa ? " (Omni-Path: " : "",
                              opa ? opa : "", opa ? ")" : "");
}

static void add_mtu(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int offset, uint8_t code)
{
    uint32_t bytes = ib_mtu_bytes(code);
    const char *text = sa_mtu_text(pinfo->pool, code);
    proto_item *ti = proto_tree_add_uint_format_value(tree, hf_ipoib_sa_mtu, tvb, offset, 1, bytes,
                                                      "%s", text);
    if (bytes)
        proto_item_append_text(ti, " bytes (code %u)", code);
}

static void add_life(proto_tree *tree, tvbuff_t *tvb, int offset, uint8_t code)
{
    /* IBA 15.2.5.16: 4.096 us * 2^code */
    proto_item *ti = proto_tree_add_item(tree, hf_ipoib_sa_life, tvb, offset, 1, ENC_BIG_ENDIAN);
    if (code < 40)
        proto_item_append_text(ti, " (%.3f ms)", 0.004096 * (double)(1ull << code));
}

/* How a component is shown: most unchanged, some in other units or with their meaning. */
enum drawing { PLAIN, GROUP, MTU_OCTETS, LIFE_TIME, JOIN_BITS, LOW_NIBBLE };

struct record_component {
    uint64_t bit; /* in the component mask */
    enum drawing drawing;
    int *hf; /* NULL if `drawing` implies the field */
    int offset, size;
};

static const struct record_component mc_components[] = {
    {MCM_HAS_MGID, GROUP, NULL, MCM_MGID, GID_SIZE},
    {MCM_HAS_PORT_GID, PLAIN, &hf_ipoib_sa_port_gid, MCM_PORT_GID, GID_SIZE},
    {MCM_HAS_QKEY, PLAIN, &hf_ipoib_sa_qkey, MCM_QKEY, 4},
    {MCM_HAS_MLID, PLAIN, &hf_ipoib_sa_mlid, MCM_MLID, 2},
    {MCM_HAS_MTU_SELECTOR, PLAIN, &hf_ipoib_sa_mtu_selector, MCM_MTU, 1},
    {MCM_HAS_MTU, MTU_OCTETS, NULL, MCM_MTU, 1},
    {MCM_HAS_TCLASS, PLAIN, &hf_ipoib_sa_tclass, MCM_TCLASS, 1},
    {MCM_HAS_PKEY, PLAIN, &hf_ipoib_sa_pkey, MCM_PKEY, 2},
    {MCM_HAS_RATE_SELECTOR, PLAIN, &hf_ipoib_sa_rate_selector, MCM_RATE, 1},
    {MCM_HAS_RATE, PLAIN, &hf_ipoib_sa_rate, MCM_RATE, 1},
    {MCM_HAS_LIFE_SELECTOR, PLAIN, &hf_ipoib_sa_life_selector, MCM_LIFE, 1},
    {MCM_HAS_LIFE, LIFE_TIME, NULL, MCM_LIFE, 1},
    {MCM_HAS_SL, PLAIN, &hf_ipoib_sa_sl, MCM_SL_FLOW_HOP, 1},
    {MCM_HAS_FLOW_LABEL, PLAIN, &hf_ipoib_sa_flow_label, MCM_SL_FLOW_HOP, 4},
    {MCM_HAS_HOP_LIMIT, PLAIN, &hf_ipoib_sa_hop_limit, MCM_SL_FLOW_HOP + 3, 1},
    {MCM_HAS_SCOPE, PLAIN, &hf_ipoib_sa_scope, MCM_SCOPE_JOIN, 1},
    {MCM_HAS_JOIN_STATE, JOIN_BITS, NULL, MCM_SCOPE_JOIN, 1},
    {MCM_HAS_PROXY, PLAIN, &hf_ipoib_sa_proxy_join, MCM_PROXY, 1},
    {0},
};

static const struct record_component path_components[] = {
    {PATH_HAS_DGID, PLAIN, &hf_ipoib_sa_dgid, PATH_DGID, GID_SIZE},
    {PATH_HAS_SGID, PLAIN, &hf_ipoib_sa_sgid, PATH_SGID, GID_SIZE},
    {PATH_HAS_DLID, PLAIN, &hf_ipoib_sa_dlid, PATH_DLID, 2},
    {PATH_HAS_SLID, PLAIN, &hf_ipoib_sa_slid, PATH_SLID, 2},
    {PATH_HAS_FLOW_LABEL, PLAIN, &hf_ipoib_sa_flow_label, PATH_FLOW_HOP, 4},
    {PATH_HAS_HOP_LIMIT, PLAIN, &hf_ipoib_sa_hop_limit, PATH_FLOW_HOP + 3, 1},
    {PATH_HAS_TCLASS, PLAIN, &hf_ipoib_sa_tclass, PATH_TCLASS, 1},
    {PATH_HAS_PKEY, PLAIN, &hf_ipoib_sa_pkey, PATH_PKEY, 2},
    {PATH_HAS_SL, LOW_NIBBLE, &hf_ipoib_sa_sl, PATH_SL + 1, 1},
    {PATH_HAS_MTU, MTU_OCTETS, NULL, PATH_MTU, 1},
    {PATH_HAS_RATE, PLAIN, &hf_ipoib_sa_rate, PATH_RATE, 1},
    {0},
};

static void add_join_state(proto_tree *tree, tvbuff_t *tvb, int offset)
{
    char text[80];
    proto_item *ti = proto_tree_add_item(tree, hf_ipoib_sa_join_state, tvb, offset, 1,
                                         ENC_BIG_ENDIAN);
    proto_item_append_text(ti, " (%s)",
                           join_state_text(tvb_get_uint8(tvb, offset) & 0xf, text, sizeof text));
}

static void add_component(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int offset,
                          const struct record_component *c)
{
    uint8_t byte = tvb_get_uint8(tvb, offset);
    switch (c->drawing) {
    case PLAIN:
        /* NOLINTBEGIN(bugprone-branch-clone): both encodings are 0 */
        proto_tree_add_item(tree, *c->hf, tvb, offset, c->size,
                            c->size == GID_SIZE ? ENC_NA : ENC_BIG_ENDIAN);
        /* NOLINTEND(bugprone-branch-clone) */
        break;
    case GROUP:
        add_gid_field(tree, pinfo, tvb, offset);
        break;
    case MTU_OCTETS:
        add_mtu(tree, pinfo, tvb, offset, byte & 0x3f);
        break;
    case LIFE_TIME:
        add_life(tree, tvb, offset, byte & 0x3f);
        break;
    case JOIN_BITS:
        add_join_state(tree, tvb, offset);
        break;
    case LOW_NIBBLE: /* the field's mask is the high nibble */
        proto_tree_add_uint(tree, *c->hf, tvb, offset, 1, (byte & 0x0fu) << 4);
        break;
    }
}

/* Adds the components of the record at offset o. */
static void add_components(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int o,
                           const struct sa *sa, const struct record_component *components)
{
    for (const struct record_component *c = components; c->bit; c++)
        if (sa_component_is_valid(sa, c->bit))
            add_component(tree, pinfo, tvb, o + c->offset, c);
}

static void add_service(proto_tree *tree, tvbuff_t *tvb, int o)
{
    proto_tree_add_item(tree, hf_ipoib_sa_service_id, tvb, o + SERVICE_ID, 8, ENC_BIG_ENDIAN);
    proto_tree_add_item(tree, hf_ipoib_sa_service_gid, tvb, o + SERVICE_GID, GID_SIZE, ENC_NA);
    proto_tree_add_item(tree, hf_ipoib_sa_pkey, tvb, o + SERVICE_PKEY, 2, ENC_BIG_ENDIAN);
    proto_tree_add_item(tree, hf_ipoib_sa_lease, tvb, o + SERVICE_LEASE, 4, ENC_BIG_ENDIAN);
    proto_tree_add_item(tree, hf_ipoib_sa_service_name, tvb, o + SERVICE_NAME, SERVICE_NAME_SIZE,
                        ENC_UTF_8);
}

static void add_inform(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int o)
{
    add_gid_field(tree, pinfo, tvb, o + INFORM_GID);
    proto_tree_add_item(tree, hf_ipoib_sa_subscribe, tvb, o + INFORM_SUBSCRIBE, 1, ENC_BIG_ENDIAN);
    proto_tree_add_item(tree, hf_ipoib_sa_trap, tvb, o + INFORM_TRAP, 2, ENC_BIG_ENDIAN);
    proto_tree_add_item(tree, hf_ipoib_sa_qpn, tvb, o + INFORM_QPN_TIME, 3, ENC_BIG_ENDIAN);
    proto_tree_add_item(tree, hf_ipoib_sa_producer, tvb, o + INFORM_PRODUCER, 3, ENC_BIG_ENDIAN);
}

static void add_notice(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int o)
{
    uint16_t trap = tvb_get_ntohs(tvb, o + NOTICE_TRAP);
    proto_tree_add_item(tree, hf_ipoib_sa_trap, tvb, o + NOTICE_TRAP, 2, ENC_BIG_ENDIAN);
    proto_tree_add_item(tree, hf_ipoib_sa_producer, tvb, o + NOTICE_PRODUCER, 3, ENC_BIG_ENDIAN);
    proto_tree_add_item(tree, hf_ipoib_sa_issuer_lid, tvb, o + NOTICE_ISSUER_LID, 2,
                        ENC_BIG_ENDIAN);
    if (trap_has_gid(trap))
        add_gid_field(tree, pinfo, tvb, o + NOTICE_DETAILS_GID);
    proto_tree_add_item(tree, hf_ipoib_sa_issuer_gid, tvb, o + NOTICE_ISSUER_GID, GID_SIZE, ENC_NA);
}

void sa_record_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int o, const struct sa *sa)
{
    int size = (int)sa_record_size(sa->mad.attribute);
    const char *name = names_find(sa_attribute_names, sa->mad.attribute);
    proto_tree *sub = proto_tree_add_subtree(tree, tvb, o, size, ett_ipoib_record, NULL,
                                             name ? name : "record");
    switch (sa->mad.attribute) {
    case SA_MC_MEMBER_RECORD:
        add_components(sub, pinfo, tvb, o, sa, mc_components);
        break;
    case SA_PATH_RECORD:
        add_components(sub, pinfo, tvb, o, sa, path_components);
        break;
    case SA_SERVICE_RECORD:
        add_service(sub, tvb, o);
        break;
    case SA_INFORM_INFO:
        add_inform(sub, pinfo, tvb, o);
        break;
    case SA_NOTICE:
        add_notice(sub, pinfo, tvb, o);
        break;
    default:
        break;
    }
}

void sa_record_register(void)
{
    static hf_register_info hf[] = {
        {&hf_ipoib_sa_gid,
         {"GID", "ipoib.sa.gid", FT_IPv6, BASE_NONE, NULL, 0, "no IPoIB MGID", HFILL}},
        {&hf_ipoib_sa_port_gid,
         {"PortGID", "ipoib.sa.port_gid", FT_IPv6, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_qkey, {"Q_Key", "ipoib.sa.qkey", FT_UINT32, BASE_HEX, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_mlid, {"MLID", "ipoib.sa.mlid", FT_UINT16, BASE_HEX, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_mtu, {"MTU", "ipoib.sa.mtu", FT_UINT16, BASE_DEC, NULL, 0, "bytes", HFILL}},
        {&hf_ipoib_sa_mtu_selector,
         {"MTU selector", "ipoib.sa.mtu.selector", FT_UINT8, BASE_DEC, VALS_OF(sa_selector_names),
          0xc0, NULL, HFILL}},
        {&hf_ipoib_sa_tclass,
         {"TClass", "ipoib.sa.tclass", FT_UINT8, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_pkey, {"P_Key", "ipoib.sa.pkey", FT_UINT16, BASE_HEX, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_rate,
         {"Rate", "ipoib.sa.rate", FT_UINT8, BASE_DEC, VALS_OF(ib_rate_names), 0x3f, NULL, HFILL}},
        {&hf_ipoib_sa_rate_selector,
         {"Rate selector", "ipoib.sa.rate.selector", FT_UINT8, BASE_DEC, VALS_OF(sa_selector_names),
          0xc0, NULL, HFILL}},
        {&hf_ipoib_sa_life,
         {"Packet life time", "ipoib.sa.life", FT_UINT8, BASE_DEC, NULL, 0x3f,
          "4.096 us times 2 to this", HFILL}},
        {&hf_ipoib_sa_life_selector,
         {"Packet life time selector", "ipoib.sa.life.selector", FT_UINT8, BASE_DEC,
          VALS_OF(sa_selector_names), 0xc0, NULL, HFILL}},
        {&hf_ipoib_sa_sl, {"SL", "ipoib.sa.sl", FT_UINT8, BASE_DEC, NULL, 0xf0, NULL, HFILL}},
        {&hf_ipoib_sa_flow_label,
         {"FlowLabel", "ipoib.sa.flow_label", FT_UINT32, BASE_HEX, NULL, 0x0fffff00, NULL, HFILL}},
        {&hf_ipoib_sa_hop_limit,
         {"HopLimit", "ipoib.sa.hop_limit", FT_UINT8, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_scope,
         {"Scope", "ipoib.sa.scope", FT_UINT8, BASE_HEX, NULL, 0xf0, NULL, HFILL}},
        {&hf_ipoib_sa_join_state,
         {"JoinState", "ipoib.sa.join_state", FT_UINT8, BASE_HEX, NULL, 0x0f, "IBA 15.2.5.17",
          HFILL}},
        {&hf_ipoib_sa_proxy_join,
         {"ProxyJoin", "ipoib.sa.proxy_join", FT_BOOLEAN, 8, NULL, 0x80, NULL, HFILL}},
        {&hf_ipoib_sa_dgid,
         {"DGID", "ipoib.sa.dgid", FT_IPv6, BASE_NONE, NULL, 0, "destination of the path", HFILL}},
        {&hf_ipoib_sa_sgid,
         {"SGID", "ipoib.sa.sgid", FT_IPv6, BASE_NONE, NULL, 0, "source of the path", HFILL}},
        {&hf_ipoib_sa_dlid, {"DLID", "ipoib.sa.dlid", FT_UINT16, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_slid, {"SLID", "ipoib.sa.slid", FT_UINT16, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_service_id,
         {"Service-ID", "ipoib.sa.service_id", FT_UINT64, BASE_HEX, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_service_gid,
         {"Service GID", "ipoib.sa.service_gid", FT_IPv6, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_service_name,
         {"Service name", "ipoib.sa.service_name", FT_STRINGZPAD, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_lease,
         {"Lease", "ipoib.sa.lease", FT_UINT32, BASE_DEC, NULL, 0, "seconds", HFILL}},
        {&hf_ipoib_sa_trap,
         {"Trap", "ipoib.sa.trap", FT_UINT16, BASE_DEC, VALS_OF(notice_trap_names), 0, NULL,
          HFILL}},
        {&hf_ipoib_sa_subscribe,
         {"Subscribe", "ipoib.sa.subscribe", FT_BOOLEAN, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_issuer_lid,
         {"Issuer LID", "ipoib.sa.issuer_lid", FT_UINT16, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_issuer_gid,
         {"Issuer GID", "ipoib.sa.issuer_gid", FT_IPv6, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_producer,
         {"Producer type", "ipoib.sa.producer", FT_UINT24, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_sa_qpn,
         {"QPN", "ipoib.sa.qpn", FT_UINT24, BASE_HEX, NULL, 0, "destination of Reports", HFILL}},
    };
    static int *ett[] = {&ett_ipoib_record};
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
