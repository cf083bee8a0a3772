// SPDX-License-Identifier: GPL-2.0
/*
 * vqib: changes packets on their way. Each end of a link has a list of rules in debugfs
 * ("rewrite"): a rule matches octets of packets, and sets octets or drops the packet. So a kernel
 * that follows the RFCs appears to violate them. The CRCs are corrected afterwards.
 */
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "vqib.h"

#define PATCHES		12	/* of a rule */
#define PATCH_SIZE	16	/* octets */
#define RULE_TEXT	512

#define BTH_UD_SEND	0x64	/* opcodes; IBA 9.2.1 */
#define BTH_UD_SEND_IMM	0x65
#define BTH_UC_SEND	0x20
#define BTH_SEND_ONLY	0x04	/* of RC; First, Middle and Last are 0 to 2 */
#define DETH		8

/* octets of a packet, to be compared or to be written */
struct patch {
	const char *base;
	bool set;
	u16 offset;
	u8 len;
	u8 octets[PATCH_SIZE];
};

struct rule {
	struct list_head list;
	char text[RULE_TEXT];
	bool drop;
	bool limited;
	u32 left;			/* if limited */
	u32 hits;
	unsigned int n;
	struct patch patch[PATCHES];
};

/* -------------------------------------------------------------- the packets */

static bool is_ud(u8 opcode)
{
	return opcode == BTH_UD_SEND || opcode == BTH_UD_SEND_IMM;
}

static bool is_send(u8 opcode)
{
	u8 kind = opcode & ~BTH_UC_SEND;

	return kind <= 2 || kind == BTH_SEND_ONLY;
}

/* returns the offset of the base in this packet; -1: the packet has none */
static int base_at(const struct vqib_pkt *p, const char *base)
{
	u32 bth = vqib_bth_at(p);
	u8 opcode;

	if (p->len < bth + VQIB_BTH)	/* a rule changed LNH: a GRH should follow */
		return -1;
	opcode = p->data[bth];
	if (!strcmp(base, "lrh"))
		return 0;
	if (!strcmp(base, "grh"))
		return vqib_lnh(p) == QIB_LRH_GRH ? VQIB_LRH : -1;
	if (!strcmp(base, "bth"))
		return bth;
	if (!strcmp(base, "deth"))
		return is_ud(opcode) ? bth + VQIB_BTH : -1;
	if (opcode == BTH_UD_SEND)	/* data */
		return bth + VQIB_BTH + DETH;
	return is_send(opcode) ? bth + VQIB_BTH : -1;
}

static u8 *patch_at(struct vqib_pkt *p, const struct patch *patch)
{
	int at = base_at(p, patch->base);

	if (at < 0 || at + patch->offset + patch->len > p->len)
		return NULL;
	return p->data + at + patch->offset;
}

static bool matches(struct vqib_pkt *p, const struct rule *rule)
{
	unsigned int i;

	if (rule->limited && !rule->left)
		return false;
	for (i = 0; i < rule->n; i++) {
		const struct patch *patch = &rule->patch[i];
		const u8 *at = patch_at(p, patch);

		if (!at || (!patch->set && memcmp(at, patch->octets, patch->len)))
			return false;
	}
	return true;
}

static void apply(struct vqib_pkt *p, const struct rule *rule)
{
	unsigned int i;

	for (i = 0; i < rule->n; i++) {
		const struct patch *patch = &rule->patch[i];
		u8 *at = patch->set ? patch_at(p, patch) : NULL;

		if (at)		/* earlier patches may have moved the base */
			memcpy(at, patch->octets, patch->len);
	}
}

/**
 * vqib_rewrite - applies the rules of an end to a packet; the caller holds from->line.lock
 * @from: the end that it leaves by
 * @p: the packet
 *
 * Return: true if a rule drops the packet
 */
bool vqib_rewrite(struct vqib_end *from, struct vqib_pkt *p)
{
	bool drop = false;
	struct rule *rule;

	if (list_empty(&from->rewrites))
		return false;
	if (p->len < vqib_bth_at(p) + VQIB_BTH || !vqib_vcrc_ok(p) || !vqib_icrc_ok(p))
		return false;		/* corrupt packets stay corrupt */
	list_for_each_entry(rule, &from->rewrites, list) {
		if (!matches(p, rule))
			continue;
		apply(p, rule);
		p->sealed = false;
		drop |= rule->drop;
		rule->hits++;
		if (rule->limited)
			rule->left--;
	}
	return drop;
}

