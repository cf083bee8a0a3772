/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Subcommand "convert": converts capture files of InfiniBand frames between LINKTYPE_INFINIBAND
 * (247) and LINKTYPE_ERF (197).
 */
#ifndef CAPTURE_CONVERT_H
#define CAPTURE_CONVERT_H

/*
 * Runs "convert"; argv[0] is "convert", its arguments follow. Returns the exit status: 0 all
 * packets are in the output, 1 some are not or an error occurred, 2 wrong usage.
 */
int convert_main(int argc, char **argv);

#endif
