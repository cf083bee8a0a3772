// SPDX-License-Identifier: GPL-2.0
/*
 * vqib: /sys/kernel/debug/vqib, with a folder for each end of a link: its name, state, cable,
 * counters, and the faults of packets that leave by it.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "vqib.h"

static struct dentry *root;

static const char * const counter_name[VQIB_COUNTERS] = {
	[VQIB_TX_PKTS] = "tx_packets",
	[VQIB_TX_WORDS] = "tx_words",
	[VQIB_RX_PKTS] = "rx_packets",
	[VQIB_RX_WORDS] = "rx_words",
	[VQIB_TX_DISCARDS] = "tx_discards",
	[VQIB_RX_DISCARDS] = "rx_discards",
	[VQIB_BAD_VCRC] = "bad_vcrc",
	[VQIB_BAD_ICRC] = "bad_icrc",
	[VQIB_BAD_LENGTH] = "bad_length",
	[VQIB_BAD_FORMAT] = "bad_format",
	[VQIB_NO_ROUTE] = "no_route",
	[VQIB_RX_CONSTRAINT] = "rx_constraint",
	[VQIB_TX_CONSTRAINT] = "tx_constraint",
	[VQIB_LINK_DOWNED] = "link_downed",
	[VQIB_SNIFFER_MISSED] = "sniffer_missed",
	[VQIB_LOST] = "lost",
	[VQIB_DUPLICATED] = "duplicated",
	[VQIB_REORDERED] = "reordered",
	[VQIB_CORRUPTED] = "corrupted",
};

static int counters_show(struct seq_file *m, void *unused)
{
	struct vqib_end *end = m->private;
	int i;

	for (i = 0; i < VQIB_COUNTERS; i++)
		seq_printf(m, "%s %lld\n", counter_name[i], atomic64_read(&end->count[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

static int state_show(struct seq_file *m, void *unused)
{
	static const char * const name[] = { "?", "Down", "Init", "Armed", "Active" };
	struct vqib_end *end = m->private;
	u8 log = READ_ONCE(end->log);

	seq_printf(m, "%s%s, peer %s\n", log < ARRAY_SIZE(name) ? name[log] : "?",
		   end->disabled ? " (disabled)" : "", end->peer ? end->peer->name : "none");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

static int cable_get(void *data, u64 *value)
{
	struct vqib_end *end = data;

	*value = end->peer && !end->unplugged;
	return 0;
}

static int cable_set(void *data, u64 value)
{
	struct vqib_end *end = data;

	if (value > 1)
		return -EINVAL;
	vqib_link_cable(end, value);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(cable_fops, cable_get, cable_set, "%llu\n");

static void add_end(struct vqib_end *end)
{
	struct dentry *dir = debugfs_create_dir(end->name, root);
	struct vqib_faults *f = &end->faults;

	debugfs_create_file("state", 0444, dir, end, &state_fops);
	debugfs_create_file("counters", 0444, dir, end, &counters_fops);
	debugfs_create_file_unsafe("cable", 0644, dir, end, &cable_fops);
	debugfs_create_file("rewrite", 0644, dir, end, &vqib_rewrite_fops);
	debugfs_create_u32("loss_ppm", 0644, dir, &f->loss_ppm);
	debugfs_create_u32("dup_ppm", 0644, dir, &f->dup_ppm);
	debugfs_create_u32("reorder_ppm", 0644, dir, &f->reorder_ppm);
	debugfs_create_u32("reorder_us", 0644, dir, &f->reorder_us);
	debugfs_create_u32("delay_us", 0644, dir, &f->delay_us);
	debugfs_create_u32("icrc_ppm", 0644, dir, &f->icrc_ppm);
	debugfs_create_u32("vcrc_ppm", 0644, dir, &f->vcrc_ppm);
	debugfs_create_u32("drop_next", 0644, dir, &f->drop_next);
	debugfs_create_u32("vl15", 0644, dir, &f->vl15);
}

void vqib_control_init(void)
{
	root = debugfs_create_dir("vqib", NULL);
	vqib_for_each_end(add_end);
}

void vqib_control_exit(void)
{
	debugfs_remove_recursive(root);
}
