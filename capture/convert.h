/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subcommand "convert": capture files of InfiniBand frames between the link types 247 and ERF.
 */
#ifndef CAPTURE_CONVERT_H
#define CAPTURE_CONVERT_H

/*
 * Runs "convert"; argv[0] is "convert", its arguments follow. Returns the exit status: 0, 1 or 2.
 */
int convert_main(int argc, char **argv);

#endif
