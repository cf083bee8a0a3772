/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/findings.h"
#include "plugin/protocol.h"
#include "plugin/state.h"
#include "plugin/wanted.h"

#include <epan/expert.h>
#include <epan/proto_data.h>
#include <epan/tap.h>
#include <wsutil/report_message.h>

#include "rules/rules.h"

static int hf_conformance = -1, hf_id = -1, hf_level = -1, hf_section = -1, hf_deviation = -1;
static int hf_expected = -1, hf_actual = -1, hf_subject = -1, hf_reason = -1, hf_text = -1;
static int hf_explain = -1, hf_sender = -1, hf_note_id = -1, hf_note = -1;
static int hf_violated = -1, hf_advice = -1, hf_known = -1, hf_noted = -1;
static int ett_conformance = -1, ett_finding = -1;

/* One expert field for each rule, so that its severity can be changed in the preferences. */
static expert_field rule_experts[RULE_COUNT];
static expert_field ei_deviation = EI_INIT;

/*
 * Wireshark shows the file's highest severity even if it shows no packet. So each expert field is
 * raised once per file.
 */
static bool raised[OUTCOMES][RULE_COUNT];

/* A finding of a frame. Its texts are valid until the file is closed. */
struct stored {
    struct finding f;
    uint32_t base; /* offsets are relative to it; in bytes from the start of the frame */
    struct stored *next;
};

static struct stored *pending, **pending_end = &pending;

/*
 * Limits the memory that a hostile capture can take: one finding takes about 230 bytes. The
 * statistics also count the findings beyond the limit.
 */
enum { STORED_MAX = 100000 };
static unsigned stored_count;

static bool may_store(void)
{
    if (stored_count++ == STORED_MAX)
        report_warning("IPoIB: more than %d findings; packets after this one show none. "
                       "Statistics, IPoIB Conformance counts all",
                       STORED_MAX);
    return stored_count <= STORED_MAX;
}

static const char *stored_text(const char *text)
{
    return text && *text ? wmem_strdup(wmem_file_scope(), text) : "";
}

void findings_add(const struct finding *f)
{
    if (!may_store())
        return;
    struct stored *s = wmem_new0(wmem_file_scope(), struct stored);
    s->f = *f;
    s->f.expected = stored_text(f->expected);
    s->f.actual = stored_text(f->actual);
    s->f.subject = stored_text(f->subject);
    s->f.reason = stored_text(f->reason);
    s->f.sender = stored_text(f->sender);
    *pending_end = s;
    pending_end = &s->next;
}

static struct stored *of_frame(packet_info *pinfo)
{
    return p_get_proto_data(wmem_file_scope(), pinfo, proto_ipoib, DATA_FINDINGS);
}

void findings_attach(packet_info *pinfo, uint32_t base)
{
    if (!pending)
        return;
    for (struct stored *s = pending; s; s = s->next)
        s->base = base;
    struct stored *last = of_frame(pinfo);
    if (!last)
        p_add_proto_data(wmem_file_scope(), pinfo, proto_ipoib, DATA_FINDINGS, pending);
    while (last && last->next)
        last = last->next;
    if (last)
        last->next = pending;
    pending = NULL;
    pending_end = &pending;
}

void findings_forget(void)
{
    pending = NULL;
    pending_end = &pending;
    stored_count = 0;
    memset(raised, 0, sizeof raised);
}

void findings_foreach(packet_info *pinfo, void (*each)(void *user, const struct finding *f),
                      void *user)
{
    for (const struct stored *s = of_frame(pinfo); s; s = s->next)
        each(user, &s->f);
}

/* ---- the tree */

static void add_text(proto_tree *tree, int hf, tvbuff_t *tvb, const char *text)
{
    if (*text)
        proto_item_set_generated(proto_tree_add_string(tree, hf, tvb, 0, 0, text));
}

/*
 * The hidden fields ipoib.rule.violated, .advice, .known and ipoib.noted, which filter findings by
 * kind.
 */
static int hf_of_count(const struct finding *f)
{
    if (f->outcome == OUTCOME_NOTED)
        return hf_noted;
    if (f->outcome == OUTCOME_DEVIATION)
        return hf_known;
    return rules[f->rule].level == RULE_MUST ? hf_violated : hf_advice;
}

static void add_count(proto_tree *tree, tvbuff_t *tvb, const struct finding *f)
{
    proto_item *ti = proto_tree_add_item(tree, hf_of_count(f), tvb, 0, 0, ENC_NA);
    proto_item_set_generated(ti);
    proto_item_set_hidden(ti);
}

static void add_result(proto_tree *tree, tvbuff_t *tvb, const struct finding *f)
{
    const struct rule *rule = &rules[f->rule];
    if (f->outcome == OUTCOME_NOTED) {
        add_text(tree, hf_note_id, tvb, rule->id);
        add_text(tree, hf_note, tvb, f->actual);
        return;
    }
    add_text(tree, hf_id, tvb, rule->id);
    add_text(tree, hf_level, tvb, rule_level_name(rule->level));
    proto_item_set_generated(
        proto_tree_add_boolean(tree, hf_deviation, tvb, 0, 0, f->outcome == OUTCOME_DEVIATION));
    add_text(tree, hf_expected, tvb, f->expected);
    add_text(tree, hf_actual, tvb, f->actual);
    add_text(tree, hf_reason, tvb, f->reason);
}

static void add_rule(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, const struct rule *rule)
{
    add_text(tree, hf_section, tvb,
             wmem_strdup_printf(pinfo->pool, "%s section %s", rule_document_name(rule->document),
                                rule->section));
    add_text(tree, hf_text, tvb, rule->text);
    add_text(tree, hf_explain, tvb,
             wmem_strdup_printf(pinfo->pool, "ipoib-check --explain %s", rule->id));
}

