/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds the findings of a frame to the tree: a subtree with the ipoib.rule.* fields, and an expert
 * item. Registers these fields and the expert fields of the rules.
 */
#include "plugin/findings.h"
#include "plugin/finding_store.h"
#include "plugin/protocol.h"
#include "plugin/wanted.h"

#include <epan/expert.h>

#include "rules/sender.h"

static int hf_ipoib_conformance = -1, hf_ipoib_rule_id = -1, hf_ipoib_rule_level = -1,
           hf_ipoib_rule_section = -1, hf_ipoib_rule_deviation = -1;
static int hf_ipoib_rule_expected = -1, hf_ipoib_rule_actual = -1, hf_ipoib_rule_subject = -1,
           hf_ipoib_rule_reason = -1, hf_ipoib_rule_text = -1;
static int hf_ipoib_rule_explain = -1, hf_ipoib_rule_sender = -1, hf_ipoib_rule_frame = -1,
           hf_ipoib_rule_mark = -1, hf_ipoib_note_id = -1, hf_ipoib_note = -1;
static int hf_ipoib_rule_violated = -1, hf_ipoib_rule_advice = -1, hf_ipoib_rule_known = -1,
           hf_ipoib_rule_suspected = -1, hf_ipoib_rule_other_frame = -1,
           hf_ipoib_rule_flow_frame = -1, hf_ipoib_rule_unless = -1, hf_ipoib_noted = -1;
static int ett_ipoib_conformance = -1, ett_ipoib_finding = -1;

/* One expert field for each rule, so that its severity can be changed in the preferences. */
static expert_field rule_experts[RULE_COUNT];
static expert_field ei_ipoib_deviation = EI_INIT, ei_ipoib_suspected = EI_INIT;

/*
 * The expert fields that were raised in this file. Wireshark shows the file's highest severity
 * before it builds any tree, so each field must be raised at least once, also without a tree.
 */
static bool raised[OUTCOMES][RULE_COUNT];

/* ---- the tree */

static void add_text(proto_tree *tree, int hf, tvbuff_t *tvb, const char *text)
{
    if (*text)
        proto_item_set_generated(proto_tree_add_string(tree, hf, tvb, 0, 0, text));
}

/* Kinds of findings, in the order in which those of a frame are shown. */
enum kind { KIND_VIOLATED, KIND_ADVICE, KIND_SUSPECTED, KIND_KNOWN, KIND_NOTED, KINDS };

static enum kind kind_of(const struct finding *f)
{
    if (f->outcome == OUTCOME_NOTED)
        return KIND_NOTED;
    if (f->outcome == OUTCOME_SUSPECTED)
        return KIND_SUSPECTED;
    if (f->outcome == OUTCOME_DEVIATION)
        return KIND_KNOWN;
    return rules[f->rule].level == RULE_MUST ? KIND_VIOLATED : KIND_ADVICE;
}

/* Adds the hidden field that filters findings of this kind. */
static void add_count(proto_tree *tree, tvbuff_t *tvb, const struct finding *f)
{
    const int hf[KINDS] = {hf_ipoib_rule_violated, hf_ipoib_rule_advice, hf_ipoib_rule_suspected,
                           hf_ipoib_rule_known, hf_ipoib_noted};
    proto_item *ti = proto_tree_add_item(tree, hf[kind_of(f)], tvb, 0, 0, ENC_NA);
    proto_item_set_generated(ti);
    proto_item_set_hidden(ti);
}

/*
 * Adds what the profile's column Rule shows: a known deviation and a suspicion must not look like a
 * violation.
 */
static void add_mark(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, const struct finding *f)
{
    const char *before = f->outcome == OUTCOME_DEVIATION   ? "known: "
                         : f->outcome == OUTCOME_SUSPECTED ? "suspected: "
                                                           : "";
    char *text = wmem_strdup_printf(pinfo->pool, "%s%s", before, rules[f->rule].id);
    proto_item *ti = proto_tree_add_string(tree, hf_ipoib_rule_mark, tvb, 0, 0, text);
    proto_item_set_generated(ti);
    proto_item_set_hidden(ti);
}