/* --------------------------------------------------------------- the rules */

void vqib_rewrite_clear(struct vqib_end *end)
{
	struct rule *rule, *next;
	LIST_HEAD(old);

	spin_lock_irq(&end->line.lock);
	list_splice_init(&end->rewrites, &old);
	spin_unlock_irq(&end->line.lock);
	list_for_each_entry_safe(rule, next, &old, list)
		kfree(rule);
}

static const char *find_base(const char *name)
{
	static const char * const bases[] = { "lrh", "grh", "bth", "deth", "data" };
	int i = match_string(bases, ARRAY_SIZE(bases), name);

	return i < 0 ? NULL : bases[i];
}

/* parses BASE+OFFSET=OCTETS; modifies the word */
static int parse_patch(struct patch *patch, char *word)
{
	char *hex = word, *offset = strsep(&hex, "=");
	char *base = strsep(&offset, "+");
	size_t digits = hex ? strlen(hex) : 0;

	patch->base = find_base(base);
	if (!patch->base || !offset || kstrtou16(offset, 10, &patch->offset))
		return -EINVAL;
	if (!digits || digits % 2 || digits / 2 > PATCH_SIZE)
		return -EINVAL;
	patch->len = digits / 2;
	return hex2bin(patch->octets, hex, patch->len);
}

static int parse_pair(struct rule *rule, const char *key, char *value)
{
	bool set = !strcmp(key, "set");

	if (!strcmp(key, "count")) {
		rule->limited = true;
		return kstrtou32(value, 10, &rule->left);
	}
	if ((!set && strcmp(key, "if")) || rule->n == PATCHES)
		return -EINVAL;
	rule->patch[rule->n].set = set;
	return parse_patch(&rule->patch[rule->n++], value);
}

static int parse_rule(struct rule *rule, char *text)
{
	char *key, *value;
	int err;

	while ((key = strsep(&text, " "))) {
		if (!*key)
			continue;
		if (!strcmp(key, "drop")) {
			rule->drop = true;
			continue;
		}
		value = strsep(&text, " ");
		err = value ? parse_pair(rule, key, value) : -EINVAL;
		if (err)
			return err;
	}
	return rule->n || rule->drop ? 0 : -EINVAL;
}

static int add_rule(struct vqib_end *end, char *text)
{
	struct rule *rule = kzalloc(sizeof(*rule), GFP_KERNEL);
	int err;

	if (!rule)
		return -ENOMEM;
	strscpy(rule->text, text, sizeof(rule->text));
	err = parse_rule(rule, text);
	if (err) {
		kfree(rule);
		return err;
	}
	spin_lock_irq(&end->line.lock);
	list_add_tail(&rule->list, &end->rewrites);
	spin_unlock_irq(&end->line.lock);
	return 0;
}

/* ------------------------------------------------------------- debugfs file */

static int rewrite_show(struct seq_file *m, void *unused)
{
	struct vqib_end *end = m->private;
	struct rule *rule;

	spin_lock_irq(&end->line.lock);
	list_for_each_entry(rule, &end->rewrites, list)
		seq_printf(m, "%s # hits %u\n", rule->text, rule->hits);
	spin_unlock_irq(&end->line.lock);
	return 0;
}

static int rewrite_open(struct inode *inode, struct file *file)
{
	return single_open(file, rewrite_show, inode->i_private);
}

static ssize_t rewrite_write(struct file *file, const char __user *from, size_t n, loff_t *at)
{
	struct vqib_end *end = file_inode(file)->i_private;
	char *text, *rule;
	int err = 0;

	if (n >= RULE_TEXT)
		return -EINVAL;
	text = memdup_user_nul(from, n);
	if (IS_ERR(text))
		return PTR_ERR(text);
	rule = strim(text);
	if (!strcmp(rule, "off"))
		vqib_rewrite_clear(end);
	else
		err = add_rule(end, rule);
	kfree(text);
	return err ? err : n;
}

const struct file_operations vqib_rewrite_fops = {
	.owner = THIS_MODULE,
	.open = rewrite_open,
	.read = seq_read,
	.write = rewrite_write,
	.llseek = seq_lseek,
	.release = single_release,
};
