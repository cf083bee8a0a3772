/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores the findings of each frame, and adds them to the tree: a subtree with the ipoib.rule.*
 * fields, and an expert item. Registers these fields and the expert fields of the rules.
 */
#include "plugin/findings.h"
#include "plugin/protocol.h"
#include "plugin/state.h"
#include "plugin/store.h"
#include "plugin/wanted.h"

#include <stdalign.h>

#include <epan/expert.h>
#include <epan/tap.h>
#include <wsutil/report_message.h>

#include "model/hash.h"
#include "rules/sender.h"

static int hf_ipoib_conformance = -1, hf_ipoib_rule_id = -1, hf_ipoib_rule_level = -1,
           hf_ipoib_rule_section = -1, hf_ipoib_rule_deviation = -1;
static int hf_ipoib_rule_expected = -1, hf_ipoib_rule_actual = -1, hf_ipoib_rule_subject = -1,
           hf_ipoib_rule_reason = -1, hf_ipoib_rule_text = -1;
static int hf_ipoib_rule_explain = -1, hf_ipoib_rule_sender = -1, hf_ipoib_rule_frame = -1,
           hf_ipoib_note_id = -1, hf_ipoib_note = -1;
static int hf_ipoib_rule_violated = -1, hf_ipoib_rule_advice = -1, hf_ipoib_rule_known = -1,
           hf_ipoib_noted = -1;
static int ett_ipoib_conformance = -1, ett_ipoib_finding = -1;

/* One expert field for each rule, so that its severity can be changed in the preferences. */
static expert_field rule_experts[RULE_COUNT];
static expert_field ei_ipoib_deviation = EI_INIT;

/*
 * The expert fields that were raised in this file. Wireshark shows the file's highest severity
 * before it builds any tree, so each field must be raised at least once, also without a tree.
 */
static bool raised[OUTCOMES][RULE_COUNT];

/* Texts that many findings of a rule share. */
struct wording {
    const char *expected, *actual, *reason;
};

/* A finding of a frame, in little memory. It is valid until the file is closed. */
struct stored {
    struct stored *next;
    const struct wording *wording;
    const struct sender *sender; /* many findings share it */
    uint32_t offset, length;     /* bytes; the offset is from the start of the frame */
    uint32_t frame;              /* of the packet at fault; 0: this one */
    uint16_t rule;
    uint8_t outcome;
    char entity[]; /* ends with a zero byte */
};

/*
 * Limits the memory that a hostile capture can take. One finding takes at most about 500 bytes,
 * because the checks write `expected`, `actual` and `entity` into buffers of at most 128 bytes. The
 * statistics also count the findings beyond the limit.
 */
enum { STORED_MAX = 100000 };
static unsigned stored_count;

static bool may_store(void)
{
    if (stored_count++ == STORED_MAX)
        report_warning("IPoIB: more than %d findings: packets after this one show none. The menu "
                       "Statistics, IPoIB Conformance counts all findings.",
                       STORED_MAX);
    return stored_count <= STORED_MAX;
}

enum { TEXT_MAX = 256 }; /* bytes of a text; more than the checks write */

/* The last wording of each rule. The next finding of the rule mostly has the same texts. */
static const struct wording *last_wording[RULE_COUNT];

static const char *shared(const char *text, const char *last)
{
    if (!text)
        text = "";
    if (last && strcmp(last, text) == 0)
        return last;
    size_t length = strnlen(text, TEXT_MAX);
    return memcpy(store_alloc(length + 1), text, length);
}

static const struct wording *shared_wording(const struct finding *f)
{
    static const struct wording none;
    const struct wording *last = last_wording[f->rule] ? last_wording[f->rule] : &none;
    const struct wording w = {shared(f->expected, last->expected), shared(f->actual, last->actual),
                              shared(f->reason, last->reason)};
    if (memcmp(&w, last, sizeof w) != 0)
        last = last_wording[f->rule] = memcpy(store_alloc(sizeof w), &w, sizeof w);
    return last;
}

static GHashTable *senders; /* a set; its members are in the store */

static guint sender_hash(gconstpointer p)
{
    return hash_bytes(p, sizeof(struct sender));
}

static gboolean sender_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(struct sender)) == 0;
}

static const struct sender *shared_sender(const struct sender *s)
{
    if (!s)
        return NULL;
    if (!senders)
        senders = g_hash_table_new(sender_hash, sender_equal);
    struct sender *known = g_hash_table_lookup(senders, s);
    if (known)
        return known;
    known = store_alloc(sizeof *known);
    *known = *s;
    g_hash_table_add(senders, known);
    return known;
}

static struct finding unpack(const struct stored *s)
{
    return (struct finding){.rule = (enum rule_number)s->rule,
                            .outcome = (enum outcome)s->outcome,
                            .offset = s->offset,
                            .length = s->length,
                            .expected = s->wording->expected,
                            .actual = s->wording->actual,
                            .entity = s->entity,
                            .reason = s->wording->reason,
                            .sender = s->sender,
                            .frame = s->frame};
}

static struct stored *of_frame(uint32_t frame)
{
    return store_find(frame, DATA_FINDINGS);
}

/* Memory for another finding of the frame, after those that it has. */
static struct stored *add_to_frame(uint32_t frame, size_t size)
{
    struct stored *last = of_frame(frame);
    if (!last)
        return store_add(frame, DATA_FINDINGS, size);
    while (last->next)
        last = last->next;
    return last->next = store_alloc(size);
}

