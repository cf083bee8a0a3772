/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judging: each packet goes to the judge once, in the first pass; what it found is kept with the
 * frame and drawn as expert items whenever the frame is. Behind all other dissectors, so that a
 * frame's findings stand together at its end.
 */
#include "plugin/plugin.h"
#include "plugin/tap.h"

#include <epan/expert.h>
#include <epan/prefs.h>
#include <epan/proto_data.h>
#include <epan/tap.h>
#include <wiretap/wtap.h>
#include <wsutil/report_message.h>

#include "rules/judge.h"
#include "report/verdict.h"
#include "wire/carrier.h"

static int hf_conformance = -1, hf_id = -1, hf_level = -1, hf_section = -1, hf_deviation = -1;
static int hf_expected = -1, hf_actual = -1, hf_subject = -1, hf_reason = -1, hf_sender = -1,
           hf_note_id = -1, hf_note = -1;
static int ett_conformance = -1, ett_finding = -1;
static expert_field ei_must = EI_INIT, ei_should = EI_INIT, ei_deviation = EI_INIT,
                    ei_note = EI_INIT;

static ws_bool pref_judge = TRUE;
static const char *pref_deviations = "linux";

static int proto_conformance = -1;
static int expert_tap;

/* What the judge found in a frame; texts live as long as the file. */
struct kept {
    struct finding f;
    uint32_t begin; /* of what is judged, in the frame */
    struct kept *next;
};

static struct judge *judge;
static struct deviations *known;
static struct kept *pending, **pending_end = &pending;
/* on the whole file; NULL: none is asked for, or none can be given */
static struct verdict *verdict;
static char *unreadable; /* what is wrong with the list of known deviations */
static bool saw_ipoib;   /* in the frame at hand */

const struct verdict *conformance_verdict(void)
{
    return verdict;
}

const char *conformance_why_not(void)
{
    return unreadable ? unreadable : verdict ? NULL : "the preference ipoib.conformance is off";
}

const char *conformance_deviations(void)
{
    return pref_deviations && *pref_deviations ? pref_deviations : "none";
}

/*
 * What a hostile capture can make be kept: some 230 octets each. The statistics count what comes
 * after.
 */
enum { KEPT_MAX = 100000 };
static unsigned kept_count;

static bool may_keep(void)
{
    if (kept_count++ == KEPT_MAX)
        report_warning(
            "IPoIB: more than %d findings; the further ones are in no packet's tree, but in Statistics, IPoIB Conformance",
            KEPT_MAX);
    return kept_count <= KEPT_MAX;
}

static const char *keep_text(const char *text)
{
    return *text ? wmem_strdup(wmem_file_scope(), text) : "";
}

static void keep(void *user _U_, uint32_t frame, const struct finding *f)
{
    verdict_add(verdict, frame, f);
    if (f->outcome == OUTCOME_PASS || f->outcome == OUTCOME_INCONCLUSIVE || !may_keep())
        return;
    struct kept *k = wmem_new0(wmem_file_scope(), struct kept);
    k->f = *f;
    k->f.expected = keep_text(f->expected);
    k->f.actual = keep_text(f->actual);
    k->f.subject = keep_text(f->subject);
    k->f.reason = keep_text(f->reason);
    k->f.sender = keep_text(f->sender ? f->sender : "");
    *pending_end = k;
    pending_end = &k->next;
}

/* begin: where in the frame offsets count from. */
static void attach(packet_info *pinfo, uint32_t begin)
{
    if (!pending)
        return;
    for (struct kept *k = pending; k; k = k->next)
        k->begin = begin;
    struct kept *before = p_get_proto_data(wmem_file_scope(), pinfo, proto_ipoib, DATA_FINDINGS);
    if (!before)
        p_add_proto_data(wmem_file_scope(), pinfo, proto_ipoib, DATA_FINDINGS, pending);
    while (before && before->next)
        before = before->next;
    if (before)
        before->next = pending;
    pending = NULL;
    pending_end = &pending;
}

void conformance_judge(const struct packet *p, packet_info *pinfo, uint32_t begin)
{
    if (!judge)
        return;
    saw_ipoib |= judge_packet(judge, p, state_events());
    attach(pinfo, begin);
}

/* The link type of frames without InfiniBand headers; -1 for another encapsulation. */
static int linktype_without_ib(int encapsulation)
{
    enum { WITH_IB, WITHOUT_IB };
    switch (encapsulation) {
#define LINKTYPE(name, number, wiretap, headers)                                                   \
    case WTAP_ENCAP_##wiretap:                                                                     \
        return headers == WITHOUT_IB ? number : -1;
#include "wire/linktypes.def"
#undef LINKTYPE
    default:
        return -1;
    }
}