/* Example: "ND option length: 1, expected 3, sent by IP fe80::2, LID 2 (RFC 4391 9.3)" */
static char *message(packet_info *pinfo, const struct finding *f)
{
    const struct rule *rule = &rules[f->rule];
    wmem_strbuf_t *text = wmem_strbuf_new(pinfo->pool, rule->title);
    wmem_strbuf_append_printf(text, ": %s", f->actual);
    if (*f->expected)
        wmem_strbuf_append_printf(text, ", expected %s", f->expected);
    if (*f->sender)
        wmem_strbuf_append_printf(text, ", sent by %s", f->sender);
    wmem_strbuf_append_printf(text, " (%s %s)", rule_document_name(rule->document), rule->section);
    return wmem_strbuf_finalize(text);
}

static expert_field *expert_of(const struct finding *f)
{
    return f->outcome == OUTCOME_DEVIATION ? &ei_deviation : &rule_experts[f->rule];
}

static void show(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, const struct stored *s)
{
    uint32_t at = s->base + s->f.offset, captured = tvb_captured_length(tvb);
    uint32_t length = at < captured ? MIN(s->f.length, captured - at) : 0;
    char *text = message(pinfo, &s->f);
    proto_item *ti;
    proto_tree *sub = proto_tree_add_subtree(tree, tvb, length ? (int)at : 0, (int)length,
                                             ett_finding, &ti, text);
    add_result(sub, tvb, &s->f);
    add_text(sub, hf_subject, tvb, s->f.subject);
    add_text(sub, hf_sender, tvb, s->f.sender);
    add_rule(sub, pinfo, tvb, &rules[s->f.rule]);
    add_count(sub, tvb, &s->f);
    expert_add_info_format(pinfo, ti, expert_of(&s->f), "%s", text);
}

static void show_all(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, const struct stored *s)
{
    proto_item *ti = proto_tree_add_item(tree, hf_conformance, tvb, 0, 0, ENC_NA);
    proto_tree *sub = proto_item_add_subtree(ti, ett_conformance);
    proto_item_set_generated(ti);
    for (; s; s = s->next)
        show(sub, pinfo, tvb, s);
}

static void raise_severity(packet_info *pinfo, const struct stored *s)
{
    bool column = col_get_writable(pinfo->cinfo, COL_EXPERT);
    for (; s; s = s->next) {
        bool *before = &raised[s->f.outcome][s->f.rule];
        if (!*before || column)
            expert_add_info(pinfo, NULL, expert_of(&s->f));
        *before = true;
    }
}

/*
 * Wireshark registers the tap of expert information when it opens a file, after the plugins. So the
 * tap is looked up here.
 */
static bool is_wanted(const proto_tree *tree)
{
    return tree_is_wanted(tree) || have_tap_listener(find_tap_id("expert"));
}

void findings_show(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree)
{
    const struct stored *s = of_frame(pinfo);
    if (!s)
        return;
    /* Wireshark lists an expert item under the current protocol. */
    const char *before = pinfo->current_proto;
    pinfo->current_proto = "IPoIB";
    if (is_wanted(tree))
        show_all(tree, pinfo, tvb, s);
    else
        raise_severity(pinfo, s);
    pinfo->current_proto = before;
}

/* ---- registration */

static int severity_of(enum rule_level level)
{
    return level == RULE_MUST ? PI_WARN : level == RULE_SHOULD ? PI_NOTE : PI_CHAT;
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
                 severity_of(rules[r].level), rules[r].title, EXPFILL}};
    }
    expert_register_field_array(module, ei, n);
}

void findings_register(void)
{
    static hf_register_info hf[] = {
        {&hf_conformance,
         {"IPoIB conformance", "ipoib.conformance", FT_NONE, BASE_NONE, NULL, 0,
          "findings of the rules in this frame", HFILL}},
        {&hf_id,
         {"Rule", "ipoib.rule.id", FT_STRING, BASE_NONE, NULL, 0,
          "identifier of the rule that is violated", HFILL}},
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
          "group, address, port or connection that it is about; absent: this packet", HFILL}},
        {&hf_sender,
         {"Sender", "ipoib.rule.sender", FT_STRING, BASE_NONE, NULL, 0,
          "IP address, GID and LID of the sender of the packet, as far as they are known", HFILL}},
        {&hf_reason,
         {"Known because", "ipoib.rule.reason", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_text,
         {"Requirement", "ipoib.rule.text", FT_STRING, BASE_NONE, NULL, 0,
          "what the document requires", HFILL}},
        {&hf_explain,
         {"Explained by", "ipoib.rule.explain", FT_STRING, BASE_NONE, NULL, 0,
          "command that prints the page of the rule", HFILL}},
        {&hf_note_id,
         {"Requirement identifier", "ipoib.note.id", FT_STRING, BASE_NONE, NULL, 0,
          "identifier of a statement that the frame is an example of; never a violation", HFILL}},
        {&hf_note, {"Note", "ipoib.note", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_violated,
         {"MUST violated", "ipoib.rule.violated", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_advice,
         {"SHOULD violated", "ipoib.rule.advice", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_known,
         {"Finding is a known deviation", "ipoib.rule.known", FT_NONE, BASE_NONE, NULL, 0, NULL,
          HFILL}},
        {&hf_noted,
         {"Informational note", "ipoib.noted", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
    };
    static ei_register_info ei[] = {
        {&ei_deviation,
         {"ipoib.deviation", PI_PROTOCOL, PI_NOTE, "Known deviation of an implementation",
          EXPFILL}},
    };
    static int *ett[] = {&ett_conformance, &ett_finding};
    expert_module_t *module = expert_register_protocol(proto_ipoib);
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(module, ei, array_length(ei));
    register_rules(module);
}