void findings_add(uint32_t frame, uint32_t base, const struct finding *f)
{
    if (!may_store())
        return;
    size_t length = strnlen(f->entity, TEXT_MAX);
    size_t size = offsetof(struct stored, entity) + length + 1;
    struct stored *s = add_to_frame(frame, size + -size % alignof(struct stored));
    s->rule = (uint16_t)f->rule;
    s->outcome = (uint8_t)f->outcome;
    s->offset = base + f->offset;
    s->length = f->length;
    s->frame = f->frame;
    s->wording = shared_wording(f);
    s->sender = shared_sender(f->sender);
    memcpy(s->entity, f->entity, length);
}

void findings_forget(void)
{
    stored_count = 0;
    memset(raised, 0, sizeof raised);
    memset(last_wording, 0, sizeof last_wording);
    g_clear_pointer(&senders, g_hash_table_destroy);
}

void findings_foreach(packet_info *pinfo, void (*each)(void *user, const struct finding *f),
                      void *user)
{
    for (const struct stored *s = of_frame(pinfo->num); s; s = s->next) {
        struct finding f = unpack(s);
        each(user, &f);
    }
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
        return hf_ipoib_noted;
    if (f->outcome == OUTCOME_DEVIATION)
        return hf_ipoib_rule_known;
    return rules[f->rule].level == RULE_MUST ? hf_ipoib_rule_violated : hf_ipoib_rule_advice;
}

static void add_count(proto_tree *tree, tvbuff_t *tvb, const struct finding *f)
{
    proto_item *ti = proto_tree_add_item(tree, hf_of_count(f), tvb, 0, 0, ENC_NA);
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
    add_text(tree, hf_ipoib_rule_reason, tvb, f->reason);
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
 * Example: "ND option length: 1, expected 3, sent by IP fe80::2, LID 2 (RFC 4391 9.3)". A known
 * deviation is marked, because its severity is that of a violated SHOULD.
 */
static char *message(packet_info *pinfo, const struct finding *f)
{
    const struct rule *rule = &rules[f->rule];
    wmem_strbuf_t *text = wmem_strbuf_new(
        pinfo->pool, f->outcome == OUTCOME_DEVIATION ? "Known deviation: " : "");
    wmem_strbuf_append_printf(text, "%s: %s", rule->title, f->actual);
    if (*f->expected)
        wmem_strbuf_append_printf(text, ", expected %s", f->expected);
    char sender[SENDER_TEXT_SIZE];
    if (*sender_text(sender, f->sender))
        wmem_strbuf_append_printf(text, ", sent by %s", sender);
    wmem_strbuf_append_printf(text, " (%s %s)", rule_document_name(rule->document), rule->section);
    return wmem_strbuf_finalize(text);
}

static expert_field *expert_of(const struct stored *s)
{
    return s->outcome == OUTCOME_DEVIATION ? &ei_ipoib_deviation : &rule_experts[s->rule];
}

static void add_finding_item(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb,
                             const struct stored *s)
{
    const struct finding f = unpack(s);
    uint32_t at = s->offset, captured = tvb_captured_length(tvb);
    uint32_t length = at < captured ? MIN(s->length, captured - at) : 0;
    char *text = message(pinfo, &f), sender[SENDER_TEXT_SIZE];
    proto_item *ti;
    proto_tree *sub = proto_tree_add_subtree(tree, tvb, length ? (int)at : 0, (int)length,
                                             ett_ipoib_finding, &ti, text);
    add_result_items(sub, tvb, &f);
    if (f.frame)
        proto_item_set_generated(proto_tree_add_uint(sub, hf_ipoib_rule_frame, tvb, 0, 0, f.frame));
    add_text(sub, hf_ipoib_rule_subject, tvb, f.entity);
    add_text(sub, hf_ipoib_rule_sender, tvb, sender_text(sender, f.sender));
    add_rule_items(sub, pinfo, tvb, &rules[s->rule]);
    add_count(sub, tvb, &f);
    expert_add_info_format(pinfo, ti, expert_of(s), "%s", text);
}

static void show_all(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, const struct stored *s)
{
    proto_item *ti = proto_tree_add_item(tree, hf_ipoib_conformance, tvb, 0, 0, ENC_NA);
    proto_tree *sub = proto_item_add_subtree(ti, ett_ipoib_conformance);
    proto_item_set_generated(ti);
    for (; s; s = s->next)
        add_finding_item(sub, pinfo, tvb, s);
}

static void raise_severity(packet_info *pinfo, const struct stored *s)
{
    bool column = col_get_writable(pinfo->cinfo, COL_EXPERT);
    for (; s; s = s->next) {
        bool *before = &raised[s->outcome][s->rule];
        if (!*before || column)
            expert_add_info(pinfo, NULL, expert_of(s));
        *before = true;
    }
}

/*
 * Are the findings shown, or read by a listener of expert information? Wireshark registers the tap
 * "expert" when it opens a file, after the plugins. So the tap is looked up here, and only until it
 * is found, because the search compares the names of all taps.
 */
static bool are_findings_wanted(const proto_tree *tree)
{
    static int expert;
    if (expert <= 0)
        expert = find_tap_id("expert");
    return tree_is_wanted(tree) || have_tap_listener(expert);
}

void findings_show(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree)
{
    const struct stored *s = of_frame(pinfo->num);
    if (!s)
        return;
    /* Wireshark lists an expert item under the current protocol. */
    const char *before = pinfo->current_proto;
    pinfo->current_proto = "IPoIB";
    if (are_findings_wanted(tree))
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

/* Example: "Reserved field of the encapsulation header (RFC 4391 6)" */
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
         {"Requirement identifier", "ipoib.note.id", FT_STRING, BASE_NONE, NULL, 0,
          "identifier of the requirement that the note is about; a note is never a violation",
          HFILL}},
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
    };
    static int *ett[] = {&ett_ipoib_conformance, &ett_ipoib_finding};
    expert_module_t *module = expert_register_protocol(proto_ipoib);
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(module, ei, array_length(ei));
    register_rules(module);
}
