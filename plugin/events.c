/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of lib/analysis as expert information. The first pass stores each event with the frame
 * in which it is seen first, so every pass shows the same: the fields ipoib.analysis.NAME, and a
 * tree. Its repetitions change nothing.
 */
#include "plugin/events.h"
#include "plugin/protocol.h"
#include "plugin/state.h"
#include "plugin/store.h"
#include "plugin/wanted.h"

#include <epan/expert.h>

#include "analysis/analysis.h"

static int hf_ipoib_analysis = -1, hf_ipoib_analysis_who = -1, hf_ipoib_analysis_what = -1,
           hf_ipoib_analysis_frame = -1, hf_ipoib_analysis_explain = -1;
static int ett_ipoib_analysis = -1, ett_ipoib_event = -1;
static expert_field event_experts[EVENT_KINDS];

static struct analysis *analysis;
static bool raised[EVENT_KINDS]; /* as in findings.c: at least once in a file, without a tree */

/* ---- the first pass */

struct stored_event {
    struct stored_event *next;
    struct sender who;
    uint32_t cause_frame;
    enum event_kind kind;
    bool taken_back;
    char what[]; /* ends with a zero byte */
};

enum { WHAT_MAX = 1024 };

static struct stored_event *add_to_frame(uint32_t frame, size_t size)
{
    struct stored_event *last = store_find(frame, DATA_EVENTS);
    if (!last)
        return store_add(frame, DATA_EVENTS, size, alignof(struct stored_event));
    while (last->next)
        last = last->next;
    return last->next = store_alloc(size, alignof(struct stored_event));
}

static void take_back(const struct link_event *e)
{
    for (struct stored_event *s = store_find(e->frame, DATA_EVENTS); s; s = s->next)
        if (s->kind == e->kind && strncmp(s->what, e->what, WHAT_MAX) == 0)
            s->taken_back = true;
}

static void store_event(void *user _U_, const struct link_event *e)
{
    if (e->taken_back) {
        take_back(e);
        return;
    }
    size_t length = strnlen(e->what, WHAT_MAX);
    struct stored_event *s = add_to_frame(e->frame,
                                          offsetof(struct stored_event, what) + length + 1);
    s->kind = e->kind;
    s->who = e->who;
    s->cause_frame = e->cause_frame;
    s->taken_back = false;
    memcpy(s->what, e->what, length);
}

/* Created on first use, as the model is; NULL: the protocol is disabled. */
static struct analysis *analysis_of_file(void)
{
    if (!analysis && plugin_enabled())
        analysis = analysis_new(state_fabric(), store_event, NULL);
    return analysis;
}

void events_observe(const struct packet *p, const struct events *e)
{
    struct analysis *a = analysis_of_file();
    if (a)
        analysis_packet(a, p, e);
}

struct event_table *events_of_file(void)
{
    struct analysis *a = analysis_of_file();
    return a ? analysis_events(a) : NULL;
}

/* ---- the tree */

static void add_string(proto_tree *tree, int hf, tvbuff_t *tvb, const char *text)
{
    if (*text)
        proto_item_set_generated(proto_tree_add_string(tree, hf, tvb, 0, 0, text));
}

/* Example: "The SA refused a join: LID 2: the SA refuses its join of the group ..." */
static char *event_message(packet_info *pinfo, const struct stored_event *e)
{
    char who[SENDER_TEXT_SIZE];
    sender_text(who, &e->who);
    return wmem_strdup_printf(pinfo->pool, "%s: %s%s%s", event_title(e->kind), who,
                              *who ? ": " : "", e->what);
}