static void add_result_items(proto_tree *tree, tvbuff_t *tvb, const struct finding *f)
{
    const struct rule *rule = &rules[f->rule];
    if (f->outcome == OUTCOME_NOTED) {
        add_text(tree, hf_ipoib_note_id, tvb, rule->id);
        add_text(tree, hf_ipoib_note, tvb, f->actual);
        return;
    }
    add_text(tree, hf_ipoib_rule_id, tvb, rule->id);
    add_text(tree, hf_ipoib_rule_level, tvb, rule_level_name(rule->level));
    proto_item_set_generated(proto_tree_add_boolean(tree, hf_ipoib_rule_deviation, tvb, 0, 0,
                                                    f->outcome == OUTCOME_DEVIATION));
    add_text(tree, hf_ipoib_rule_expected, tvb, f->expected);
    add_text(tree, hf_ipoib_rule_actual, tvb, f->actual);
    bool is_suspected = f->outcome == OUTCOME_SUSPECTED;
    add_text(tree, is_suspected ? hf_ipoib_rule_unless : hf_ipoib_rule_reason, tvb, f->reason);
    if (is_suspected)
        proto_item_set_generated(proto_tree_add_uint(
            tree, f->by_flow ? hf_ipoib_rule_flow_frame : hf_ipoib_rule_other_frame, tvb, 0, 0,
            f->other_frame));
}

static void add_rule_items(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb,
                           const struct rule *rule)
{
    add_text(tree, hf_ipoib_rule_section, tvb,
             wmem_strdup_printf(pinfo->pool, "%s %s %s", rule_document_name(rule->document),
                                rule_place_word(rule), rule->section));
    add_text(tree, hf_ipoib_rule_text, tvb, rule->text);
    add_text(tree, hf_ipoib_rule_explain, tvb,
             wmem_strdup_printf(pinfo->pool, "ipoib-check --explain %s", rule->id));
}

/*
 * Example: "Wrong ND option length: 1, expected 3, sent by IP fe80::2, LID 2 (RFC 4391 9.3)". A
 * known deviation and a suspicion are marked, because their severity is that of a violated SHOULD.
 */
static char *message(packet_info *pinfo, const struct finding *f)
{
    const struct rule *rule = &rules[f->rule];
    wmem_strbuf_t *text = wmem_strbuf_new(pinfo->pool,
                                          f->outcome == OUTCOME_DEVIATION   ? "Known deviation: "
                                          : f->outcome == OUTCOME_SUSPECTED ? "Suspected: "
                                                                            : "");
    wmem_strbuf_append_printf(text, "%s: %s", rule->title, f->actual);
    if (*f->expected)
        wmem_strbuf_append_printf(text, ", expected %s", f->expected);
    if (f->frame)
        wmem_strbuf_append_printf(text, " in frame %u", f->frame);
    if (f->other_frame)
        wmem_strbuf_append_printf(
            text, f->by_flow ? ", of a flow that is IPoIB's since frame %u" : " as in frame %u",
            f->other_frame);
    char sender[SENDER_TEXT_SIZE];
    if (*sender_text(sender, f->sender))
        wmem_strbuf_append_printf(text, ", sent by %s", sender);
    wmem_strbuf_append_printf(text, " (%s %s)", rule_document_name(rule->document), rule->section);
    return wmem_strbuf_finalize(text);
}

static expert_field *expert_of(const struct finding *f)
{
    return f->outcome == OUTCOME_DEVIATION   ? &ei_ipoib_deviation
           : f->outcome == OUTCOME_SUSPECTED ? &ei_ipoib_suspected
                                             : &rule_experts[f->rule];
}

/* Where the findings of a frame are added, and which. */
struct finding_place {
    proto_tree *tree;
    packet_info *pinfo;
    tvbuff_t *tvb;
    enum kind kind;
};

