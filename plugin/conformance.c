/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the checks: each packet is checked once, in the first pass. Its findings are stored with the
 * frame (finding_store.h). A postdissector shows them, so that they follow all other protocols.
 */
#include "plugin/conformance.h"
#include "plugin/events.h"
#include "plugin/finding_store.h"
#include "plugin/findings.h"
#include "plugin/protocol.h"
#include "plugin/state.h"
#include "plugin/store.h"
#include "plugin/tap.h"

#include <epan/prefs.h>
#include <wiretap/wtap.h>
#include <wsutil/report_message.h>

#include "rules/checker.h"
#include "report/verdict.h"
#include "wire/link_frame.h"

static ws_bool pref_check = TRUE;
static const char *pref_deviations = "linux";

static struct checker *checker;
static struct deviations *known;
/*
 * Of the whole file; NULL: the protocol is disabled, checks are off, or the list of known
 * deviations is unreadable.
 */
static struct verdict *verdict;
static char *unreadable; /* error of the list of known deviations */
static bool saw_ipoib;   /* the current frame contains IPoIB */

const struct verdict *conformance_verdict(void)
{
    if (!verdict)
        return NULL;
    verdict_set_undone(verdict, state_facts()->undone);
    checker_report_waiting(checker);
    struct unseen unseen = fabric_unseen(state_fabric());
    verdict_set_unseen(verdict, &unseen);
    return verdict;
}

const char *conformance_why_not(void)
{
    if (unreadable || verdict)
        return unreadable;
    return pref_check ? disabled_protocol() : "the preference ipoib.conformance is off";
}

const char *conformance_deviations(void)
{
    return pref_deviations && *pref_deviations ? pref_deviations : "none";
}

static uint32_t packet_begin; /* offset of the current packet in its frame */

static void store_finding(void *user _U_, uint32_t frame, const struct finding *f)
{
    verdict_add(verdict, frame, f);
    /* a suspicion, or what is held, is shown in its frame; when it stands, that frame has passed */
    if (f->outcome != OUTCOME_INCONCLUSIVE && f->outcome != OUTCOME_UNPROVED && !f->stands)
        finding_store_add(frame, packet_begin, f);
}

void conformance_check(const struct packet *p, uint32_t begin)
{
    if (!checker)
        return;
    packet_begin = begin;
    saw_ipoib |= checker_packet(checker, p, state_events());
}

/* First pass only: called once for each packet, whatever it contains. */
static void end_frame(void)
{
    verdict_frame(verdict, saw_ipoib);
    saw_ipoib = false;
}

/*
 * Postdissector, which Wireshark calls for every frame. Does everything that must follow the other
 * dissectors.
 */
static int dissect_last(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    if (!plugin_enabled())
        return 0;
    /* Wireshark also gives a frame number to other blocks of a pcapng file (pcapng_format.h) */
    if (checker && !pinfo->fd->visited && pinfo->rec->rec_type == REC_TYPE_PACKET)
        end_frame();
    if (!pinfo->fd->visited)
        store_end_frame(pinfo->num);
    findings_show(tvb, pinfo, tree);
    events_show(tvb, pinfo, tree);
    tap_tree_queue(tvb, pinfo);
    tap_conversations_queue(pinfo, tree, frame_of(pinfo));
    return (int)tvb_captured_length(tvb);
}

/* ---- start and end of a file */

/*
 * If the chosen list cannot be read, nothing is checked, because known deviations would be reported
 * as violations.
 */
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
    if (pref_check && plugin_enabled())
        read_deviations();
    saw_ipoib = false;
    if (!known)
        return;
    verdict = verdict_new(NULL);
    checker = checker_new(state_fabric(), known, store_finding, NULL);
    checker_count_passes(checker, verdict_passes(verdict));
    checker_hold(checker);
}

static void conformance_close(void)
{
    checker_free(checker);
    deviations_free(known);
    verdict_free(verdict);
    verdict = NULL;
    checker = NULL;
    known = NULL;
    g_free(unreadable);
    unreadable = NULL;
    finding_store_forget();
    findings_forget();
}

static void register_preferences(void)
{
    module_t *m = prefs_find_module("ipoib");
    prefs_register_bool_preference(
        m, "conformance", "Check frames against RFC 4391, RFC 4755 and RFC 4390",
        "Findings are expert items, with the rule's identifier in ipoib.rule.id", &pref_check);
    prefs_register_string_preference(
        m, "deviations", "Known deviations",
        "List of known deviations, which are not violations: \"linux\", \"none\" (or empty), or the path of your own file",
        &pref_deviations);
}

void conformance_register(void)
{
    findings_register();
    register_preferences();
    register_init_routine(conformance_open);
    register_cleanup_routine(conformance_close);
}

/* The handle has no protocol: Wireshark would look it up for every frame. */
void conformance_handoff(void)
{
    register_postdissector(create_dissector_handle(dissect_last, -1));
}
