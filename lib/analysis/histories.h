/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the watchers remember between packets. Freed by g_free(). Private to analysis/. */
#ifndef IPOIB_ANALYSIS_HISTORIES_H
#define IPOIB_ANALYSIS_HISTORIES_H

struct lids *lids_new(void);                     /* lids.c */
struct smp_links *links_new(void);               /* links.c */
struct rc_flows *rc_flows_new(void);             /* rc.c */
struct echo_sizes *echo_sizes_new(void);         /* echo.c */
struct pkey_tables *pkey_tables_new(void);       /* pkeys.c */
struct small_paths *small_paths_new(void);       /* mtus.c */
struct header_fields *headers_new(void);         /* headers.c */
struct lossy *lossy_new(void);                   /* lossy.c */
struct seekers *seekers_new(void);               /* seekers.c */
struct loops *loops_new(void);                   /* loops.c */
struct missing_groups *missing_groups_new(void); /* missing_groups.c */
struct advertisements *advertisements_new(void); /* advertisements.c */
struct shared_mlids *shared_mlids_new(void);     /* shared_mlids.c */
struct size_errors *size_errors_new(void);       /* icmp_errors.c */
struct group_qkeys *group_qkeys_new(void);       /* sa_answers.c */
struct routes_seen *routes_seen_new(void);       /* routes.c */
struct routing_loops *routing_loops_new(void);   /* routing_loops.c */
struct tcp_flows *tcp_flows_new(void);           /* tcp.c */
struct summed *summed_new(void);                 /* checksums.c */
struct dhcp_leases *dhcp_leases_new(void);       /* dhcp_leases.c */
struct pings *pings_new(void);                   /* echo_replies.c */
struct small_ttls *small_ttls_new(void);         /* small_ttls.c */
struct silent_hosts *silent_hosts_new(void);     /* silent.c */
struct slow_hosts *slow_hosts_new(void);         /* slow_hosts.c */
struct new_managers *new_managers_new(void);     /* rejoins.c */
struct group_pings *group_pings_new(void);       /* group_pings.c */
struct copies_again *copies_again_new(void);     /* switching_loops.c */
struct first_psns *first_psns_new(void);         /* first_psns.c */
struct path_sls *path_sls_new(void);             /* path_sls.c */
struct forwarding *forwarding_new(void);         /* forwarding.c */
struct redirects *redirects_new(void);           /* redirects.c */
struct joins_again *joins_again_new(void);       /* rejoins.c */
struct zero_windows *zero_windows_new(void);     /* zero_windows.c */
struct services *services_new(void);             /* services_refused.c */
struct group_sources *group_sources_new(void);   /* group_sources.c */
struct dhcp_offers *dhcp_offers_new(void);       /* dhcp_offers.c */
struct guids_seen *guids_seen_new(void);         /* guids.c */

struct receivers *receivers_new(void); /* receivers.c */
void receivers_free(struct receivers *r);
/* The events have gone to another owner. */
void receivers_forget_events(struct receivers *r);

#endif