static void add_finding_item(void *user, const struct finding *f)
{
    const struct finding_place *at = user;
    if (kind_of(f) != at->kind)
        return;
    packet_info *pinfo = at->pinfo;
    tvbuff_t *tvb = at->tvb;
    uint32_t captured = tvb_captured_length(tvb);
    uint32_t length = f->offset < captured ? MIN(f->length, captured - f->offset) : 0;
    char *text = message(pinfo, f), sender[SENDER_TEXT_SIZE];
    proto_item *ti;
    proto_tree *sub = proto_tree_add_subtree(at->tree, tvb, length ? (int)f->offset : 0,
                                             (int)length, ett_ipoib_finding, &ti, text);
    add_result_items(sub, tvb, f);
    if (f->frame)
        proto_item_set_generated(
            proto_tree_add_uint(sub, hf_ipoib_rule_frame, tvb, 0, 0, f->frame));
    if (f->outcome != OUTCOME_NOTED)
        add_mark(sub, pinfo, tvb, f);
    add_text(sub, hf_ipoib_rule_subject, tvb, f->entity);
    add_text(sub, hf_ipoib_rule_sender, tvb, sender_text(sender, f->sender));
    add_rule_items(sub, pinfo, tvb, &rules[f->rule]);
    add_count(sub, tvb, f);
    expert_add_info_format(pinfo, ti, expert_of(f), "%s", text);
}

static void show_all(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb)
{
    proto_item *ti = proto_tree_add_item(tree, hf_ipoib_conformance, tvb, 0, 0, ENC_NA);
    struct finding_place at = {
        .tree = proto_item_add_subtree(ti, ett_ipoib_conformance), .pinfo = pinfo, .tvb = tvb};
    proto_item_set_generated(ti);
    for (at.kind = KIND_VIOLATED; at.kind < KINDS; at.kind++)
        finding_store_each(pinfo->num, add_finding_item, &at);
}

static void raise_severity(void *user, const struct finding *f)
{
    packet_info *pinfo = user;
    bool *before = &raised[f->outcome][f->rule];
    if (!*before || col_get_writable(pinfo->cinfo, COL_EXPERT))
        expert_add_info(pinfo, NULL, expert_of(f));
    *before = true;
}

void findings_show(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree)
{
    if (!finding_store_has(pinfo->num))
        return;
    /* Wireshark lists an expert item under the current protocol. */
    const char *before = pinfo->current_proto;
    pinfo->current_proto = "IPoIB";
    if (experts_are_wanted(tree))
        show_all(tree, pinfo, tvb);
    else
        finding_store_each(pinfo->num, raise_severity, pinfo);
    pinfo->current_proto = before;
}

void findings_forget(void)
{
    memset(raised, 0, sizeof raised);
}

/* ---- registration */

static int severity_of(enum rule_level level)
{
    return level == RULE_MUST ? PI_WARN : level == RULE_SHOULD ? PI_NOTE : PI_CHAT;
}

/* Example: "Reserved field of the encapsulation header is not 0 (RFC 4391 6)" */
static const char *expert_summary(const struct rule *rule)
{
    return wmem_strdup_printf(wmem_epan_scope(), "%s (%s %s)", rule->title,
                              rule_document_name(rule->document), rule->section);
}

/*
 * Registers an expert field for each rule that a capture can show, e.g.
 * ipoib.rfc4391.6.reserved-zero.
 */
static void register_rules(expert_module_t *module)
{
    static ei_register_info ei[RULE_COUNT];
    int n = 0;
    for (int r = 0; r < RULE_COUNT; r++) {
        rule_experts[r] = (expert_field)EI_INIT;
        if (rule_in_capture(&rules[r]))
            ei[n++] = (ei_register_info){
                &rule_experts[r],
                {wmem_strdup_printf(wmem_epan_scope(), "ipoib.%s", rules[r].id), PI_PROTOCOL,
                 severity_of(rules[r].level), expert_summary(&rules[r]), EXPFILL}};
    }
    expert_register_field_array(module, ei, n);
}