bool conformance_bare_carrier(tvbuff_t *tvb, packet_info *pinfo, struct carrier *c)
{
    int encapsulation = pinfo->rec->rec_header.packet_header.pkt_encap;
    int linktype = linktype_without_ib(encapsulation);
    /* Solaris snoop, which has no link type of libpcap */
    if (encapsulation == WTAP_ENCAP_IP_OVER_IB_SNOOP) {
        *c = (struct carrier){.kind = CARRIER_IPOIB, .inner = tvb_view(tvb)};
        return true;
    }
    return linktype >= 0 && carrier_locate(linktype, tvb_view(tvb), c) == WIRE_OK &&
           (c->kind == CARRIER_IPOIB || c->kind == CARRIER_COOKED);
}

/* In the first pass, once for each frame, whatever is in it. */
static void end_frame(void)
{
    verdict_frame(verdict, saw_ipoib);
    saw_ipoib = false;
}

void conformance_findings(packet_info *pinfo, void (*each)(void *user, const struct finding *f),
                          void *user)
{
    const struct kept *k = p_get_proto_data(wmem_file_scope(), pinfo, proto_ipoib, DATA_FINDINGS);
    for (; k; k = k->next)
        each(user, &k->f);
}

/* ---- drawing */

static expert_field *expert_of(const struct finding *f)
{
    if (f->outcome == OUTCOME_NOTED)
        return &ei_note;
    if (f->outcome == OUTCOME_DEVIATION)
        return &ei_deviation;
    return rules[f->rule].level == RULE_MUST ? &ei_must : &ei_should;
}

static void add_text(proto_tree *tree, int hf, tvbuff_t *tvb, const char *text)
{
    if (*text)
        proto_item_set_generated(proto_tree_add_string(tree, hf, tvb, 0, 0, text));
}

static void add_rule(proto_tree *tree, tvbuff_t *tvb, const struct finding *f)
{
    const struct rule *rule = &rules[f->rule];
    add_text(tree, hf_id, tvb, rule->id);
    add_text(tree, hf_level, tvb, rule_level_name(rule->level));
    proto_item_set_generated(
        proto_tree_add_boolean(tree, hf_deviation, tvb, 0, 0, f->outcome == OUTCOME_DEVIATION));
    add_text(tree, hf_expected, tvb, f->expected);
    add_text(tree, hf_actual, tvb, f->actual);
    add_text(tree, hf_reason, tvb, f->reason);
}

static void add_finding(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, const struct kept *k)
{
    const struct rule *rule = &rules[k->f.rule];
    uint32_t at = k->begin + k->f.offset, cap = tvb_captured_length(tvb);
    uint32_t n = at < cap ? MIN(k->f.length, cap - at) : 0;
    proto_item *ti;
    proto_tree *sub = proto_tree_add_subtree(tree, tvb, n ? (int)at : 0, (int)n, ett_finding, &ti,
                                             rule->id);
    bool noted = k->f.outcome == OUTCOME_NOTED;

    if (noted) {
        add_text(sub, hf_note_id, tvb, rule->id);
        add_text(sub, hf_note, tvb, k->f.actual);
    } else {
        add_rule(sub, tvb, &k->f);
    }
    add_text(sub, hf_subject, tvb, k->f.subject);
    add_text(sub, hf_sender, tvb, k->f.sender);
    char *section = wmem_strdup_printf(pinfo->pool, "%s section %s",
                                       rule_document_name(rule->document), rule->section);
    add_text(sub, hf_section, tvb, section);
    proto_item_append_text(ti, ": %s", k->f.actual);
    if (*k->f.expected)
        proto_item_append_text(ti, " (expected: %s)", k->f.expected);
    expert_add_info_format(pinfo, ti, expert_of(&k->f), "%s (%s): %s", rule->id, section,
                           noted ? k->f.actual : rule->text);
}

static void add_findings(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, const struct kept *k)
{
    proto_item *ti = proto_tree_add_item(tree, hf_conformance, tvb, 0, 0, ENC_NA);
    proto_tree *sub = proto_item_add_subtree(ti, ett_conformance);
    proto_item_set_generated(ti);
    for (; k; k = k->next)
        add_finding(sub, pinfo, tvb, k);
}

/*
 * Wireshark shows the file's highest severity even where it shows no packet; each kind of finding
 * has one.
 */
static bool raised[OUTCOMES][RULE_DRAFT + 1];

static void raise_severity(packet_info *pinfo, const struct kept *k)
{
    bool column = col_get_writable(pinfo->cinfo, COL_EXPERT);
    for (; k; k = k->next) {
        bool *before = &raised[k->f.outcome][rules[k->f.rule].level];
        if (!*before || column)
            expert_add_info(pinfo, NULL, expert_of(&k->f));
        *before = true;
    }
}

static void draw(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree)
{
    const struct kept *k = p_get_proto_data(wmem_file_scope(), pinfo, proto_ipoib, DATA_FINDINGS);
    if (!k)
        return;
    if (tree_is_wanted(tree) || have_tap_listener(expert_tap))
        add_findings(tree, pinfo, tvb, k);
    else
        raise_severity(pinfo, k);
}