static void show_event(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb,
                       const struct stored_event *e)
{
    char who[SENDER_TEXT_SIZE], *text = event_message(pinfo, e);
    proto_item *ti;
    proto_tree *sub = proto_tree_add_subtree(tree, tvb, 0, 0, ett_ipoib_event, &ti, text);
    add_string(sub, hf_ipoib_analysis_who, tvb, sender_text(who, &e->who));
    add_string(sub, hf_ipoib_analysis_what, tvb, e->what);
    if (e->cause_frame)
        proto_item_set_generated(
            proto_tree_add_uint(sub, hf_ipoib_analysis_frame, tvb, 0, 0, e->cause_frame));
    add_string(sub, hf_ipoib_analysis_explain, tvb,
               wmem_strdup_printf(pinfo->pool, "ipoib-check --explain %s", event_name(e->kind)));
    expert_add_info_format(pinfo, ti, &event_experts[e->kind], "%s", text);
}

static void show_events(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree,
                        const struct stored_event *first)
{
    proto_item *ti = proto_tree_add_item(tree, hf_ipoib_analysis, tvb, 0, 0, ENC_NA);
    proto_tree *sub = proto_item_add_subtree(ti, ett_ipoib_analysis);
    proto_item_set_generated(ti);
    for (const struct stored_event *e = first; e; e = e->next)
        if (!e->taken_back)
            show_event(sub, pinfo, tvb, e);
}

static void raise_events(packet_info *pinfo, const struct stored_event *first)
{
    for (const struct stored_event *e = first; e; e = e->next) {
        if (e->taken_back)
            continue;
        if (!raised[e->kind] || col_get_writable(pinfo->cinfo, COL_EXPERT))
            expert_add_info(pinfo, NULL, &event_experts[e->kind]);
        raised[e->kind] = true;
    }
}

void events_show(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree)
{
    const struct stored_event *first = store_find(pinfo->num, DATA_EVENTS);
    while (first && first->taken_back)
        first = first->next;
    const char *before = pinfo->current_proto;
    if (!first)
        return;
    pinfo->current_proto = "IPoIB";
    if (experts_are_wanted(tree))
        show_events(tvb, pinfo, tree, first);
    else
        raise_events(pinfo, first);
    pinfo->current_proto = before;
}

/* ---- registration */

static void forget_events(void)
{
    analysis_free(analysis);
    analysis = NULL;
    memset(raised, 0, sizeof raised);
}

static void register_event_kinds(void)
{
    static ei_register_info ei[EVENT_KINDS];
    for (int i = 0; i < EVENT_KINDS; i++) {
        event_experts[i] = (expert_field)EI_INIT;
        ei[i] = (ei_register_info){
            &event_experts[i],
            {wmem_strdup_printf(wmem_epan_scope(), "ipoib.analysis.%s", event_name(i)), PI_PROTOCOL,
             PI_NOTE, event_title(i), EXPFILL}};
    }
    expert_register_field_array(expert_register_protocol(proto_ipoib), ei, EVENT_KINDS);
}

void events_register(void)
{
    static hf_register_info hf[] = {
        {&hf_ipoib_analysis,
         {"IPoIB analysis", "ipoib.analysis", FT_NONE, BASE_NONE, NULL, 0,
          "events: what happened on the link", HFILL}},
        {&hf_ipoib_analysis_who,
         {"Who", "ipoib.analysis.who", FT_STRING, BASE_NONE, NULL, 0,
          "IP address, GID and LID of the port that it happened to, as far as they are known",
          HFILL}},
        {&hf_ipoib_analysis_what,
         {"What", "ipoib.analysis.what", FT_STRING, BASE_NONE, NULL, 0, "what happened", HFILL}},
        {&hf_ipoib_analysis_frame,
         {"Explained by", "ipoib.analysis.frame", FT_FRAMENUM, BASE_NONE, NULL, 0,
          "earlier packet that explains the event", HFILL}},
        {&hf_ipoib_analysis_explain,
         {"Command", "ipoib.analysis.explain", FT_STRING, BASE_NONE, NULL, 0,
          "command that prints the page of the event", HFILL}},
    };
    static int *ett[] = {&ett_ipoib_analysis, &ett_ipoib_event};
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    register_event_kinds();
    register_cleanup_routine(forget_events);
}