void findings_register(void)
{
    static hf_register_info hf[] = {
        {&hf_ipoib_conformance,
         {"IPoIB conformance", "ipoib.conformance", FT_NONE, BASE_NONE, NULL, 0,
          "findings of the rules in this frame", HFILL}},
        {&hf_ipoib_rule_id,
         {"Rule", "ipoib.rule.id", FT_STRING, BASE_NONE, NULL, 0,
          "identifier of the rule that is violated", HFILL}},
        {&hf_ipoib_rule_mark,
         {"Rule", "ipoib.rule.mark", FT_STRING, BASE_NONE, NULL, 0,
          "identifier of the rule, after \"known: \" for a known deviation", HFILL}},
        {&hf_ipoib_rule_level,
         {"Level", "ipoib.rule.level", FT_STRING, BASE_NONE, NULL, 0, "MUST or SHOULD", HFILL}},
        {&hf_ipoib_rule_section,
         {"Section", "ipoib.rule.section", FT_STRING, BASE_NONE, NULL, 0, "document and section",
          HFILL}},
        {&hf_ipoib_rule_deviation,
         {"Known deviation", "ipoib.rule.deviation", FT_BOOLEAN, BASE_NONE, NULL, 0,
          "the finding is a listed deviation of a known implementation", HFILL}},
        {&hf_ipoib_rule_expected,
         {"Expected", "ipoib.rule.expected", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_rule_actual,
         {"Actual", "ipoib.rule.actual", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_rule_subject,
         {"Subject", "ipoib.rule.subject", FT_STRING, BASE_NONE, NULL, 0,
          "group, address, port or connection that it is about; absent: this packet", HFILL}},
        {&hf_ipoib_rule_sender,
         {"Sender", "ipoib.rule.sender", FT_STRING, BASE_NONE, NULL, 0,
          "IP address, GID and LID of the sender of the packet at fault, as far as they are known",
          HFILL}},
        {&hf_ipoib_rule_frame,
         {"Violated in", "ipoib.rule.frame", FT_FRAMENUM, BASE_NONE, NULL, 0,
          "earlier packet that the finding is about; this packet completes the proof", HFILL}},
        {&hf_ipoib_rule_other_frame,
         {"Other value in", "ipoib.rule.other_frame", FT_FRAMENUM, BASE_NONE, NULL, 0,
          "packet with the value that this packet contradicts", HFILL}},
        {&hf_ipoib_rule_flow_frame,
         {"IPoIB flow since", "ipoib.rule.flow_frame", FT_FRAMENUM, BASE_NONE, NULL, 0,
          "first packet of the connection that looks like IPoIB; its set-up was not captured",
          HFILL}},
        {&hf_ipoib_rule_unless,
         {"Suspected", "ipoib.rule.unless", FT_STRING, BASE_NONE, NULL, 0,
          "what a packet that was not captured would have to say to explain it", HFILL}},
        {&hf_ipoib_rule_suspected,
         {"Suspected, not proved", "ipoib.rule.suspected", FT_NONE, BASE_NONE, NULL, 0, NULL,
          HFILL}},
        {&hf_ipoib_rule_reason,
         {"Known because", "ipoib.rule.reason", FT_STRING, BASE_NONE, NULL, 0,
          "which implementation is known to deviate, and how", HFILL}},
        {&hf_ipoib_rule_text,
         {"Requirement", "ipoib.rule.text", FT_STRING, BASE_NONE, NULL, 0,
          "what the document requires", HFILL}},
        {&hf_ipoib_rule_explain,
         {"Explained by", "ipoib.rule.explain", FT_STRING, BASE_NONE, NULL, 0,
          "command that prints the page of the rule", HFILL}},
        {&hf_ipoib_note_id,
         {"Rule", "ipoib.note.id", FT_STRING, BASE_NONE, NULL, 0,
          "identifier of the rule that the note is of; a note is never a violation", HFILL}},
        {&hf_ipoib_note, {"Note", "ipoib.note", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_rule_violated,
         {"MUST violated", "ipoib.rule.violated", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_rule_advice,
         {"SHOULD violated", "ipoib.rule.advice", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_ipoib_rule_known,
         {"Finding is a known deviation", "ipoib.rule.known", FT_NONE, BASE_NONE, NULL, 0, NULL,
          HFILL}},
        {&hf_ipoib_noted,
         {"Informational note", "ipoib.noted", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
    };
    static ei_register_info ei[] = {
        {&ei_ipoib_deviation,
         {"ipoib.deviation", PI_PROTOCOL, PI_NOTE, "Known deviation of an implementation",
          EXPFILL}},
        {&ei_ipoib_suspected,
         {"ipoib.suspected", PI_PROTOCOL, PI_NOTE,
          "Suspected: contradicts another packet, not proved", EXPFILL}},
    };
    static int *ett[] = {&ett_ipoib_conformance, &ett_ipoib_finding};
    expert_module_t *module = expert_register_protocol(proto_ipoib);
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(module, ei, array_length(ei));
    register_rules(module);
}