/* One for all that comes behind the other dissectors: Wireshark calls it for every frame. */
static int dissect_last(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    if (!plugin_enabled())
        return 0;
    if (judge && !pinfo->fd->visited)
        end_frame();
    draw(tvb, pinfo, tree);
    tap_tree_queue(tvb, pinfo);
    return (int)tvb_captured_length(tvb);
}

/* ---- a file's begin and end */

/* Without the list that was asked for, what is known would count as a fault. */
static void read_deviations(void)
{
    GError *error = NULL;
    known = deviations_open(conformance_deviations(), &error);
    if (known)
        return;
    unreadable = g_strdup_printf("known deviations: %s", error->message);
    report_failure("IPoIB: %s", unreadable);
    g_clear_error(&error);
}

static void conformance_open(void)
{
    if (pref_judge)
        read_deviations();
    saw_ipoib = false;
    memset(raised, 0, sizeof raised);
    if (!known)
        return;
    verdict = verdict_new(NULL);
    judge = judge_new(state_fabric(), known, keep, NULL);
}

static void conformance_close(void)
{
    judge_free(judge);
    deviations_free(known);
    verdict_free(verdict);
    verdict = NULL;
    judge = NULL;
    known = NULL;
    g_free(unreadable);
    unreadable = NULL;
    pending = NULL;
    pending_end = &pending;
    kept_count = 0;
}

static void register_preferences(void)
{
    module_t *m = prefs_find_module("ipoib");
    prefs_register_bool_preference(
        m, "conformance", "Judge frames by RFC 4391 and RFC 4755",
        "Findings are expert items, with the rule's identifier in ipoib.rule.id", &pref_judge);
    prefs_register_string_preference(
        m, "deviations", "Known deviations",
        "Failures that are noted as known, not warned of: \"linux\", \"none\", or the path of a file of your own",
        &pref_deviations);
}

void conformance_register(void)
{
    static hf_register_info hf[] = {
        {&hf_conformance,
         {"IPoIB conformance", "ipoib.conformance", FT_NONE, BASE_NONE, NULL, 0,
          "what the frame shows of the RFCs' rules", HFILL}},
        {&hf_id,
         {"Rule", "ipoib.rule.id", FT_STRING, BASE_NONE, NULL, 0,
          "identifier of the rule that is not kept", HFILL}},
        {&hf_level,
         {"Level", "ipoib.rule.level", FT_STRING, BASE_NONE, NULL, 0, "MUST or SHOULD", HFILL}},
        {&hf_section,
         {"Section", "ipoib.rule.section", FT_STRING, BASE_NONE, NULL, 0, "document and section",
          HFILL}},
        {&hf_deviation,
         {"Known deviation", "ipoib.rule.deviation", FT_BOOLEAN, BASE_NONE, NULL, 0,
          "of an implementation that is listed", HFILL}},
        {&hf_expected,
         {"Expected", "ipoib.rule.expected", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_actual, {"Actual", "ipoib.rule.actual", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_subject,
         {"Subject", "ipoib.rule.subject", FT_STRING, BASE_NONE, NULL, 0,
          "whom it concerns; absent: this packet", HFILL}},
        {&hf_sender,
         {"Sender", "ipoib.rule.sender", FT_STRING, BASE_NONE, NULL, 0,
          "IP address, GID and LID of who sent the packet, as far as they are known", HFILL}},
        {&hf_reason,
         {"Known because", "ipoib.rule.reason", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_note_id,
         {"Statement", "ipoib.note.id", FT_STRING, BASE_NONE, NULL, 0,
          "identifier of a statement that the frame is an example of; never a fault", HFILL}},
        {&hf_note, {"Note", "ipoib.note", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL}},
    };
    static ei_register_info ei[] = {
        {&ei_must,
         {"ipoib.rule.violated", PI_PROTOCOL, PI_WARN, "A MUST of the RFCs is not kept", EXPFILL}},
        {&ei_should,
         {"ipoib.rule.advice", PI_PROTOCOL, PI_NOTE, "A SHOULD of the RFCs is not kept", EXPFILL}},
        {&ei_deviation, {"ipoib.rule.known", PI_PROTOCOL, PI_NOTE, "A known deviation", EXPFILL}},
        {&ei_note,
         {"ipoib.noted", PI_PROTOCOL, PI_CHAT, "A statement that is shown, never counted",
          EXPFILL}},
    };
    static int *ett[] = {&ett_conformance, &ett_finding};
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(expert_register_protocol(proto_ipoib), ei, array_length(ei));
    proto_conformance = proto_register_protocol_in_name_only(
        "IPoIB conformance", "IPoIB conformance", "ipoib.entry_conformance", proto_ipoib,
        FT_PROTOCOL);
    register_preferences();
    register_init_routine(conformance_open);
    register_cleanup_routine(conformance_close);
}

void conformance_handoff(void)
{
    expert_tap = find_tap_id("expert");
    register_postdissector(create_dissector_handle(dissect_last, proto_conformance));
}
