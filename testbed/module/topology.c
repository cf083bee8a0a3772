// SPDX-License-Identifier: GPL-2.0
/*
 * vqib: the HCAs, the switches and the cables between them; loading and unloading of the module
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "vqib.h"

static unsigned int nhca = 2;
module_param(nhca, uint, 0444);
MODULE_PARM_DESC(nhca, "number of HCAs (2..16), where topo is 1");
static unsigned int topo;
module_param(topo, uint, 0444);
MODULE_PARM_DESC(topo, "0: two HCAs back to back, 1: nhca of them on one switch");
static char *links;
module_param(links, charp, 0444);
MODULE_PARM_DESC(links,
		 "instead of topo: cables, as h0:s0.1,h1:s0.2,s0.7:s1.7; ends are hN and sN.PORT");

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("virtual InfiniBand HCAs, with ib_qib's transport, and switches");

unsigned int vqib_nhcas;
unsigned int vqib_nswitches;
struct qib_devdata *vqib_hca[VQIB_MAX_HCAS];
struct vqib_switch *vqib_switch[VQIB_MAX_SWITCHES];
struct workqueue_struct *vqib_wq;

#define MAX_CABLES (VQIB_MAX_HCAS + VQIB_MAX_SWITCHES * VQIB_MAX_PORTS / 2)

/* an end as parsed, before its device is created; port 0: an HCA */
struct end_name {
	u8 node, port;
};

static struct end_name cable[MAX_CABLES][2];
static unsigned int ncables;

/* ----------------------------------------------------------------- reading */

static int parse_end(char *text, struct end_name *e)
{
	char kind = *text, *port;
	bool hca = kind == 'h';

	if (!hca && kind != 's')
		return -EINVAL;
	text++;
	port = hca ? NULL : strchr(text, '.');
	if (port)
		*port++ = 0;
	if (kstrtou8(text, 10, &e->node) || e->node >= (hca ? VQIB_MAX_HCAS : VQIB_MAX_SWITCHES))
		return -EINVAL;
	e->port = 0;
	if (hca)
		return 0;
	if (!port || kstrtou8(port, 10, &e->port) || e->port < 1 || e->port > VQIB_MAX_PORTS)
		return -EINVAL;
	return 0;
}

static bool same_end(const struct end_name *a, const struct end_name *b)
{
	return a->node == b->node && a->port == b->port;
}

static bool taken(const struct end_name *e)
{
	unsigned int i;

	for (i = 0; i < ncables; i++)
		if (same_end(e, &cable[i][0]) || same_end(e, &cable[i][1]))
			return true;
	return false;
}

static void widen(const struct end_name *e)
{
	if (e->port)
		vqib_nswitches = max_t(unsigned int, vqib_nswitches, e->node + 1);
	else
		vqib_nhcas = max_t(unsigned int, vqib_nhcas, e->node + 1);
}

static int add_cable(const struct end_name *a, const struct end_name *b)
{
	if (ncables == MAX_CABLES || same_end(a, b) || taken(a) || taken(b))
		return -EINVAL;
	widen(a);
	widen(b);
	cable[ncables][0] = *a;
	cable[ncables][1] = *b;
	ncables++;
	return 0;
}

static int parse_cable(char *text)
{
	struct end_name a, b;
	char *second = strchr(text, ':');

	if (!second)
		return -EINVAL;
	*second++ = 0;
	if (parse_end(text, &a) || parse_end(second, &b))
		return -EINVAL;
	return add_cable(&a, &b);
}

static int parse_links(void)
{
	char *copy = kstrdup(links, GFP_KERNEL), *rest = copy, *text, *said;
	int ret = copy ? 0 : -ENOMEM;

	while (!ret && (text = strsep(&rest, ", "))) {
		if (!*text)
			continue;
		said = kstrdup(text, GFP_KERNEL);
		ret = parse_cable(text);
		if (ret)
			pr_err("vqib: links: no cable, or an end that has one already: \"%s\"\n",
			       said);
		kfree(said);
	}
	kfree(copy);
	return ret;
}

static int plain_topology(void)
{
	struct end_name a = { 0 }, b = { 0 };
	unsigned int i;

	if (!topo) {
		b.node = 1;
		return add_cable(&a, &b);
	}
	for (i = 0; i < nhca; i++) {
		a.node = i;
		b.port = i + 1;
		if (add_cable(&a, &b))
			return -EINVAL;
	}
	return 0;
}

/* reads the module's parameters; determines the numbers of HCAs and switches */
static int read_topology(void)
{
	int ret;

	if (!links && (topo > 1 || nhca < 2 || nhca > VQIB_MAX_HCAS)) {
		pr_err("vqib: topo is 0 or 1, nhca 2 to 16\n");
		return -EINVAL;
	}
	ret = links ? parse_links() : plain_topology();
	if (!ret && !vqib_nhcas) {
		pr_err("vqib: links: no HCA\n");
		ret = -EINVAL;
	}
	return ret;
}

/* the number of a switch's ports is the highest port number that has a cable */
static unsigned int nports_of(unsigned int number)
{
	unsigned int i, n = 0;

	for (i = 0; i < 2 * ncables; i++) {
		const struct end_name *e = &cable[i / 2][i % 2];

		if (e->port && e->node == number)
			n = max_t(unsigned int, n, e->port);
	}
	return n;
}

/* ------------------------------------------------------------- set up, exit */

static struct vqib_end *find_end(const struct end_name *e)
{
	if (e->port)
		return &vqib_switch[e->node]->port[e->port].end;
	return vqib_end_of(vqib_hca[e->node]->pport);
}

static void connect(void)
{
	unsigned int i;

	for (i = 0; i < ncables; i++) {
		struct vqib_end *a = find_end(&cable[i][0]), *b = find_end(&cable[i][1]);

		a->peer = b;
		b->peer = a;
	}
}

/* vqib_for_each_end - calls fn for every end, HCAs' first; port 0 of a switch is not an end */
void vqib_for_each_end(void (*fn)(struct vqib_end *end))
{
	unsigned int i, port;

	for (i = 0; i < vqib_nhcas; i++)
		if (vqib_hca[i])
			fn(vqib_end_of(vqib_hca[i]->pport));
	for (i = 0; i < vqib_nswitches; i++)
		for (port = 1; vqib_switch[i] && port <= vqib_switch[i]->nports; port++)
			fn(&vqib_switch[i]->port[port].end);
}

static int create_switches(void)
{
	unsigned int i;

	for (i = 0; i < vqib_nswitches; i++) {
		vqib_switch[i] = vqib_switch_create(i, nports_of(i));
		if (!vqib_switch[i])
			return -ENOMEM;
	}
	return 0;
}

static int create_hcas(void)
{
	unsigned int i;

	for (i = 0; i < vqib_nhcas; i++) {
		struct qib_devdata *dd = vqib_chip_create(i);

		if (IS_ERR(dd))
			return PTR_ERR(dd);
		vqib_hca[i] = dd;
	}
	return 0;
}

/* takes all links down before freeing anything that a packet could still reach */
static void destroy(void)
{
	unsigned int i;

	for (i = 0; i < vqib_nhcas; i++)
		if (vqib_hca[i])
			vqib_chip_unplug(vqib_hca[i]);
	for (i = 0; i < vqib_nswitches; i++)
		if (vqib_switch[i])
			vqib_switch_stop(vqib_switch[i]);
	vqib_for_each_end(vqib_end_stop);
	for (i = 0; i < vqib_nhcas; i++)
		if (vqib_hca[i])
			vqib_chip_free(vqib_hca[i]);
	for (i = 0; i < vqib_nswitches; i++)
		if (vqib_switch[i])
			vqib_switch_free(vqib_switch[i]);
	vqib_chip_exit();
	if (vqib_wq)
		destroy_workqueue(vqib_wq);
}

static int __init vqib_init(void)
{
	int ret = read_topology();

	if (ret)
		return ret;
	vqib_crc_init();
	vqib_wq = alloc_workqueue("vqib_rx", WQ_HIGHPRI | WQ_UNBOUND, 0);
	ret = vqib_wq ? vqib_chip_init() : -ENOMEM;
	if (!ret)
		ret = create_switches();
	if (!ret)
		ret = create_hcas();
	if (!ret)
		ret = vqib_capture_init();
	if (ret) {
		destroy();
		return ret;
	}
	connect();
	vqib_control_init();
	vqib_for_each_end(vqib_link_start);
	pr_info("vqib: %u HCAs, %u switches, %u cables\n", vqib_nhcas, vqib_nswitches, ncables);
	return 0;
}

static void __exit vqib_exit(void)
{
	vqib_control_exit();
	vqib_capture_exit();
	destroy();
}

module_init(vqib_init);
module_exit(vqib_exit);
